// Bending of cloth against plates: energies of shapes of second order, plates under load, the heavy
// elastica, buckling under the own weight, rigid motions. All references are solved here.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "engine/document/text.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/devices.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

struct Mesh {
    std::vector<std::array<double, 2>> points;
    std::vector<std::array<int, 3>> triangles;
};

// n x m cells of a rectangle from (x, y) on; inner points are moved by up to `disorder` of a cell.
Mesh rectangle(int n, int m, double x, double y, double width, double height, bool alternating,
               double disorder = 0) {
    Mesh mesh;
    const double a = width / n, b = height / m;
    for (int i = 0; i <= n; ++i)
        for (int j = 0; j <= m; ++j) {
            const double s = disorder * (i > 0 && i < n && j > 0 && j < m ? 1 : 0);
            mesh.points.push_back({x + a * (i + s * std::sin(12.9898 * i + 78.233 * j)),
                                   y + b * (j + s * std::sin(39.3468 * i + 11.135 * j))});
        }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j) {
            const int p = i * (m + 1) + j, q = p + m + 1, r = q + 1, s = p + 1;
            if (alternating && (i + j) % 2 == 1) {
                mesh.triangles.push_back({p, q, s});
                mesh.triangles.push_back({q, r, s});
            } else {
                mesh.triangles.push_back({p, q, r});
                mesh.triangles.push_back({p, r, s});
            }
        }
    return mesh;
}

// A point in the middle of some triangles besides: corners where three and twelve triangles meet.
Mesh divided(Mesh mesh) {
    const std::size_t count = mesh.triangles.size();
    for (std::size_t t = 0; t < count; t += 3) {
        const auto [a, b, c] = mesh.triangles[t];
        std::array<double, 2> middle{};
        for (const int p : {a, b, c})
            for (std::size_t k = 0; k < 2; ++k)
                middle[k] += mesh.points[static_cast<std::size_t>(p)][k] / 3;
        const int p = static_cast<int>(mesh.points.size());
        mesh.points.push_back(middle);
        mesh.triangles[t] = {a, b, p};
        mesh.triangles.push_back({b, c, p});
        mesh.triangles.push_back({c, a, p});
    }
    return mesh;
}

std::string written(const Mesh& mesh) {
    std::string points, triangles;
    for (const auto& p : mesh.points)
        points += (points.empty() ? "[" : ", [") + number(p[0]) + ", " + number(p[1]) + ", 0]";
    for (const auto& t : mesh.triangles)
        triangles += (triangles.empty() ? "[" : ", [") + std::to_string(t[0]) + ", " +
                     std::to_string(t[1]) + ", " + std::to_string(t[2]) + "]";
    return R"("mesh": {"points": [)" + points + R"(], "triangles": [)" + triangles + "]}";
}

std::string sheet(const std::string& keys, const std::string& time, const std::string& gravity) {
    return R"("time": )" + time + R"(, "gravity": )" + gravity +
           R"(, "bodies": [{"type": "cloth", "name": "sheet", "area_density": 1, )" + keys + "}]";
}
const char* const at_once = R"({"step": 1, "steps": 0})";
const char* const at_rest = R"({"step": 1, "steps": 1, "integrator": "quasi_static"})";

double bending_energy(const std::string& keys) {
    const auto s = simulate(sheet(keys, at_once, "[0, 0, 0]"));
    s->run(false);
    return energies_of(*s).at("bending energy of sheet");
}

std::unique_ptr<Simulation> on_cpu(const std::string& keys) {
    SimulationOptions options;
    options.device = has_cpu_device() ? cpu_device() : interpreter_device();
    options.precision = ir::Precision::f64;
    auto s = std::make_unique<Simulation>(Scene::parse("{\"format\": 1, " + keys + "}"),
                                          all_modules(), options);
    s->run(false);
    return s;
}

std::string formula(const std::string& x, const std::string& y, const std::string& z) {
    return R"("positions": {"formula": [")" + x + R"(", ")" + y + R"(", ")" + z + R"("]})";
}

// Without points that belong to no triangle.
Mesh without_loose_points(Mesh mesh) {
    std::vector<int> number(mesh.points.size(), -1);
    auto points = std::exchange(mesh.points, {});
    for (auto& triangle : mesh.triangles)
        for (int& corner : triangle) {
            int& known = number[static_cast<std::size_t>(corner)];
            if (known < 0) {
                known = static_cast<int>(mesh.points.size());
                mesh.points.push_back(points[static_cast<std::size_t>(corner)]);
            }
            corner = known;
        }
    return mesh;
}

std::vector<Mesh> meshes() {
    Mesh hole = rectangle(8, 8, 0, 0, 1, 1, true);
    std::erase_if(hole.triangles, [&](const std::array<int, 3>& t) {
        const auto& p = hole.points[static_cast<std::size_t>(t[0])];
        return std::abs(p[0] - 0.5) < 0.2 && std::abs(p[1] - 0.5) < 0.2;
    });
    std::vector<Mesh> all{
        rectangle(8, 8, 0, 0, 1, 1, true),          rectangle(8, 8, 0, 0, 1, 1, false),
        rectangle(8, 8, 0, 0, 1, 1, true, 0.25),    rectangle(5, 9, 0, 0, 1, 0.7, false, 0.25),
        divided(rectangle(4, 4, 0, 0, 1, 1, true)), without_loose_points(hole)};
    return all;
}
double area(const Mesh& mesh) {
    double sum = 0;
    for (const auto& t : mesh.triangles) {
        const auto& a = mesh.points[static_cast<std::size_t>(t[0])];
        const auto& b = mesh.points[static_cast<std::size_t>(t[1])];
        const auto& c = mesh.points[static_cast<std::size_t>(t[2])];
        sum += 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
    }
    return sum;
}

}  // namespace

TEST_CASE("cloth bending: shapes of second order have a plate's energy on any mesh") {
    // z = (a x^2 + b y^2)/2 + c x y: D/2 ((a + b)^2 - 2 (1 - nu) (a b - c^2)) per area.
    const double D = 0.4, k = 0.01;
    for (const Mesh& mesh : meshes())
        for (const auto& [a, b, c] : std::vector<std::array<double, 3>>{{0, 0, 1},
                                                                        {0.5, 0.5, 0.5},
                                                                        {1, 0, 0},
                                                                        {0, 1, 0},
                                                                        {1, 1, 0},
                                                                        {1, -1, 0},
                                                                        {0.3, -0.2, 0.7}})
            for (const double nu : {0.0, 0.3}) {
                CAPTURE(mesh.triangles.size());
                const double expected = area(mesh) * k * k * D / 2 *
                                        ((a + b) * (a + b) - 2 * (1 - nu) * (a * b - c * c));
                const std::string z = number(k) + "*(" + number(a / 2) + "*x*x+" + number(b / 2) +
                                      "*y*y+" + number(c) + "*x*y)";
                for (const char* fixed : {"", R"("fixed": true, )"}) {
                    const double energy = bending_energy(
                        written(mesh) + R"(, "warp_stiffness": 10, "poisson_ratio": )" +
                        number(nu) + R"(, "bending_stiffness": 0.4, )" + fixed +
                        formula("x", "y", z));
                    CHECK(std::abs(energy / expected - 1) < 1e-5);
                }
            }
}

TEST_CASE("cloth bending: a sheet that is rolled up along any line converges to 1/2 D / R^2") {
    // Around a cylinder of radius R whose axis has the angle alpha; isometric.
    const double R = 0.7, D = 0.2;
    for (const double alpha : {0.0, 0.4, std::numbers::pi / 4, std::numbers::pi / 2})
        for (const bool alternating : {true, false}) {
            std::array<double, 2> error{};
            for (const int n : {8, 16}) {
                const std::string c = number(std::cos(alpha)), s = number(std::sin(alpha)),
                                  u = "(" + c + "*x+" + s + "*y)", v = "(" + c + "*y-" + s + "*x)",
                                  around = number(R) + "*sin(" + u + "/" + number(R) + ")";
                const double energy =
                    bending_energy(written(rectangle(n, n, 0, 0, 1, 1, alternating)) +
                                   R"(, "warp_stiffness": 10, "bending_stiffness": 0.2, )" +
                                   formula(c + "*" + around + "-" + s + "*" + v,
                                           s + "*" + around + "+" + c + "*" + v,
                                           number(R) + "*(1-cos(" + u + "/" + number(R) + "))"));
                error[n == 8 ? 0 : 1] = energy / (0.5 * D / (R * R)) - 1;
            }
            CAPTURE(alpha);
            CHECK(std::abs(error[0]) < 0.02);
            CHECK(std::abs(error[1]) < 0.005);
        }
}

TEST_CASE("cloth bending: rigid motions of a bent sheet cost nothing, its forces balance") {
    const std::string keys = R"(, "warp_stiffness": 10, "bending_stiffness": 0.4, )";
    const std::string x = "x+0.05*y*y", y = "y-0.1*x*y", z = "0.3*sin(2*x)*y+0.2*x*x";
    // Turned by 2 about (2, 3, 6)/7, and moved.
    const double c = std::cos(2.0), s = std::sin(2.0), n[3] = {2.0 / 7, 3.0 / 7, 6.0 / 7};
    double turn[3][3];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) turn[i][j] = (1 - c) * n[i] * n[j] + (i == j ? c : 0);
    turn[0][1] -= s * n[2], turn[1][0] += s * n[2];
    turn[0][2] += s * n[1], turn[2][0] -= s * n[1];
    turn[1][2] -= s * n[0], turn[2][1] += s * n[0];
    const auto turned = [&](int i, const std::string& a, const std::string& b,
                            const std::string& d) {
        return number(turn[i][0]) + "*(" + a + ")+" + number(turn[i][1]) + "*(" + b + ")+" +
               number(turn[i][2]) + "*(" + d + ")+3";
    };
    for (const bool curved : {false, true}) {
        Mesh mesh = rectangle(4, 4, 0, 0, 1, 1, true, 0.2);
        std::string rest = written(mesh);
        if (curved) rest += R"(, "rest_positions": {"formula": ["x", "y", "0.3*x*x-0.2*x*y"]})";
        const double bent = bending_energy(rest + keys + formula(x, y, z)),
                     moved = bending_energy(
                         rest + keys +
                         formula(turned(0, x, y, z), turned(1, x, y, z), turned(2, x, y, z)));
        CHECK(bent > 0.01);
        CHECK(std::abs(moved - bent) < 1e-12);
        // A rigid motion of the shape at rest has neither energy nor forces.
        const std::string r = curved ? "0.3*x*x-0.2*x*y" : "0";
        const std::string still =
            rest + keys +
            formula(turned(0, "x", "y", r), turned(1, "x", "y", r), turned(2, "x", "y", r));
        CHECK(std::abs(bending_energy(still)) < 1e-20);
        const std::string step = R"({"step": "1/1000", "steps": 1})";
        const auto quiet = simulate(sheet(still, step, "[0, 0, 0]"));
        quiet->run(false);
        const auto free = simulate(sheet(rest + keys + formula(x, y, z), step, "[0, 0, 0]"));
        free->run(false);
        const std::vector<double> mass = free->model().array("mass").to_doubles();
        const auto points = static_cast<std::int64_t>(mesh.points.size());
        double fastest = 0;
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            double momentum = 0, angular = 0;
            for (std::int64_t p = 0; p < points; ++p) {
                const double m = mass[static_cast<std::size_t>(p)];
                CHECK(std::abs(velocity(*quiet, p, i)) < 1e-12);
                momentum += m * velocity(*free, p, i);
                angular += m * (position(*free, p, j) * velocity(*free, p, k) -
                                position(*free, p, k) * velocity(*free, p, j));
                fastest = std::max(fastest, std::abs(velocity(*free, p, i)));
            }
            CHECK(std::abs(momentum) < 1e-12);
            CHECK(std::abs(angular) < 1e-12);
        }
        CHECK(fastest > 1e-3);
    }
}

namespace {

// The deflection in the middle, over q a^4 / D: of a square between rows of fixed points, two at each
// side where it is clamped, else one.
double plate(int n, bool clamped, bool alternating, double disorder) {
    Mesh mesh;
    if (clamped) {
        const double h = 1.0 / n;
        mesh = rectangle(n + 2, n + 2, -h, -h, 1 + 2 * h, 1 + 2 * h, alternating);
        int k = 0;
        for (auto& p : mesh.points) {
            const bool inside = std::min(p[0], p[1]) > h / 2 && std::max(p[0], p[1]) < 1 - h / 2,
                       middle = std::hypot(p[0] - 0.5, p[1] - 0.5) < h / 4;
            ++k;
            if (!inside || middle) continue;
            p[0] += disorder * h * std::sin(12.9898 * k),
                p[1] += disorder * h * std::sin(78.233 * k);
        }
    } else {
        mesh = rectangle(n, n, 0, 0, 1, 1, alternating);
    }
    std::string fixed;
    std::int64_t middle = -1;
    for (std::size_t k = 0; k < mesh.points.size(); ++k) {
        const auto& [x, y] = mesh.points[k];
        if (std::min(x, y) < 1e-9 || std::max(x, y) > 1 - 1e-9)
            fixed += (fixed.empty() ? "" : ", ") + std::to_string(k);
        if (std::hypot(x - 0.5, y - 0.5) < 1e-9) middle = static_cast<std::int64_t>(k);
    }
    const double D = 2, q = 1e-6;
    const auto s = on_cpu(sheet(written(mesh) + R"(, "fixed": [)" + fixed +
                                    R"(], "warp_stiffness": 3, "bending_stiffness": 2)",
                                at_rest, "[0, 0, " + number(-q) + "]"));
    return -position(*s, middle, 2) * D / q;
}

}  // namespace

TEST_CASE("cloth bending: a clamped square plate sinks by .001265 q a^4 / D") {
    // Timoshenko, Woinowsky-Krieger, table 35: .00126; three digits more from the double series.
    const double exact = 0.00126532;
    for (const bool alternating : {true, false})
        for (const double disorder : {0.0, 0.2}) {
            CAPTURE(alternating);
            CAPTURE(disorder);
            const double coarse = plate(8, true, alternating, disorder) / exact - 1,
                         fine = plate(16, true, alternating, disorder) / exact - 1;
            // Second order: four times as much.
            CHECK(std::abs(coarse) < 0.25);
            CHECK(std::abs(fine) < std::abs(coarse) / 3);
            if (disorder > 0) continue;
            const double finest = plate(32, true, alternating, 0) / exact - 1;
            CHECK(std::abs(finest) < 0.0125);
            CHECK(std::abs(finest + (finest - fine) / 3) < 0.001);  // in the limit
        }
}

TEST_CASE("cloth bending: a square plate on supports sinks by .00406 q a^4 / D") {
    // Navier: 16/pi^6 sum of (-1)^((m+n)/2-1) / (m n (m^2 + n^2)^2), m and n odd.
    double exact = 0;
    for (int m = 1; m < 60; m += 2)
        for (int n = 1; n < 60; n += 2)
            exact += 16 / std::pow(std::numbers::pi, 6) * ((m + n) / 2 % 2 == 1 ? 1 : -1) /
                     (m * n * std::pow(m * m + n * n, 2));
    for (const bool alternating : {true, false}) {
        const double coarse = std::abs(plate(8, false, alternating, 0) / exact - 1),
                     fine = std::abs(plate(16, false, alternating, 0) / exact - 1);
        CHECK(fine < 0.02);
        CHECK(fine < coarse / 3);  // second order
    }
}

namespace {

// The end of a clamped heavy elastica of unit length, D theta'' = q (1 - s) cos(theta), theta(0) =
// theta'(1) = 0, theta downwards: shooting for theta'(0), Runge-Kutta.
double heavy_elastica(double q) {
    const auto end = [&](double curvature, double& sunk) {
        const int steps = 2000;
        const double h = 1.0 / steps;
        std::array<double, 3> y{0, curvature, 0};
        const auto slope = [&](double s, const std::array<double, 3>& v) {
            return std::array<double, 3>{v[1], -q * (1 - s) * std::cos(v[0]), std::sin(v[0])};
        };
        for (int i = 0; i < steps; ++i) {
            const auto along = [&](const std::array<double, 3>& k, double part) {
                return std::array<double, 3>{y[0] + part * k[0], y[1] + part * k[1],
                                             y[2] + part * k[2]};
            };
            const double s = i * h;
            const auto a = slope(s, y), b = slope(s + h / 2, along(a, h / 2)),
                       c = slope(s + h / 2, along(b, h / 2)), d = slope(s + h, along(c, h));
            for (std::size_t k = 0; k < 3; ++k) y[k] += h / 6 * (a[k] + 2 * b[k] + 2 * c[k] + d[k]);
        }
        sunk = y[2];
        return y[1];
    };
    double low = 0, high = q, sunk = 0;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (end(middle, sunk) > 0 ? high : low) = middle;
    }
    return sunk;
}

// A strip from its clamp at x = 0 to x = 1, with a row of fixed cells before that.
std::string strip(int n, int m, double width, bool alternating, const std::string& more) {
    const double h = 1.0 / n;
    return written(rectangle(n + 1, m, -h, -width / 2, 1 + h, width, alternating)) +
           R"(, "fixed": {"box": {"min": [-1, -9, -1], "max": [1e-9, 9, 1]}}, )" + more;
}

}  // namespace

TEST_CASE("cloth bending: a heavy strip hangs as the elastica") {
    for (const double q : {4.5719, 10.0}) {
        const double exact = heavy_elastica(q);
        if (q < 5) CHECK(exact == doctest::Approx(0.46731).epsilon(1e-4));
        for (const bool alternating : {true, false}) {
            const int n = 24, m = 4;
            const auto s = on_cpu(sheet(strip(n, m, 0.2, alternating,
                                              R"("warp_stiffness": 1e5, "poisson_ratio": 0,
                                                 "bending_stiffness": 1)"),
                                        at_rest, "[0, 0, " + number(-q) + "]"));
            double mean = 0;
            const std::int64_t first = (n + 1) * (m + 1);
            for (int j = 0; j <= m; ++j) mean += position(*s, first + j, 2) / (m + 1);
            CAPTURE(q);
            CHECK(std::abs(-mean / exact - 1) < 0.01);
            // Not twisted, whichever way the diagonals run.
            const double twist = (position(*s, first + m, 2) - position(*s, first, 2)) / 0.2;
            CHECK(std::abs(twist) * 180 / std::numbers::pi < 0.2);
        }
    }
}

TEST_CASE("cloth bending: a narrow strip narrows as a beam, a wide one does not") {
    // Under its own weight, little: q L^4 / (8 D (1 - nu^2)) up to q L^4 / (8 D).
    const double q = 1e-6, nu = 0.5;
    const auto sunk = [&](int m, double width) {
        const int n = 16;
        const auto s = on_cpu(sheet(strip(n, m, width, true,
                                          R"("warp_stiffness": 1, "poisson_ratio": 0.5,
                                             "bending_stiffness": 1)"),
                                    at_rest, "[0, 0, " + number(-q) + "]"));
        double mean = 0;
        for (int j = 0; j <= m; ++j) mean -= position(*s, (n + 1) * (m + 1) + j, 2) / (m + 1);
        return mean * 8 / q;
    };
    CHECK(sunk(4, 0.05) == doctest::Approx(1 / (1 - nu * nu)).epsilon(0.03));
    const double wide = sunk(24, 4);
    CHECK(wide > 0.98);
    CHECK(wide < 1.12);
}

TEST_CASE("cloth bending: a standing strip buckles under 7.837 D / (m L^3)") {
    // Greenhill: the first zero of J_(-1/3)(2/3 sqrt(g)), g^(1/2) = 3/2 1.866; here from the series
    // of theta'' + g s theta = 0, theta'(0) = 0: sum of (-g s^3)^k / prod (3 j (3 j - 1)).
    const auto clamped_turn = [](double g) {
        double sum = 1, part = 1;
        for (int k = 1; k < 30; ++k) sum += part *= -g / (3.0 * k * (3.0 * k - 1));
        return sum;
    };
    double low = 5, high = 10;
    for (int i = 0; i < 60; ++i)
        (clamped_turn((low + high) / 2) > 0 ? low : high) = (low + high) / 2;
    CHECK(low == doctest::Approx(7.837).epsilon(1e-4));
    for (const bool alternating : {true, false})
        for (const double part : {0.98, 1.02}) {
            const int n = 20, m = 4;
            const auto s = on_cpu(sheet(strip(n, m, 0.25, alternating,
                                              R"("warp_stiffness": 1e6, "poisson_ratio": 0,
                                                 "bending_stiffness": 1, )" +
                                                  formula("x", "y", "0.1*max(x,0)*max(x,0)")),
                                        at_rest, "[" + number(-part * low) + ", 0, 1e-5]"));
            CAPTURE(part);
            const double aside = position(*s, (n + 1) * (m + 1), 2);
            if (part < 1)
                CHECK(aside < 1e-3);
            else
                CHECK(aside > 0.05);
        }
}

TEST_CASE("cloth bending: a fold at rest stays, and has a plate's stiffness about it") {
    // A sheet that is rolled up at rest, unrolled, and the other way round.
    const double R = 0.8, D = 0.3, one = 0.5 * D / (R * R) * 0.5;
    const std::string rolled = formula("0.8*sin(x/0.8)", "y", "0.8*(1-cos(x/0.8))"),
                      keys = written(rectangle(12, 6, 0, 0, 1, 0.5, true)) +
                             R"(, "warp_stiffness": 10, "bending_stiffness": 0.3, )";
    const auto close = [&](const std::string& more, double expected) {
        CHECK(std::abs(bending_energy(keys + more) - expected) < 0.01 * one);
    };
    const std::string rolled_rest = "\"rest_" + rolled.substr(1);
    close(rolled_rest, one);
    close(rolled_rest + ", " + rolled, 0);
    close(R"("rest_angle": 0)", 0);
    close(R"("rest_angle": 0, )" + rolled, one);
    // Two triangles with a fold of 0.5 at rest, laid down as such.
    const double c = std::cos(0.5), s = std::sin(0.5);
    const std::string folded =
        R"("mesh": {"points": [[0, 0, 0], [1, 0, 0], [0.3, 1, 0], [0.7, -1, 0]],
            "triangles": [[0, 1, 2], [1, 0, 3]]}, "warp_stiffness": 10, "bending_stiffness": 0.3,
            "rest_angle": 0.5, "positions": [[0, 0, 0], [1, 0, 0], [0.3, 1, 0], [0.7, )" +
        number(-c) + ", " + number(s) + "]]";
    CHECK(bending_energy(folded) < 1e-20);
}

TEST_CASE("cloth bending: a closed surface keeps its shape, whatever its corners") {
    // A tetrahedron, all of whose triangles are neighbors, and an octahedron.
    for (
        const char* mesh :
        {R"("mesh": {"points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.3, 1]],
             "triangles": [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], "warp": [1, 2, 3]})",
         R"("mesh": {"points": [[3, 0, 0], [1, 0, 0], [2, 1, 0], [2, -1, 0], [2, 0, 1], [2, 0, -1]],
             "triangles": [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5],
                           [3, 1, 5], [0, 3, 5]], "warp": [1, 2, 3]})"}) {
        const std::string keys =
            std::string(mesh) + R"(, "warp_stiffness": 10, "bending_stiffness": 0.4)";
        CHECK(std::abs(bending_energy(keys)) < 1e-20);
        CHECK(bending_energy(keys + ", " + formula("x", "y", "1.2*z")) > 1e-3);
        const auto s = simulate(sheet(keys, R"({"step": "1/1000", "steps": 1})", "[0, 0, 0]"));
        s->run(false);
        for (std::int64_t p = 0; p < s->model().point_count(); ++p)
            for (int i = 0; i < 3; ++i) CHECK(std::abs(velocity(*s, p, i)) < 1e-12);
    }
}

TEST_CASE("cloth bending: the farther a sheet is folded, the more it costs, up to half a turn") {
    const std::string keys = written(rectangle(8, 4, -1, 0, 2, 1, true)) +
                             R"(, "warp_stiffness": 10, "bending_stiffness": 0.4, )";
    double before = 0;
    for (const double angle : {0.5, 1.0, 1.5, 2.0, 2.5, 3.0, std::numbers::pi}) {
        // One line of edges is bent, whose cells are 0.25 wide: |jump of the slope| = 2 sin(angle/2).
        const std::string c = number(std::cos(angle)), s = number(std::sin(angle));
        const double energy =
            bending_energy(keys + formula("min(x,0)+" + c + "*max(x,0)", "y", s + "*max(x,0)"));
        const double jump = 2 * std::sin(angle / 2) / 0.25;
        CHECK(energy == doctest::Approx(0.5 * 0.4 * jump * jump * 0.25).epsilon(1e-6));
        CHECK(energy > before);
        before = energy;
    }
}
