// Arrays: shapes and layouts, conversion and rounding, versions, derivatives on demand, hashes.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "engine/backend/array_facts.hpp"
#include "engine/backend/executable.hpp"
#include "engine/base/aligned.hpp"
#include "engine/base/error.hpp"
#include "engine/base/hash.hpp"
#include "engine/base/thread_pool.hpp"
#include "engine/runtime/array/array.hpp"

using namespace hindcast;
using ir::Type;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

std::vector<double> counting(std::int64_t n) {
    std::vector<double> values;
    for (std::int64_t k = 0; k < n; ++k) values.push_back(static_cast<double>(k) + 1);
    return values;
}

// Bytes of the memory, read as T.
template <class T>
T scalar_at(const Array& array, std::int64_t position) {
    T value;
    std::memcpy(&value, static_cast<const char*>(array.data()) + position * std::int64_t{sizeof(T)},
                sizeof(T));
    return value;
}

template <class F>
void check_writes(const Array& array, F write) {
    const std::uint64_t before = array.version();
    write();
    CHECK(array.version() > before);
}

}  // namespace

TEST_CASE("array: the first extent counts elements, the others are components") {
    const Array points(Type::f64, {4, 3});
    CHECK(points.type() == Type::f64);
    CHECK(points.shape() == std::vector<std::int64_t>{4, 3});
    CHECK(points.elements() == 4);
    CHECK(points.components() == 3);
    CHECK(points.size() == 12);
    CHECK(points.element_stride() == 3);
    CHECK(points.component_stride() == 1);
    CHECK(points.to_doubles() == std::vector<double>(12, 0.0));
    const Array matrices(Type::f32, {2, 3, 3});
    CHECK(matrices.elements() == 2);
    CHECK(matrices.components() == 9);
    const Array scalars(Type::i32, {5});
    CHECK(scalars.components() == 1);
    CHECK(scalars.element_stride() == 1);
}

TEST_CASE("array: planar memory is one padded plane per component, the values are the same") {
    const std::vector<double> values = counting(5 * 3);
    const Array rows = Array::from(values, Type::f32, {5, 3});
    const Array planes = Array::from(values, Type::f32, {5, 3}, Layout::planar);
    CHECK(planes.layout() == Layout::planar);
    CHECK(planes.element_stride() == 1);
    CHECK(planes.component_stride() == 16);
    CHECK(planes.bytes() == 3 * 16 * sizeof(float));
    CHECK(rows.to_doubles() == values);
    CHECK(planes.to_doubles() == values);
    for (int e = 0; e < 5; ++e)
        for (int c = 0; c < 3; ++c) {
            CHECK(rows.value(e, c) == 3 * e + c + 1);
            CHECK(planes.value(e, c) == 3 * e + c + 1);
            CHECK(scalar_at<float>(rows, 3 * e + c) == static_cast<float>(3 * e + c + 1));
            CHECK(scalar_at<float>(planes, 16 * c + e) == static_cast<float>(3 * e + c + 1));
        }
    // One component has one layout.
    CHECK(Array(Type::f64, {7}, Layout::planar).layout() == Layout::contiguous);
    CHECK(Array(Type::f64, {7, 1}, Layout::planar).layout() == Layout::contiguous);
}

TEST_CASE("array: reals are rounded once, ties to even, out of range to infinity") {
    const Array a(Type::f32, {8});
    a.assign(std::vector<double>{0.1, 1 + std::ldexp(1.0, -24), 1 + std::ldexp(3.0, -24),
                                 std::ldexp(1.0, -149), std::ldexp(1.0, -150), 1e300, -1e300,
                                 -0.0});
    CHECK(a.value(0) == 13421773.0 / 134217728.0);  // the f32 nearest to 0.1
    CHECK(a.value(1) == 1.0);                       // halfway: to even
    CHECK(a.value(2) == 1 + std::ldexp(1.0, -22));  // halfway: to even
    CHECK(a.value(3) == std::ldexp(1.0, -149));     // the smallest subnormal
    CHECK(a.value(4) == 0.0);                       // halfway to it
    CHECK(a.value(5) == infinity);
    CHECK(a.value(6) == -infinity);
    CHECK(std::signbit(a.value(7)));
    const Array d = Array::from(std::vector<double>{0.1, std::nan("")}, Type::f64, {2});
    CHECK(d.value(0) == 0.1);
    CHECK(std::isnan(d.value(1)));
}

TEST_CASE("array: what an integer type cannot hold is an error and changes nothing") {
    struct Limits {
        Type type;
        double low, high;
    };
    const double exact = 9007199254740992.0;  // 2^53
    for (const Limits& l :
         {Limits{Type::i32, -2147483648.0, 2147483647.0}, Limits{Type::u32, 0.0, 4294967295.0},
          Limits{Type::i64, -exact, exact}, Limits{Type::u64, 0.0, exact}}) {
        CAPTURE(ir::name_of(l.type));
        const Array a = Array::from(std::vector<double>{l.low, l.high, 7}, l.type, {3});
        CHECK(a.to_doubles() == std::vector<double>{l.low, l.high, 7});
        const std::uint64_t version = a.version();
        for (const double bad :
             {l.low - 2, l.high + 2, 0.5, -0.5, infinity, -infinity, std::nan(""), 1e300}) {
            CAPTURE(bad);
            CHECK_THROWS_AS(a.assign(std::vector<double>{1, 2, bad}), Error);
            CHECK_THROWS_AS(a.fill(bad), Error);
            CHECK_THROWS_AS(a.set_value(0, 0, bad), Error);
        }
        CHECK(a.version() == version);
        CHECK(a.to_doubles() == std::vector<double>{l.low, l.high, 7});
    }
    const Array a(Type::i32, {1});
    CHECK_THROWS_WITH_AS(a.fill(4294967296.0),
                         "an i32 array cannot hold 4294967296; integers from -2147483648 to "
                         "2147483647 fit",
                         Error);
}

TEST_CASE("array: 64-bit integers are assigned exactly, narrow ones are checked") {
    const std::int64_t odd = (std::int64_t{1} << 62) + 1;
    const Array wide(Type::i64, {3});
    wide.assign_integers(std::vector<std::int64_t>{odd, -odd, largest});
    CHECK(scalar_at<std::int64_t>(wide, 0) == odd);
    CHECK(scalar_at<std::int64_t>(wide, 1) == -odd);
    CHECK(scalar_at<std::int64_t>(wide, 2) == largest);
    const Array unsigned_wide(Type::u64, {1});
    unsigned_wide.assign_integers(std::vector<std::int64_t>{-1});
    CHECK(unsigned_wide.value(0) == 18446744073709551616.0);  // 2^64 - 1, rounded
    const Array narrow(Type::i32, {2}), natural(Type::u32, {2});
    narrow.assign_integers(std::vector<std::int64_t>{-2147483648, 2147483647});
    natural.assign_integers(std::vector<std::int64_t>{0, 4294967295});
    CHECK(natural.value(1) == 4294967295.0);
    CHECK_THROWS_AS(narrow.assign_integers(std::vector<std::int64_t>{0, 2147483648}), Error);
    CHECK_THROWS_AS(narrow.assign_integers(std::vector<std::int64_t>{0, -2147483649}), Error);
    CHECK_THROWS_AS(natural.assign_integers(std::vector<std::int64_t>{5, -1}), Error);
    CHECK_THROWS_AS(natural.assign_integers(std::vector<std::int64_t>{5, 4294967296}), Error);
    CHECK(narrow.to_doubles() == std::vector<double>{-2147483648, 2147483647});
    CHECK(natural.to_doubles() == std::vector<double>{0, 4294967295});
    CHECK_THROWS_WITH_AS(Array(Type::f64, {1}).assign_integers(std::vector<std::int64_t>{1}),
                         "integers are assigned to a real array; use assign()", Error);
}

TEST_CASE("array: the number of values and the place of a value are checked") {
    const Array a(Type::f64, {2, 3});
    CHECK_THROWS_WITH_AS(a.assign(counting(5)), "5 values are assigned to an array of 6", Error);
    CHECK_THROWS_AS(Array(Type::i32, {2}).assign_integers(std::vector<std::int64_t>{1}), Error);
    CHECK_THROWS_AS(Array::from(counting(7), Type::f64, {2, 3}), Error);
    for (const auto& [element, component] :
         {std::pair<std::int64_t, int>{2, 0}, {-1, 0}, {0, 3}, {0, -1}, {largest, 0}}) {
        CHECK_THROWS_AS(a.value(element, component), Error);
        CHECK_THROWS_AS(a.set_value(element, component, 1), Error);
    }
    CHECK(a.to_doubles() == std::vector<double>(6, 0.0));
}

TEST_CASE("array: every write makes a new version, reading does not") {
    const Array a(Type::f64, {2}), b(Type::f64, {2}), i(Type::i32, {2});
    check_writes(a, [&] { a.assign(counting(2)); });
    check_writes(a, [&] { a.fill(3); });
    check_writes(a, [&] { a.set_value(1, 0, 4); });
    check_writes(a, [&] { a.clear(); });
    check_writes(a, [&] { a.copy_from(b); });
    check_writes(a, [&] { a.touch(); });
    check_writes(i, [&] { i.assign_integers(std::vector<std::int64_t>{1, 2}); });
    const std::uint64_t version = a.version();
    CHECK(a.to_doubles().size() == 2);
    CHECK(a.value(0) == 0);
    CHECK(a.clone().value(0) == 0);
    CHECK(a.binding().version == version);
    a.gradient().fill(1);  // another array
    CHECK(a.version() == version);
    CHECK(*a.version_counter() == version);
}

TEST_CASE("array: versions of different arrays never coincide, also in memory that was freed") {
    // Index structures are kept by memory and version.
    std::set<std::uint64_t> seen;
    for (int k = 0; k < 100; ++k) {
        const Array a(Type::i32, {16});
        for (int write = 0; write < 3; ++write) {
            CHECK(seen.insert(a.version()).second);
            a.touch();
        }
    }
}

TEST_CASE("array: gradients and tangents are made when asked for") {
    const std::int64_t before = memory_use().current;
    const Array a = Array::from(counting(6), Type::f32, {2, 3}, Layout::planar);
    const std::int64_t own = memory_use().current - before;
    CHECK(own == static_cast<std::int64_t>(a.bytes()));
    CHECK(!a.has_gradient());
    const Array gradient = a.gradient();
    CHECK(a.has_gradient());
    CHECK(memory_use().current - before == 2 * own);
    CHECK(gradient.type() == Type::f32);
    CHECK(gradient.shape() == a.shape());
    CHECK(gradient.layout() == Layout::planar);
    CHECK(gradient.to_doubles() == std::vector<double>(6, 0.0));
    CHECK(!gradient.same_memory(a));
    CHECK(a.gradient().same_memory(gradient));
    CHECK(a.tangent().same_memory(a.tangent()));
    CHECK(!a.tangent().same_memory(gradient));
    CHECK(!gradient.tangent().same_memory(a.tangent().gradient()));
    CHECK_THROWS_WITH_AS(Array(Type::i32, {1}).gradient(), "an integer array has no gradient",
                         Error);
    CHECK_THROWS_WITH_AS(Array(Type::u64, {1}).tangent(), "an integer array has no tangent", Error);
}

TEST_CASE("array: cleared by the threads of a pool, whatever is occupied") {
    ThreadPool pool(3);
    for (const Layout layout : {Layout::contiguous, Layout::planar})
        for (const std::int64_t elements : {0, 5, 9000, 40001}) {
            const Array a(Type::f64, {elements, 3}, layout);
            for (const backend::ActiveRange occupied :
                 {backend::ActiveRange{}, backend::ActiveRange{elements / 3, elements / 2}}) {
                a.occupied() = occupied;
                a.fill(7);
                const std::uint64_t version = a.version();
                a.clear(&pool);
                CHECK(a.to_doubles() ==
                      std::vector<double>(static_cast<std::size_t>(3 * elements), 0.0));
                CHECK(a.version() != version);
            }
        }
    // Derivatives are occupied where the array is.
    const Array a(Type::f64, {10});
    a.occupied() = {2, 4};
    CHECK(a.gradient().occupied().end == 4);
    CHECK(a.tangent().gradient().occupied().end == 4);
    CHECK(a.clone().occupied().end == 0);
}

TEST_CASE("array: copies of the handle share, a clone does not") {
    const Array a = Array::from(counting(3), Type::f64, {3});
    const Array same = a;  // NOLINT(performance-unnecessary-copy-initialization): what is tested
    const Array clone = a.clone();
    a.gradient().fill(1);
    a.set_value(0, 0, 10);
    CHECK(same.same_memory(a));
    CHECK(same.value(0) == 10);
    CHECK(same.has_gradient());
    CHECK(!clone.same_memory(a));
    CHECK(clone.to_doubles() == counting(3));
    CHECK(!clone.has_gradient());
    CHECK(!a.clone().has_gradient());
    const Array copy(Type::f64, {3});
    copy.copy_from(a);
    CHECK(copy.to_doubles() == a.to_doubles());
    a.copy_from(a);
    CHECK(a.value(0) == 10);
    CHECK_THROWS_WITH_AS(copy.copy_from(Array(Type::f32, {3, 2}, Layout::planar)),
                         "an array (contiguous f64 [3]) is copied from one of another type, shape "
                         "or layout (planar f32 [3, 2]); use assign(other.to_doubles()) to convert",
                         Error);
}

TEST_CASE("array: the state hash is that of the values, whatever the layout") {
    const auto hash = [](const Array& a) {
        StateHash h;
        a.add_to(h, "x");
        return h.digest();
    };
    const std::vector<double> values = counting(6);
    const Array rows = Array::from(values, Type::f64, {2, 3});
    const Array planes = Array::from(values, Type::f64, {2, 3}, Layout::planar);
    CHECK(hash(rows) == hash(planes));
    // The same from plain memory.
    const std::int64_t shape[2] = {2, 3};
    StateHash expected;
    expected.add("x", {values.data(), HashType::f64, shape});
    CHECK(hash(rows) == expected.digest());
    CHECK(hash(rows) != hash(Array::from(values, Type::f64, {3, 2})));
    CHECK(hash(rows) != hash(Array::from(values, Type::f32, {2, 3})));
    planes.set_value(1, 2, 6.5);
    CHECK(hash(rows) != hash(planes));
    const std::vector<std::int32_t> integers{1, 2};
    const std::int64_t pair[2] = {2, 1};
    StateHash of_integers;
    of_integers.add("x", {integers.data(), HashType::i32, pair});
    CHECK(hash(Array::from(counting(2), Type::i32, {2})) == of_integers.digest());
}

TEST_CASE("array: absurd shapes and types are errors, and nothing is allocated") {
    const std::int64_t before = memory_use().current;
    const std::int64_t half = std::int64_t{1} << 62;
    for (const std::vector<std::int64_t>& shape :
         std::vector<std::vector<std::int64_t>>{{},
                                                {-1},
                                                {4, -1},
                                                {largest},
                                                {largest - 7, 1},
                                                {half, 2},
                                                {std::int64_t{1} << 48},
                                                {std::int64_t{1} << 46, 4096},
                                                {1, 4097},
                                                {1, largest},
                                                {1, 4, half},  // 2^64 wraps to 0
                                                {1, 64, 65},
                                                {1, 3, half, half}}) {
        CAPTURE(shape.size());
        CHECK_THROWS_AS(Array(Type::f64, shape), Error);
        CHECK_THROWS_AS(Array(Type::f64, shape, Layout::planar), Error);
    }
    CHECK_THROWS_AS(Array(Type::none, {1}), Error);
    CHECK_THROWS_WITH_AS(Array(Type::boolean, {1}),
                         "there are no arrays of bool; use a real or an integer type", Error);
    CHECK(memory_use().current == before);
    CHECK(Array(Type::f32, {1, 4096}).components() == 4096);
}

TEST_CASE("array: zero elements or zero components") {
    for (const std::vector<std::int64_t>& shape :
         std::vector<std::vector<std::int64_t>>{{0}, {0, 3}, {3, 0}}) {
        const Array a(Type::f64, shape, Layout::planar);
        CHECK(a.size() == 0);
        CHECK(a.to_doubles().empty());
        a.assign({});
        a.fill(1);
        a.clear();
        CHECK(a.clone().size() == 0);
        CHECK(a.gradient().size() == 0);
        CHECK_THROWS_AS(a.value(0), Error);
        StateHash hash;
        a.add_to(hash, "a");
    }
}

TEST_CASE("array: a handle without memory says so") {
    const Array none;
    CHECK(!none);
    CHECK_THROWS_WITH_AS(none.type(), "an Array without memory is used; give it a shape", Error);
    CHECK_THROWS_AS(none.to_doubles(), Error);
    CHECK_THROWS_AS(none.gradient(), Error);
    CHECK_THROWS_AS(none.touch(), Error);
    CHECK_THROWS_AS(Array(Type::f64, {1}).copy_from(none), Error);
}
