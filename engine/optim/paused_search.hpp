// A search that owns its loop, turned inside out: it runs on a thread of its own that is paused
// whenever it waits for a value, so that the caller's loop can ask for one point at a time.
//
//     PausedSearch search([](const PausedSearch::Objective& f) { ... minimize f ...; return why;
//     }); while (const std::vector<double>* x = search.next()) search.answer(value, gradient);
//     search.ending();                                          // why
//
// Only one of the two threads runs at a time. The destructor abandons the search: the objective
// then throws nlopt::forced_stop each time it is called, and the thread is joined.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace hindcast::optim {

class PausedSearch {
public:
    // Called by the search, on its thread. `gradient` is filled if it is not empty.
    using Objective = std::function<double(std::span<const double> x, std::span<double> gradient)>;
    // Runs on the search's thread; returns why it ended, in words.
    using Body = std::function<std::string(const Objective&)>;

    explicit PausedSearch(Body body);
    ~PausedSearch();
    PausedSearch(const PausedSearch&) = delete;
    PausedSearch& operator=(const PausedSearch&) = delete;

    // Waits for the next point that the search wants to know about. The same one until it is
    // answered; nullptr when the search has ended. An exception of the body is thrown here.
    const std::vector<double>* next();
    // Answers that point and lets the search go on.
    void answer(double value, std::span<const double> gradient);
    const std::string& ending() const { return ending_; }

private:
    enum class Turn { search, caller, ended };
    double ask(std::span<const double> x, std::span<double> gradient);

    std::mutex mutex_;
    std::condition_variable changed_;
    Turn turn_ = Turn::search;
    bool abandoned_ = false;
    std::vector<double> point_, gradient_;
    double value_ = 0;
    std::string ending_;
    std::exception_ptr failure_;
    std::thread thread_;
};

}  // namespace hindcast::optim
