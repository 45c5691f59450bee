// Launches on a stream that another library has made: in order with its work, and captured by it.
// On the driver in software, which runs what is not ordered in any order.
#include <doctest/doctest.h>

#include "engine/base/error.hpp"
#include "engine/runtime/launch/launch.hpp"
#include "engine/runtime/program/tape.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/memory/foreign_memory.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using ir::Type;
using test::fresh_device;
using test::Library;
using test::Software;
using Doubles = std::vector<double>;

namespace {

const KernelDef twice =
    kernel("twice", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) { y[i] = x[i] * 2.0; });
const KernelDef grow = kernel("grow", {"x"}, [](Int i, ReadWrite<Float> x) { x[i] = x[i] * x[i]; });
// Sums in fixed point, which take several launches and memory of their own.
const KernelDef spread = kernel("spread", {"x", "y", "total"},
                                [](Int i, Read<Float> x, Sum<Float> y, Reduce<Float> total) {
                                    y[Int(x[i])] += x[i];
                                    total += x[i];
                                });

bool says(const std::string& message, const std::string& what) {
    CAPTURE(message);
    return message.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("streams of others: launches are in order with what their owner puts there") {
    NEEDS_SOFTWARE_CUDA();
    int wrong = 0;
    for (const bool ordered : {true, false}) {
        for (int seed = 1; seed <= 20; ++seed) {
            const Software software("seed=" + std::to_string(seed));
            const auto device = fresh_device();
            const Library library;
            const auto from = library.put(Doubles(3)), to = library.put(Doubles(3));
            const Array x = Array::over_device(device->cuda(), {from->data(), 1, 1}, from,
                                               Type::f64, {3}),
                        y = Array::over_device(device->cuda(), {to->data(), 1, 1}, to, Type::f64,
                                               {3});
            Launch launch(device, twice, Precision::f64, 3, {x, y});
            if (ordered) launch.move_to(Stream::over(device, library.stream()));
            const Doubles values{1, 2, 3};
            library.context->upload(from->address(), values.data(), from->size());
            launch.forward().run();
            const bool right = library.get<double>(*to) == Doubles{2, 4, 6};
            if (ordered)
                CHECK(right);
            else
                wrong += right ? 0 : 1;
        }
    }
    CHECK(wrong > 0);
}

TEST_CASE("streams of others: the host's work comes after what was put there, and events cross") {
    NEEDS_SOFTWARE_CUDA();
    for (int seed = 1; seed <= 10; ++seed) {
        const Software software("seed=" + std::to_string(seed));
        const auto device = fresh_device();
        const Library library;
        const Array x = Array::from(Doubles{1, 2, 3}, Type::f64, {3}), y(Type::f64, {3}),
                    z(Type::f64, {3});
        Launch first(device, twice, Precision::f64, 3, {x, y}),
            second(device, twice, Precision::f64, 3, {y, z});
        const Stream theirs = Stream::over(device, library.stream()), own(device);
        CHECK(theirs.handle() == library.stream());
        CHECK(own.handle() != 0);
        CHECK(!theirs.is_captured());
        first.move_to(theirs);
        second.move_to(own);
        first.forward().run();
        own.wait(theirs.record());
        second.forward().run();
        CHECK(z.to_doubles() == Doubles{4, 8, 12});
        // One that others wait for, and the other way round.
        first.move_to(device);
        first.forward().run();
        device->cuda()->let_wait(library.context->stream());
        device->cuda()->wait_for(library.context->stream());
        CHECK(y.to_doubles() == Doubles{2, 4, 6});
    }
}

TEST_CASE("streams of others: the default ones have numbers, and 0 is none") {
    NEEDS_SOFTWARE_CUDA();
    const Software software("seed=5");
    const auto device = fresh_device();
    const Array x = Array::from(Doubles{1, 2, 3}, Type::f64, {3}), y(Type::f64, {3});
    Launch launch(device, twice, Precision::f64, 3, {x, y});
    for (const std::uintptr_t stream : {1, 2}) {
        y.fill(0);
        launch.move_to(Stream::over(device, stream));
        launch.forward().run();
        CHECK(y.to_doubles() == Doubles{2, 4, 6});
    }
    CHECK(says(test::message([&] { Stream::over(device, 0); }), "may be one of two"));
    CHECK(says(test::message([&] { Stream::over(test::interpreter_device(), 1); }),
               "(interpreter) has no streams"));
    CHECK(says(test::message([&] { Stream(test::interpreter_device()).handle(); }), "interpreter"));
}

TEST_CASE("streams of others: what ran once is captured, with all that it clears and sums") {
    NEEDS_SOFTWARE_CUDA();
    for (int seed = 1; seed <= 5; ++seed) {
        const Software software("seed=" + std::to_string(seed));
        const auto device = fresh_device();
        const Library library;
        const auto from = library.put(Doubles{1, 2, 2, 0});
        const Array x =
            Array::over_device(device->cuda(), {from->data(), 1, 1}, from, Type::f64, {4});
        const Array y = Array::on(device->cuda(), Type::f64, {3}),
                    total = Array::on(device->cuda(), Type::f64, {1});
        y.gradient().fill(0);
        total.gradient().fill(0);
        const auto stream = std::make_shared<backend::cuda::Stream>(library.context);
        Launch launch(device, spread, Precision::f64, 4, {x, y, total});
        const Stream theirs =
            Stream::over(device, reinterpret_cast<std::uintptr_t>(stream->handle()), stream);
        launch.move_to(theirs);
        const backend::cuda::Driver& d = backend::cuda::driver();
        const auto begin = [&] {
            device->synchronize();
            library.context->synchronize();
            REQUIRE(d.StreamBeginCapture(stream->handle(), backend::cuda::relaxed_capture) == 0);
            CHECK(theirs.is_captured());
        };
        const auto end = [&] {
            backend::cuda::GraphHandle graph = nullptr;
            REQUIRE(d.StreamEndCapture(stream->handle(), &graph) == 0);
            backend::cuda::GraphExecHandle made = nullptr;
            REQUIRE(d.GraphInstantiate(&made, graph, 0) == 0);
            d.GraphDestroy(graph);
            return made;
        };
        // Nothing has been made yet: an error, and the capture is as it was.
        begin();
        CHECK(
            says(test::message([&] { launch.forward().run(); }), "run it once before the capture"));
        backend::cuda::GraphExecHandle graph = end();
        d.GraphExecDestroy(graph);

        launch.forward().run();
        launch.adjoint().run();
        x.gradient().fill(0);
        total.fill(0);
        y.gradient().fill(3);
        total.gradient().fill(10);
        begin();
        const long long allocations = software.count("allocations"),
                        waits = software.count("synchronizations");
        launch.forward().run();
        launch.adjoint().run();
        CHECK(software.count("allocations") == allocations);
        CHECK(software.count("synchronizations") == waits);
        graph = end();
        CHECK(total.value(0) == 0);  // nothing has run
        for (const double last : {0.0, 2.0}) {
            const Doubles values{0, 1, 2, last};
            library.context->upload(from->address(), values.data(), from->size());
            library.context->synchronize();
            REQUIRE(d.GraphLaunch(graph, stream->handle()) == 0);
            REQUIRE(d.StreamSynchronize(stream->handle()) == 0);
            CHECK(y.to_doubles() == Doubles{0, 1, 2 + last});  // cleared before
            // y's gradient is taken and cleared, that of the total stays.
            CHECK(x.gradient().to_doubles() == Doubles(4, last == 0 ? 13.0 : 23.0));
            CHECK(y.gradient().to_doubles() == Doubles(3, 0.0));
        }
        CHECK(total.value(0) == 8);  // 3 and then 5: it adds
        d.GraphExecDestroy(graph);
    }
}

TEST_CASE("streams of others: a tape goes to a stream, and is captured there") {
    NEEDS_SOFTWARE_CUDA();
    const Software software("seed=7");
    const auto device = fresh_device();
    const Library library;
    const auto stream = std::make_shared<backend::cuda::Stream>(library.context);
    const Stream theirs =
        Stream::over(device, reinterpret_cast<std::uintptr_t>(stream->handle()), stream);
    const Array x = Array::on(device->cuda(), Type::f64, {2}),
                y = Array::on(device->cuda(), Type::f64, {2});
    x.assign(Doubles{2, 3});
    const Launch first(device, grow, Precision::f64, 2, {x}),
        second(device, twice, Precision::f64, 2, {x, y});
    Tape tape;
    tape.launch(first);
    tape.move_to(theirs);
    CHECK(first.stream() == theirs.cuda());
    tape.launch(second);
    CHECK(second.stream() == theirs.cuda());
    CHECK(tape.snapshots() == 1);
    CHECK(y.to_doubles() == Doubles{8, 18});
    y.gradient().fill(1);
    tape.backward();                                     // without running forward() again
    CHECK(x.gradient().to_doubles() == Doubles{8, 12});  // d/dx 2 x^2 = 4 x
    device->synchronize();
    library.context->synchronize();
    const backend::cuda::Driver& d = backend::cuda::driver();
    REQUIRE(d.StreamBeginCapture(stream->handle(), backend::cuda::relaxed_capture) == 0);
    tape.forward();
    backend::cuda::GraphHandle graph = nullptr;
    REQUIRE(d.StreamEndCapture(stream->handle(), &graph) == 0);
    backend::cuda::GraphExecHandle made = nullptr;
    REQUIRE(d.GraphInstantiate(&made, graph, 0) == 0);
    d.GraphDestroy(graph);
    x.assign(Doubles{1, 5});
    device->synchronize();
    REQUIRE(d.GraphLaunch(made, stream->handle()) == 0);
    REQUIRE(d.StreamSynchronize(stream->handle()) == 0);
    CHECK(y.to_doubles() == Doubles{2, 50});
    d.GraphExecDestroy(made);
    tape.move_to({});
    CHECK(first.stream() == nullptr);
    tape.forward();
    CHECK(y.to_doubles() == Doubles{2, 1250});
    // Another Device of the same CUDA device is as good; a launch on the host has no streams.
    tape.move_to(Stream(fresh_device()));
    tape.forward();
    CHECK(y.to_doubles() == Doubles{2, 781250});
    const Launch on_host(test::interpreter_device(), twice, Precision::f64, 2,
                         {Array(Type::f64, {2}), Array(Type::f64, {2})});
    CHECK(
        says(test::message([&] { tape.launch(on_host); }), "is none of the device (interpreter)"));
}
