// Quaternions against Hamilton's table, Rodrigues' formula, and differences.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>

#include "engine/ad/differentiate.hpp"
#include "engine/ad/grad.hpp"
#include "engine/lang/kernel.hpp"
#include "engine/lang/quaternion.hpp"
#include "tests/support/kernels/kernel_harness.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using test::Data;
using Numbers = std::vector<double>;

namespace {

// f of two quaternions, as an array of numbers.
template <class Out>
Numbers apply(const std::function<Out(const Quat&, const Quat&)>& f, const Numbers& p,
              const Numbers& q) {
    const auto def =
        kernel("apply", {"p", "q", "out"},
               [&](Int i, Read<Quat> a, Read<Quat> b, Write<Out> y) { y[i] = f(a[i], b[i]); });
    Data data{.real = {{"p", p},
                       {"q", q},
                       {"out", Numbers(static_cast<std::size_t>(Shape<Out>::components), -99)}}};
    test::run(def.trace(ir::Precision::f64), data, 1);
    return data.real["out"];
}
Numbers of_vector(const std::function<Quat(const Vec3&)>& f, const Numbers& r,
                  ir::Precision precision = ir::Precision::f64) {
    const auto def = kernel("of_vector", {"r", "out"},
                            [&](Int i, Read<Vec3> v, Write<Quat> y) { y[i] = f(v[i]); });
    Data data{.real = {{"r", r}, {"out", Numbers(4)}}};
    test::run(def.trace(precision), data, 1);
    return data.real["out"];
}

void near(const Numbers& found, const Numbers& expected, double tolerance = 4e-16) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
        INFO("component " << k << ": " << found[k] << " against " << expected[k]);
        CHECK(std::fabs(found[k] - expected[k]) <= tolerance * (1 + std::fabs(expected[k])));
    }
}

// Rodrigues: v cos t + (k x v) sin t + k (k.v) (1 - cos t).
Numbers rodrigues(const Numbers& k, double t, const Numbers& v) {
    const double c = std::cos(t), s = std::sin(t), along = k[0] * v[0] + k[1] * v[1] + k[2] * v[2];
    const Numbers cross{k[1] * v[2] - k[2] * v[1], k[2] * v[0] - k[0] * v[2],
                        k[0] * v[1] - k[1] * v[0]};
    Numbers r(3);
    for (std::size_t j = 0; j < 3; ++j) r[j] = v[j] * c + cross[j] * s + k[j] * along * (1 - c);
    return r;
}

const Numbers unit{0.5, -0.5, 0.1, 0.7};  // norm 1
const Numbers other{0.1, 0.3, 0.3, 0.9};  // norm 1

}  // namespace

TEST_CASE("the product follows Hamilton's table: ij = k, jk = i, ki = j, ii = -1") {
    const std::array<Numbers, 4> basis{{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
    constexpr int table[4][4] = {
        {1, 2, 3, 4}, {2, -1, 4, -3}, {3, -4, -1, 2}, {4, 3, -2, -1}};  // sign and 1 + component
    for (std::size_t a = 0; a < 4; ++a)
        for (std::size_t b = 0; b < 4; ++b) {
            Numbers expected(4, 0.0);
            expected[static_cast<std::size_t>(std::abs(table[a][b]) - 1)] =
                table[a][b] > 0 ? 1 : -1;
            CHECK(apply<Quat>([](const Quat& p, const Quat& q) { return p * q; }, basis[a],
                              basis[b]) == expected);
        }
    near(apply<Quat>([](const Quat& p, const Quat&) { return p * conjugate(p); }, unit, other),
         {1, 0, 0, 0});
    near(apply<Float>([](const Quat& p, const Quat& q) { return norm(p * q); }, {1, 2, 3, 4},
                      {5, 6, 7, 8}),
         {std::sqrt(30.0 * 174.0)});
    near(apply<Quat>(
             [](const Quat& p, const Quat& q) { return normalize(2.0 * p + q * 3.0 - q * 3.0); },
             {1, 2, 2, 4}, other),
         {0.2, 0.4, 0.4, 0.8});
    near(apply<Float>([](const Quat& p, const Quat& q) { return dot(p, q); }, {1, 2, 3, 4},
                      {5, 6, 7, 8}),
         {70});
}

TEST_CASE("rotation by axis and angle is Rodrigues' formula; products compose; matrices agree") {
    const Numbers axis{2.0 / 7, -3.0 / 7, 6.0 / 7}, v{0.3, -1.2, 2.5};
    for (const double angle : {0.0, 1e-9, 0.3, 1.7, 3.14, -2.0, 6.0}) {
        const auto def =
            kernel("rotate", {"axis", "v", "out", "matrix"},
                   [&](Int i, Read<Vec3> k, Read<Vec3> x, Write<Vec3> out, Write<Vec3> matrix) {
                       const Quat q = from_axis_angle(k[i], angle);
                       out[i] = rotate(q, x[i]);
                       matrix[i] = to_matrix(q) * x[i];
                   });
        Data data{.real = {{"axis", axis}, {"v", v}, {"out", Numbers(3)}, {"matrix", Numbers(3)}}};
        test::run(def.trace(ir::Precision::f64), data, 1);
        near(data.real["out"], rodrigues(axis, angle, v), 2e-15);
        near(data.real["matrix"], rodrigues(axis, angle, v), 2e-15);
    }
    const auto compose = [](const Quat& p, const Quat& q) {
        const Vec3 x(0.3, -1.2, 2.5);
        return rotate(p * q, x) - rotate(p, rotate(q, x));
    };
    near(apply<Vec3>(compose, unit, other), {0, 0, 0}, 2e-15);
    near(apply<Vec3>(
             [](const Quat& p, const Quat&) {
                 return rotate(conjugate(p), rotate(p, Vec3(1.0, 2.0, 3.0)));
             },
             unit, other),
         {1, 2, 3}, 2e-15);
}

TEST_CASE("exponential of a rotation vector, at and near zero and at the change of formula") {
    for (const double angle : {0.0, 1e-300, 1e-8, 0.1, 0.19999, 0.2, 0.20001, 1.0, 3.0, 7.0}) {
        INFO(angle);
        const Numbers r{angle * 2 / 7, angle * -3 / 7, angle * 6 / 7};
        const double s = std::sin(angle / 2);
        const Numbers expected{std::cos(angle / 2), s * 2 / 7, s * -3 / 7, s * 6 / 7};
        near(of_vector([](const Vec3& v) { return exponential(v); }, r), expected);
        near(of_vector([](const Vec3& v) { return exponential(v); }, r, ir::Precision::f32),
             expected, 4e-7);
    }
}

TEST_CASE("derivatives of quaternion functions to third order") {
    const auto def = kernel("derivatives", {"r", "v", "out"},
                            [](Int i, Read<Vec3> r, Read<Vec3> v, Write<Vec3> out) {
                                const Quat q = exponential(0.1 * r[i]), p = exponential(2.0 * r[i]);
                                out[i] = rotate(update(normalize(p * q), v[i]), v[i]);
                            });
    test::Case c{.kernel = def.trace(ir::Precision::f64), .items = 3};
    std::mt19937_64 random(11);
    const Data base = test::inputs(c, random);
    for (const std::string& problem : test::check_kernel(c, base, random)) FAIL_CHECK(problem);
}

TEST_CASE("the exponential is smooth at zero: dq = (0, dr/2), and d2w = -dr.dr/4") {
    const auto def = kernel("at_zero", {"r", "q"},
                            [](Int i, Read<Vec3> r, Write<Quat> q) { q[i] = exponential(r[i]); });
    const ir::Kernel k = def.trace(ir::Precision::f64), kt = ad::tangent(k);
    const Data zero{.real = {{"r", {0, 0, 0}}, {"q", Numbers(4)}}};
    const Data t = test::run_tangent(k, zero, 1, {{"r", {2, 4, 6}}});
    CHECK(t.real.at("q.t1") == Numbers{0, 1, 2, 3});
    const Data tt = test::run_tangent(kt, t, 1, {{"r", {2, 4, 6}}});
    CHECK(tt.real.at("q.t1.t2") == Numbers{-14, 0, 0, 0});
    CHECK(test::run_adjoint(k, zero, 1, {{"q", {5, 2, 4, 6}}}).real["r.a1"] == Numbers{1, 2, 3});
}

TEST_CASE("the tangent-space gradient is the derivative by the update, and updates keep the norm") {
    // f(q) = c.q; f(update(q, r)) is differentiated by r at 0, and by q with tangent_gradient.
    const auto def =
        kernel("tangent_space", {"q", "c", "by_update", "by_gradient", "norms"},
               [](Int i, Read<Quat> q, Read<Quat> c, Write<Vec3> by_update, Write<Vec3> by_gradient,
                  Write<Float> norms) {
                   const Vec3 r = ad::variable(Vec3(0.0, 0.0, 0.0));
                   by_update[i] = ad::grad(dot(c[i], update(q[i], r)), r);
                   by_gradient[i] = tangent_gradient(q[i], c[i]);
                   Quat moved = q[i];
                   for_(0, 1000, [&](Int) { moved = update(moved, Vec3(0.1, -0.2, 0.3)); });
                   norms[i] = norm(moved);
               });
    Data data{.real = {{"q", unit},
                       {"c", {0.7, -1.1, 0.2, 0.4}},
                       {"by_update", Numbers(3)},
                       {"by_gradient", Numbers(3)},
                       {"norms", {0}}}};
    test::run(def.trace(ir::Precision::f64), data, 1);
    near(data.real["by_update"], data.real["by_gradient"], 1e-15);
    // By hand: 1/2 vector part of c q*.
    const double w = 0.5, x = -0.5, y = 0.1, z = 0.7, cw = 0.7, cx = -1.1, cy = 0.2, cz = 0.4;
    near(data.real["by_gradient"],
         {0.5 * (-cw * x + cx * w - cy * z + cz * y), 0.5 * (-cw * y + cx * z + cy * w - cz * x),
          0.5 * (-cw * z - cx * y + cy * x + cz * w)});
    near(data.real["norms"], {1});
}
