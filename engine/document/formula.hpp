// Formulas: "sin(3*x) + 0.1*i", evaluated in f64 with functions that are equal on all machines.
//
// muParser reads the text and runs it; operators and functions are ours. Arithmetic is IEEE, in the
// order written (no folding, no rearranging); the elementary functions come in as a table of
// function pointers, because those of the C library differ between machines.
//
//   numbers      2, 0.5, 1e-3          constants  pi, e
//   operators    + - * / ^ (to the right, -2^2 = -4), < <= > >= == != (1 or 0), && || !, a ? b : c
//   functions    those of the table, and sqrt abs floor ceil trunc round (half to even)
//                sign min max
//
// Comparisons, && || and ! take every number but 0 as true.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/document/node.hpp"

namespace hindcast::document {

// Elementary functions in f64. An entry that is null does not exist in formulas.
struct ElementaryTable {
    using Unary = double (*)(double);
    using Binary = double (*)(double, double);

    Unary sin = nullptr, cos = nullptr, tan = nullptr, asin = nullptr, acos = nullptr;
    Unary atan = nullptr, sinh = nullptr, cosh = nullptr, tanh = nullptr;
    Unary exp = nullptr, expm1 = nullptr, log = nullptr, log1p = nullptr, cbrt = nullptr;
    Binary pow = nullptr, atan2 = nullptr;
};

class Formula {
public:
    // The node is a string; `variables` are the names that may stand in it. Throws Error at the
    // node with the column within the formula. The names are copied.
    Formula(const Node& node, const ElementaryTable& functions,
            std::span<const std::string_view> variables);
    ~Formula();
    Formula(Formula&&) noexcept;
    Formula& operator=(Formula&&) noexcept;

    bool uses(std::size_t variable) const;
    bool is_constant() const;  // uses no variable

    // One value per variable, in the order of the constructor. The result may be infinite or NaN.
    double operator()(std::span<const double> values);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hindcast::document
