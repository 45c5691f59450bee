// Memory of other libraries: descriptions of it, and launches over it.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "engine/base/error.hpp"
#include "engine/interop/strided.hpp"
#include "engine/runtime/launch/launch.hpp"
#include "engine/runtime/program/tape.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/error_message.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using interop::ArrayInterface;
using interop::Element;
using interop::Strided;
using ir::Precision;
using ir::Type;
using Integers = std::vector<std::int64_t>;
using Values = std::vector<double>;

namespace {

// rows x columns numbers 0, 1, 2, ...
struct Matrix {
    std::vector<double> numbers;
    std::int64_t rows, columns;

    Matrix(std::int64_t r, std::int64_t c) : numbers(r * c), rows(r), columns(c) {
        std::iota(numbers.begin(), numbers.end(), 0.0);
    }
    Array view(std::int64_t first, std::int64_t element_stride, std::int64_t component_stride,
               const Integers& shape, bool read_only = false) {
        return Array::over_strided(
            ForeignMemory{numbers.data() + first, element_stride, component_stride, read_only}, {},
            Type::f64, shape);
    }
};

const KernelDef twice =
    kernel("twice", {"x", "y"}, [](Int i, Read<Vec2> x, Write<Vec2> y) { y[i] = x[i] * 2.0; });
const KernelDef square = kernel(
    "square", {"x", "y"}, [](Int i, Read<Float> x, Accumulate<Float> y) { y[i] += x[i] * x[i]; });

std::string refusal(const ArrayInterface& interface) {
    return test::message([&] { interop::strided_of(interface); });
}

}  // namespace

TEST_CASE("interop: what an array interface says") {
    alignas(8) double memory[6] = {};
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    ArrayInterface i{"<f8", {2, 3}, {}, address, false, false};
    Strided s = interop::strided_of(i);
    CHECK(s.type == Type::f64);
    CHECK(s.strides == Integers{3, 1});  // no strides: C order
    CHECK(s.is_contiguous());
    i.strides = Integers{8, 16};
    s = interop::strided_of(i);
    CHECK(s.strides == Integers{1, 2});
    CHECK(!s.is_contiguous());
    i.strides = Integers{-24, 0};
    CHECK(interop::strided_of(i).strides == Integers{-3, 0});
    i.strides = Integers{8, 4};
    CHECK(refusal(i).find("no multiple of the 8 bytes") != std::string::npos);
    i.strides = Integers{8};
    CHECK(refusal(i).find("1 strides for 2 dimensions") != std::string::npos);
    i.strides = {};
    i.typestr = ">f8";
    CHECK(refusal(i).find("other order") != std::string::npos);
    i.typestr = "<f2";
    CHECK(refusal(i).find("no arrays of '<f2'") != std::string::npos);
    i.typestr = "<i4";
    i.data = address + 2;
    CHECK(refusal(i).find("not aligned to 4 bytes") != std::string::npos);
    i.data = 0;
    CHECK(refusal(i).find("no memory") != std::string::npos);
    i.shape = {0, 3};  // of nothing the address does not matter
    CHECK(interop::strided_of(i).size() == 0);
    i.shape = {};
    i.data = address;
    CHECK(interop::strided_of(i).size() == 1);
    i.has_mask = true;
    CHECK(refusal(i).find("masked") != std::string::npos);
}

TEST_CASE("interop: how elements lie in an array with more dimensions") {
    const auto of = [](const Integers& shape, const Integers& strides, const Element& element) {
        return interop::elements_of({nullptr, Type::f32, shape, strides, false}, element);
    };
    const Element scalar, vec3{1, 3}, mat2{2, 2};
    CHECK(of({4, 5}, {5, 1}, scalar).shape == Integers{20});
    CHECK(of({4, 5}, {5, 1}, scalar).memory.element_stride == 1);
    CHECK(of({4, 3}, {3, 1}, vec3).shape == Integers{4, 3});
    CHECK(of({2, 4, 3}, {12, 3, 1}, vec3).shape == Integers{8, 3});
    CHECK(of({4, 3}, {1, 4}, vec3).memory.component_stride == 4);  // Fortran's order: planes
    CHECK(of({7, 2, 2}, {4, 2, 1}, mat2).memory.element_stride == 4);
    CHECK(of({3}, {1}, vec3).shape == Integers{1, 3});  // one element
    CHECK(of({}, {}, scalar).shape == Integers{1});
    CHECK(of({1, 4}, {77, -2}, scalar).memory.element_stride ==
          -2);  // an extent of 1 does not count
    const auto why = [&](const Integers& shape, const Integers& strides, const Element& element) {
        return test::message([&] { of(shape, strides, element); });
    };
    CHECK(why({4, 2}, {2, 1}, vec3).find("must be (3)") != std::string::npos);
    CHECK(why({}, {}, vec3).find("must be (3)") != std::string::npos);
    CHECK(why({4, 5}, {6, 1}, scalar).find("unequal distances") != std::string::npos);
    CHECK(why({4, 2, 2}, {4, 1, 2}, mat2).find("rows do not follow") != std::string::npos);
}

TEST_CASE("interop: launches read and write strided memory, and nothing beside it") {
    for (const auto& device : test::devices()) {
        if (device->cuda()) continue;
        CAPTURE(device->describe());
        Matrix from(37, 5), to(40, 7);
        const Matrix before = to;
        // Columns 3 and 1, in this order and from the last row to the first; columns 2 and 4.
        const Array x = from.view(36 * 5 + 3, -5, -2, {37, 2}), y = to.view(2, 7, 2, {40, 2});
        CHECK(x.layout() == Layout::strided);
        CHECK(x.value(0, 1) == 36 * 5 + 1);
        Launch(device, twice, Precision::f64, 37, {x, y}).forward().run();
        for (std::int64_t r = 0; r < 40; ++r)
            for (std::int64_t c = 0; c < 7; ++c) {
                const auto at = static_cast<std::size_t>(r * 7 + c);
                const double expected =
                    r < 37 && c == 2   ? static_cast<double>(2 * ((36 - r) * 5 + 3))
                    : r < 37 && c == 4 ? static_cast<double>(2 * ((36 - r) * 5 + 1))
                                       : before.numbers[at];
                CHECK(to.numbers[at] == expected);
            }
        // The gradient is an array of its own.
        y.gradient().fill(1);
        Launch(device, twice, Precision::f64, 37, {x, y}).adjoint().run();
        CHECK(x.gradient().layout() == Layout::contiguous);
        CHECK(x.gradient().to_doubles() == Values(74, 2.0));
    }
}

TEST_CASE("interop: one element for all, and sums into a column") {
    for (const auto& device : test::devices()) {
        if (device->cuda()) continue;
        CAPTURE(device->describe());
        Matrix one(1, 2), to(3, 3);
        const Array x = one.view(1, 0, 1, {3}), y = to.view(1, 3, 1, {3});
        CHECK(x.is_read_only());  // its elements overlap
        Launch(device, square, Precision::f64, 3, {x, y}).forward().run();
        CHECK(to.numbers == Values{0, 2, 2, 3, 5, 5, 6, 8, 8});
        y.clear();
        CHECK(to.numbers == Values{0, 0, 2, 3, 0, 5, 6, 0, 8});
        const Array copy = y.clone();
        CHECK(copy.layout() == Layout::contiguous);
        copy.fill(9);
        y.copy_from(copy);
        CHECK(to.numbers == Values{0, 9, 2, 3, 9, 5, 6, 9, 8});
    }
}

TEST_CASE("interop: memory that is read only is not written") {
    Matrix m(4, 2), other(4, 2);
    const Array x = m.view(0, 2, 1, {4, 2}, true), y = other.view(0, 2, 1, {4, 2});
    CHECK(x.layout() == Layout::contiguous);
    const std::string why = "read only";
    CHECK(test::message([&] { x.fill(1); }).find(why) != std::string::npos);
    CHECK(test::message([&] { x.clear(); }).find(why) != std::string::npos);
    CHECK(test::message([&] { x.copy_from(y); }).find(why) != std::string::npos);
    CHECK(test::message([&] { x.set_value(0, 0, 1); }).find(why) != std::string::npos);
    CHECK(test::message([&] { x.assign(Values(8)); }).find(why) != std::string::npos);
    CHECK(test::message([&] {
              Launch(test::interpreter_device(), twice, Precision::f64, 4, {y, x});
          }).find("'y' is written") != std::string::npos);
}

TEST_CASE("interop: arrays that share memory are found out, columns beside each other are not") {
    Matrix m(6, 4);
    const auto same = [](const Array& a, const Array& b) {
        CHECK(a.same_memory(b) == b.same_memory(a));
        return a.same_memory(b);
    };
    const Array all = m.view(0, 4, 1, {6, 4}), left = m.view(0, 4, 1, {6, 2}),
                right = m.view(2, 4, 1, {6, 2}), middle = m.view(1, 4, 1, {6, 2}),
                backwards = m.view(5 * 4 + 3, -4, -1, {6, 2}), top = m.view(0, 1, 1, {12}),
                bottom = m.view(12, 1, 1, {12}), odd = m.view(1, 3, 1, {4});
    CHECK(same(all, left));
    CHECK(!same(left, right));
    CHECK(same(middle, right));
    CHECK(same(right, backwards));
    CHECK(!same(left, backwards));
    CHECK(!same(top, bottom));
    CHECK(same(top, left));
    CHECK(same(odd, all));  // rows of other lengths: taken for the same
    CHECK(test::message([&] {
              Launch(test::interpreter_device(), twice, Precision::f64, 6, {middle, right});
          }).find("are bound to one array") != std::string::npos);
    Launch(test::interpreter_device(), twice, Precision::f64, 6, {left, right}).forward().run();
    CHECK(m.numbers[6] == 2 * m.numbers[4]);
    CHECK(!same(Array(Type::f64, {4}), Array(Type::f64, {4})));
}

TEST_CASE("interop: contents of shared memory are not taken for known") {
    // A launch that clears an array knows that it is zero, unless others may have written since.
    const Array own(Type::f64, {64});
    own.share();
    own.clear();
    static_cast<double*>(own.data())[5] = 3;
    own.clear();
    CHECK(own.to_doubles() == Values(64, 0.0));
}

TEST_CASE("interop: a tape does not keep strided memory, and says so") {
    const KernelDef grow =
        kernel("grow", {"x"}, [](Int i, ReadWrite<Float> x) { x[i] = x[i] * x[i]; });
    Matrix m(3, 2);
    const Array column = m.view(0, 2, 1, {3});
    const Launch launch(test::interpreter_device(), grow, Precision::f64, 3, {column});
    Tape tape;
    CHECK(test::message([&] {
              tape.launch(launch);
              tape.launch(launch);
          }).find("is not kept") != std::string::npos);
}
