#include "app/session/document/fields/formula_check.hpp"

#include <array>
#include <string_view>

#include "engine/document/formula.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

std::string formula_fault(const std::string& formula) {
    static constexpr std::array<std::string_view, 6> names{"i", "n", "x", "y", "z", "t"};
    try {
        const document::Formula read(document::Node(formula), own_elementary_functions(), names);
    } catch (const Error& error) {
        return error.happened() + (error.what_to_do().empty() ? "" : "; " + error.what_to_do());
    }
    return "";
}

std::string formula_names() {
    return "Names: i (the element), n (how many), x y z (its position, where it has one), t (its "
           "time,\n"
           "where it has one), pi, e.\n"
           "+ - * / ^, comparisons (1 or 0), a ? b : c.\n"
           "sin cos tan asin acos atan sinh cosh tanh exp log cbrt pow atan2 sqrt abs floor ceil "
           "trunc round sign min max";
}

}  // namespace hindcast::session
