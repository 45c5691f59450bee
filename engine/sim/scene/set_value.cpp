#include "engine/sim/scene/set_value.hpp"

#include <algorithm>

#include "engine/document/document.hpp"
#include "engine/document/values.hpp"
#include "engine/sim/scene/path.hpp"

namespace hindcast {

using document::Node;

void set_value(Scene& scene, const Registry& registry, const SimulationOptions& options,
               const std::string& path, std::string_view json) {
    const Path p = Path::parse(path);
    if (!p.element && !p.component) return scene.set(path, json);
    SimulationOptions plain;
    plain.device = std::make_shared<Device>(DeviceOptions{.kind = DeviceKind::interpreter});
    plain.precision = ir::Precision::f64;
    plain.seed = options.seed;
    plain.allowed_paths = options.allowed_paths;
    Simulation simulation(scene, registry, plain);
    const model::Quantity* quantity = simulation.model().find_quantity(p.base());
    if (quantity == nullptr) return scene.set(path, json);

    const std::size_t components = static_cast<std::size_t>(quantity->components);
    if (p.element && *p.element >= quantity->count)
        throw Error("'" + p.base() + "' has " + std::to_string(quantity->count) +
                    " elements, no element " + std::to_string(*p.element));
    if (p.component && *p.component >= quantity->components)
        throw Error("'" + p.base() + "' has " + std::to_string(components) + " components");
    const Node value = document::Document::parse(json, "--set " + path).root();
    const std::vector<double> numbers = p.component || components == 1
                                            ? std::vector<double>{document::number_of(value)}
                                            : document::numbers_of(value, components);
    const bool shared = quantity->shared && !p.element;
    if (!shared && !p.element)
        throw Error("'" + p.base() + "' has one vector per element, so '" + path +
                    "' names no number")
            .remedy("name an element, such as " + p.base() + "[0]." + "xyz"[*p.component]);
    std::vector<double> values;
    const std::int64_t copies = quantity->shared && !shared ? quantity->count : 1;
    for (std::int64_t e = 0; e < copies; ++e)
        values.insert(values.end(), quantity->values.begin(), quantity->values.end());
    const std::size_t first = static_cast<std::size_t>(p.element.value_or(0)) * components +
                              static_cast<std::size_t>(p.component.value_or(0));
    std::copy(numbers.begin(), numbers.end(), values.begin() + static_cast<std::ptrdiff_t>(first));
    scene.set(p.base(),
              document::to_line(document::written_form(values, quantity->components, shared)));
}

}  // namespace hindcast
