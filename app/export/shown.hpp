// Shown: the quantities that a scene shows as colors (engine/model/shown.hpp), as data of a
// geometry's points and cells under the names that the window uses.
#pragma once

#include <vector>

#include "app/export/geometry.hpp"
#include "engine/model/shown.hpp"

namespace hindcast::exporting {

class Shown {
public:
    // `model` is the built model of the geometry. Quantities of elements that are not drawn are
    // left out, as in the window. Throws Error if a quantity has the name of a state array.
    Shown(model::Model& model, const Geometry& geometry);

    // Computes all of the state as it is.
    void evaluate();
    // As they were computed last. Those of several objects' cells have one name in common.
    const std::vector<Attribute>& attributes() const { return attributes_; }

private:
    std::vector<model::ShownValues> values_;
    std::vector<Attribute> attributes_;
};

}  // namespace hindcast::exporting
