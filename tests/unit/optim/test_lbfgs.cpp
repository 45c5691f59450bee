// L-BFGS with bounds: its model against the same updates of a dense matrix, its line search, and
// problems whose minimum is known: quadratics, Rosenbrock's valley, active bounds, losses that are
// not finite, noisy, or not smooth. What is saved continues bit for bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/base/log.hpp"
#include "engine/base/random.hpp"
#include "engine/document/document.hpp"
#include "engine/optim/limited_memory.hpp"
#include "engine/optim/line_search.hpp"
#include "engine/optim/update_rule.hpp"

using namespace hindcast;
using namespace hindcast::optim;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

using Function = std::function<Evaluation(std::span<const double>)>;
using End = UpdateRule::Step::End;

std::shared_ptr<Device> interpreter() {
    return std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
}

Variables boxed(std::size_t n, double low = -inf, double high = inf) {
    return {Vector(n, low), Vector(n, high), Vector(n, 1.0), std::vector<bool>(n, false)};
}

Settings lbfgs(std::int64_t iterations = 1000) {
    Settings s;
    s.type = RuleType::lbfgs;
    s.iterations = iterations;
    return s;
}

// The extended function of Rosenbrock: sum of 100 (x_2k+1 - x_2k^2)^2 + (1 - x_2k)^2.
Evaluation rosenbrock(std::span<const double> x) {
    Evaluation e{Vector(x.begin(), x.end()), 0, Vector(x.size(), 0.0)};
    for (std::size_t k = 0; k + 1 < x.size(); k += 2) {
        const double a = 1 - x[k], b = x[k + 1] - x[k] * x[k];
        e.loss += a * a + 100 * b * b;
        e.gradient[k] = -2 * a - 400 * x[k] * b;
        e.gradient[k + 1] = 200 * b;
    }
    return e;
}
Vector rosenbrock_start(std::size_t n) {
    Vector x(n, 1.0);
    for (std::size_t k = 0; k < n; k += 2) x[k] = -1.2;
    return x;
}

// sum of scale_k (x_k - center_k)^2 / 2
Function quadratic(const Vector& scale, const Vector& center) {
    return [=](std::span<const double> x) {
        Evaluation e{Vector(x.begin(), x.end()), 0, Vector(x.size())};
        for (std::size_t k = 0; k < x.size(); ++k) {
            e.gradient[k] = scale[k] * (x[k] - center[k]);
            e.loss += 0.5 * e.gradient[k] * (x[k] - center[k]);
        }
        return e;
    };
}

struct Run {
    std::vector<Evaluation> rows;
    std::vector<std::vector<Evaluation>> tried;
    std::string reason;
    End end = End::converged;

    Run(UpdateRule& rule, const Function& f, const Vector& start, int most = 1000) {
        rows.push_back(f(start));
        for (int k = 0; k < most; ++k) {
            tried.emplace_back();
            const UpdateRule::Step step =
                rule.step(rows.back(), [&](std::span<const double> x, bool gradient) {
                    CHECK(gradient);
                    tried.back().push_back(f(x));
                    return tried.back().back();
                });
            if (!step.moved) {
                reason = step.reason;
                end = step.end;
                break;
            }
            rows.push_back(f(step.values));
        }
    }
    Run(const Settings& settings, const Variables& variables, const Function& f,
        const Vector& start, int most = 1000)
        : Run(*make_rule(settings, variables, interpreter()), f, start, most) {}

    const Evaluation& last() const { return rows.back(); }
    std::size_t evaluations() const {
        std::size_t n = 0;
        for (const auto& list : tried) n += list.size();
        return n;
    }
};

double distance(const Vector& a, const Vector& b) { return norm(difference(a, b)); }

using Matrix = std::vector<Vector>;

Vector times(const Matrix& a, const Vector& x) {
    Vector y;
    for (const Vector& row : a) y.push_back(dot(row, x));
    return y;
}

// Gauss-Jordan, no pivots: for positive definite matrices.
Vector solved(Matrix a, Vector b) {
    for (std::size_t c = 0; c < b.size(); ++c)
        for (std::size_t r = 0; r < b.size(); ++r) {
            if (r == c) continue;
            const double f = a[r][c] / a[c][c];
            add(a[r], -f, a[c]);
            b[r] -= f * b[c];
        }
    for (std::size_t c = 0; c < b.size(); ++c) b[c] /= a[c][c];
    return b;
}

}  // namespace

TEST_CASE(
    "the limited memory is the dense BFGS matrix of its pairs, over all or the free entries") {
    constexpr std::size_t n = 8;
    const Random random(11);
    std::uint64_t next = 0;
    const auto draw = [&] {
        Vector v(n);
        for (double& x : v) x = random.uniform(next++, -1, 1);
        return v;
    };
    Matrix hessian(n, Vector(n, 0.0));  // the sum of v v^T, and the unit matrix
    for (std::size_t k = 0; k < n; ++k) {
        const Vector v = draw();
        hessian[k][k] += 1;
        for (std::size_t i = 0; i < n; ++i) add(hessian[i], v[i], v);
    }
    for (const std::size_t pairs : {0, 1, 3, 6}) {
        CAPTURE(pairs);
        LimitedMemory memory(4);  // of six pairs it keeps the last four
        memory.clear(2.5);
        std::vector<std::pair<Vector, Vector>> kept;
        for (std::size_t p = 0; p < pairs; ++p) {
            const Vector s = draw();
            kept.emplace_back(s, times(hessian, s));
            memory.add_pair(s, kept.back().second);
        }
        if (kept.size() > 4) kept.erase(kept.begin(), kept.end() - 4);
        // B <- B - B s s^T B / s.B s + y y^T / s.y, from theta 1.
        double theta = 2.5;
        if (!kept.empty())
            theta = dot(kept.back().second, kept.back().second) /
                    dot(kept.back().first, kept.back().second);
        Matrix b(n, Vector(n, 0.0));
        for (std::size_t k = 0; k < n; ++k) b[k][k] = theta;
        for (const auto& [s, y] : kept) {
            const Vector bs = times(b, s);
            for (std::size_t i = 0; i < n; ++i) {
                add(b[i], -bs[i] / dot(s, bs), bs);
                add(b[i], y[i] / dot(s, y), y);
            }
        }
        const Vector u = draw(), g = draw();
        const Vector free = memory.minimum(u, g, Vector(n, -inf), Vector(n, inf));
        Vector expected = u;
        add(expected, -1, solved(b, g));
        CHECK(distance(free, expected) < 1e-12 * norm(expected));

        // The first three entries stand on the bound that their gradient points out of; the others'
        // bounds are far away.
        Vector low(n, -1e9), high(n, 1e9);
        for (std::size_t k = 0; k < 3; ++k) (g[k] > 0 ? low : high)[k] = u[k];
        const Vector held = memory.minimum(u, g, low, high);
        Matrix inner;
        for (std::size_t i = 3; i < n; ++i) inner.emplace_back(b[i].begin() + 3, b[i].end());
        const Vector moved = solved(inner, Vector(g.begin() + 3, g.end()));
        for (std::size_t k = 0; k < n; ++k) {
            CAPTURE(k);
            CHECK(held[k] == doctest::Approx(k < 3 ? u[k] : u[k] - moved[k - 3]).epsilon(1e-11));
        }

        const document::Node saved =
            document::Document::parse(document::Document(memory.state()).to_text()).root();
        LimitedMemory again(4);
        again.restore(saved, n);
        CHECK(again.minimum(u, g, low, high) == held);
    }
}

TEST_CASE("the limited memory leaves pairs without positive curvature out") {
    LimitedMemory memory(4);
    memory.clear(2);
    memory.add_pair({1, 0}, {-1, 0});
    memory.add_pair({1, 0}, {0, 1});
    memory.add_pair({0, 0}, {0, 0});
    CHECK(memory.empty());
    CHECK(memory.minimum({1, 1}, {1, 2}, {-inf, -inf}, {inf, inf}) == Vector{0.5, 0});
}

TEST_CASE("the minimum of the model within bounds: a separable one has it entry by entry") {
    LimitedMemory memory(4);
    memory.clear(2);  // B = 2: entry by entry u - g / 2, held within the bounds
    CHECK(memory.minimum({0, 0, 0, 0}, {2, -4, 1, 6}, {-0.25, -1, -5, -0.5}, {1, 1, 1, 1}) ==
          Vector{-0.25, 1, -0.5, -0.5});
}

TEST_CASE("the line search meets its conditions on lines of many shapes") {
    struct Shape {
        const char* name;
        double (*f)(double);
        double (*slope)(double);
    };
    const Shape shapes[] = {
        {"parabola, minimum at 100", [](double t) { return (t - 100) * (t - 100); },
         [](double t) { return 2 * (t - 100); }},
        {"parabola, minimum at 1e-6", [](double t) { return 1e6 * t * t - 2 * t; },
         [](double t) { return 2e6 * t - 2; }},
        {"long valley", [](double t) { return -t / (t * t + 2); },
         [](double t) { return (t * t - 2) / ((t * t + 2) * (t * t + 2)); }},
        {"waves", [](double t) { return std::cos(20 * t) - 5 * t + t * t; },
         [](double t) { return -20 * std::sin(20 * t) - 5 + 2 * t; }},
        {"wall",
         [](double t) { return t < 1e-3 ? -std::log(1 - 1000 * t) - 2000 * t : std::nan(""); },
         [](double t) { return 1000 / (1 - 1000 * t) - 2000; }},
    };
    for (const Shape& shape : shapes) {
        CAPTURE(shape.name);
        const Line line{shape.f(0), shape.slope(0), 1e10, 0};
        const LineResult found = search_line(line, [&](double t) {
            const double f = shape.f(t);
            return LinePoint{t, f, shape.slope(t), std::isfinite(f)};
        });
        REQUIRE(found.taken);
        const LinePoint& p = found.tried[*found.taken];
        CHECK(p.loss <= line.loss + 1e-4 * p.step * line.slope);
        CHECK(p.slope >= 0.8 * line.slope);
        if (found.tried.size() < 4) CHECK(p.slope <= -0.8 * line.slope);
        CHECK(found.tried.size() < 15);
    }
}

TEST_CASE("the line search ends at the longest step, and takes the lowest point beside a kink") {
    const LineResult end = search_line({0, -1, 3, 0}, [](double t) {
        return LinePoint{t, -t, -1, true};
    });
    REQUIRE(end.taken);
    CHECK(end.tried[*end.taken].step == 3);

    // |t - 0.7|: the slope is never flat.
    const LineResult kink = search_line({0.7, -1, 10, 0}, [](double t) {
        return LinePoint{t, std::fabs(t - 0.7), t < 0.7 ? -1.0 : 1.0, true};
    });
    REQUIRE(kink.taken);
    double lowest = inf;
    for (const LinePoint& p : kink.tried) lowest = std::min(lowest, p.loss);
    CHECK(kink.tried[*kink.taken].loss == lowest);
    CHECK(lowest < 0.1);

    // Nothing is lower: the slope is wrong, and the losses do not scatter.
    const Line wrong{0, -1, 10, 0};
    const LineResult none = search_line(wrong, [](double t) { return LinePoint{t, t, 1, true}; });
    CHECK(!none.taken);
    CHECK(scatter(wrong, none.tried) < 1e-4);
    // A loss that jumps by 0.01 between points.
    const Line noisy{0, -1e-4, 10, 0};
    const LineResult hidden = search_line(noisy, [](double t) {
        return LinePoint{t, 0.01 - 1e-4 * t, -1e-4, true};
    });
    CHECK(!hidden.taken);
    CHECK(scatter(noisy, hidden.tried) == doctest::Approx(0.01).epsilon(1e-3));
}

TEST_CASE("L-BFGS: quadratics, also of condition 1e8 and with sizes far apart") {
    Vector scale, center;
    for (int k = 0; k < 20; ++k) {
        scale.push_back(std::pow(10.0, 8.0 * k / 19));
        center.push_back(k - 7.0);
    }
    const Run run(lbfgs(), boxed(20), quadratic(scale, center), Vector(20, 1.0));
    CHECK(distance(run.last().values, center) < 1e-6);
    CHECK(run.last().loss < 1e-14);
    CHECK(run.rows.size() < 300);
    CHECK(run.end == End::converged);

    // Parameters of their own: each is scaled by its size.
    Variables variables = boxed(3);
    variables.parameter = {0, 1, 2};
    const Vector at = {2e8, 3e-7, -5};
    const Run sizes(lbfgs(), variables, quadratic({1e-16, 1e14, 1}, at), {1e8, 1e-7, -1});
    CHECK(sizes.rows.size() < 15);
    for (std::size_t k = 0; k < 3; ++k)
        CHECK(sizes.last().values[k] == doctest::Approx(at[k]).epsilon(1e-9));
}

TEST_CASE("L-BFGS: the first point is u - rate g where a rate is written") {
    Settings s = lbfgs();
    s.rate = 0.01;
    const Run run(s, boxed(2), quadratic({4, 2}, {3, 5}), {10, 10});
    REQUIRE(!run.tried.empty());
    CHECK(run.tried[0][0].values[0] == doctest::Approx(10 - 0.01 * 28).epsilon(1e-15));
    CHECK(run.tried[0][0].values[1] == doctest::Approx(10 - 0.01 * 10).epsilon(1e-15));
}

TEST_CASE("L-BFGS: Rosenbrock's valley in 2 to 100 dimensions, with and without bounds") {
    for (const std::size_t n : {2, 10, 40, 100}) {
        CAPTURE(n);
        const Run free(lbfgs(), boxed(n), rosenbrock, rosenbrock_start(n));
        CHECK(free.last().loss < 1e-20);
        CHECK(distance(free.last().values, Vector(n, 1.0)) < 1e-8);
        CHECK(free.rows.size() < 70);
        CHECK(free.evaluations() < 100);
        CHECK(free.end == End::converged);

        // x_2k <= 0.5: there x_2k+1 = 0.25 with a loss of 0.25 per pair.
        Variables variables = boxed(n, -2, 2);
        for (std::size_t k = 0; k < n; k += 2) variables.high[k] = 0.5;
        const Run bound(lbfgs(), variables, rosenbrock, rosenbrock_start(n));
        for (std::size_t k = 0; k < n; k += 2) {
            CHECK(bound.last().values[k] == 0.5);
            CHECK(bound.last().values[k + 1] == doctest::Approx(0.25).epsilon(1e-7));
        }
        CHECK(bound.end == End::converged);
        CHECK(bound.rows.size() < 100);
        for (const auto& list : bound.tried)
            for (const Evaluation& e : list)
                for (std::size_t k = 0; k < n; ++k)
                    CHECK((e.values[k] >= variables.low[k] && e.values[k] <= variables.high[k]));
    }
}

TEST_CASE("L-BFGS: bounds that are active at the minimum, of a coupled quadratic") {
    // x.A x / 2 - b.x, A tridiagonal (2, -1), 0 <= x <= 1. b is chosen so that the conditions of
    // Karush, Kuhn and Tucker hold at x: A x - b is positive where x = 0, negative where x = 1.
    constexpr std::size_t n = 30;
    Vector x(n), b(n);
    for (std::size_t k = 0; k < n; ++k)
        x[k] = k % 3 == 0 ? 0.0 : k % 3 == 1 ? 0.5 + 0.01 * static_cast<double>(k) : 1.0;
    const auto product = [](std::span<const double> v) {
        Vector y(v.size());
        for (std::size_t k = 0; k < v.size(); ++k)
            y[k] = 2 * v[k] - (k > 0 ? v[k - 1] : 0) - (k + 1 < v.size() ? v[k + 1] : 0);
        return y;
    };
    b = product(x);
    for (std::size_t k = 0; k < n; ++k) b[k] += k % 3 == 0 ? -0.3 : k % 3 == 2 ? 0.2 : 0.0;
    const Function f = [&](std::span<const double> v) {
        Evaluation e{Vector(v.begin(), v.end()), 0, product(v)};
        for (std::size_t k = 0; k < n; ++k) {
            e.loss += v[k] * (0.5 * e.gradient[k] - b[k]);
            e.gradient[k] -= b[k];
        }
        return e;
    };
    const Run run(lbfgs(), boxed(n, 0, 1), f, Vector(n, 0.7));
    for (std::size_t k = 0; k < n; ++k) {
        CAPTURE(k);
        if (k % 3 == 1)
            CHECK(run.last().values[k] == doctest::Approx(x[k]).epsilon(1e-9));
        else
            CHECK(run.last().values[k] == x[k]);
    }
    CHECK(run.rows.size() < 60);
    CHECK(run.end == End::converged);

    // At the corner where every entry points out there is nothing to do.
    const Run corner(lbfgs(), boxed(2, 0, 1), quadratic({1, 1}, {-3, 4}), {0, 1});
    CHECK(corner.rows.size() == 1);
    CHECK(corner.evaluations() == 0);
    CHECK(corner.reason == "the gradient is zero, or points out of the bounds");
}

TEST_CASE("L-BFGS: a log scale, with parameters of very different size, ends on its bounds") {
    Variables variables = boxed(2);
    variables.logarithmic = {true, true};
    variables.low = {std::numeric_limits<double>::min(), 1e-9};
    variables.high = {inf, 2e-6};
    const auto with = [](double center) {
        return [center](std::span<const double> x) {
            const double u = std::log(x[0] / 1e6), v = std::log(x[1] / center);
            return Evaluation{Vector(x.begin(), x.end()),
                              u * u + 3 * v * v + u * v,
                              {(2 * u + v) / x[0], (6 * v + u) / x[1]}};
        };
    };
    const Run inside(lbfgs(), variables, with(1e-6), {1e4, 1e-8});
    CHECK(inside.last().values[0] == doctest::Approx(1e6).epsilon(1e-9));
    CHECK(inside.last().values[1] == doctest::Approx(1e-6).epsilon(1e-9));
    CHECK(inside.rows.size() < 20);
    // v = log(2e-6 / 4e-6): the minimum over u is at u = -v / 2.
    const Run bound(lbfgs(), variables, with(4e-6), {1e4, 1e-8});
    CHECK(bound.last().values[1] == 2e-6);
    CHECK(bound.last().values[0] == doctest::Approx(1e6 * std::sqrt(2.0)).epsilon(1e-8));
    CHECK(bound.end == End::converged);
}

TEST_CASE("L-BFGS: steps back from points where the loss or the gradient is not finite") {
    const Function f = [](std::span<const double> x) {  // defined for x > 0, minimum at 1
        return Evaluation{Vector(x.begin(), x.end()), x[0] - std::log(x[0]), {1 - 1 / x[0]}};
    };
    Settings s = lbfgs();
    s.rate = 100;
    const Run run(s, boxed(1), f, {20});  // first tried: 20 - 95
    CHECK(std::isnan(run.tried[0][0].loss));
    CHECK(run.last().values[0] == doctest::Approx(1).epsilon(1e-8));

    const Function gradient = [&](std::span<const double> x) {
        Evaluation e = quadratic({1}, {0})(x);
        if (x[0] < -1) e.gradient[0] = inf;
        return e;
    };
    const Run other(s, boxed(1), gradient, {20});
    CHECK(std::fabs(other.last().values[0]) < 1e-8);
}

TEST_CASE("L-BFGS: a loss in f32 ends as converged, within its rounding") {
    const Function f = [](std::span<const double> x) {
        // Chained so that rounding adds up: residuals of a walk.
        float position = 0, loss = 0;
        std::vector<float> residual;
        for (const double v : x) {
            position += static_cast<float>(v) * 0.1f;
            residual.push_back(position - 1.7f);
            loss += residual.back() * residual.back();
        }
        Evaluation e{Vector(x.begin(), x.end()), static_cast<double>(loss) + 0.25, {}};
        float sum = 0;
        e.gradient.resize(x.size());
        for (std::size_t k = x.size(); k-- > 0;) {
            sum += 2 * residual[k];
            e.gradient[k] = static_cast<double>(sum * 0.1f);
        }
        e.loss = static_cast<double>(static_cast<float>(e.loss));
        return e;
    };
    Variables variables = boxed(12);
    variables.loss_rounding = 0x1p-24;
    const Run run(lbfgs(), variables, f, Vector(12, 1.0));
    CHECK(run.last().loss == doctest::Approx(0.25).epsilon(1e-6));
    CHECK(run.end == End::converged);
    CHECK(run.rows.size() < 60);
    CHECK(run.evaluations() < 100);
    CAPTURE(run.reason);
    CHECK((run.reason == "no further decrease within rounding of the loss" ||
           run.reason == "the gradient is zero, or points out of the bounds"));
}

TEST_CASE("L-BFGS: where there is a slope but no way down, that is a failure and reads like one") {
    // The gradient has the wrong sign.
    const Function f = [](std::span<const double> x) {
        Evaluation e = quadratic({1}, {0})(x);
        e.gradient[0] = -e.gradient[0];
        return e;
    };
    const Run run(lbfgs(), boxed(1), f, {3});
    CHECK(run.end == End::stuck);
    CHECK(run.reason.find("no lower loss was found along the gradient") != std::string::npos);

    Settings s = lbfgs();
    s.evaluations = 7;
    const Run few(s, boxed(2), rosenbrock, {-1.2, 1});
    CHECK(few.end == End::limit);
    CHECK(few.evaluations() == 7);
    CHECK(few.reason == "all 7 evaluations are used");
}

TEST_CASE("L-BFGS: what is saved continues bit for bit, from every iteration") {
    Variables variables = boxed(10, -2, 2);
    variables.high[0] = variables.high[4] = 0.5;
    variables.parameter = {0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
    variables.logarithmic[9] = true;
    variables.low[9] = 0.1;
    for (const std::int64_t memory : {3, 20}) {
        Settings s = lbfgs();
        s.memory = memory;
        const Run all(s, variables, rosenbrock, rosenbrock_start(10));
        REQUIRE(all.rows.size() > 15);
        for (std::size_t stop = 0; stop < all.rows.size(); ++stop) {
            CAPTURE(stop);
            const auto part = make_rule(s, variables, interpreter());
            const Run before(*part, rosenbrock, rosenbrock_start(10), static_cast<int>(stop));
            const auto rest = make_rule(s, variables, interpreter());
            rest->restore(
                document::Document::parse(document::Document(part->state()).to_text()).root());
            const Run after(*rest, rosenbrock, before.last().values);
            REQUIRE(before.rows.size() + after.rows.size() == all.rows.size() + 1);
            for (std::size_t k = 0; k < after.rows.size(); ++k)
                CHECK(after.rows[k].values == all.rows[stop + k].values);
            CHECK(after.reason == all.reason);
            CHECK(before.evaluations() + after.evaluations() == all.evaluations());
        }
    }
}

TEST_CASE("L-BFGS: another point or loss makes it start again; an exception passes through") {
    std::string log;
    const LogLevel level = log_level();
    set_log_level(LogLevel::info);
    set_log_listener([&](LogLevel, std::string_view line) { log += line; });
    const auto rule = make_rule(lbfgs(), boxed(2), interpreter());
    const Run first(*rule, rosenbrock, {-1.2, 1}, 5);
    CHECK(log == "");
    CHECK_THROWS_WITH_AS(rule->step(first.last(),
                                    [](std::span<const double>, bool) -> Evaluation {
                                        throw Error("out of paper");
                                    }),
                         doctest::Contains("out of paper"), Error);
    const Run rest(*rule, rosenbrock, first.last().values),
        whole(lbfgs(), boxed(2), rosenbrock, {-1.2, 1});
    CHECK(rest.last().values == whole.last().values);
    // Interrupted at each of its evaluations, an iteration leaves what is saved as it was.
    const auto cut = make_rule(lbfgs(), boxed(2), interpreter());
    const Run some(*cut, rosenbrock, {-1.2, 1}, 3);
    const std::string saved = document::Document(cut->state()).to_text();
    for (const int most : {0, 1, 35}) {
        int made = 0;
        const Evaluate stops = [&](std::span<const double> x, bool) -> Evaluation {
            if (made++ == most) throw Error("interrupted");
            Evaluation bad = rosenbrock(x);
            bad.loss = inf;
            return bad;
        };
        CHECK_THROWS_AS(cut->step(some.last(), stops), Error);
        CHECK(document::Document(cut->state()).to_text() == saved);
    }
    CHECK(log == "");
    const Run again(*rule, rosenbrock, {0, 0.5}), fresh(lbfgs(), boxed(2), rosenbrock, {0, 0.5});
    set_log_listener(nullptr);
    set_log_level(level);
    CHECK(log.find("the point has changed; the search starts again") != std::string::npos);
    CHECK(again.last().values == fresh.last().values);
    CHECK(again.rows.size() == fresh.rows.size());
}
