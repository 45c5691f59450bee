// The hand-over between the caller and a start's thread: one mutex, one condition, one word that
// says whose turn it is. Only the side whose turn it is touches the data that the turn owns.
#include "engine/sim/optimization/multi_start.hpp"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include "engine/base/float_environment.hpp"
#include "engine/base/random.hpp"
#include "engine/base/stopped.hpp"

namespace hindcast {

namespace {
struct Abandoned {};
}  // namespace

class MultiStart::Member {
public:
    Member(Simulation& simulation, Point start, std::int64_t iterations)
        : optimization(simulation, iterations) {
        result.start = std::move(start);
        optimization.set_evaluator(
            [this](const Point& values, bool gradient) { return ask(values, gradient); });
    }
    ~Member() {
        if (!thread_.joinable()) return;
        {
            const std::lock_guard lock(mutex_);
            abandoned_ = true;
            changed_.notify_all();
        }
        thread_.join();
    }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    // Runs until a roll-out is wanted or the end is reached.
    void start(const Optimization::Watch& watch) {
        thread_ = std::thread([this, watch] { body(watch); });
        wait();
    }
    void answer(std::optional<Ensemble::Result> reply, std::exception_ptr failure) {
        {
            const std::lock_guard lock(mutex_);
            reply_ = std::move(reply);
            failure_ = std::move(failure);
            turn_ = Turn::own;
            changed_.notify_all();
        }
        wait();
    }
    bool ended() const { return turn_ == Turn::ended; }

    Optimization optimization;
    Result result;
    Point wanted;  // while it waits
    bool wants_gradient = false;

private:
    enum class Turn { own, caller, ended };

    void wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return turn_ != Turn::own; });
    }

    std::optional<Ensemble::Result> ask(const Point& values, bool gradient) {
        std::unique_lock lock(mutex_);
        if (abandoned_) throw Abandoned();
        wanted = values;
        wants_gradient = gradient;
        turn_ = Turn::caller;
        changed_.notify_all();
        changed_.wait(lock, [this] { return turn_ == Turn::own || abandoned_; });
        if (abandoned_) throw Abandoned();
        if (failure_) std::rethrow_exception(failure_);
        return std::move(reply_);
    }

    void body(const Optimization::Watch& watch) {
        const FloatEnvironment rules;
        try {
            result.outcome = optimization.run(watch);
        } catch (const Abandoned&) {
            result.failure = "abandoned";
        } catch (const std::exception& e) {
            result.failure = e.what();
        }
        const std::lock_guard lock(mutex_);
        turn_ = Turn::ended;
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    Turn turn_ = Turn::own;
    bool abandoned_ = false;
    std::optional<Ensemble::Result> reply_;  // none: stop
    std::exception_ptr failure_;
    std::thread thread_;
};

// ---------------------------------------------------------------- starts

std::vector<MultiStart::Point> MultiStart::starts(Simulation& simulation, std::size_t count,
                                                  std::uint64_t seed) {
    const document::ElementaryTable functions = own_elementary_functions();
    std::vector<Point> points{simulation.parameters().values()};
    for (std::size_t k = 1; k < count; ++k) {
        const Random random(seed, k);
        Point point;
        for (const Parameter& p : simulation.parameters().list()) {
            if (!std::isfinite(p.low) || !std::isfinite(p.high) || (p.log_scale && p.low <= 0))
                throw Error("'" + p.path + "' has no bounds to draw a start from")
                    .remedy(p.log_scale ? "give it \"bounds\": [low, high] above 0"
                                        : "give it \"bounds\": [low, high]");
            for (std::size_t e = 0; e < p.entries.size(); ++e) {
                const std::size_t number = point.size();
                const double value = p.log_scale
                                         ? functions.exp(random.uniform(
                                               number, functions.log(p.low), functions.log(p.high)))
                                         : random.uniform(number, p.low, p.high);
                point.push_back(std::clamp(value, p.low, p.high));
            }
        }
        points.push_back(std::move(point));
    }
    return points;
}

MultiStart::MultiStart(Simulation& simulation, std::vector<Point> starts, std::int64_t iterations,
                       const std::function<bool()>& interrupt, std::vector<Simulation*> others)
    : simulation_(simulation),
      ensemble_(simulation, {.members = std::max<std::size_t>(starts.size(), 1),
                             .go_on = [interrupt] { return !interrupt || !interrupt(); },
                             .others = std::move(others)}) {
    if (starts.empty() || starts.size() > most_starts)
        throw Error(std::to_string(starts.size()) + " starts are not possible")
            .remedy("give from 1 to " + std::to_string(most_starts));
    for (Point& start : starts)
        members_.push_back(std::make_unique<Member>(simulation, std::move(start), iterations));
}

MultiStart::~MultiStart() = default;

std::int64_t MultiStart::iterations() const { return members_.front()->optimization.iterations(); }
std::string MultiStart::report() const { return ensemble_.report(); }
std::string MultiStart::describe() const { return members_.front()->optimization.describe(); }

// ---------------------------------------------------------------- running

// Makes the roll-outs that these wait for, and lets them go on.
void MultiStart::answer(std::vector<Member*>& waiting, bool gradient) {
    std::vector<Point> points;
    for (const Member* member : waiting) points.push_back(member->wanted);
    std::vector<std::optional<Ensemble::Result>> replies(points.size());
    std::vector<std::exception_ptr> failures(points.size());
    const auto evaluate = [&](std::size_t first, std::size_t count) {
        std::size_t k = first;
        for (Ensemble::Result& result :
             ensemble_.evaluate(std::span(points).subspan(first, count), gradient))
            replies[k++] = std::move(result);
    };
    try {
        evaluate(0, points.size());
    } catch (const Stopped&) {
        stop_ = true;
    } catch (const Error&) {  // that of one of them: the others go on
        for (std::size_t k = 0; k < points.size(); ++k) {
            try {
                evaluate(k, 1);
            } catch (const Error&) {
                failures[k] = std::current_exception();
            }
        }
    }
    for (std::size_t k = 0; k < waiting.size(); ++k)
        waiting[k]->answer(std::move(replies[k]), failures[k]);
}

void MultiStart::watch_rows(
    std::function<void(std::size_t start, const Optimization::Row& row)> watch) {
    row_watch_ = std::move(watch);
}

std::vector<MultiStart::Result> MultiStart::run(
    const std::function<bool(std::int64_t rows)>& watch) {
    const Point before = simulation_.parameters().values();
    std::int64_t rows = 0;
    std::size_t number = 0;
    for (const auto& member : members_) {
        member->optimization.set_interrupt([this] { return stop_; });
        simulation_.parameters().set_values(member->result.start);
        member->start([this, &rows, &watch, m = member.get(),
                       start = number++](const Optimization::Row& row) {
            if (!m->result.initial_loss) m->result.initial_loss = row.loss;
            if (row_watch_) row_watch_(start, row);
            if (watch && !watch(++rows)) stop_ = true;
            return !stop_;
        });
    }
    while (true) {
        std::vector<Member*> losses, gradients;
        for (const auto& member : members_)
            if (!member->ended())
                (member->wants_gradient ? gradients : losses).push_back(member.get());
        if (losses.empty() && gradients.empty()) break;
        if (!losses.empty()) answer(losses, false);
        if (!gradients.empty()) answer(gradients, true);
    }
    simulation_.parameters().set_values(before);
    std::vector<Result> results;
    for (const auto& member : members_) results.push_back(member->result);
    return results;
}

std::size_t MultiStart::best(const std::vector<Result>& results) {
    std::size_t found = results.size();
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < results.size(); ++k) {
        const double loss = results[k].outcome.best.loss;
        if (!results[k].failure.empty() || !(loss < least)) continue;
        found = k;
        least = loss;
    }
    if (found == results.size())
        throw Error("no start has a finite loss").remedy("narrow the bounds of the parameters");
    return found;
}

}  // namespace hindcast
