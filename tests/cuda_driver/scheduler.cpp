#include "tests/cuda_driver/scheduler.hpp"

#include <xmmintrin.h>

#include <algorithm>
#include <cstring>

#include "tests/cuda_driver/context.hpp"
#include "tests/cuda_driver/results.hpp"

namespace software_cuda {

namespace {

template <class T>
T* pointer(Address address) {
    return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

// While one exists, operations may execute: devices compute with subnormals and to nearest, and
// their memory, once opened, stays open.
class Scheduler::Running {
public:
    explicit Running(Scheduler& scheduler) : scheduler_(scheduler), control_(_mm_getcsr()) {
        _mm_setcsr(0x1f80);
    }
    ~Running() {
        for (DeviceMemory* memory : scheduler_.opened_) memory->close();
        scheduler_.opened_.clear();
        scheduler_.forget_destroyed();
        _mm_setcsr(control_);
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

private:
    Scheduler& scheduler_;
    unsigned control_;
};

// ---- what streams hold

void Scheduler::push(Stream& stream, Work work) {
    if (stream.queue.empty()) {
        stream.place = busy_.size();
        busy_.push_back(&stream);
    }
    stream.queue.push_back(std::move(work));
    ++stream.enqueued;
}

void Scheduler::pop(Stream& stream) {
    stream.queue.pop_front();
    ++stream.executed;
    if (!stream.queue.empty()) return;
    busy_.back()->place = stream.place;
    busy_[stream.place] = busy_.back();
    busy_.pop_back();
    if (stream.destroyed) tidy_.push_back(&stream.context);
}

// The default stream waits for what blocking streams hold, and they for what it holds.
void Scheduler::order_default_stream(Stream& stream) {
    if (!stream.blocking) return;
    const auto wait = [&](const std::shared_ptr<Stream>& other) {
        Work work;
        work.kind = Work::Kind::wait;
        work.point = {other, other->enqueued};
        push(stream, std::move(work));
    };
    const std::shared_ptr<Stream>& legacy = stream.context.default_stream;
    if (&stream != legacy.get()) {
        if (!legacy->queue.empty()) wait(legacy);
        return;
    }
    for (const auto& other : stream.context.streams)
        if (other != legacy && other->blocking && !other->queue.empty()) wait(other);
}

void Scheduler::enqueue(Stream& stream, Work work) {
    order_default_stream(stream);
    push(stream, std::move(work));
    if (stream.queue.size() <= settings_.queue) return;
    // As a device's: a queue that is full is waited for.
    const Running running(*this);
    const Point goal{stream.context.shared(stream), stream.enqueued - settings_.queue / 2};
    while (!goal.passed()) step_toward(goal);
}

Point Scheduler::end_of(const std::shared_ptr<Stream>& stream) {
    if (stream == stream->context.default_stream) order_default_stream(*stream);
    return {stream, stream->enqueued};
}

void Scheduler::forget_destroyed() {
    for (Context* context : tidy_)
        std::erase_if(context->streams,
                      [](const auto& s) { return s->destroyed && s->queue.empty(); });
    tidy_.clear();
}

// ---- which operation is next

// Whether the stream's next operation has to wait for another stream. Waits that are over go.
bool Scheduler::blocked(Stream& stream) {
    while (!stream.queue.empty() && stream.queue.front().kind == Work::Kind::wait) {
        if (!stream.queue.front().point.passed()) return true;
        pop(stream);
    }
    return false;
}

// One operation that the point needs: of the stream that is waited for, and so on.
void Scheduler::step_toward(const Point& point) {
    Stream* stream = point.stream.get();
    while (blocked(*stream)) stream = stream->queue.front().point.stream.get();
    if (!stream->queue.empty()) step(*stream);
}

// One of any stream, perhaps none.
void Scheduler::step_any() {
    if (busy_.empty()) return;
    Stream& stream = *busy_[random_.below(busy_.size())];
    if (!blocked(stream) && !stream.queue.empty()) step(stream);
}

void Scheduler::run_until(const Point& point) {
    if (point.passed()) return;
    const Running running(*this);
    constexpr unsigned rates[] = {0, 1, 4, 7};
    const unsigned rate = rates[random_.below(std::size(rates))];
    while (!point.passed())
        if (busy_.size() > 1 && random_.chance(rate))
            step_any();
        else
            step_toward(point);
    if (random_.chance(4))
        for (std::size_t k = random_.below(4); k > 0; --k) step_any();
}

void Scheduler::run_toward(const Point& point) {
    if (point.passed()) return;
    const Running running(*this);
    for (std::size_t k = random_.below(4); k > 0; --k) step_any();
    if (!point.passed() && random_.chance(4)) step_toward(point);
}

void Scheduler::drain(Context& context) {
    const Running running(*this);
    const auto belongs = [&](const Stream* s) { return &s->context == &context; };
    while (true) {
        const auto first = std::find_if(busy_.begin(), busy_.end(), belongs);
        if (first == busy_.end()) return;
        const auto place = static_cast<std::size_t>(first - busy_.begin());
        Stream* const any = busy_[place + random_.below(busy_.size() - place)];
        Stream& stream = belongs(any) ? *any : **first;
        step_toward({context.shared(stream), stream.enqueued});
    }
}

// ---- execution

void Scheduler::step(Stream& stream) {
    const Work& work = stream.queue.front();
    if (work.kind == Work::Kind::graph) return step_graph(stream);
    const int result = perform(stream.context, work);
    pop(stream);
    finish(stream.context, result);
}

// One node, of those that wait for none.
void Scheduler::step_graph(Stream& stream) {
    const GraphNodes& graph = *stream.queue.front().graph;
    if (stream.left == 0) {
        stream.left = graph.nodes.size();
        stream.ready.clear();
        stream.waiting.resize(stream.left);
        for (std::size_t k = 0; k < stream.left; ++k) {
            stream.waiting[k] = static_cast<int>(graph.nodes[k].dependencies.size());
            if (stream.waiting[k] == 0) stream.ready.push_back(static_cast<int>(k));
        }
    }
    int result = success;
    if (stream.left > 0) {
        std::vector<int>& ready = stream.ready;
        std::swap(ready[ready.size() == 1 ? 0 : random_.below(ready.size())], ready.back());
        const GraphNodes::Node& node = graph.nodes[static_cast<std::size_t>(ready.back())];
        ready.pop_back();
        for (const int next : node.successors)
            if (--stream.waiting[static_cast<std::size_t>(next)] == 0) ready.push_back(next);
        --stream.left;
        result = perform(stream.context, node.work);
    }
    if (stream.left == 0) pop(stream);
    finish(stream.context, result);
}

void Scheduler::finish(Context& context, int result) {
    ++counters_.executed;
    if (result != success)
        fail(context, result);
    else if (counters_.executed == settings_.lost)
        fail(context, device_unavailable);
}

int Scheduler::launch(const Context& context, const Work& work) {
    if (++counters_.executed_launches == settings_.sticky || work.function->run == nullptr)
        return illegal_address;
    for (const std::size_t slot : work.function->pointers) {
        const void* argument = nullptr;
        std::memcpy(&argument, work.data.get() + slot, sizeof argument);
        if (argument != nullptr && !context.reaches(argument)) return illegal_address;
    }
    Grid grid;
    std::copy_n(work.blocks, 3, grid.blocks);
    std::copy_n(work.threads, 3, grid.threads);
    const auto count = [](const unsigned* n) { return std::uint64_t{n[0]} * n[1] * n[2]; };
    const Random::Order blocks = random_.order(count(grid.blocks)),
                        threads = random_.order(count(grid.threads));
    grid.first_block = blocks.first;
    grid.block_step = blocks.step;
    grid.first_thread = threads.first;
    grid.thread_step = threads.step;
    const auto block = static_cast<unsigned>(count(grid.threads));
    const bool liked = block == settings_.likes &&
                       (settings_.likes_blocks == 0 || settings_.likes_blocks == grid.blocks[0]);
    const long long took = settings_.likes == 0 ? 1
                           : liked              ? settings_.likes_us
                                                : 2 * settings_.likes_us;
    counters_.microseconds += took;
    work.function->run(reinterpret_cast<const unsigned char*>(work.data.get()), &grid);
    return success;
}

// What was there when the operation was put in the stream may be gone.
int Scheduler::perform(Context& context, const Work& work) {
    DeviceMemory& memory = context.memory;
    if (!memory.is_open()) {
        memory.open();
        opened_.push_back(&memory);
    }
    const auto holds = [&](Address at) { return memory.holding(at, work.bytes) != nullptr; };
    const auto host_is_there = [&] {
        return !work.pinned || context.is_pinned(work.host, work.bytes);
    };
    switch (work.kind) {
        case Work::Kind::launch: return launch(context, work);
        case Work::Kind::stamp: *work.time = counters_.microseconds; break;
        case Work::Kind::raise:
            return work.semaphore->raise(work.semaphore_value) ? success : illegal_address;
        case Work::Kind::to_device:
            if (!holds(work.to) || !host_is_there()) return illegal_address;
            std::memcpy(pointer<void>(work.to), work.pinned ? work.host : work.data.get(),
                        work.bytes);
            break;
        case Work::Kind::to_host:
            if (!holds(work.from) || !host_is_there()) return illegal_address;
            std::memcpy(work.host, pointer<void>(work.from), work.bytes);
            break;
        case Work::Kind::on_device:
            if (!holds(work.to) || !holds(work.from)) return illegal_address;
            std::memmove(pointer<void>(work.to), pointer<void>(work.from), work.bytes);
            break;
        case Work::Kind::set8:
            if (!holds(work.to)) return illegal_address;
            std::memset(pointer<void>(work.to), static_cast<int>(work.value), work.bytes);
            break;
        case Work::Kind::set32:
            if (!holds(work.to)) return illegal_address;
            std::fill_n(pointer<unsigned>(work.to), work.bytes / 4, work.value);
            break;
        case Work::Kind::allocated: memory.fill(work.to); break;
        case Work::Kind::freed: return memory.release(work.to) ? success : illegal_address;
        case Work::Kind::wait:
        case Work::Kind::graph: break;  // of step()
    }
    return success;
}

void Scheduler::fail(Context& context, int error) {
    context.error = error;
    discard(context);
}

void Scheduler::discard(Context& context) {
    for (const auto& stream : context.streams) {
        for (const Work& work : stream->queue)
            if (work.kind == Work::Kind::freed) context.memory.forget(work.to);
        stream->left = 0;
        while (!stream->queue.empty()) pop(*stream);
    }
}

}  // namespace software_cuda
