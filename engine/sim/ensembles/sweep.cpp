#include "engine/sim/ensembles/sweep.hpp"

#include <charconv>
#include <cmath>
#include <set>

#include "engine/document/node.hpp"
#include "engine/document/text.hpp"
#include "engine/sim/scene/numbers_at.hpp"

namespace hindcast {

namespace {

double number_of(const std::string& text, const std::string& where) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && std::isfinite(value))
        return value;
    if (const auto fraction = document::parse_fraction(text)) return *fraction;
    throw Error("'" + text + "' in '" + where + "' is not a number")
        .remedy("write values such as 1,2,5 or a range FIRST:LAST:COUNT");
}

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts(1);
    for (const char c : text)
        if (c == at)
            parts.emplace_back();
        else
            parts.back() += c;
    return parts;
}

}  // namespace

SweepAxis SweepAxis::parse(const std::string& text) {
    const std::size_t sign = Path::end(text);
    if (sign == std::string::npos || sign == 0)
        throw Error("'" + text + "' is not PATH=VALUES")
            .remedy("write PATH=1,2,5 or PATH=FIRST:LAST:COUNT");
    SweepAxis axis{text.substr(0, sign), {}};
    Path::parse(axis.path);
    const std::vector<std::string> range = split(text.substr(sign + 1), ':');
    if (range.size() == 1) {
        for (const std::string& number : split(range[0], ','))
            axis.values.push_back(number_of(number, text));
        return axis;
    }
    std::int64_t count = 0;
    const std::string& last = range.back();
    const auto [end, error] = std::from_chars(last.data(), last.data() + last.size(), count);
    if (range.size() != 3 || error != std::errc() || end != last.data() + last.size() ||
        count < 2 || count > static_cast<std::int64_t>(Sweep::most_points))
        throw Error("'" + text + "' is not a range").remedy("write FIRST:LAST:COUNT, COUNT from 2");
    const double from = number_of(range[0], text), to = number_of(range[1], text);
    for (std::int64_t k = 0; k < count; ++k) {
        const double t = static_cast<double>(k) / static_cast<double>(count - 1);
        axis.values.push_back(k + 1 == count ? to : from + t * (to - from));
    }
    return axis;
}

namespace {

// True if the path is a key that an object of the scene may have.
bool is_field(const Scene& scene, const Registry& registry, const std::string& text) {
    const Path path = Path::parse(text);
    if (path.keys.size() != 2 || path.has_element() || !path.component.empty()) return false;
    for (const Scene::Object& object : scene.objects()) {
        if (object.name != path.keys[0]) continue;
        const model::ModuleType* type = registry.find(object.section, object.type);
        if (type == nullptr) return false;
        for (const model::Field& field : type->fields)
            if (field.key == path.keys[1]) return true;
    }
    return false;
}

}  // namespace

Sweep::Sweep(Scene scene, const Registry& registry, const SimulationOptions& options,
             std::vector<SweepAxis> axes)
    : axes_(std::move(axes)) {
    for (const SweepAxis& axis : axes_) {
        if (axis.values.size() > most_points / size_)
            throw Error("the grid has more than " + std::to_string(most_points) + " points");
        size_ *= axis.values.size();
    }
    simulation_ = std::make_unique<Simulation>(scene, registry, options);
    // A value that the scene leaves at a default that means "none" is there once it is written.
    bool written_out = false;
    for (const SweepAxis& axis : axes_) {
        if (simulation_->model().find_quantity(Path::parse(axis.path).base()) != nullptr ||
            scene.find(axis.path) != nullptr || !is_field(scene, registry, axis.path))
            continue;
        scene.set(axis.path, document::shortest(axis.values.front()));
        written_out = true;
    }
    if (written_out) simulation_ = std::make_unique<Simulation>(scene, registry, options);
    own_ = simulation_->parameters().size();
    document::Node list = document::Node::array();
    if (const document::Node* written = scene.document().root().find("parameters")) list = *written;
    const std::size_t written = list.size();
    for (const SweepAxis& axis : axes_)
        if (entries_of(axis.path).empty())
            list.push_back(document::Node::object({{"path", axis.path}}));
    if (list.size() > written) {
        scene.document().set("/parameters", std::move(list));
        simulation_ = std::make_unique<Simulation>(scene, registry, options);
    }
    start_ = simulation_->parameters().values();

    std::set<std::size_t> taken;
    for (const SweepAxis& axis : axes_) {
        entries_.push_back(entries_of(axis.path));
        for (const std::size_t entry : entries_.back())
            if (!taken.insert(entry).second)
                throw Error("'" + simulation_->parameters().names()[entry] +
                            "' is swept by two axes");
        const model::Quantity* quantity =
            simulation_->model().find_quantity(Path::parse(axis.path).base());
        for (const double value : axis.values)
            if (quantity != nullptr && !quantity->range.contains(value))
                throw Error("'" + axis.path + "' cannot be " + document::shortest(value) +
                            ": it is " + quantity->range.describe());
    }
}

// The entries of the parameter vector that a path names.
std::vector<std::size_t> Sweep::entries_of(const std::string& text) const {
    const NumbersAt at = numbers_at(simulation_->model(), Path::parse(text));
    std::vector<std::size_t> found;
    std::size_t k = 0;
    for (const Parameter& p : simulation_->parameters().list())
        for (const std::size_t entry : p.entries) {
            const auto components = static_cast<std::size_t>(p.quantity->components);
            const auto element = static_cast<std::int64_t>(entry / components);
            const bool named =
                p.quantity == at.quantity &&
                (!at.elements || (element >= at.elements->first &&
                                  element < at.elements->first + at.elements->count)) &&
                (!at.component || static_cast<std::size_t>(*at.component) == entry % components);
            if (named) found.push_back(k);
            ++k;
        }
    return found;
}

std::vector<double> Sweep::coordinates(std::size_t point) const {
    std::vector<double> values(axes_.size());
    for (std::size_t a = axes_.size(); a-- > 0;) {
        values[a] = axes_[a].values[point % axes_[a].values.size()];
        point /= axes_[a].values.size();
    }
    return values;
}

std::vector<double> Sweep::parameters(std::size_t point) const {
    const std::vector<double> values = coordinates(point);
    std::vector<double> all = start_;
    for (std::size_t a = 0; a < axes_.size(); ++a)
        for (const std::size_t entry : entries_[a]) all[entry] = values[a];
    return all;
}

double Sweep::slope(std::size_t axis, const std::vector<double>& gradient) const {
    double sum = 0;
    for (const std::size_t entry : entries_[axis]) sum += gradient[entry];
    return sum;
}

double Sweep::gradient_norm(const std::vector<double>& gradient) const {
    double sum = 0;
    for (std::size_t k = 0; k < own_; ++k) sum += gradient[k] * gradient[k];
    return std::sqrt(sum);
}

}  // namespace hindcast
