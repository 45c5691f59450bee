// Numbers as the user writes them: an expression in which numbers carry units, held against the
// unit of the field. Every value is a number of SI units with the exponents of meter, kilogram and
// second; angles are numbers (1 deg = pi/180). A result without any unit is taken in the field's.
//
//     expression := term (('+' | '-') term)*
//     term       := factor (('*' | '/' | nothing) factor)*      from left to right
//     factor     := ('+' | '-')* power
//     power      := value ('^' factor)?
//     value      := number | unit | pi | e | name '(' expression (',' expression)* ')'
//                   | '(' expression ')'
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "app/session/document/editor.hpp"
#include "engine/document/text.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

namespace {

constexpr std::size_t longest = 1000;
constexpr int most_levels = 50;

using Exponents = std::array<double, 3>;  // of m, kg, s

struct Value {
    double number = 0;
    Exponents exponents{};
    bool has_unit = false;
};

struct Unit {
    const char* name;
    double factor;
    Exponents exponents;
};

constexpr double pi = 3.14159265358979323846;
constexpr Unit units[] = {
    {"m", 1, {1, 0, 0}},       {"mm", 1e-3, {1, 0, 0}},   {"cm", 1e-2, {1, 0, 0}},
    {"km", 1e3, {1, 0, 0}},    {"um", 1e-6, {1, 0, 0}},   {"s", 1, {0, 0, 1}},
    {"ms", 1e-3, {0, 0, 1}},   {"us", 1e-6, {0, 0, 1}},   {"min", 60, {0, 0, 1}},
    {"kg", 1, {0, 1, 0}},      {"g", 1e-3, {0, 1, 0}},    {"N", 1, {1, 1, -2}},
    {"kN", 1e3, {1, 1, -2}},   {"mN", 1e-3, {1, 1, -2}},  {"Pa", 1, {-1, 1, -2}},
    {"kPa", 1e3, {-1, 1, -2}}, {"MPa", 1e6, {-1, 1, -2}}, {"GPa", 1e9, {-1, 1, -2}},
    {"J", 1, {2, 1, -2}},      {"kJ", 1e3, {2, 1, -2}},   {"W", 1, {2, 1, -3}},
    {"Hz", 1, {0, 0, -1}},     {"kHz", 1e3, {0, 0, -1}},  {"deg", pi / 180, {0, 0, 0}},
    {"rad", 1, {0, 0, 0}},     {"L", 1e-3, {3, 0, 0}},
};

struct Function {
    const char* name;
    document::ElementaryTable::Unary document::ElementaryTable::*own;
};
constexpr Function functions[] = {
    {"sin", &document::ElementaryTable::sin},   {"cos", &document::ElementaryTable::cos},
    {"tan", &document::ElementaryTable::tan},   {"asin", &document::ElementaryTable::asin},
    {"acos", &document::ElementaryTable::acos}, {"atan", &document::ElementaryTable::atan},
    {"sinh", &document::ElementaryTable::sinh}, {"cosh", &document::ElementaryTable::cosh},
    {"tanh", &document::ElementaryTable::tanh}, {"exp", &document::ElementaryTable::exp},
    {"log", &document::ElementaryTable::log},   {"cbrt", &document::ElementaryTable::cbrt},
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string text_of(const Exponents& e) {
    static constexpr const char* names[] = {"m", "kg", "s"};
    std::string text;
    for (std::size_t k = 0; k < 3; ++k) {
        if (e[k] == 0) continue;
        if (!text.empty()) text += " ";
        text += names[k];
        if (e[k] != 1) text += fmt::format("^{}", e[k]);
    }
    return text.empty() ? "a number without unit" : text;
}

class Reader {
public:
    explicit Reader(const std::string& text) : text_(text) {
        if (text.size() > longest) throw Error("this expression is too long");
    }

    Value read() {
        const Value value = expression();
        if (at_ < text_.size()) fail("what is '" + text_.substr(at_, 20) + "'?");
        return value;
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw Error("in '" + text_ + "', at " + std::to_string(at_ + 1) + ": " + what)
            .remedy("write a number, an expression or a number with a unit, such as 2*9.81, 3 cm");
    }
    void skip() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    }
    char next() {
        skip();
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(char c) {
        if (next() != c) return false;
        ++at_;
        return true;
    }

    Value expression() {
        if (++depth_ > most_levels) fail("too many brackets");
        Value left = term();
        for (;;) {
            const bool plus = next() == '+';
            if (!plus && next() != '-') break;
            ++at_;
            const Value right = term();
            if (left.exponents != right.exponents)
                fail(text_of(left.exponents) + " and " + text_of(right.exponents) +
                     " cannot be added");
            left.number += plus ? right.number : -right.number;
            left.has_unit |= right.has_unit;
        }
        --depth_;
        return left;
    }

    Value term() {
        Value left = factor();
        for (;;) {
            const char c = next();
            const bool side_by_side = is_letter(c) || is_digit(c) || c == '(' || c == '.';
            if (c != '*' && c != '/' && !side_by_side) return left;
            if (!side_by_side) ++at_;
            const Value right = factor();
            const double sign = c == '/' ? -1 : 1;
            left.number = c == '/' ? left.number / right.number : left.number * right.number;
            for (std::size_t k = 0; k < 3; ++k) left.exponents[k] += sign * right.exponents[k];
            left.has_unit |= right.has_unit;
        }
    }

    Value factor() {
        bool negative = false;
        int signs = 0;
        while (next() == '+' || next() == '-') {
            negative ^= text_[at_++] == '-';
            if (++signs > most_levels) fail("too many signs");
        }
        Value value = power();
        if (negative) value.number = -value.number;
        return value;
    }

    Value power() {
        Value base = value();
        if (!take('^')) return base;
        if (++depth_ > most_levels) fail("too many powers");
        const Value exponent = factor();
        --depth_;
        if (exponent.has_unit) fail("an exponent has no unit");
        base.number = own_.pow != nullptr ? own_.pow(base.number, exponent.number)
                                          : std::pow(base.number, exponent.number);
        for (double& e : base.exponents) e *= exponent.number;
        return base;
    }

    Value value() {
        const char c = next();
        if (is_digit(c) || c == '.') return number();
        if (c == '(') {
            ++at_;
            const Value inner = expression();
            if (!take(')')) fail("')' is missing");
            return inner;
        }
        if (is_letter(c)) return name();
        fail(c == '\0' ? "a value is missing"
                       : "a value is missing before '" + std::string(1, c) + "'");
    }

    Value number() {
        double number = 0;
        const char* const begin = text_.data() + at_;
        const char* const end = text_.data() + text_.size();
        auto result = std::from_chars(begin, end, number, std::chars_format::general);
        if (result.ec != std::errc()) fail("this is no number that can be held");
        at_ += static_cast<std::size_t>(result.ptr - begin);
        return {number, {}, false};
    }

    Value name() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
        const std::string word = text_.substr(begin, at_ - begin);
        if (at_ < text_.size() && text_[at_] == '(') {
            ++at_;
            return call(word);
        }
        if (word == "pi") return {pi, {}, false};
        if (word == "e") return {2.71828182845904523536, {}, false};
        for (const Unit& unit : units)
            if (word == unit.name) return {unit.factor, unit.exponents, true};
        std::vector<std::string_view> known;
        for (const Unit& unit : units) known.emplace_back(unit.name);
        at_ = begin;
        fail("there is no unit '" + word + "'; " + document::suggestion(word, known));
    }

    Value call(const std::string& word) {
        std::vector<Value> values{expression()};
        while (take(',')) values.push_back(expression());
        if (!take(')')) fail("')' is missing");
        Value& x = values.front();
        if (word == "min" || word == "max") {
            for (const Value& v : values) {
                if (v.exponents != x.exponents) fail("these have different units");
                x.number =
                    word == "min" ? std::fmin(x.number, v.number) : std::fmax(x.number, v.number);
            }
            return x;
        }
        if (values.size() != 1) fail("'" + word + "' takes one value");
        if (word == "abs") {
            x.number = std::fabs(x.number);
            return x;
        }
        if (word == "sqrt") {
            x.number = std::sqrt(x.number);
            for (double& e : x.exponents) e /= 2;
            return x;
        }
        for (const Function& f : functions) {
            if (word != f.name) continue;
            if (x.exponents != Exponents{}) fail("'" + word + "' takes a number without unit");
            return {(own_.*f.own)(x.number), {}, false};
        }
        fail("there is no function '" + word + "'");
    }

    std::string text_;
    std::size_t at_ = 0;
    int depth_ = 0;
    document::ElementaryTable own_ = own_elementary_functions();
};

}  // namespace

double number_of_input(const std::string& text, const std::string& unit) {
    const Value value = Reader(text).read();
    double number = value.number;
    if (value.has_unit) {
        Value field{1, {}, false};
        if (!unit.empty()) field = Reader(unit).read();
        if (value.exponents != field.exponents)
            throw Error("'" + text + "' is " + text_of(value.exponents) + ", but " +
                        (unit.empty() ? "a number without unit" : unit) + " is wanted")
                .remedy(unit.empty() ? "write a number" : "write a number, or one in " + unit);
        number /= field.number;
    }
    if (!std::isfinite(number)) throw Error("'" + text + "' is not a finite number");
    return number;
}

}  // namespace hindcast::session
