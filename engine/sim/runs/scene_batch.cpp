// Members: their values, steps, states; which thread runs them.
#include "engine/sim/runs/scene_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>
#include <thread>

#include "engine/backend/executable.hpp"
#include "engine/base/float_environment.hpp"
#include "engine/base/thread_pool.hpp"
#include "engine/document/text.hpp"
#include "engine/model/settling.hpp"
#include "engine/sim/runs/batch_gradients.hpp"
#include "engine/sim/runs/batch_windows.hpp"
#include "engine/sim/runs/member_values.hpp"

namespace hindcast::runs {

namespace {

ArgumentFault fault(const std::string& what, const std::string& remedy) {
    ArgumentFault made(what);
    made.remedy(remedy);
    return made;
}

void clone(std::vector<std::pair<Array, Array>>& arrays) {
    for (auto& [array, copy] : arrays) copy = copy.clone();
}

// Scalars in C order, whatever the layout.
void copy_scalars(const Array& from, std::byte* to) {
    const std::size_t bytes = ir::size_of(from.type());
    const auto* const data = static_cast<const std::byte*>(from.data());
    const int components = from.components();
    const auto n = static_cast<std::size_t>(from.elements());
    if (from.layout() == Layout::contiguous || (components == 1 && from.element_stride() == 1)) {
        if (n > 0) std::memcpy(to, data, n * static_cast<std::size_t>(components) * bytes);
        return;
    }
    for (std::int64_t e = 0; e < from.elements(); ++e)
        for (int c = 0; c < components; ++c, to += bytes)
            std::memcpy(to,
                        data + (e * from.element_stride() + c * from.component_stride()) *
                                   static_cast<std::int64_t>(bytes),
                        bytes);
}

}  // namespace

// ---------------------------------------------------------------- making

SceneBatch::SceneBatch(Scene scene, const Registry& registry, SimulationOptions options,
                       std::size_t members)
    : runs_(std::move(scene), registry, std::move(options)),
      values_(std::make_unique<MemberValues>(runs_, members)),
      members_(members) {
    if (members == 0) throw fault("n: a batch of no members", "ask for one at least");
    runs_.go_on = [this] { return !go_on || go_on(); };
    const SimulationOptions& own = runs_.options();
    DeviceOptions device = own.device->options();
    std::size_t count = 1;
    if (device.kind == DeviceKind::cpu)
        count = std::min(members, static_cast<std::size_t>(device.threads));
    workers_.resize(count);
    const auto make = [&](int k) {
        SimulationOptions mine = own;
        if (count > 1) {
            DeviceOptions one = device;
            one.threads = 1;
            mine.device = std::make_shared<Device>(one);
        }
        workers_[static_cast<std::size_t>(k)] = runs_.simulation().copy(mine);
    };
    if (count == 1)
        make(0);
    else
        own.device->run_options().pool->run(static_cast<int>(count), make);
    reset({});
    const Rollout::State& state = members_[0].state;
    for (const auto& [name, published] : workers_[0]->model().arrays())
        for (std::size_t k = 0; k < state.arrays.size(); ++k)
            if (state.arrays[k].first.same_memory(published.array)) places_[name] = k;
}

SceneBatch::~SceneBatch() = default;

// ---------------------------------------------------------------- values

SceneRuns::Value SceneBatch::values(const std::string& path) { return values_->values(path); }

void SceneBatch::set(const std::string& path, const Mask& mask, std::span<const double> numbers) {
    values_->set(path, chosen(mask), numbers);
}

// ---------------------------------------------------------------- threads

struct SceneBatch::Work {
    std::thread::id caller;
    std::atomic<bool> stop{false}, interrupted{false};
    std::mutex mutex;
    std::size_t failed = SIZE_MAX;  // the first member whose run raised an error
    std::exception_ptr failure;
    std::chrono::steady_clock::time_point asked = std::chrono::steady_clock::now();
};

bool SceneBatch::goes_on() {
    Work& work = *work_;
    if (work.stop) return false;
    if (std::this_thread::get_id() != work.caller) return true;
    const auto now = std::chrono::steady_clock::now();
    if (!go_on || now - work.asked < asking_interval) return true;
    work.asked = now;
    if (go_on()) return true;
    work.interrupted = work.stop = true;
    return false;
}

std::vector<std::size_t> SceneBatch::chosen(const Mask& mask) const {
    if (!mask.empty() && mask.size() != size())
        throw ArgumentFault(
            fmt::format("mask: {} values are given for {} members", mask.size(), size()));
    std::vector<std::size_t> list;
    for (std::size_t m = 0; m < size(); ++m)
        if (mask.empty() || mask[m] != 0) list.push_back(m);
    return list;
}

void SceneBatch::each(const std::vector<std::size_t>& members,
                      const std::function<void(std::size_t, std::size_t)>& f) {
    std::vector<std::vector<std::size_t>> lists(workers_.size());
    for (const std::size_t m : members) lists[worker_of(m)].push_back(m);
    std::erase_if(lists, [](const auto& list) { return list.empty(); });
    if (lists.empty()) return;
    Work work;
    work.caller = std::this_thread::get_id();
    work_ = &work;
    struct Done {
        Work*& work;
        ~Done() { work = nullptr; }
    } const done{work_};
    const auto one = [&](int k) {
        for (const std::size_t m : lists[static_cast<std::size_t>(k)]) {
            if (!goes_on()) return;
            try {
                f(worker_of(m), m);
            } catch (...) {
                const std::lock_guard lock(work.mutex);
                work.stop = true;
                if (m > work.failed) continue;
                work.failed = m;
                work.failure = std::current_exception();
            }
        }
    };
    const auto most = std::ranges::max(lists, {}, [](const auto& list) { return list.size(); });
    const int count = static_cast<int>(lists.size());
    if (count == 1) {
        one(0);
    } else if (!runs_.is_long(took_ * static_cast<double>(most.size()))) {
        runs_.options().device->run_options().pool->run(count, one);
    } else {  // only the caller can ask for interruptions, so the others must not hold it up
        std::mutex mutex;
        std::condition_variable ended;
        int running = count - 1;
        std::vector<std::jthread> threads;
        for (int k = 1; k < count; ++k)
            threads.emplace_back([&, k] {
                const FloatEnvironment rules;
                one(k);
                const std::lock_guard lock(mutex);
                --running;
                ended.notify_one();
            });
        one(0);
        std::unique_lock lock(mutex);
        while (!ended.wait_for(lock, asking_interval, [&] { return running == 0; })) {
            lock.unlock();
            goes_on();
            lock.lock();
        }
    }
    if (work.interrupted) throw Interrupted();
    if (!work.failure) return;
    try {
        std::rethrow_exception(work.failure);
    } catch (Error& error) {
        error.note(fmt::format("in member {} of the batch", work.failed));
        throw;
    }
}

// ---------------------------------------------------------------- steps

// From where the member is, or from the start, until so many (sub)steps are done.
void SceneBatch::run_to(std::size_t worker, std::size_t m, std::int64_t target, bool anew) {
    Simulation& simulation = *workers_[worker];
    Rollout& rollout = simulation.rollout();
    Member& member = members_[m];
    values_->apply(simulation, m);
    std::int64_t reached = 0;
    bool stopped = false;
    const Rollout::Watch watch = [&](std::int64_t done) {
        reached = done;
        if (done >= target) return false;
        stopped = !goes_on();
        return !stopped;
    };
    const auto start = std::chrono::steady_clock::now();
    if (anew)
        rollout.forward(false, watch);
    else
        rollout.forward_from(member.state, watch);
    if (stopped) return;  // it stays where it was
    if (worker == 0)
        took_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    member.diverged = rollout.divergence().has_value() || rollout.look(reached);
    if (member.state.arrays.empty()) {
        member.state = rollout.copy_state(reached);
        return;
    }
    member.state.step = reached;
    for (const auto& [array, copy] : member.state.arrays) copy.copy_from(array);
}

void SceneBatch::reset(const Mask& mask, const std::vector<Given>& states) {
    const std::vector<std::size_t> which = chosen(mask);
    for (const Given& given : states) {
        const std::size_t n = size_of(given.name, "states");
        if (given.numbers.size() != n * size())
            throw ArgumentFault(
                fmt::format("states: '{}' is {} numbers for each of {} members, and "
                            "{} are given",
                            given.name, n, size(), given.numbers.size()));
        for (const std::size_t m : which)
            for (std::size_t k = m * n; k < (m + 1) * n; ++k)
                if (!std::isfinite(given.numbers[k]))
                    throw ArgumentFault(
                        fmt::format("states: '{}' of member {} has a number that "
                                    "is not finite",
                                    given.name, m));
    }
    each(which, [&](std::size_t worker, std::size_t m) {
        run_to(worker, m, 0, true);
        for (const Given& given : states) {
            const Array& to = members_[m].state.arrays[places_.at(given.name)].second;
            const auto n = static_cast<std::size_t>(to.size());
            to.assign(std::span(given.numbers).subspan(m * n, n));
        }
        if (!states.empty()) settle(worker, m);
    });
}

// Makes what follows from the state of a member that was changed.
void SceneBatch::settle(std::size_t worker, std::size_t m) {
    const Program& program = workers_[worker]->model().shared<model::Settling>().program;
    if (program.launches().empty()) return;
    for (const auto& [array, copy] : members_[m].state.arrays) array.copy_from(copy);
    for (const Launch& launch : program.launches()) launch.forward().run();
    for (const auto& [array, copy] : members_[m].state.arrays) copy.copy_from(array);
}

void SceneBatch::step(const Mask& mask, std::int64_t steps) {
    if (steps < 0) throw ArgumentFault(fmt::format("steps: {} is no number of steps", steps));
    const std::int64_t end = this->steps() * substeps();
    std::vector<std::size_t> which = chosen(mask);
    const Mask over = done();
    std::erase_if(which, [&](std::size_t m) { return over[m] != 0; });
    each(which, [&](std::size_t worker, std::size_t m) {
        run_to(worker, m, std::min(members_[m].state.step + steps * substeps(), end), false);
    });
}

std::vector<SceneBatch::Member> SceneBatch::save() const {
    std::vector<Member> saved = members_;
    for (Member& member : saved) clone(member.state.arrays);
    return saved;
}

void SceneBatch::restore(const Mask& mask, const std::vector<Member>& saved) {
    for (std::size_t m = 0; m < size(); ++m)
        if (saved.size() != size() ||
            !saved[m].state.arrays[0].first.same_memory(members_[m].state.arrays[0].first))
            throw fault("saved: it is not of this batch", "restore what save() of it gave");
    for (const std::size_t m : chosen(mask)) {
        Member& member = members_[m];
        member.diverged = saved[m].diverged;
        member.state.step = saved[m].state.step;
        for (std::size_t k = 0; k < member.state.arrays.size(); ++k)
            member.state.arrays[k].second.copy_from(saved[m].state.arrays[k].second);
    }
}

// ---------------------------------------------------------------- results

std::vector<std::int64_t> SceneBatch::steps_done() const {
    std::vector<std::int64_t> list;
    for (const Member& member : members_) list.push_back(member.state.step / substeps());
    return list;
}

SceneBatch::Mask SceneBatch::diverged() const {
    Mask mask;
    for (const Member& member : members_) mask.push_back(member.diverged ? 1 : 0);
    return mask;
}

SceneBatch::Mask SceneBatch::done() const {
    Mask mask;
    const std::int64_t end = steps() * substeps();
    for (const Member& member : members_)
        mask.push_back(member.diverged || member.state.step >= end ? 1 : 0);
    return mask;
}

double SceneBatch::loss_of(std::size_t m) const {
    const Member& member = members_[m];
    if (member.diverged) return nan;
    double sum = 0;
    for (const model::Term& term : workers_[worker_of(m)]->model().terms())
        for (const auto& [array, copy] : member.state.arrays)
            if (array.same_memory(term.value)) sum += term.weight * copy.value(0);
    return sum;
}

std::vector<double> SceneBatch::losses() const {
    runs_.require_objective();
    std::vector<double> list;
    for (std::size_t m = 0; m < size(); ++m) list.push_back(loss_of(m));
    return list;
}

std::vector<std::string> SceneBatch::observed() const {
    std::vector<std::string> names;
    for (const auto& [name, place] : places_) names.push_back(name);
    return names;
}

std::size_t SceneBatch::place_of(const std::string& name, const std::string& argument) const {
    const auto found = places_.find(name);
    if (found != places_.end()) return found->second;
    std::vector<std::string_view> known;
    for (const auto& [other, place] : places_) known.push_back(other);
    if (runs_.model().has_array(name))
        throw fault(fmt::format("{}: '{}' does not change in a run", argument, name),
                    "these do: " + document::listed(std::span<const std::string_view>(known)));
    throw fault(fmt::format("{}: there is no state array '{}'", argument, name),
                document::suggestion(name, known, "there are"));
}

std::size_t SceneBatch::size_of(const std::string& name, const std::string& argument) const {
    const Array& array = members_[0].state.arrays[place_of(name, argument)].second;
    if (!ir::is_real(array.type()))
        throw ArgumentFault(fmt::format("{}: '{}' holds no reals", argument, name));
    return static_cast<std::size_t>(array.size());
}

SceneBatch::Observation SceneBatch::observe(const std::string& name) const {
    const std::size_t place = place_of(name, "names");
    const Array& first = members_[0].state.arrays[place].second;
    Observation result;
    result.type = first.type();
    result.shape = Frames::shape_of(first);
    const std::size_t bytes = static_cast<std::size_t>(first.size()) * ir::size_of(first.type());
    result.bytes.resize(bytes * size());
    for (std::size_t m = 0; m < size(); ++m)
        copy_scalars(members_[m].state.arrays[place].second, result.bytes.data() + m * bytes);
    return result;
}

// ---------------------------------------------------------------- gradients

SceneBatch::Gradients SceneBatch::gradients(const std::vector<std::string>& paths) {
    if (!gradients_) gradients_ = std::make_unique<BatchGradients>(runs_, *values_);
    return gradients_->of(paths);
}

SceneBatch::Gradients SceneBatch::pull_back(const Pull& wanted) {
    if (!windows_) windows_ = std::make_unique<BatchWindows>(*this);
    return windows_->pull_back(wanted);
}

}  // namespace hindcast::runs
