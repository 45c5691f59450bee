// Formulas: values against C++ expressions, the order of evaluation, and errors with their column.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>

#include "engine/base/error.hpp"
#include "engine/document/document.hpp"
#include "engine/document/formula.hpp"
#include "tests/support/elementary.hpp"

using namespace hindcast;
using namespace hindcast::document;

namespace {

constexpr std::array<std::string_view, 3> names = {"i", "x", "y"};

double value(const std::string& text, double i = 0, double x = 0, double y = 0) {
    Formula formula(Node(text), test::elementary_of_the_c_library(), names);
    return formula(std::array{i, x, y});
}

std::string message(const std::string& text,
                    const ElementaryTable& table = test::elementary_of_the_c_library()) {
    const Document document = Document::parse("{\"v\": " + to_line(Node(text)) + "}", "s.json");
    try {
        Formula formula(document.at("/v"), table, names);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("formula: operators and functions") {
    const double x = 0.7, y = -1.3;
    CHECK(value("1+2*3") == 7.0);
    CHECK(value("(1+2)*3") == 9.0);
    CHECK(value("8/4/2") == 1.0);
    CHECK(value("8-4-2") == 2.0);
    CHECK(value("2^3^2") == 512.0);
    CHECK(value("-2^2") == -4.0);
    CHECK(value("2^-1") == 0.5);
    CHECK(value("2*-3") == -6.0);
    CHECK(value("5 - -3") == 8.0);
    CHECK(value("+3 - +2") == 1.0);
    CHECK(value("!0 + !5") == 1.0);
    CHECK(value("1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3 && 1 == 1 && 1 != 2") == 1.0);
    CHECK(value("0 && 1 || 1") == 1.0);
    CHECK(value("1 || 0 && 0") == 1.0);
    CHECK(value("x > 0 ? 1 : 2", 0, x) == 1.0);
    CHECK(value("x > 1 ? 1 : x > 0.5 ? 2 : 3", 0, x) == 2.0);
    CHECK(value("1 + (x > 1 ? 10 : 20) * 2", 0, x) == 41.0);
    CHECK(value("max(x > 0 ? 1 : 2, 0.5)", 0, x) == 1.0);
    CHECK(value("sin(3*x)+0.1*i", 4, x) == std::sin(3 * x) + 0.1 * 4);
    CHECK(value("atan2(y, x) + pow(x, y)", 0, x, y) == std::atan2(y, x) + std::pow(x, y));
    CHECK(value("exp(x)-log(x)", 0, x) == std::exp(x) - std::log(x));
    CHECK(value("sqrt(abs(y))", 0, x, y) == std::sqrt(1.3));
    CHECK(value("floor(y) + 10*ceil(y) + 100*trunc(y) + 1000*sign(y)", 0, x, y) ==
          -2 - 10 - 100 - 1000);
    CHECK(value("round(2.5) + 10*round(3.5) + 100*round(-0.5)") == 42.0);
    CHECK(value("min(x, y) + 10*max(x, y)", 0, 1, 2) == 21.0);
    CHECK(value("pi") == 3.141592653589793);
    CHECK(value("e") == 2.718281828459045);
    CHECK(value("1e-3 + .5 + 5. + 2E2") == 1e-3 + .5 + 5. + 2e2);
    CHECK(value("\t1 +\n1") == 2.0);
}

TEST_CASE("formula: arithmetic is done as written") {
    // Folding 0.1 + 0.2 after x, or x*3/3 into x, would give other bits.
    const double x = 0.1;
    CHECK(value("x+0.1+0.2", 0, x) == (x + 0.1) + 0.2);
    CHECK(value("x*3/3", 0, 0.7) == 0.7 * 3 / 3);
    CHECK(value("x+x+x", 0, x) == (x + x) + x);
    CHECK(value("x*x*x", 0, x) == x * x * x);
    CHECK(value("2*(3*x+1)", 0, x) == 2 * (3 * x + 1));
    CHECK(value("x*x-y", 0, 0.3, 0.09) == [] {
        const volatile double square = 0.3 * 0.3;  // not fused
        return square - 0.09;
    }());
    // Numbers are read to the nearest f64.
    CHECK(value("0.1000000000000000055511151231257827021181583404541015625") == 0.1);
}

TEST_CASE("formula: which variables it names") {
    const Formula formula(Node("x + sin(x)"), test::elementary_of_the_c_library(), names);
    CHECK_FALSE(formula.uses(0));
    CHECK(formula.uses(1));
    CHECK_FALSE(formula.is_constant());
    CHECK(Formula(Node("2*pi"), test::elementary_of_the_c_library(), names).is_constant());
    // Moving keeps the variables bound.
    Formula first(Node("x*2"), test::elementary_of_the_c_library(), names);
    Formula second = std::move(first);
    CHECK(second(std::array{0.0, 3.0, 0.0}) == 6.0);
    second = Formula(Node("y"), test::elementary_of_the_c_library(), names);
    CHECK(second(std::array{0.0, 3.0, 5.0}) == 5.0);
}

TEST_CASE("formula: errors give the column") {
    CHECK(message("sin(3*q)") ==
          "s.json:1:7: at /v: unknown name 'q' at column 7 of the formula; known names are i, x, "
          "y, e, "
          "pi, abs, acos, asin, atan, atan2, cbrt, ceil, cos, cosh, exp, expm1, floor, log, log1p, "
          "max, "
          "min, pow, round, sign, sin, sinh, sqrt, tan, tanh, trunc\n  sin(3*q)\n        ^");
    CHECK(message("1 + sine(x)") ==
          "s.json:1:7: at /v: unknown name 'sine' at column 5 of the formula; did you mean "
          "'sin'?\n  1 + "
          "sine(x)\n      ^");
    struct Case {
        std::string formula, part;
    };
    const Case cases[] = {
        {"", "an empty formula"},
        {"   ", "an empty formula"},
        {"1 +", "a value is missing at column 4 of"},
        {"* 2", "unexpected '*' at column 1 of"},
        {"2 3", "unexpected '3' at column 3 of"},
        {"2x", "unexpected 'x' at column 2 of"},
        {"x 2", "unexpected '2' at column 3 of"},
        {"(1+2", "'(' is not closed at column 1 of"},
        {"1+2)", "')' closes nothing at column 4 of"},
        {"sin x", "no '(' directly after 'sin' at column 1 of"},
        {"sin (x)", "no '(' directly after 'sin' at column 1 of"},
        {"sin()", "too few arguments for 'sin' at column"},
        {"sin(1, 2)", "too many arguments for 'sin' at column"},
        {"atan2(1)", "too few arguments for 'atan2' at column"},
        {"1, 2", "',' outside the arguments of a function at column 2 of"},
        {"(1, 2)", "',' outside the arguments of a function at column 3 of"},
        {"0,5", "write decimals with a point"},
        {"x = 3", "unexpected '=' at column 3 of"},
        {"x ? 1", "':' is missing after '?' at column 6 of"},
        {"1 : 2", "':' without '?' at column 3 of"},
        {"1 + ? 2 : 3", "unexpected '?' at column 5 of the formula; a value is missing before it"},
        {"sin(x ? 1, 2 : 3)", "':' is missing after '?' at column 10 of"},
        {"1e999", "a number beyond f64 at column 1 of"},
        {"1 + 1e-999", "a number beyond f64 at column 5 of"},
        {"x ; y", "a character that no formula has at column 3 of"},
        {"\xC3\xA9", "a character that no formula has at column 1 of"},
        {"\"a\"", "a character that no formula has at column 1 of"},
        {"z", "unknown name 'z' at column 1 of"},
        {"_pi", "unknown name '_pi' at column 1 of"},
        {"rnd()", "unknown name 'rnd' at column 1 of"},
        {"()", "unexpected ')' at column 2 of"},
        {"sin(x)||+", "a value is missing at column 10 of"},
        {"x(2)", "'x' is no function at column 1 of"},
        {". + 1", "'.' is no number at column 1 of"},
        {"1 ! 2", "unexpected '!' at column 3 of"},
        {"x 0.5", "an operator is missing before it"},
        {"1 <> 2", "at column 4 of"},
    };
    for (const Case& one : cases) {
        CAPTURE(one.formula);
        const std::string got = message(one.formula);
        INFO(got);
        CHECK(got.find(one.part) != std::string::npos);
        CHECK(got.starts_with("s.json:1:7: at /v: "));
    }
    CHECK(message("sin(x)", {}).find("unknown name 'sin'") != std::string::npos);
    CHECK(message("x^2", {}).find("unexpected '^") != std::string::npos);
    CHECK(message(std::string(5000, '1')).find("a formula of 5000 characters, more than 4096") !=
          std::string::npos);
    CHECK(message(std::string(70, '(') + "1" + std::string(70, ')'))
              .find("more than 64 brackets in each other at column 65") != std::string::npos);
    std::string chain = "1";
    for (int k = 0; k < 2000; ++k) chain += "+1";
    CHECK(value(chain) == 2001.0);
    // One sign before a value, as a second one is rather a slip.
    CHECK(message("1 - - -1").find("unexpected '-' at column 7 of") != std::string::npos);
}
