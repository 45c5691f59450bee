// Messages and questions of the window. Messages disappear by themselves or stay until they are
// answered; a question is modal. Errors go to the log too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hindcast::gui {

class ProcessLog;

// A message that disappears by itself or stays until it is answered.
struct Notice {
    enum class Kind { information, success, warning, error } kind = Kind::information;
    std::string text;
    std::string detail;
    double until = 0;  // in frame_wishes().now(); 0: until closed
    std::string button;
    std::function<void()> action;
    std::string about = {};  // the message holds until this is mended (Messages::mended_now)
    std::string other_button = {};
    std::function<void()> other_action = {};
};

// A modal question. Enter takes the chosen answer (at first `chosen`, which must not lose
// anything), Escape the last one. Tab and the arrows go from one to the next. An answer's first
// letter takes it if no other answer begins with it and no action has that key.
struct Question {
    std::string title, text, detail;
    struct Answer {
        std::string label, tooltip;
        std::function<void()> action;
    };
    std::vector<Answer> answers;
    std::size_t chosen = 0;
};

class Messages {
public:
    // The time after which a message disappears by itself, s.
    static constexpr double notice_seconds = 4;

    void tell(Notice notice);
    void tell(const std::string& text, Notice::Kind kind = Notice::Kind::information);
    void fail(const std::exception& error);
    // Shows a message that is in the log already.
    void show(Notice notice);
    // Writes an error into the log alone.
    void log_error(const std::string& text);
    void mended_now(const std::string& about);  // removes the messages about this
    void remove(const std::string& text);       // removes the messages with this text
    void remove_old();                          // removes the messages whose time is over
    std::deque<Notice>& notices() { return notices_; }
    std::uint64_t told() const { return told_; }  // number of messages so far

    void ask(Question question) { question_ = std::move(question); }
    std::optional<Question>& question() { return question_; }

    std::shared_ptr<ProcessLog> log;  // for the log panel; may be null

private:
    std::deque<Notice> notices_;
    std::uint64_t told_ = 0;
    std::optional<Question> question_;
};

}  // namespace hindcast::gui
