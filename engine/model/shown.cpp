#include "engine/model/shown.hpp"

#include <utility>

namespace hindcast::model {

namespace {

struct ShownQuantities {
    std::vector<ShownQuantity> list;
};

}  // namespace

void publish(Model& model, ShownQuantity quantity) {
    std::vector<ShownQuantity>& list = model.shared<ShownQuantities>().list;
    const std::string said = "'" + quantity.name + "' of '" + quantity.owner + "'";
    if (model.has_array(quantity.key()))
        throw Error("internal: " + said + " would be shown under the name of an array");
    for (const ShownQuantity& other : list) {
        if (other.name != quantity.name) continue;
        if (other.owner == quantity.owner) throw Error("internal: " + said + " is shown already");
        if (other.unit != quantity.unit || other.of != quantity.of ||
            other.components != quantity.components)
            throw Error("internal: " + said + " is not what '" + other.owner + "' shows as that");
    }
    list.push_back(std::move(quantity));
}

const std::vector<ShownQuantity>& shown_quantities(Model& model) {
    return model.shared<ShownQuantities>().list;
}

std::string shown_name(Model& model, const ShownQuantity& quantity) {
    if (quantity.of == ShownQuantity::Of::points) return quantity.name;
    for (const ShownQuantity& other : shown_quantities(model))
        if (other.name == quantity.name && other.owner != quantity.owner &&
            other.drawn_by() == quantity.drawn_by())
            return quantity.key();
    return quantity.name;
}

ShownValues::ShownValues(Model& model, const std::string& key) {
    Program program;
    for (const ShownQuantity& quantity : shown_quantities(model)) {
        if (quantity.key() != key) continue;
        if (!values_) {
            const int components =
                quantity.components * (quantity.of == ShownQuantity::Of::places ? 2 : 1);
            values_ = components == 1 ? Array(model.real(), {quantity.count})
                                      : Array(model.real(), {quantity.count, components});
            sums_ = quantity.of == ShownQuantity::Of::points;
        }
        quantity.add(model, values_, program);
    }
    if (!values_) throw Error("nothing in this scene shows '" + key + "'");
    launches_ = program.launches();
}

void ShownValues::evaluate() {
    if (sums_) values_.fill(0);
    for (const Launch& launch : launches_) launch.forward().run();
}

}  // namespace hindcast::model
