#include "engine/sim/values/values_in_place.hpp"

#include "engine/model/element_names.hpp"

namespace hindcast {

namespace {

// True if `values` keep to the bounds of the parameters that stand for some of them.
bool within_bounds(const Parameters& parameters, const model::Quantity& quantity,
                   const std::vector<double>& values) {
    for (const Parameter& p : parameters.list()) {
        if (p.quantity != &quantity) continue;
        for (const std::size_t entry : p.entries) {
            const double value = values[entry];
            if (value < p.low || value > p.high || (p.log_scale && value <= 0)) return false;
        }
    }
    return true;
}

}  // namespace

std::optional<std::vector<double>> values_in_place(Simulation& simulation,
                                                   const model::Quantity& quantity,
                                                   const document::Node& written) {
    model::Model& model = simulation.model();
    const model::ElementNames* const names = model::element_names(model, quantity.path);
    const bool by_name = names != nullptr && model::is_by_name(written);
    const bool left_out = written.is_null() && names != nullptr && names->may_be_left_out &&
                          !names->otherwise.empty() && !quantity.shared;
    if ((written.is_object() && !by_name) || (written.is_null() && !left_out) ||
        !model.only_uploaded(quantity))
        return std::nullopt;
    document::ValueRequest request;
    request.count = quantity.count;
    request.components = quantity.components;
    request.range = quantity.range;
    request.dimension = model.dimension();
    try {
        document::Values found;
        if (left_out)
            found.data = names->otherwise;
        else
            found = model::evaluate(written, request, names);
        const auto per_element = model.options().per_element.find(quantity.path);
        const bool spread = found.shared && !quantity.shared &&
                            per_element != model.options().per_element.end() && per_element->second;
        if (found.form != document::ValueForm::Written ||
            (found.shared != quantity.shared && !spread))
            return std::nullopt;
        std::vector<double> values = spread ? found.rows() : found.data;
        if (values.size() != quantity.values.size() || !quantity.fits(model.real(), values) ||
            !within_bounds(simulation.parameters(), quantity, values))
            return std::nullopt;
        if (quantity.check) quantity.check(values);
        return values;
    } catch (const Error&) {  // a build says what is wrong
        return std::nullopt;
    }
}

}  // namespace hindcast
