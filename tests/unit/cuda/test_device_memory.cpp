// Memory of a CUDA device that another library owns, and arrays that live on a device: who sees
// what, and when. On the driver in software, where the host cannot follow a device's pointer.
#include <doctest/doctest.h>

#include <numeric>

#include "engine/base/error.hpp"
#include "engine/interop/strided.hpp"
#include "engine/runtime/launch/launch.hpp"
#include "engine/runtime/program/tape.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/memory/foreign_memory.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using interop::CudaArrayInterface;
using ir::Precision;
using ir::Type;
using test::fresh_device;
using test::Library;
using test::Software;
using Doubles = std::vector<double>;

namespace {

const KernelDef twice =
    kernel("twice", {"x", "y"}, [](Int i, Read<Vec2> x, Write<Vec2> y) { y[i] = x[i] * 2.0; });
const KernelDef grow = kernel("grow", {"x"}, [](Int i, ReadWrite<Float> x) { x[i] = x[i] * x[i]; });
const KernelDef spread =
    kernel("spread", {"to", "x", "y"},
           [](Int i, Read<Int> to, Read<Float> x, Accumulate<Float> y) { y[to[i]] += x[i]; });

Doubles counted(std::size_t n) {
    Doubles values(n);
    std::iota(values.begin(), values.end(), 0.0);
    return values;
}

bool says(const std::string& message, const std::string& what) {
    CAPTURE(message);
    return message.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("device memory: launches work with another library's memory where it is") {
    NEEDS_SOFTWARE_CUDA();
    for (int seed = 1; seed <= 5; ++seed) {
        const Software software("seed=" + std::to_string(seed));
        const auto device = fresh_device();
        const Library library;
        const auto from = library.put(counted(20)), to = library.put(Doubles(24, -1.0));
        {
            const Array x = Array::over_device(device->cuda(), {from->data(), 2, 1}, from,
                                               Type::f64, {10, 2}),
                        y = Array::over_device(device->cuda(), {to->data(), 2, 1}, to, Type::f64,
                                               {10, 2});
            CHECK(x.device() == 0);
            CHECK(x.device_data() == from->data());
            CHECK(y.layout() == Layout::contiguous);
            const long long up = software.count("copies_to_device"),
                            down = software.count("copies_to_host");
            Launch launch(device, twice, Precision::f64, 10, {x, y});
            launch.forward().run();
            device->synchronize();
            CHECK(software.count("copies_to_device") == up);
            CHECK(software.count("copies_to_host") == down);
            Doubles expected = counted(20);
            for (double& v : expected) v *= 2;
            CHECK(y.to_doubles() == expected);
            // What others write there the host sees, and the other way round.
            const Doubles other(20, 7.0);
            library.context->upload(from->address(), other.data(), from->size());
            library.context->synchronize();
            CHECK(x.to_doubles() == other);
            CHECK(x.value(3, 1) == 7);
            y.set_value(0, 1, 99);
            device->synchronize();
            Doubles seen = library.get<double>(*to);
            CHECK(seen[1] == 99);
            CHECK(seen[19] == 38);
            CHECK(Doubles(seen.begin() + 20, seen.end()) == Doubles(4, -1.0));
            x.fill(3);
            device->synchronize();
            CHECK(library.get<double>(*from) == Doubles(20, 3.0));
            // The gradient lies there as well.
            y.gradient().fill(1);
            launch.adjoint().run();
            CHECK(x.gradient().device() == 0);
            CHECK(x.gradient().to_doubles() == Doubles(20, 2.0));
        }
        CHECK(from.use_count() == 1);
    }
}

TEST_CASE("device memory: strides are honored, and nothing beside them is written") {
    NEEDS_SOFTWARE_CUDA();
    const Software software("seed=3");
    const auto device = fresh_device();
    const Library library;
    constexpr std::size_t rows = 37, width = 5;
    const auto from = library.put(counted(rows * width)), to = library.put(counted(rows * width));
    const auto at = [](const auto& block, std::size_t place) {
        return static_cast<double*>(block->data()) + place;
    };
    // Columns 3 and 1, in this order and from the last row to the first; columns 2 and 4.
    const Array x = Array::over_device(device->cuda(), {at(from, (rows - 1) * width + 3), -5, -2},
                                       from, Type::f64, {rows, 2}),
                y = Array::over_device(device->cuda(), {at(to, 2), 5, 2}, to, Type::f64, {rows, 2});
    CHECK(x.layout() == Layout::strided);
    CHECK(x.device_data() == at(from, (rows - 1) * width + 3));
    Launch(device, twice, Precision::f64, rows, {x, y}).forward().run();
    device->synchronize();
    Doubles expected = counted(rows * width);
    for (std::size_t r = 0; r < rows; ++r) {
        expected[r * width + 2] = 2.0 * static_cast<double>((rows - 1 - r) * width + 3);
        expected[r * width + 4] = 2.0 * static_cast<double>((rows - 1 - r) * width + 1);
    }
    CHECK(library.get<double>(*to) == expected);
    CHECK(y.value(0, 1) == expected[4]);
    const Array copy = y.clone();
    CHECK(copy.value(36, 0) == expected[36 * width + 2]);
    copy.fill(-8);
    y.copy_from(copy);
    y.set_value(1, 0, 5);
    device->synchronize();
    for (std::size_t r = 0; r < rows; ++r) expected[r * width + 2] = expected[r * width + 4] = -8;
    expected[width + 2] = 5;
    CHECK(library.get<double>(*to) == expected);
    y.clear();
    device->synchronize();
    for (std::size_t r = 0; r < rows; ++r) expected[r * width + 2] = expected[r * width + 4] = 0;
    CHECK(library.get<double>(*to) == expected);
    // Elements that overlap are read only.
    const Array same =
        Array::over_device(device->cuda(), {from->data(), 0, 1}, from, Type::f64, {4});
    CHECK(same.is_read_only());
    CHECK(says(test::message([&] { same.fill(1); }), "read only"));
    CHECK(same.to_doubles() == Doubles(4, 0.0));
    CHECK(says(test::message([&] {
                   Array::over_device(device->cuda(), {static_cast<char*>(from->data()) + 4, 1, 1},
                                      from, Type::f64, {2});
               }),
               "not aligned to 8 bytes"));
}

TEST_CASE("device memory: an array lives on a device, and others share it") {
    NEEDS_SOFTWARE_CUDA();
    const Software software("seed=9");
    const auto device = fresh_device();
    const Library library;
    const Array x = Array::on(device->cuda(), Type::f64, {5, 2});
    CHECK(x.to_doubles() == Doubles(10, 0.0));
    CHECK(x.device() == 0);
    CHECK(Array::on(nullptr, Type::f64, {5, 2}).device() == -1);
    CHECK(says(test::message([] { Array(Type::f64, {3}).device_data(); }), "memory of the host"));
    const Doubles values = counted(10);
    library.context->upload(backend::cuda::address_of(x.device_data()), values.data(), 80);
    library.context->synchronize();
    CHECK(x.to_doubles() == values);
    const Array y = Array::on(device->cuda(), Type::f64, {5, 2});
    Launch(device, twice, Precision::f64, 5, {x, y}).forward().run();
    device->synchronize();
    Doubles seen(10);
    library.context->download(seen.data(), backend::cuda::address_of(y.device_data()), 80);
    for (std::size_t k = 0; k < 10; ++k) CHECK(seen[k] == 2.0 * values[k]);
    // A view of it that comes back is found to be the same memory.
    const Array view =
        Array::over_device(device->cuda(), {x.device_data(), 2, 1}, {}, Type::f64, {5, 2});
    CHECK(view.same_memory(x));
    CHECK(!view.same_memory(y));
    CHECK(says(test::message([&] {
                   Launch(device, twice, Precision::f64, 5, {x, view});
               }),
               "are bound to one array"));
    // Empty ones are arrays as well.
    const Array none = Array::on(device->cuda(), Type::f64, {0, 2});
    CHECK(none.to_doubles().empty());
}

TEST_CASE("device memory: it stays on its device, and serves all contexts there and the host") {
    NEEDS_SOFTWARE_CUDA();
    const Software software("seed=4");
    const auto first = fresh_device(), same = fresh_device();
    const Library library;
    const auto from = library.put(counted(8)), to = library.put(Doubles(8));
    const Array x = Array::over_device(first->cuda(), {from->data(), 2, 1}, from, Type::f64,
                                       {4, 2}),
                y = Array::over_device(first->cuda(), {to->data(), 2, 1}, to, Type::f64, {4, 2});
    Launch launch(first, twice, Precision::f64, 4, {x, y});
    launch.forward().run();
    launch.move_to(same);
    x.fill(5);
    launch.forward().run();
    same->synchronize();
    CHECK(library.get<double>(*to) == Doubles(8, 10.0));
    // On the host, by copies that go back at once.
    launch.move_to(test::interpreter_device());
    x.fill(6);
    launch.forward().run();
    first->synchronize();
    same->synchronize();
    CHECK(library.get<double>(*to) == Doubles(8, 12.0));
}

TEST_CASE("device memory: its owner lives until the work with it is done, and a tape keeps it") {
    NEEDS_SOFTWARE_CUDA();
    const Software software("seed=2");
    const auto device = fresh_device();
    const Library library;
    std::weak_ptr<backend::cuda::Block> seen;
    const Array y = Array::on(device->cuda(), Type::f64, {4, 2});
    {
        const auto from = library.put(counted(8));
        seen = from;
        const Array x =
            Array::over_device(device->cuda(), {from->data(), 2, 1}, from, Type::f64, {4, 2});
        Launch(device, twice, Precision::f64, 4, {x, y}).forward().run();
    }  // the launch has not run, and its memory goes: it is waited for
    CHECK(seen.expired());
    CHECK(y.value(3, 1) == 14);
    CHECK(software.count("leaks") >= 0);
    for (const auto& each : test::devices()) {
        CAPTURE(each->describe());
        auto memory = std::make_shared<Doubles>(Doubles{1, 2, 3});
        const std::weak_ptr<Doubles> watched = memory;
        Tape tape;
        {
            const Array x =
                Array::over(std::as_writable_bytes(std::span(*memory)), memory, Type::f64, {3});
            tape.launch(Launch(each, grow, Precision::f64, 3, {x}));
        }
        memory.reset();
        REQUIRE(!watched.expired());
        tape.forward();
        if (!each->cuda()) CHECK(*watched.lock() == Doubles{1, 16, 81});
        tape = Tape();
        CHECK(watched.expired());
    }
}

TEST_CASE("device memory: a copy reads no more than there is") {
    // Arrays of one's own have room for whole registers behind their values.
    Doubles memory(16, 77.0);
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(memory));
    const Array x = Array::over(bytes.first(5 * sizeof(double)), {}, Type::f64, {5});
    const Array copy = x.clone();
    REQUIRE(copy.bytes() > 5 * sizeof(double));
    CHECK(copy.to_doubles() == Doubles(5, 77.0));
    for (std::size_t k = 5; k < copy.bytes() / sizeof(double); ++k)
        CHECK(static_cast<const double*>(copy.data())[k] == 0);
    const Array own = Array::from(counted(5), Type::f64, {5});
    x.copy_from(own);  // nor does it write more
    CHECK(memory[4] == 4);
    CHECK(memory[5] == 77);
    NEEDS_SOFTWARE_CUDA();
    const Software software("seed=6");
    const auto device = fresh_device();
    const Library library;
    const auto block = library.put(counted(5));
    const Array there =
        Array::over_device(device->cuda(), {block->data(), 1, 1}, block, Type::f64, {5});
    CHECK(there.clone().to_doubles() == counted(5));
    there.copy_from(Array::from(Doubles(5, 2.0), Type::f64, {5}));
    CHECK(there.to_doubles() == Doubles(5, 2.0));
    device->synchronize();
    CHECK(library.get<double>(*block) == Doubles(5, 2.0));
}

TEST_CASE("device memory: indices that others change are seen once that is said") {
    NEEDS_SOFTWARE_CUDA();
    const Software software("seed=8");
    const auto device = fresh_device();
    const Library library;
    const std::vector<std::int32_t> straight{0, 1, 2, 3}, back{3, 2, 1, 0};
    const auto indices = library.put(straight);
    const Array to = Array::over_device(device->cuda(), {indices->data(), 1, 1}, indices, Type::i32,
                                        {4}),
                x = Array::from(Doubles{1, 2, 3, 4}, Type::f64, {4}),
                y = Array::on(device->cuda(), Type::f64, {4});
    const Launch launch(device, spread, Precision::f64, 4, {to, x, y});
    launch.forward().run();
    CHECK(y.to_doubles() == Doubles{1, 2, 3, 4});
    library.context->upload(indices->address(), back.data(), indices->size());
    library.context->synchronize();
    to.changed();
    launch.forward().run();
    CHECK(y.to_doubles() == Doubles{5, 5, 5, 5});
}

TEST_CASE("interop: what a CUDA array interface says") {
    NEEDS_SOFTWARE_CUDA();
    const Software software("");
    const auto device = fresh_device();
    const Library library;
    const auto block = library.put(counted(12));
    const auto address = static_cast<std::uintptr_t>(block->address());
    const auto refusal = [](const CudaArrayInterface& i) {
        return test::message([&] { interop::strided_of(i); });
    };
    CudaArrayInterface i{{"<f8", {4, 3}, {}, address, false, false}, {}};
    CHECK(interop::strided_of(i).device == 0);
    CHECK(interop::strided_of(i).strides == std::vector<std::int64_t>{3, 1});
    for (const std::int64_t stream : {1, 2, 12345}) {
        i.stream = stream;
        CHECK(interop::strided_of(i).size() == 12);
    }
    i.stream = 0;
    CHECK(says(refusal(i), "its stream is 0"));
    i.stream = {};
    i.has_mask = true;
    CHECK(says(refusal(i), "masked"));
    i.has_mask = false;
    i.data = reinterpret_cast<std::uintptr_t>(&i);
    CHECK(says(refusal(i), "is none of a CUDA device"));
    i.data = 0;
    CHECK(says(refusal(i), "no memory"));
    i.shape = {0, 3};
    CHECK(interop::strided_of(i).size() == 0);
    // Shape and strides stay within the allocation.
    const auto covered = [&](const std::vector<std::int64_t>& shape,
                             const std::vector<std::int64_t>& strides, std::size_t offset) {
        interop::check_covered(
            {static_cast<char*>(block->data()) + offset, Type::f64, shape, strides, false, 0},
            *device->cuda());
    };
    covered({4, 3}, {3, 1}, 0);
    covered({4, 3}, {-3, -1}, 88);
    covered({1000}, {0}, 0);
    CHECK(says(test::message([&] { covered({4, 3}, {3, 1}, 8); }), "8 bytes before it and 88"));
    CHECK(says(test::message([&] { covered({4, 3}, {4, 1}, 0); }), "from byte 0 to 120"));
    CHECK(says(test::message([&] { covered({4, 3}, {-3, -1}, 80); }), "from byte -88"));
}
