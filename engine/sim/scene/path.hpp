// Paths: one grammar everywhere (scene, --set, --vary, parameters, tests): gravity.z, time.steps,
// ball.velocity[0].z, and by name, where elements have names, robot.body_mass[torso].
//
// A name between brackets is written as it is. One that begins with a quote or holds a bracket or
// a control character, and one that is a whole number, stands in quotes, as in JSON:
// robot.body_mass["a[0]"].
//
// A component is .x, .y or .z; of four numbers .w, .x, .y, .z; of any its number: .4
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hindcast {

struct Path {
    std::vector<std::string> keys;        // "cage", "stiffness"
    std::optional<std::int64_t> element;  // [i]
    std::optional<std::string> name;      // [torso], in place of a number
    std::string component;                // "x", "4"; after an element or as the last key; "": none

    // Throws Error for an empty or malformed path.
    static Path parse(const std::string& text);
    // The end of the path in a text "path=...": the first '=' outside brackets; npos if there is
    // none.
    static std::size_t end(std::string_view text);
    // A name with its brackets.
    static std::string in_brackets(std::string_view name);

    std::string base() const;   // the keys joined by '.'
    std::string owner() const;  // all but the last key
    bool has_element() const { return element || name; }
    std::string index() const;  // "[3]", "[torso]", ""
    // The number of the component among so many; none if it does not exist. Precondition:
    // `component` is not "".
    std::optional<int> component_of(int components) const;
};

// The name in paths of one of so many components: "x", "w", "4".
std::string component_name(int component, int components);

}  // namespace hindcast
