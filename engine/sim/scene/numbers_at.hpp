// NumbersAt: the numbers of a model that a path names, and the paths of a number.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/element_names.hpp"
#include "engine/model/model.hpp"
#include "engine/sim/scene/path.hpp"

namespace hindcast {

struct NumbersAt {
    model::Quantity* quantity = nullptr;
    std::optional<model::ElementRange> elements;  // none: the path names no element
    std::optional<int> component;

    // True if the path names an element of a quantity that has one value for all elements.
    bool splits() const { return elements && quantity->shared; }
    // Positions in quantity->values; those of its only row if the quantity is shared.
    std::vector<std::size_t> entries() const;
};

// Quantity null: the model has none of the path. Throws Error, with "did you mean", for an element or
// a component that it does not have.
NumbersAt numbers_at(model::Model& model, const Path& path);

// The elements that the path names of an array of so many; `base`: for messages. Throws Error as above.
std::optional<model::ElementRange> elements_at(model::Model& model, const Path& path,
                                               std::int64_t count);
// Throws Error.
std::optional<int> component_at(const Path& path, int components);

// "[3]" or "[torso]": an element of the quantity or array with this path.
std::string index_text(model::Model& model, const std::string& path, std::int64_t element);
// "ball.velocity[0].x", "robot.body_mass[torso]", "gravity.z": entry of quantity.values.
std::string entry_name(model::Model& model, const model::Quantity& quantity, std::size_t entry);

// Throws Error, with the range, if a number of the quantity cannot have this value in a run of type
// `real`. `name` is called for the error alone: a function that returns what entry_name() does.
template <class Name>
void require_value(const model::Quantity& quantity, double value, ir::Type real, const Name& name);
[[noreturn]] void refuse_value(const model::Quantity& quantity, double value,
                               const std::string& name);

template <class Name>
void require_value(const model::Quantity& quantity, double value, ir::Type real, const Name& name) {
    if (!std::isfinite(value) || !quantity.range.contains(value) ||
        !quantity.fits(real, {&value, 1}))
        refuse_value(quantity, value, name());
}

}  // namespace hindcast
