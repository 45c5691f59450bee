// Scenes and files of a workspace: opening, saving, reloading, ending, and what is asked before
// something would be lost: edits of the document that are not in its file, and values that the
// optimisation or the identification has found and that nobody has accepted yet.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "app/gui/work/frame_wishes.hpp"
#include "app/gui/work/process_log.hpp"
#include "app/gui/work/workspace.hpp"
#include "engine/base/files.hpp"

namespace hindcast::gui {

namespace {

namespace fs = std::filesystem;
using document::Node;

}  // namespace

std::unique_ptr<session::Editor> Workspace::fresh_editor() const {
    auto fresh = std::make_unique<session::Editor>(registry_);
    fresh->keep_in(state_folder_);
    return fresh;
}

void Workspace::open(const fs::path& file) {
    when_saved([this, file] {
        auto fresh = fresh_editor();
        try {
            fresh->open(file);
        } catch (const Error& error) {
            failed_load(file, error);
            return;
        }
        begin_opening(std::move(fresh));
    });
}

void Workspace::make_new() {
    when_saved([this] {
        auto fresh = fresh_editor();
        fresh->make_new();
        begin_opening(std::move(fresh));
    });
}

void Workspace::open_autosave(const session::Editor::Autosave& found) {
    when_saved([this, found] {
        auto fresh = fresh_editor();
        try {
            fresh->open_autosave(found);
        } catch (const Error& error) {
            fail(error);
            return;
        }
        begin_opening(std::move(fresh));
    });
}

// A session with the file that was opened did not end by itself.
void Workspace::offer_autosave() {
    if (editor_->file().empty()) return;
    const auto found = editor_->find_autosave(editor_->file());
    if (!found) return;
    ask({"Unsaved changes were kept",
         fmt::format("The last session with {} did not end by itself. Its scene of {}, with what "
                     "was not saved, was kept.",
                     editor_->file().filename().string(), found->when),
         "Without opening it, it stays kept; the gallery offers it too.",
         {{"Open what was kept", "Opens it in place of what the file has",
           [this, found] { open_autosave(*found); }},
          {"Throw it away", "Deletes what was kept",
           [found] { session::Editor::discard_autosave(*found); }},
          {"Not now", "Goes on with what the file has", [] {}}}});
}

void Workspace::begin_opening(std::unique_ptr<session::Editor> fresh) {
    opening_ = std::move(fresh);
    opening_number_ = ++number_;
    error_before_ = now().error;
    send(session::Apply{opening_->document(), opening_number_, opening_->place(), true});
}

fs::path Workspace::opening_file() const { return opening_ ? opening_->file() : fs::path(); }

void Workspace::finish_opening() {
    if (!opening_ || now().applied_revision < opening_number_) return;
    if (now().revision < opening_number_) {
        // While it is being built there is no error yet, or one of something before.
        if (!now().error || now().error == error_before_) return;
        const std::unique_ptr<session::Editor> refused = std::move(opening_);
        shown_error_ = now().error;
        failed_load(refused->place(), *now().error);
        return;
    }
    std::unique_ptr<session::Editor> fresh = std::move(opening_);
    editor_ = std::move(fresh);
    sent_revision_ = editor_->revision();
    accepted_waits_ = false;
    after_accept_ = after_name_ = {};
    selection_ = {};
    parts = {};
    camera_is_set = false;
    show_gallery = false;
    mended.reset();
    broken.reset();
    text_changed = false;
    ++scenes_shown_;
    // How the scene before was looked at says nothing about this one. What is a setting stays.
    view = {};
    settings.set(view);
    follow_path = false;
    hidden.clear();
    fit_arrows = true;
    look = session::ColourLook::of(document());
    look.apply(view, now());
    session::ViewLook looks = session::ViewLook::of(document());
    looks.apply(view);
    arrows = std::move(looks.arrows);
    distances = std::move(looks.distances);
    send_frame_contents();
    send(session::Repeat{looping});
    set_speed(session::fitting_speed(duration()));
    send(session::Play{true});
    const bool optimises = std::exchange(optimise_when_open, false);
    if (const std::string name = std::exchange(checkpoint_when_open, {}); !name.empty())
        use_checkpoint(name, optimises);
    else if (optimises)
        optimise(session::Optimise::What::start);
    // Curves of other scenes are not compared with those of this one unless they are asked for.
    for (std::size_t k = 0; k < runs.list().size(); ++k) {
        const session::KeptRun& run = runs.list()[k];
        runs.show(run.number, run.shown && run.scene == now().name);
    }
    if (!editor_->unsaved()) offer_autosave();
}

// Throws Error if the file cannot be read.
void Workspace::mark_broken(const fs::path& file, const Error& error) {
    broken = Broken{file, read_file(file), error};
    mended = file;
}

// The text with the fault marked, in the panel, or in the whole window where there is no panel.
void Workspace::show_broken(const fs::path& file, const Error& error) {
    try {
        mark_broken(file, error);
        if (log) log->add(session::LogLine::Level::error, error.what());
        focus_panel = "Scene file";
    } catch (const Error& unreadable) {
        fail(unreadable);
    }
}

void Workspace::failed_load(const fs::path& file, const Error& error) {
    if (mended == file && !file.empty()) {  // its text is on the screen
        show_broken(file, error);
        return;
    }
    if (log) log->add(session::LogLine::Level::error, error.what());
    Question question;
    question.title = "This scene cannot be opened";
    question.text = file.empty() ? "" : file.filename().string();
    question.detail = error.what();
    if (!file.empty()) {
        question.answers.push_back({"Show in the file",
                                    "Shows the text with the fault marked, to be put right here",
                                    [this, file, error] { show_broken(file, error); }});
    }
    question.answers.push_back(
        {"Close", has_scene() ? "What was open stays open" : "Nothing is opened", [] {}});
    ask(std::move(question));
}

bool Workspace::has_unaccepted() const {
    return has_scene() && !opening_ && now().unaccepted && !accepted_waits_ &&
           now().applied_revision >= accepted_in_;
}

// "iteration 12, which is shown, with the loss 3.4e-05": what would be accepted.
std::string Workspace::results_text() const {
    const auto& history = now().history;
    if (!history || history->empty()) return "the newest ones";
    const bool shown = now().shown_iteration >= 0 && !now().shows_older_scene();
    const std::int64_t last = history->back().iteration;
    const std::int64_t iteration = shown ? now().shown_iteration : last;
    for (const session::IterationInfo& row : *history)
        if (row.iteration == iteration)
            return fmt::format("those of iteration {}{}, with the loss {}", iteration,
                               iteration != last ? ", which is shown" : "",
                               number_text(row.loss, 3));
    return "the newest ones";
}

void Workspace::when_saved(std::function<void()> next) {
    if (has_scene() && text_changed) {
        ask({"The text is not applied",
             "The text of " + title() + " was changed in the panel Scene file and not applied yet.",
             "Ctrl+Enter there applies it.",
             {{"Discard the text", "What was typed is lost",
               [this, next] {
                   text_changed = false;
                   when_saved(next);
               }},
              {"Cancel", "Everything stays as it is", [this] { focus_panel = "Scene file"; }}},
             1});
        return;
    }
    const bool unsaved = editor_->has_scene() && editor_->unsaved(), example = is_example();
    const bool optimised = has_unaccepted(), identified = has_unaccepted_identification();
    const bool identifies = has_scene() && !opening_ && identification && identification->runs;
    const bool found = optimised || identified;
    if (!unsaved && !found && !identifies) {
        next();
        return;
    }
    const std::string file = editor_->file().empty() ? "the scene that is open, which has no file"
                                                     : editor_->file().filename().string();
    const auto save_then = [this, next] {
        after_name_ = next;
        if (save_as_it_is()) {
            forget_name();
            next();
        } else if (!show_save_as) {
            forget_name();
        }
    };
    const std::string save = example ? "Save as..." : "Save";
    Question question;
    question.title = unsaved ? "Unsaved changes"
                     : found ? "Values that are not accepted"
                             : "The identification is running";
    const auto add_accept = [&](const char* label, const char* values, std::function<void()> act) {
        question.answers.push_back(
            {std::string(label) + (example ? " and save as..." : " and save"),
             std::string("Writes the values ") + values + " into the scene and the scene into " +
                 (example ? "a file of yours" : "its file") + ", then goes on",
             std::move(act)});
    };
    if (found) {
        const std::string by = !identified ? "optimisation has"
                               : optimised ? "optimisation and the identification have"
                                           : "identification has";
        question.text = std::string(unsaved ? "There are unsaved changes, and the " : "The ") + by +
                        " found values that are not in " + file + " yet.";
        if (optimised) {
            question.detail = "Accepting writes " + results_text() + ", into the scene.";
            add_accept(identified ? "Accept optimised" : "Accept", "of the optimisation",
                       [this, save_then] { accept_and_save(save_then); });
        }
        if (identified)
            add_accept(optimised ? "Accept identified" : "Accept", "of the identification",
                       [this, save_then] { accept_identified_and_save(save_then); });
    } else if (unsaved) {
        question.text = example ? "Save the changes to the example " + file + " in a file of yours?"
                                : "Save the changes to " + file + "?";
    } else {
        question.text = "The parameters of " + file + " are still being identified.";
    }
    const auto add_detail = [&question](const std::string& sentence) {
        question.detail += (question.detail.empty() ? "" : " ") + sentence;
    };
    if (identifies) add_detail("Going on ends the identification; nothing of it is kept.");
    if (example && (unsaved || found)) add_detail("The bundled example stays as it is.");
    if (unsaved)
        question.answers.push_back({found ? save + (example ? " without" : " without them") : save,
                                    found ? "Writes the scene as it was edited; the values that "
                                            "were found are lost"
                                    : example
                                        ? "Writes the scene into a file of yours, then goes on"
                                        : "Writes the scene's file, then goes on",
                                    save_then});
    question.answers.push_back({unsaved || found ? "Discard" : "End it",
                                unsaved ? "The changes are lost"
                                : found ? "The values that were found are lost"
                                        : "The identification is lost",
                                next});
    question.answers.push_back({"Cancel", "Everything stays as it is", [] {}});
    // Accepting replaces values of the scene, and saving without them loses those that were found.
    if (found || !unsaved) question.chosen = question.answers.size() - 1;
    ask(std::move(question));
}

void Workspace::close() {
    when_saved([this] {
        edit([](session::Editor& e) { e.close(); });
        text_changed = false;
        ++scenes_shown_;
        selection_ = {};
        parts = {};
        show_gallery = true;
        send(session::Play{false});
        send(session::ShowIteration{});
        send(session::Ghost{});
        if (is_optimising()) optimise(session::Optimise::What::stop);
    });
}

bool Workspace::save_as_it_is() {
    if (editor_->file().empty() || is_example()) {
        show_save_as = true;
        return false;
    }
    if (!edit([](session::Editor& e) { e.save(); })) return false;
    mended_now(editor_->file().string());
    tell("Saved " + editor_->file().filename().string(), Notice::Kind::success);
    return true;
}

bool Workspace::save() {
    after_name_ = {};
    const bool found = has_unaccepted(), identified = has_unaccepted_identification();
    if (!save_as_it_is()) return false;
    if (text_changed) {
        Notice notice;
        notice.text = "What was typed into the scene's text is not saved";
        notice.detail = "It is not applied yet: Ctrl+Enter in the panel Scene file does that.";
        notice.until = frame_wishes().now() + 3 * notice_seconds;
        tell(std::move(notice));
    }
    if (!found && !identified) return true;
    const std::string saved = "Saved " + editor_->file().filename().string();
    Notice notice;
    notice.text = saved + " without what was found";
    notice.detail = fmt::format(
        "The {} has found values that are not in the scene: accepting writes {}.",
        found ? "optimisation" : "identification", found ? results_text() : "its estimates");
    notice.button = "Accept and save";
    notice.action = [this, found] { found ? accept_and_save() : accept_identified_and_save(); };
    notice.until = frame_wishes().now() + 5 * notice_seconds;
    std::erase_if(notices_, [&](const Notice& n) { return n.text == saved; });
    tell(std::move(notice));
    return true;
}

bool Workspace::save_as(const fs::path& file) {
    if (is_bundled(file)) {
        fail(Error("the folder of the bundled scenes is not written to: " + file.string())
                 .remedy("choose another folder"));
        return false;
    }
    const std::string before = editor_->file().string();
    if (!edit([&](session::Editor& e) { e.save_as(file); })) return false;
    if (!before.empty()) mended_now(before);
    tell("Saved " + file.string(), Notice::Kind::success);
    if (const std::function<void()> next = std::exchange(after_name_, {})) next();
    return true;
}

void Workspace::forget_name() { after_name_ = {}; }

void Workspace::reload(bool by_user) {
    const std::string name = editor_->file().filename().string();
    try {
        const bool refused = editor_->revision() == sent_revision_ &&
                             now().applied_revision == number_ && now().revision < number_;
        editor_->reload(!refused);
        broken.reset();
        mended.reset();
        mended_now(editor_->file().string());
        tell(by_user ? name + " was read once more"
                     : name + " was changed elsewhere and was read again");
    } catch (const Error& error) {
        // What runs stays; the text is shown where it is wrong.
        try {
            mark_broken(editor_->file(), error);
        } catch (const Error&) {
            broken.reset();
        }
        Notice notice;
        notice.kind = Notice::Kind::error;
        notice.text = name + (by_user ? " does not load" : " was changed and does not load");
        notice.detail = error.what();
        notice.about = editor_->file().string();
        if (broken) {
            notice.button = "Show in the file";
            notice.action = [this] { focus_panel = "Scene file"; };
        }
        tell(std::move(notice));
    }
}

std::string Workspace::title() const {
    if (!has_scene()) return "no scene";
    const Node* name = document().find("/name");
    std::string text = name != nullptr && name->is_string() ? name->string()
                       : editor_->file().empty()            ? "new scene"
                                                            : editor_->file().stem().string();
    return text;
}

std::string Workspace::heading() const {
    const std::string text = title(), file = editor_->file().filename().string();
    return !has_scene() || file.empty() || file == text ? text : text + " (" + file + ")";
}

std::string Workspace::file_stem() const {
    std::string stem = title();
    for (char& c : stem) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 128 && std::isalnum(byte) == 0 && c != '.' && c != '-') c = '_';
    }
    if (stem.starts_with('.') || stem.starts_with('-')) stem.front() = '_';
    return stem;
}

bool Workspace::is_bundled(const fs::path& file) const {
    std::error_code error;
    const fs::path place = fs::weakly_canonical(fs::absolute(file, error), error);
    return std::ranges::any_of(galleries_, [&](const fs::path& gallery) {
        const fs::path folder = fs::weakly_canonical(fs::absolute(gallery, error), error);
        return std::ranges::mismatch(folder, place).in1 == folder.end();
    });
}

fs::path Workspace::output_folder() const {
    const fs::path file = editor_->place();
    if (!file.empty() && !is_bundled(file)) return fs::absolute(file).parent_path();
    fs::path here = fs::current_path();
    if (!is_bundled(here)) return here;
    const char* const home = std::getenv("HOME");
    return home != nullptr && *home != '\0' ? fs::path(home) : fs::temp_directory_path();
}

void Workspace::request_quit() {
    when_saved([this] { quit_ = true; });
}

void Workspace::end_without_asking(bool now) {
    using std::chrono::steady_clock;
    constexpr auto patience = std::chrono::seconds(2);
    if (!ends_by_) {
        question_.reset();
        ends_by_ = steady_clock::now() + (has_unaccepted() && !now ? patience : patience * 0);
        // The scene as it was edited is safe at once, with what was identified.
        if (has_unaccepted_identification() && !has_unaccepted()) identification->accept();
        edit([](session::Editor& e) { e.autosave(); });
        if (has_unaccepted() && !now)
            accept_and([this] { ends_by_ = steady_clock::time_point(); }, true);
    }
    if (now) {
        ends_by_ = steady_clock::time_point();
        go_on_ending();
    }
}

void Workspace::go_on_ending() {
    if (!ends_by_ || quit_ || std::chrono::steady_clock::now() < *ends_by_) return;
    edit([this](session::Editor& e) { left_autosave_ = e.leave_autosave(); });
    quit_ = true;
}

}  // namespace hindcast::gui
