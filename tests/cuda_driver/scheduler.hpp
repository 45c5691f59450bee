// Executes what streams hold, late and in an order that is legal but not the obvious one.
//
// Nothing is executed when it is put in a stream. A demand (a synchronization, a copy that the host
// waits for, a stream that is too full) executes what it needs, and the generator mixes in
// operations of other streams. What a program does not order by streams and events therefore runs
// in every order, seed by seed.
#pragma once

#include <vector>

#include "tests/cuda_driver/random.hpp"
#include "tests/cuda_driver/settings.hpp"
#include "tests/cuda_driver/work.hpp"

namespace software_cuda {

class Scheduler {
public:
    Scheduler(Settings& settings, Counters& counters) : settings_(settings), counters_(counters) {}

    void seed(std::uint64_t seed) { random_ = Random(seed); }

    void enqueue(Stream& stream, Work work);
    // Everything that is in the stream now. Marks it so, if it is the default stream, that what
    // blocking streams hold comes before.
    Point end_of(const std::shared_ptr<Stream>& stream);
    void run_until(const Point& point);
    // Some operations on the way there, perhaps none, never all that is needed.
    void run_toward(const Point& point);
    void drain(Context& context);
    // Drops what the context's streams hold; from now on its calls return `error`.
    void fail(Context& context, int error);
    // Drops it without a result: the context ends.
    void discard(Context& context);

private:
    class Running;

    void order_default_stream(Stream& stream);
    void push(Stream& stream, Work work);
    void pop(Stream& stream);
    bool blocked(Stream& stream);
    void step(Stream& stream);
    void step_graph(Stream& stream);
    void step_toward(const Point& point);
    void step_any();
    int perform(Context& context, const Work& work);
    int launch(const Context& context, const Work& work);
    void finish(Context& context, int result);
    void forget_destroyed();

    Settings& settings_;
    Counters& counters_;
    Random random_{1};
    std::vector<Stream*> busy_;  // that have work
    std::vector<DeviceMemory*> opened_;
    std::vector<Context*> tidy_;  // that may have streams which were destroyed
};

}  // namespace software_cuda
