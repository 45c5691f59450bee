// The elementary functions of formulas: the same bits before and after they are compiled, and those
// of the definition.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "engine/sim/simulation.hpp"

namespace hindcast::test {

TEST_CASE("host functions: many values have the bits of few, and are right") {
    const document::ElementaryTable own = own_elementary_functions();
    struct Function {
        const char* name;
        double (*own)(double);
        double (*right)(double);
        double low, high;
    };
    const Function functions[] = {
        {"sin", own.sin, std::sin, -1e4, 1e4},   {"cos", own.cos, std::cos, -1e4, 1e4},
        {"tan", own.tan, std::tan, -1.5, 1.5},   {"asin", own.asin, std::asin, -1, 1},
        {"acos", own.acos, std::acos, -1, 0.9},  {"atan", own.atan, std::atan, -50, 50},
        {"sinh", own.sinh, std::sinh, -20, 20},  {"cosh", own.cosh, std::cosh, -20, 20},
        {"tanh", own.tanh, std::tanh, -3, 3},    {"exp", own.exp, std::exp, -50, 50},
        {"expm1", own.expm1, std::expm1, -5, 5}, {"log", own.log, std::log, 1.5, 1e6},
        {"log1p", own.log1p, std::log1p, 0, 10}, {"cbrt", own.cbrt, std::cbrt, -1e6, 1e6},
    };
    constexpr std::size_t count = 10'500;  // the last ones of the first round are compiled already
    std::mt19937_64 random(1);
    for (const Function& f : functions) {
        CAPTURE(f.name);
        std::uniform_real_distribution<double> uniform(f.low, f.high);
        std::vector<double> x(count), first(count);
        bool near = true, same = true;
        for (std::size_t k = 0; k < count; ++k) {
            x[k] = uniform(random);
            first[k] = f.own(x[k]);
            near &= std::abs(first[k] - f.right(x[k])) <= 1e-14 * std::abs(first[k]) + 1e-300;
        }
        for (std::size_t k = 0; k < count; ++k)
            same &=
                std::bit_cast<std::uint64_t>(f.own(x[k])) == std::bit_cast<std::uint64_t>(first[k]);
        CHECK(near);
        CHECK(same);
    }
    for (const auto& [ours, right] :
         {std::pair{own.pow, +[](double a, double b) { return std::pow(a, b); }},
          {own.atan2, +[](double a, double b) { return std::atan2(a, b); }}}) {
        std::uniform_real_distribution<double> uniform(0.1, 9);
        std::vector<double> x(count), y(count), first(count);
        bool near = true, same = true;
        for (std::size_t k = 0; k < count; ++k) {
            x[k] = uniform(random), y[k] = uniform(random);
            first[k] = ours(x[k], y[k]);
            near &= std::abs(first[k] - right(x[k], y[k])) <= 1e-14 * std::abs(first[k]);
        }
        for (std::size_t k = 0; k < count; ++k)
            same &= std::bit_cast<std::uint64_t>(ours(x[k], y[k])) ==
                    std::bit_cast<std::uint64_t>(first[k]);
        CHECK(near);
        CHECK(same);
    }
}

}  // namespace hindcast::test
