// Quantities that follow from the state and are shown as colors or arrows, such as stresses and contact
// forces. A module publishes how one is computed; only quantities that are shown are computed, so a
// run that is not shown costs nothing.
//
//     model::publish(model, {.owner = "beam", .name = "von Mises stress", .unit = "Pa", ...});
//     model::ShownValues stress(model, "von Mises stress of beam");
//     stress.evaluate();                         // of the state as it is now
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/model/model.hpp"

namespace hindcast::model {

struct ShownQuantity {
    // Elements of the owner; points of the model; places of their own, which move. Values of places
    // have twice the components: the place of a vector (m), then the vector.
    enum class Of : std::uint8_t { elements, points, places };

    std::string owner;    // the scene's object
    std::string name;     // "von Mises stress"; those of several owners are shown together
    std::string unit;     // "Pa"
    std::string meaning;  // in one line
    Of of = Of::elements;
    std::int64_t count = 0;  // elements of the owner, points of the model, or places
    int components = 1;      // or the dimension: a vector, in the scene's axes
    // Adds launches to the program that compute the quantity of the state as it is then, with the
    // number of steps done in Model::step_counter(). `values` are `count` elements of the run's real
    // type. Launches write all values of elements and places. Values of points are 0 before and
    // launches add to them, so that several owners may act on one point. Called once the model is
    // built.
    std::function<void(Model& model, const Array& values, Program& program)> add = {};
    // For elements: the scene's object that has them, if that is not the owner: fibers are drawn in
    // their solid.
    std::string body = {};

    const std::string& drawn_by() const { return body.empty() ? owner : body; }
    // The key of the values: "von Mises stress of beam"; for points the name alone.
    std::string key() const { return of == Of::points ? name : name + " of " + owner; }
};

// Throws Error if an array has that key, the owner has one of that name, or quantities of that name
// differ in unit or kind.
void publish(Model& model, ShownQuantity quantity);
const std::vector<ShownQuantity>& shown_quantities(Model& model);
// The name that people choose it by: its name, or its key if another owner shows one of that name
// for the same elements.
std::string shown_name(Model& model, const ShownQuantity& quantity);

// The values of one key, computed when asked for.
class ShownValues {
public:
    // Throws Error if nothing has that key.
    ShownValues(Model& model, const std::string& key);
    void evaluate();
    const Array& values() const { return values_; }

private:
    Array values_;
    bool sums_ = false;
    std::vector<Launch> launches_;
};

}  // namespace hindcast::model
