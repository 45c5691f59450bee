// Vectors and matrices of the language against arithmetic on the host, written out by components.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>
#include <random>

#include "engine/lang/kernel.hpp"
#include "tests/support/kernels/kernel_harness.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using test::Data;
using Numbers = std::vector<double>;

namespace {

// f of one element of `in`, as an array of numbers.
template <class In, class Out>
Numbers apply(const std::function<Out(const In&)>& f, const Numbers& in) {
    const auto def =
        kernel("apply", {"in", "out"}, [&](Int i, Read<In> x, Write<Out> y) { y[i] = f(x[i]); });
    Data data{.real = {{"in", in},
                       {"out", Numbers(static_cast<std::size_t>(Shape<Out>::components), -99)}}};
    test::run(def.trace(ir::Precision::f64), data, 1);
    return data.real["out"];
}

void near(const Numbers& found, const Numbers& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
        INFO("component " << k);
        CHECK(std::fabs(found[k] - expected[k]) <= 1e-14 * (1 + std::fabs(expected[k])));
    }
}

std::vector<Numbers> samples(std::size_t components) {
    std::mt19937_64 random(components);
    std::vector<Numbers> list(8, Numbers(components));
    for (Numbers& numbers : list)
        for (double& n : numbers) n = std::ldexp(static_cast<double>(random() >> 11), -51) - 2;
    return list;
}

using Vec6 = Vec<Float, 6>;
Vec3 first(const Vec6& v) { return Vec3(v[0], v[1], v[2]); }
Vec3 second(const Vec6& v) { return Vec3(v[3], v[4], v[5]); }
using Mat23 = Mat<Float, 2, 3>;
using Mat32 = Mat<Float, 3, 2>;

}  // namespace

TEST_CASE("vector arithmetic, products and norms") {
    for (const Numbers& n : samples(6)) {
        const double *a = n.data(), *b = n.data() + 3;
        const auto on = [&](auto f) {
            return apply<Vec6, Vec3>([&](const Vec6& v) { return f(first(v), second(v)); }, n);
        };
        const auto scalar = [&](auto f) {
            return apply<Vec6, Float>([&](const Vec6& v) { return f(first(v), second(v)); }, n)[0];
        };
        near(on([](Vec3 u, Vec3 v) { return u + v; }), {a[0] + b[0], a[1] + b[1], a[2] + b[2]});
        near(on([](Vec3 u, Vec3 v) { return u - v; }), {a[0] - b[0], a[1] - b[1], a[2] - b[2]});
        near(on([](Vec3 u, Vec3) { return -u; }), {-a[0], -a[1], -a[2]});
        near(on([](Vec3 u, Vec3 v) { return u * v.x(); }), {a[0] * b[0], a[1] * b[0], a[2] * b[0]});
        near(on([](Vec3 u, Vec3) { return 2.5 * u; }), {2.5 * a[0], 2.5 * a[1], 2.5 * a[2]});
        near(on([](Vec3 u, Vec3 v) { return u / v.y(); }), {a[0] / b[1], a[1] / b[1], a[2] / b[1]});
        near(on([](Vec3 u, Vec3 v) {
                 u += v;
                 u *= 3.0;
                 u -= v;
                 u /= 2;
                 return u;
             }),
             {((a[0] + b[0]) * 3 - b[0]) / 2, ((a[1] + b[1]) * 3 - b[1]) / 2,
              ((a[2] + b[2]) * 3 - b[2]) / 2});
        near(on([](Vec3 u, Vec3 v) { return cwise_product(u, v); }),
             {a[0] * b[0], a[1] * b[1], a[2] * b[2]});
        near(on([](Vec3 u, Vec3 v) { return min(u, v); }),
             {std::fmin(a[0], b[0]), std::fmin(a[1], b[1]), std::fmin(a[2], b[2])});
        near(on([](Vec3 u, Vec3 v) { return max(u, v); }),
             {std::fmax(a[0], b[0]), std::fmax(a[1], b[1]), std::fmax(a[2], b[2])});
        near(on([](Vec3 u, Vec3 v) { return select(u.x() < v.x(), u, v); }),
             a[0] < b[0] ? Numbers{a[0], a[1], a[2]} : Numbers{b[0], b[1], b[2]});
        near(on([](Vec3 u, Vec3 v) { return cross(u, v); }),
             {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]});
        const double length = std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
        near(on([](Vec3 u, Vec3) { return normalize(u); }),
             {a[0] / length, a[1] / length, a[2] / length});
        near({scalar([](Vec3 u, Vec3) { return norm(u); }),
              scalar([](Vec3 u, Vec3) { return squared_norm(u); }),
              scalar([](Vec3 u, Vec3 v) { return dot(u, v); }),
              scalar([](Vec3 u, Vec3) { return sum(u); }),
              scalar([](Vec3 u, Vec3) { return safe_norm(u, 0.5); }),
              scalar([](Vec3 u, Vec3 v) { return cross(Vec2(u.x(), u.y()), Vec2(v.x(), v.y())); }),
              scalar([](Vec3 u, Vec3 v) { return norm(Vec4(u.x(), u.y(), u.z(), v.x())); }),
              scalar([](Vec3 u, Vec3) { return norm(Vec<Float, 1>::filled(u.x())); })},
             {length, length * length, a[0] * b[0] + a[1] * b[1] + a[2] * b[2], a[0] + a[1] + a[2],
              std::sqrt(length * length + 0.25), a[0] * b[1] - a[1] * b[0],
              std::sqrt(length * length + b[0] * b[0]), std::fabs(a[0])});
    }
}

TEST_CASE("a component at a traced index: read, assigned, and none out of range") {
    for (int k = -1; k <= 3; ++k) {
        const auto def = kernel("component", {"k", "v", "out"},
                                [](Int i, Read<Int> at, Read<Vec3> in, Write<Vec4> out) {
                                    Vec3 v = in[i];
                                    const Int j = at[i];
                                    const Float before = v[j];
                                    v[j] = 100;
                                    v[j] += before;
                                    v[j] *= 2.0;
                                    out[i] = Vec4(v.x(), v.y(), v.z(), before);
                                });
        Data data{.real = {{"v", {1, 2, 3}}, {"out", Numbers(4)}}, .whole = {{"k", {k}}}};
        test::run(def.trace(ir::Precision::f64), data, 1);
        Numbers expected{1, 2, 3,
                         k == 1   ? 2.0
                         : k == 2 ? 3.0
                                  : 1.0};  // out of range reads the first, writes nothing
        if (k >= 0 && k < 3)
            expected[static_cast<std::size_t>(k)] = (100 + static_cast<double>(k + 1)) * 2;
        CHECK(data.real["out"] == expected);
    }
}

TEST_CASE(
    "operators find components of variables and own elements, on either side, with literals and "
    "with themselves") {
    const auto def =
        kernel("operators", {"y", "out"}, [](Int i, ReadWrite<Vec2> y, Write<Vec<Float, 8>> out) {
            Vec3 v(1.0, 2.0, 3.0);
            const Int one = i + 1;
            out[i][0] = y[i].x() * 2.0 + v[one] * 2.0;
            out[i][1] = 1.0 - y[i].y() / y[i].x();
            out[i][2] = -y[i].x() + -v[one];
            out[i][3] = select(y[i].x() < 10.0 && v[one] >= 2.0, y[i].y(), 0.0);
            out[i][4] = max(y[i].x(), 2.0) + abs(v[one]) + sqrt(y[i].y());
            out[i][5] = v[one] * v[one] + y[i].x() * y[i].x();
            out[i][6] = select(y[i][1] == 16.0, y[i].x(), v[one]);
            out[i][7] = y[i].x();
        });
    Data data{.real = {{"y", {5, 16}}, {"out", Numbers(8)}}};
    test::run(def.trace(ir::Precision::f64), data, 1);
    CHECK(data.real["out"] == Numbers{14, 1 - 16.0 / 5, -7, 16, 5 + 2 + 4, 29, 5, 5});
}

TEST_CASE("integer vectors") {
    const auto def = kernel("integers", {"a", "b"}, [](Int i, Read<Int3> a, Write<Int3> b) {
        Int3 v = a[i] + Int3(1, 2, 3);
        v.z() = dot(a[i], v);
        v[i] = v[i] % 4;
        b[i] = -v;
    });
    Data data{.whole = {{"a", {5, 6, 7}}, {"b", {0, 0, 0}}}};
    test::run(def.trace(ir::Precision::f64), data, 1);
    CHECK(data.whole["b"] == std::vector<std::int64_t>{-2, -8, -(30 + 48 + 70)});
}

TEST_CASE("3 x 3 matrices: determinant, adjugate, inverse, products, transpose, trace") {
    for (const Numbers& n : samples(9)) {
        const auto m = [&](int r, int c) { return n[static_cast<std::size_t>(3 * r + c)]; };
        const auto on = [&](auto f) {
            return apply<Mat3, Mat3>([&](const Mat3& a) { return f(a); }, n);
        };
        double det = 0;  // by permutations
        const int permutations[6][4] = {{0, 1, 2, 1},  {1, 2, 0, 1},  {2, 0, 1, 1},
                                        {0, 2, 1, -1}, {2, 1, 0, -1}, {1, 0, 2, -1}};
        for (const auto& p : permutations) det += p[3] * m(0, p[0]) * m(1, p[1]) * m(2, p[2]);
        near(apply<Mat3, Float>([](const Mat3& a) { return determinant(a); }, n), {det});
        Numbers scaled(9, 0.0), identity(9, 0.0), transposed(9), squared(9, 0.0);
        for (int r = 0; r < 3; ++r) {
            scaled[static_cast<std::size_t>(4 * r)] = det;
            identity[static_cast<std::size_t>(4 * r)] = 1;
            for (int c = 0; c < 3; ++c) {
                transposed[static_cast<std::size_t>(3 * c + r)] = m(r, c);
                for (int k = 0; k < 3; ++k)
                    squared[static_cast<std::size_t>(3 * r + c)] += m(r, k) * m(k, c);
            }
        }
        near(on([](const Mat3& a) { return adjugate(a) * a; }), scaled);
        near(on([](const Mat3& a) { return a * adjugate(a); }), scaled);
        const Numbers inverted = on([](const Mat3& a) { return inverse(a) * a; });
        for (std::size_t k = 0; k < 9; ++k) CHECK(std::fabs(inverted[k] - identity[k]) < 1e-11);
        near(on([](const Mat3& a) { return transpose(a); }), transposed);
        near(on([](const Mat3& a) { return a * a; }), squared);
        near(on([](const Mat3& a) { return Mat3::identity() * 2.0 + a - 3.0 * a; }),
             {2 - 2 * n[0], -2 * n[1], -2 * n[2], -2 * n[3], 2 - 2 * n[4], -2 * n[5], -2 * n[6],
              -2 * n[7], 2 - 2 * n[8]});
        double square = 0;
        for (const double v : n) square += v * v;
        near(apply<Mat3, Vec2>([](const Mat3& a) { return Vec2(trace(a), inner(a, a)); }, n),
             {n[0] + n[4] + n[8], square});
        near(apply<Mat3, Vec3>([](const Mat3& a) { return a * a.column(1); }, n),
             {m(0, 0) * m(0, 1) + m(0, 1) * m(1, 1) + m(0, 2) * m(2, 1),
              m(1, 0) * m(0, 1) + m(1, 1) * m(1, 1) + m(1, 2) * m(2, 1),
              m(2, 0) * m(0, 1) + m(2, 1) * m(1, 1) + m(2, 2) * m(2, 1)});
    }
}

TEST_CASE("2 x 2 and rectangular matrices, outer products, columns") {
    for (const Numbers& n : samples(4)) {
        const double det = n[0] * n[3] - n[1] * n[2];
        near(apply<Mat2, Float>([](const Mat2& a) { return determinant(a); }, n), {det});
        near(apply<Mat2, Mat2>([](const Mat2& a) { return adjugate(a); }, n),
             {n[3], -n[1], -n[2], n[0]});
        near(apply<Mat2, Mat2>([](const Mat2& a) { return inverse(a) * determinant(a); }, n),
             {n[3], -n[1], -n[2], n[0]});
    }
    for (const Numbers& n : samples(6)) {
        near(apply<Mat23, Mat32>([](const Mat23& a) { return transpose(a); }, n),
             {n[0], n[3], n[1], n[4], n[2], n[5]});
        near(apply<Mat23, Mat2>([](const Mat23& a) { return a * transpose(a); }, n),
             {n[0] * n[0] + n[1] * n[1] + n[2] * n[2], n[0] * n[3] + n[1] * n[4] + n[2] * n[5],
              n[0] * n[3] + n[1] * n[4] + n[2] * n[5], n[3] * n[3] + n[4] * n[4] + n[5] * n[5]});
        near(apply<Mat23, Vec2>([](const Mat23& a) { return a * Vec3(1.0, 10.0, 100.0); }, n),
             {n[0] + 10 * n[1] + 100 * n[2], n[3] + 10 * n[4] + 100 * n[5]});
        near(apply<Vec6, Mat3>([](const Vec6& v) { return outer(first(v), second(v)); }, n),
             {n[0] * n[3], n[0] * n[4], n[0] * n[5], n[1] * n[3], n[1] * n[4], n[1] * n[5],
              n[2] * n[3], n[2] * n[4], n[2] * n[5]});
        near(apply<Vec6, Mat32>(
                 [](const Vec6& v) {
                     return Mat32::from_columns({first(v), second(v)});
                 },
                 n),
             {n[0], n[3], n[1], n[4], n[2], n[5]});
    }
}

TEST_CASE("an operation is placed where it is called, not where it is written") {
    int line = 0;
    const auto def = kernel("places", {"x", "y"}, [&](Int i, Read<Vec3> x, Write<Float> y) {
        const Vec3 v = x[i];
        line = __LINE__ + 1;
        y[i] = dot(cross(v, v + v), normalize(v));
    });
    const ir::Kernel k = def.trace(ir::Precision::f64);
    for (const ir::Value v : k.region(0).ops) {
        if (k.op(v).code == ir::OpCode::load) continue;
        INFO(ir::print(k));
        CHECK(k.place_of(v).line == line);
        CHECK(k.place_of(v).file == "tests/unit/ir/test_lang_vectors.cpp");
    }
}
