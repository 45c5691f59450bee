#include "app/session/shapes/shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "app/session/document/editor_state.hpp"
#include "app/session/document/scene_files.hpp"
#include "app/session/shapes/shapes_table.hpp"
#include "engine/document/file_access.hpp"
#include "engine/document/read.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

namespace {

using document::Document;
using document::Node;
namespace fs = std::filesystem;

const ShapeRow& row_of(const std::string& id) {
    const auto found =
        std::ranges::find(shape_rows(), id, [](const ShapeRow& row) { return row.shape.id; });
    if (found == shape_rows().end()) throw Error("there is no shape '" + id + "'");
    return *found;
}

// In the plane there is nothing along y.
Shape in_dimension(Shape shape, int dimension) {
    shape.dimension = dimension;
    if (dimension == 2)
        std::erase_if(shape.numbers,
                      [](const ShapeNumber& number) { return number.key.ends_with("_y"); });
    return shape;
}

bool is_implicit(const Document& document, const fs::path& file) {
    return Scene::of(document, file).integrator() != model::Integrator::semi_implicit_euler;
}

// A candidate for the scene that the shape is added to.
struct Start {
    Document document;
    bool implicit = false;
};

std::vector<Start> starts(const Document& document, const fs::path& file, Steps steps) {
    if (is_implicit(document, file)) return {{document, true}};
    std::vector<Start> list;
    if (steps != Steps::any) {
        Document changed = document;
        changed.set("/time/integrator", Node("implicit_euler"));
        changed.root().find("time")->erase("substeps");
        make_barriers(changed);
        list.push_back({std::move(changed), true});
    }
    if (steps != Steps::barrier) list.push_back({document, false});
    return list;
}

// The file as the scene names it: relative to its folder.
std::string name_in_scene(const fs::path& wanted, const fs::path& scene) {
    if (wanted.empty()) return "";
    const fs::path folder = fs::current_path() / scene.parent_path();
    const std::optional<std::string> name = name_below(wanted, folder);
    if (!name)
        throw Error(wanted.filename().string() + " lies outside the scene's folder")
            .remedy(scene.empty()
                        ? "save the scene beside it first, or copy it to " + folder.string()
                        : "copy it to " + folder.string());
    return *name;
}

std::shared_ptr<Device> quiet_device() {
    DeviceOptions options;
    options.kind = DeviceKind::interpreter;  // nothing runs
    options.threads = 1;
    return std::make_shared<Device>(options);
}

}  // namespace

std::vector<double> Shape::values() const {
    std::vector<double> list;
    for (const ShapeNumber& number : numbers) list.push_back(number.value);
    return list;
}

ShapeNumbers::ShapeNumbers(const Shape& shape, std::span<const double> values)
    : shape_(shape), values_(values) {
    if (values.size() != shape.numbers.size())
        throw Error(fmt::format("{} has {} numbers, not {}", shape.label, shape.numbers.size(),
                                values.size()));
    for (std::size_t k = 0; k < values.size(); ++k) {
        const ShapeNumber& number = shape.numbers[k];
        if (!(values[k] >= number.low && values[k] <= number.high) ||
            (number.whole && values[k] != std::floor(values[k])))
            throw Error(fmt::format("{}: {} cannot be {}", shape.label, number.label, values[k]))
                .remedy(fmt::format("a {}number from {} to {}", number.whole ? "whole " : "",
                                    number.low, number.high));
    }
}

double ShapeNumbers::operator[](std::string_view key) const {
    for (std::size_t k = 0; k < values_.size(); ++k)
        if (shape_.numbers[k].key == key) return values_[k];
    if (key.ends_with("_y")) return 1;  // in the plane
    throw Error("internal: " + shape_.id + " has no number " + std::string(key));
}

std::int64_t ShapeNumbers::whole(std::string_view key) const {
    return static_cast<std::int64_t>((*this)[key]);
}

Node ShapeSite::vector(double right, double back, double upwards) const {
    if (room.dimension == 2) return Node::array({tidy(right), tidy(upwards)});
    if (room.up == 1) return Node::array({tidy(right), tidy(upwards), tidy(back)});
    return Node::array({tidy(right), tidy(back), tidy(upwards)});
}

Node ShapeSite::at(double right, double back, double upwards) const {
    const std::size_t depth = room.up == 1 ? 2 : 1;
    return vector(low[0] + right, low[depth] + back, low[room.up] + upwards);
}

void ShapeSite::add(model::Section section, Node object) const {
    const std::string list = std::string("/") + model::name_of(section);
    if (document.find(list) == nullptr) document.set(list, Node::array());
    document.set(list + "/-", std::move(object));
}

void ShapeSite::needs_step(double seconds) const {
    if (implicit) return;
    const Scene scene = Scene::of(document, {});
    const auto least = static_cast<std::int64_t>(std::ceil(scene.step() / seconds));
    if (least > scene.substeps()) document.set("/time/substeps", Node(least));
}

std::vector<Shape> shapes(const Registry& registry, int dimension) {
    std::vector<Shape> list;
    for (const ShapeRow& row : shape_rows()) {
        if (dimension == 2 ? !row.in_plane : !row.in_space) continue;
        if (registry.find(row.shape.section, row.shape.type) == nullptr) continue;
        if (!std::ranges::all_of(row.needs, [&](const auto& need) {
                return registry.find(need.first, need.second) != nullptr;
            }))
            continue;
        list.push_back(in_dimension(row.shape, dimension));
    }
    return list;
}

Shape shape_of(const Registry& registry, int dimension, const std::string& id) {
    for (Shape& shape : shapes(registry, dimension))
        if (shape.id == id) return std::move(shape);
    throw Error("there is no shape '" + id + "' for this scene");
}

ShapeCount count_of(const Shape& shape, std::span<const double> numbers) {
    return row_of(shape.id).count(ShapeNumbers(shape, numbers), shape.dimension);
}

std::string count_text(const ShapeCount& count) {
    if (count.points < 0) return "as many as the file has";
    std::string text;
    if (count.points > 0)
        text = count.points == 1 ? "1 " + count.one : fmt::format("{} points", count.points);
    if (count.elements > 0) text += fmt::format(", {} {}", count.elements, count.what);
    return text;
}

Document with_shape(const Document& document, const fs::path& file, const Registry& registry,
                    const ShapeWish& wish, const std::string& name,
                    const std::atomic<bool>* cancelled) {
    const ShapeRow& row = row_of(wish.shape.id);
    const ShapeNumbers numbers(wish.shape, wish.numbers);
    SimulationOptions options;
    options.device = quiet_device();
    std::unique_ptr<Simulation> before;
    try {
        before = std::make_unique<Simulation>(Scene::of(document, file), registry, options);
    } catch (const Error&) {
        before = nullptr;  // a scene that cannot be built yet; the shape may be what it lacks
    }
    const Room room = room_of(document, before.get());
    Place size = row.size(numbers);
    if (room.dimension == 2) size[1] = 0;
    // In the scene's axes.
    Place extent = size;
    if (room.up == 1) std::swap(extent[1], extent[2]);
    const Place low = place_for(room, extent, wish.look_at, row.above, row.aside);
    const std::string in_scene =
        wish.shape.needs_file() ? name_in_scene(wish.file, file) : std::string();
    std::optional<Error> first;
    for (Start& start : starts(document, file, row.steps)) {
        if (cancelled != nullptr && *cancelled) throw Error("nothing is added any more");
        ShapeSite site{start.document, numbers,        name,     room,     low,
                       size,           start.implicit, in_scene, wish.file};
        site.free_name = [&](const std::string& wanted) {
            return unused_name(site.document, wanted == name ? wanted + "_2" : wanted);
        };
        try {
            row.make(site);
            const Simulation simulation(Scene::of(site.document, file), registry, options);
            return std::move(start.document);
        } catch (const Error& error) {
            if (!first) first = error;
        }
    }
    const std::string what = wish.shape.label + " cannot be added to this scene";
    if (!first) throw Error(what);
    throw Error(what + ": " + first->happened()).remedy(first->what_to_do());
}

}  // namespace hindcast::session
