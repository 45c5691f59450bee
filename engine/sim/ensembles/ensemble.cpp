// evaluate() takes the points as they come: one after the other, as many as fit in a batch, or all
// remaining ones on the threads. Measured times decide which; the results have the same bits.
#include "engine/sim/ensembles/ensemble.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/backend/cpu/cpu.hpp"
#include "engine/backend/cpu/program/batch.hpp"
#include "engine/backend/jit/interruption.hpp"
#include "engine/base/float_environment.hpp"
#include "engine/base/stopped.hpp"
#include "engine/base/thread_pool.hpp"
#include "engine/runtime/executors/function_executor.hpp"

namespace hindcast {

namespace {

// A batch takes about as long to compile, copies to be made.
constexpr double seconds_before_compiling = 0.25;
// Runs of a batch, or on threads, before they are judged by their time.
constexpr int trials = 3;
// Memory of all groups that run at once.
constexpr std::int64_t cached_bytes = 4 << 20;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

// Runs without, and with, a backward pass.
struct Ensemble::Way {
    bool tried = false;
    std::string refusal;  // "": no reason to go one after the other
    std::unique_ptr<Schedule> schedule;
    std::unique_ptr<Timeline> timeline;         // of the schedule
    std::unique_ptr<FunctionExecutor> program;  // whose texts the batch runs
    std::unique_ptr<backend::Batch> batch;
    std::vector<char> marked;  // groups of which the members must run alone
    double seconds_alone = 0;  // in all
    double alone = 1e300;      // least seconds of a member
    double group = 1e300;      // least seconds of a group of lanes, the first run left out
    int runs = 0;              // of the batch
    bool has_copies = false, copies_tried = false;
    std::string no_copies;    // why there are none
    double together = 1e300;  // least seconds of a member where as many run as there are threads
    int runs_together = 0;
};

Ensemble::Ensemble(Simulation& simulation, const EnsembleOptions& options)
    : simulation_(simulation), options_(options) {
    if (options_.members == 0) throw Error("an ensemble of no members");
    for (auto& way : ways_) way = std::make_unique<Way>();
}

Ensemble::~Ensemble() = default;

std::string Ensemble::report() const { return report_; }

// ---------------------------------------------------------------- making a batch

namespace {

// Throws Error where gradients need more than a forward and a backward run of all steps.
void check_gradients(Simulation& simulation) {
    const std::int64_t horizon = simulation.rollout().horizon();
    if (horizon > 0 && horizon < simulation.steps())
        throw Error("its gradients go over the last steps only");
}

std::vector<Array> state_arrays(Simulation& simulation) {
    std::vector<Array> list;
    for (const auto& [name, published] : simulation.model().arrays())
        if (published.state) list.push_back(published.array);
    return list;
}

}  // namespace

// Throws Error, with the reason, where members must run one after the other.
void Ensemble::make_batch(Way& way, bool gradient) {
    const DeviceOptions& device = simulation_.options().device->options();
    model::Model& model = simulation_.model();
    if (device.kind != DeviceKind::cpu) throw Error("the device is not the CPU");
    if (simulation_.rollout().starts_at_horizon()) throw Error("its runs begin at a horizon");
    if (gradient) check_gradients(simulation_);
    way.schedule = make_schedule(model.prologue(), model.step_program(), simulation_.steps(),
                                 model.events(), RolloutMode::first, gradient, 0, device.passes);
    Schedule& s = *way.schedule;
    const int lanes = std::max(backend::cpu_width(simulation_.options().precision), device.width);
    const std::int64_t limit = simulation_.rollout().memory_limit();
    if (s.demand.history(s.steps) > limit / lanes || s.demand.fixed > limit / lanes)
        throw Error("what gradients of " + std::to_string(lanes) +
                    " members keep is more than their memory");
    s.allocate(*simulation_.options().device, s.steps);
    way.timeline = std::make_unique<Timeline>(s, model.step_counter());
    way.timeline->check_finite(state_arrays(simulation_), Simulation::divergence_interval);
    way.program =
        std::make_unique<FunctionExecutor>(*way.timeline, FunctionExecutor::Over::run, device);
    std::vector<backend::ProgramText> texts;
    if (gradient) {
        texts.push_back(way.program->text(RunKind::recording));
        texts.push_back(way.program->text(RunKind::back));
    } else {
        texts.push_back(way.program->text(RunKind::forward));
    }
    std::vector<const void*> differs;
    for (const Parameter& p : simulation_.parameters().list())
        differs.push_back(p.quantity->array.data());
    for (const Array& g : s.gradients) differs.push_back(g.data());
    way.batch = std::make_unique<backend::Batch>(std::move(texts), differs, lanes, device.width);
    if (way.batch->group_bytes() > limit)
        throw Error("its memory for " + std::to_string(lanes) + " members is more than the limit");
}

// Decides how the next of `left` points run.
bool Ensemble::use_lanes(Way& way, bool gradient, std::size_t left) {
    const WholeProgramUse compiled = simulation_.options().device->options().whole_program;
    if (options_.use == EnsembleUse::one_by_one || options_.use == EnsembleUse::threads) {
        way.refusal = "as asked for";
        return false;
    }
    const bool at_once = options_.use == EnsembleUse::lanes || compiled == WholeProgramUse::always;
    if (!way.tried && !at_once) {
        if (compiled == WholeProgramUse::never) {
            way.refusal = "compiled programs are not wanted";
            return false;
        }
        if (way.seconds_alone < seconds_before_compiling) {
            way.refusal = "there is little to do";
            return false;
        }
    }
    if (!way.tried) {
        way.tried = true;
        way.refusal.clear();
        try {
            make_batch(way, gradient);
        } catch (const Error& e) {
            way.batch.reset();
            way.program.reset();
            way.schedule.reset();
            if (options_.use == EnsembleUse::lanes) {
                way.tried = false;
                throw Error("the members of this ensemble cannot run in lanes: " + e.happened())
                    .remedy("let the program choose");
            }
            way.refusal = e.happened();
        }
    }
    if (!way.batch) return false;
    if (at_once) return true;
    const double seconds = in_lanes_seconds(way, std::min(left, places(way)));
    if (way.runs > trials && (seconds >= way.alone || seconds >= way.together)) {
        way.refusal = "lanes are slower here";
        return false;
    }
    way.refusal.clear();
    return true;
}

// Seconds for each of so many members, in lanes.
double Ensemble::in_lanes_seconds(const Way& way, std::size_t members) {
    return static_cast<double>(groups_of(way, members)) * way.group / static_cast<double>(members);
}

// True if the members run on threads. Lanes come first: threads replace them only if they can be
// faster.
bool Ensemble::use_threads(Way& way, bool gradient, std::size_t left) {
    const bool at_once = options_.use == EnsembleUse::threads;
    if (!at_once) {
        if (options_.use != EnsembleUse::automatic || left < 2 ||
            way.seconds_alone < seconds_before_compiling)
            return false;
        const auto threads = static_cast<double>(simulation_.options().device->options().threads);
        if (way.batch && way.refusal.empty()) {
            const double lanes = in_lanes_seconds(way, std::min(left, places(way)));
            if (way.runs <= trials || lanes < way.alone / threads) return false;
            if (way.runs_together > trials && lanes <= way.together) return false;
        }
    }
    if (!way.copies_tried) {
        way.copies_tried = true;
        try {
            if (!copies_)
                copies_ =
                    std::make_unique<Copies>(simulation_, at_once ? SIZE_MAX : options_.members);
            if (gradient) copies_->plan_gradients();
            way.has_copies = true;
        } catch (const Error& e) {
            way.no_copies = e.happened();
        }
    }
    if (!way.has_copies) {
        if (!at_once) return false;
        throw Error("the members of this ensemble cannot run on a thread each: " + way.no_copies)
            .remedy("let the program choose");
    }
    if (!at_once && way.runs_together > trials && way.together >= way.alone) {
        if (way.refusal.empty() || !way.batch) way.refusal = "a thread each is slower here";
        return false;
    }
    return true;
}

// Groups of lanes that so many members fill.
std::size_t Ensemble::groups_of(const Way& way, std::size_t members) {
    const auto lanes = static_cast<std::size_t>(way.batch->lanes());
    return (members + lanes - 1) / lanes;
}

// The number of members that the batch holds at once: as many as requested, as long as the memory
// of all groups stays in the caches.
std::size_t Ensemble::places(const Way& way) const {
    const auto lanes = static_cast<std::size_t>(way.batch->lanes());
    const std::int64_t bytes = std::max<std::int64_t>(way.batch->group_bytes(), 1);
    const std::int64_t threads = simulation_.options().device->options().threads;
    const std::int64_t groups =
        std::min(std::max(cached_bytes / bytes, threads),
                 std::max<std::int64_t>(simulation_.rollout().memory_limit() / bytes, 1));
    return lanes * std::min(static_cast<std::size_t>(groups), groups_of(way, options_.members));
}

// ---------------------------------------------------------------- running

Ensemble::Result Ensemble::alone(Simulation& simulation, const std::vector<double>& point,
                                 bool gradient) {
    Result result;
    simulation.parameters().set_values(point);
    result.loss = simulation.run(gradient);
    result.terms = simulation.terms();
    if (gradient && std::isfinite(result.loss)) result.gradient = simulation.gradient();
    return result;
}

// The points from results.size() on: a free thread takes the next one. `one_each`: worker k takes
// point k of them, and no other.
void Ensemble::spread(std::span<const std::vector<double>> points, bool gradient,
                      const std::vector<Simulation*>& workers, bool one_each,
                      std::vector<Result>& results) const {
    std::mutex mutex;
    std::size_t next = results.size(), failed = points.size();
    const std::size_t first = next;
    std::exception_ptr failure;  // of the point `failed`
    results.resize(points.size());
    const auto goes_on = [&] { return !failure && (!options_.go_on || options_.go_on()); };
    const auto take = [&]() -> std::optional<std::size_t> {
        const std::lock_guard lock(mutex);
        if (next == points.size() || !goes_on()) return {};
        return next++;
    };
    std::atomic<bool> ended = false;  // all members are, by an interruption of the caller
    const auto end_all = [&] {
        const std::lock_guard lock(mutex);
        if (ended.exchange(true)) return;
        failed = 0;
        failure = std::current_exception();
    };
    const auto make = [&](Simulation& simulation, std::size_t point) {
        try {
            results[point] = alone(simulation, points[point], gradient);
        } catch (const Error&) {
            const std::lock_guard lock(mutex);
            if (point > failed) return;
            failed = point;
            failure = std::current_exception();
        } catch (...) {
            end_all();
        }
    };
    const auto work = [&](Simulation& simulation) {
        while (const auto point = take()) make(simulation, *point);
    };
    std::vector<std::thread> threads;
    std::size_t busy = 0;  // threads
    std::condition_variable rests;
    struct Join {
        std::vector<std::thread>& threads;
        ~Join() {
            for (std::thread& thread : threads) thread.join();
        }
    };
    const std::size_t most = points.size() - first;
    std::size_t count = std::min(workers.size(), most);
    if (one_each) {
        for (std::size_t k = 0; k < count; ++k)
            if (!goes_on()) count = k;
        next = first + count;
    }
    if (count > 0) {
        const Join join{threads};
        const auto start = [&](std::size_t k) {
            one_each ? make(*workers[k], first + k) : work(*workers[k]);
        };
        const bool may_end = backend::is_interruptible();
        for (std::size_t k = 1; k < count; ++k) {
            {
                const std::lock_guard lock(mutex);
                ++busy;
            }
            threads.emplace_back([&, k] {
                const FloatEnvironment rules;
                std::optional<backend::Interruptible> here;
                if (may_end)
                    here.emplace([&ended] {
                        if (ended) throw Stopped();
                    });
                start(k);
                here.reset();
                const std::lock_guard lock(mutex);
                if (--busy == 0) rests.notify_one();
            });
        }
        start(0);
        constexpr std::chrono::milliseconds between_looks{20};
        std::unique_lock lock(mutex);
        while (may_end && !rests.wait_for(lock, between_looks, [&] { return busy == 0; })) {
            lock.unlock();
            try {
                backend::interruption_point();
            } catch (...) {
                end_all();
            }
            lock.lock();
        }
    }
    results.resize(next);
    if (!failure) return;
    try {
        std::rethrow_exception(failure);
    } catch (Error& e) {
        e.note("in member " + std::to_string(failed) + " of an ensemble");
        throw;
    }
}

// The result of a member of the batch; with `state`, the simulation's arrays are set to its state.
Ensemble::Result Ensemble::read(const Way& way, std::size_t member, bool gradient, bool state) {
    const auto fetch = [&](const Array& array) {
        way.batch->get(member, array.data());
        array.touch();
    };
    Result result;
    for (const model::Term& term : simulation_.model().terms()) fetch(term.value);
    result.terms = simulation_.terms();
    for (const Simulation::TermValue& term : result.terms) result.loss += term.weight * term.value;
    if (gradient && std::isfinite(result.loss)) {
        for (const Parameter& p : simulation_.parameters().list())
            fetch(p.quantity->array.gradient());
        result.gradient = simulation_.parameters().gradient();
    }
    if (state)
        for (const Array& array : state_arrays(simulation_)) fetch(array);
    return result;
}

void Ensemble::in_lanes(Way& way, std::span<const std::vector<double>> points, bool gradient) {
    backend::Batch& batch = *way.batch;
    const auto lanes = static_cast<std::size_t>(batch.lanes());
    if (batch.members() < points.size()) batch.resize(points.size());
    const std::size_t groups = groups_of(way, points.size());
    Parameters& parameters = simulation_.parameters();
    for (std::size_t m = 0; m < groups * lanes; ++m) {  // the last point fills up its group
        if (m < points.size()) parameters.set_values(points[m]);
        for (const Parameter& p : parameters.list()) batch.put(m, p.quantity->array.data());
    }
    way.marked.assign(batch.members() / lanes, 1);
    std::fill_n(way.marked.begin(), groups, 0);
    way.schedule->bring_to_host();
    ThreadPool* const pool = simulation_.options().device->run_options().pool;
    batch.run(0, pool, way.marked);
    if (!gradient) return;
    for (const Array& g : way.schedule->gradients) batch.fill(g.data(), 0);
    for (const model::Term& term : simulation_.model().terms())
        batch.fill(term.value.gradient().data(), term.weight);
    batch.run(1, pool, way.marked);
}

// The next point.
void Ensemble::run_alone(std::span<const std::vector<double>> points, bool gradient,
                         const Look& look, std::vector<Result>& results) {
    const std::size_t point = results.size();
    try {
        results.push_back(alone(simulation_, points[point], gradient));
    } catch (Error& e) {
        e.note("in member " + std::to_string(point) + " of an ensemble");
        throw;
    }
    if (look) look(point);
}

// The next `count` points.
void Ensemble::run_group(Way& way, std::span<const std::vector<double>> points, std::size_t count,
                         bool gradient, const Look& look, std::vector<Result>& results) {
    const auto lanes = static_cast<std::size_t>(way.batch->lanes());
    const auto part = points.subspan(results.size(), count);
    in_lanes(way, part, gradient);
    for (std::size_t m = 0; m < count; ++m) {
        if (way.marked[m / lanes] != 0) {
            run_alone(points, gradient, look, results);
            continue;
        }
        if (look) simulation_.parameters().set_values(part[m]);
        results.push_back(read(way, m, gradient, static_cast<bool>(look)));
        if (look) look(results.size() - 1);
    }
}

// The next points: with a look as many as there are threads, else all of them.
void Ensemble::run_on_threads(Way& way, std::span<const std::vector<double>> points, bool gradient,
                              const Look& look, std::vector<Result>& results) {
    std::vector<Simulation*> workers;
    for (const auto& copy : copies_->list()) workers.push_back(copy.get());
    const std::size_t first = results.size();
    const double start = now();
    // A few at first, to be judged.
    const bool judge = options_.use == EnsembleUse::automatic && way.runs_together <= trials;
    std::size_t count = points.size() - first;
    if (judge || look) count = std::min(count, workers.size());
    spread(points.first(first + count), gradient, workers, static_cast<bool>(look), results);
    const std::size_t made = results.size() - first;
    if (made > 0 && ++way.runs_together > 1)  // code is made in the first one
        way.together = std::min(way.together, (now() - start) / static_cast<double>(made));
    if (!look) return;
    for (std::size_t k = 0; k < made; ++k) {
        simulation_.parameters().set_values(points[first + k]);
        simulation_.take_results(*workers[k]);
        look(first + k);
    }
}

std::vector<Ensemble::Result> Ensemble::evaluate(std::span<const std::vector<double>> points,
                                                 bool gradient, const Look& look) {
    struct Keep {
        Parameters& parameters;
        std::vector<double> values;
        ~Keep() { parameters.set_values(values); }
    } const keep{simulation_.parameters(), simulation_.parameters().values()};
    for (const std::vector<double>& point : points)
        if (point.size() != keep.values.size())
            throw Error(std::to_string(point.size()) + " values are given for " +
                        std::to_string(keep.values.size()) + " parameters");
    Way& way = *ways_[gradient ? 1 : 0];
    std::vector<Result> results;
    if (copies_)
        for (const auto& copy : copies_->list()) copy->take_quantities(simulation_);
    if (!options_.others.empty() && !look) {
        std::vector<Simulation*> workers{&simulation_};
        workers.insert(workers.end(), options_.others.begin(), options_.others.end());
        spread(points, gradient, workers, false, results);
        report_ = "spread over " + std::to_string(workers.size()) + " devices";
        return results;
    }
    results.reserve(points.size());
    bool go_on = true;
    while (results.size() < points.size() && go_on) {
        const std::size_t left = points.size() - results.size(), before = results.size();
        const bool lanes = use_lanes(way, gradient, left);
        if (use_threads(way, gradient, left)) {
            run_on_threads(way, points, gradient, look, results);
            go_on = results.size() > before;
            report_ = "on " + std::to_string(copies_->size()) + " threads";
            continue;
        }
        if (options_.go_on && !options_.go_on()) break;
        const double start = now();
        if (lanes) {
            const std::size_t count = std::min(left, places(way));
            run_group(way, points, count, gradient, look, results);
            if (++way.runs > 1)
                way.group = std::min(way.group,
                                     (now() - start) / static_cast<double>(groups_of(way, count)));
            const auto groups = static_cast<std::int64_t>(groups_of(way, way.batch->members()));
            report_ = "in " + std::to_string(way.batch->lanes()) + " lanes, " +
                      bytes_text(groups * way.batch->group_bytes());
        } else {
            run_alone(points, gradient, look, results);
            way.seconds_alone += now() - start;
            way.alone = std::min(way.alone, now() - start);
            if (left > 1 || before == 0) report_ = "one after the other: " + way.refusal;
        }
    }
    return results;
}

}  // namespace hindcast
