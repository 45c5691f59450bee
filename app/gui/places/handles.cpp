#include "app/gui/places/handles.hpp"

#include <fmt/format.h>

#include <cmath>

#include "app/gui/draw/widgets.hpp"

namespace hindcast::gui {

namespace {

using document::Document;
using document::Node;
using render::Vec3;

// A vector of the scene; none if the node is anything else.
std::optional<Vec3> vector_of(const Node* node, int dimension) {
    if (node == nullptr || !node->is_array() || node->size() != static_cast<std::size_t>(dimension))
        return std::nullopt;
    Vec3 result{};
    for (std::size_t k = 0; k < node->size(); ++k) {
        const std::optional<double> number = plain_number(node->item(k));
        if (!number) return std::nullopt;
        result[k] = *number;
    }
    return result;
}

// The same where one number stands for all axes, as in grids and boxes.
std::optional<Vec3> per_axis(const Node* node, int dimension) {
    const std::optional<double> all = node != nullptr ? plain_number(*node) : std::nullopt;
    if (!all) return vector_of(node, dimension);
    return Vec3{*all, *all, dimension == 3 ? *all : 0};
}

// Rounded to a billionth: what a drag gives has no more meaning than that.
Node node_of(const Vec3& v, int dimension) {
    Node node = Node::array();
    for (std::size_t k = 0; k < static_cast<std::size_t>(dimension); ++k) {
        const double rounded = std::round(v[k] * 1e9) / 1e9;
        node.push_back(Node(rounded == 0 ? 0.0 : rounded));
    }
    return node;
}

class Finder {
public:
    Finder(const Document& scene, int dimension) : scene_(scene), dimension_(dimension) {}

    // A field of places. `element` chooses one of a list; -1: all of them.
    void add_field(const std::string& pointer, const std::string& key, std::int64_t element) {
        const Node* value = scene_.find(pointer);
        if (value == nullptr) return;
        Handle handle;
        handle.key = key;
        handle.pointer = pointer;
        if (const auto place = vector_of(value, dimension_)) {
            handle.center = *place;
            found.push_back(handle);
        } else if (value->is_array() && value->size() > 0) {
            add_list(*value, handle, element);
        } else if (value->is_object() && value->find("grid") != nullptr) {
            const Node* grid = value->find("grid");
            const char* name = grid->find("center") != nullptr ? "center" : "origin";
            handle.kind = Handle::Kind::origin;
            handle.pointer = pointer + "/grid/" + name;
            const Node* written = grid->find(name);
            const auto origin = written == nullptr ? Vec3{} : per_axis(written, dimension_);
            if (!origin) return refuse(key, *value);
            handle.center = *origin;
            found.push_back(handle);
        } else if (value->is_object() && value->find("box") != nullptr) {
            add_box(*value, handle);
        } else {
            refuse(key, *value);
        }
    }

    // A solid that starts at rest is where its mesh is.
    void add_mesh(const std::string& pointer) {
        const Node* mesh = scene_.find(pointer);
        if (mesh == nullptr || !mesh->is_object()) return;
        Handle handle;
        handle.key = "mesh";
        handle.pointer = pointer;
        if (mesh->find("box") != nullptr) {
            add_box(*mesh, handle);
        } else if (const Node* const grid = mesh->find("grid"); grid != nullptr) {
            const auto origin = vector_of(grid->find("origin"), dimension_);
            if (!origin) return;
            handle.kind = Handle::Kind::origin;
            handle.pointer = pointer + "/grid/origin";
            handle.center = *origin;
            found.push_back(handle);
        } else if (const Node* points = mesh->find("points"); points != nullptr) {
            handle.pointer = pointer + "/points";
            if (points->is_array() && points->size() > 0)
                add_list(*points, handle, -1);
            else
                refuse("mesh", *points);
        }
    }

    std::vector<Handle> found;
    std::string problem;  // of the last place that is not written in numbers

private:
    void refuse(const std::string& key, const Node& value) {
        problem = fmt::format("its {} are written as {}, not in numbers that can be moved: {}",
                              key == "mesh" ? "points" : key, form_of(value),
                              key == "mesh" ? "move them in the scene file"
                                            : "choose \"Write as numbers\" in the menu of its " +
                                                  key + " in the inspector (right click)");
    }

    void add_list(const Node& list, Handle handle, std::int64_t element) {
        if (element >= 0 && element < static_cast<std::int64_t>(list.size())) {
            handle.pointer += fmt::format("/{}", element);
            const auto one = vector_of(scene_.find(handle.pointer), dimension_);
            if (!one) return refuse(handle.key, list);
            handle.center = *one;
            found.push_back(handle);
            return;
        }
        handle.kind = Handle::Kind::places;
        handle.turns = list.size() > 1;
        for (std::size_t k = 0; k < list.size(); ++k) {
            const auto one = vector_of(&list.item(k), dimension_);
            if (!one) return refuse(handle.key, list);
            for (std::size_t c = 0; c < 3; ++c)
                handle.center[c] += (*one)[c] / static_cast<double>(list.size());
        }
        found.push_back(handle);
    }

    // The value or mesh {"box": {"min", "max", ...}}; taken hold of in its middle.
    void add_box(const Node& value, Handle handle) {
        const Node* box = value.find("box");
        const auto low = per_axis(box->find("min"), dimension_),
                   high = per_axis(box->find("max"), dimension_);
        if (!low || !high) return refuse(handle.key, value);
        handle.kind = Handle::Kind::box;
        handle.pointer += "/box";
        for (std::size_t c = 0; c < 3; ++c) handle.center[c] = ((*low)[c] + (*high)[c]) / 2;
        found.push_back(handle);
    }

    static std::string form_of(const Node& value) {
        if (value.is_object() && value.find("formula") != nullptr) return "a formula";
        if (value.is_object() && value.find("file") != nullptr) return "a file";
        if (value.is_object() && value.find("random") != nullptr) return "random numbers";
        return document::describe(value);
    }

    const Document& scene_;
    int dimension_;
};

// A body that is moved as a whole takes the box along in which its points are fixed.
void take_along(std::vector<Handle>& handles, const Node& body, const std::string& object) {
    const Node* const fixed = body.find("fixed");
    if (fixed == nullptr || !fixed->is_object() || fixed->find("box") == nullptr) return;
    // The points of a body are those of its mesh if it has one, else its positions.
    const std::string key = body.find("mesh") != nullptr ? "mesh" : "positions";
    for (Handle& handle : handles) {
        if (handle.key != key || handle.kind == Handle::Kind::place) continue;
        handle.along = object + "/fixed/box";
        handle.turns = false;
    }
}

std::string why_not_turned(const Handle& handle) {
    if (handle.turns) return "";
    if (!handle.along.empty())
        return "a part of it is fixed by a box, which lies along the axes: it can be moved";
    switch (handle.kind) {
        case Handle::Kind::origin:
            return "its " + handle.key + " are a grid, which lies along the axes: it can be moved";
        case Handle::Kind::box:
            return "its " + handle.key + " is a box, which lies along the axes: it can be moved";
        default: return "one place alone has no direction: it can be moved";
    }
}

}  // namespace

Matrix translation(const Vec3& by) {
    return {1,
            0,
            0,
            0,
            0,
            1,
            0,
            0,
            0,
            0,
            1,
            0,
            static_cast<float>(by[0]),
            static_cast<float>(by[1]),
            static_cast<float>(by[2]),
            1};
}

Vec3 rotate(const Matrix& m, const Vec3& d) {
    Vec3 result{};
    for (std::size_t row = 0; row < 3; ++row)
        for (std::size_t column = 0; column < 3; ++column)
            result[row] += static_cast<double>(m[column * 4 + row]) * d[column];
    return result;
}

Vec3 transform(const Matrix& m, const Vec3& place) {
    Vec3 result = rotate(m, place);
    for (std::size_t row = 0; row < 3; ++row) result[row] += static_cast<double>(m[12 + row]);
    return result;
}

Handles handles_of(const Document& scene, const Registry& registry, const std::string& object,
                   const render::Element& part, int dimension) {
    Finder finder(scene, dimension);
    const Node* node = scene.find(object);
    if (node == nullptr || !node->is_object()) return {};
    const Node* type = node->find("type");
    if (type == nullptr || !type->is_string()) return {};
    for (const model::Section section : model::all_sections) {
        if (!object.starts_with(std::string("/") + model::name_of(section) + "/")) continue;
        const model::ModuleType* module = registry.find(section, type->string());
        if (module == nullptr) return {};
        if (const auto normal = vector_of(node->find("normal"), dimension)) {
            Handle handle{Handle::Kind::plane, object, "plane", {}, true};
            const Node* offset_node = node->find("offset");
            const double offset =
                offset_node != nullptr ? plain_number(*offset_node).value_or(0) : 0;
            double length2 = 0;
            for (const double c : *normal) length2 += c * c;
            if (length2 > 0)
                for (std::size_t c = 0; c < 3; ++c)
                    handle.center[c] = (*normal)[c] * offset / length2;
            finder.found.push_back(handle);
        }
        // Bodies have points, all else has places that are drawn as markers.
        const render::ElementKind kind = section == model::Section::bodies
                                             ? render::ElementKind::point
                                             : render::ElementKind::marker;
        const std::int64_t element = part.kind == kind ? part.number : -1;
        for (const model::Field& field : module->fields)
            if (field.unit_text == "m" &&
                (field.kind == model::FieldKind::vector || field.kind == model::FieldKind::vectors))
                finder.add_field(object + "/" + field.key, field.key, element);
        if (section == model::Section::bodies && node->find("positions") == nullptr)
            finder.add_mesh(object + "/mesh");
        if (section == model::Section::bodies) take_along(finder.found, *node, object);
        if (!finder.found.empty()) {
            const std::string problem = why_not_turned(finder.found.front());
            return {std::move(finder.found), "", problem};
        }
        if (finder.problem.empty()) finder.problem = "it has no place of its own in the scene file";
        return {{}, finder.problem, finder.problem};
    }
    return {};
}

std::vector<Change> moved(const Document& scene, const Handle& handle, const Matrix& by,
                          int dimension) {
    std::vector<Change> changes;
    const auto move_box = [&](const std::string& box) {
        for (const char* corner : {"/min", "/max"})
            if (const auto place = per_axis(scene.find(box + corner), dimension))
                changes.push_back({box + corner, node_of(transform(by, *place), dimension)});
    };
    if (!handle.along.empty()) move_box(handle.along);
    const Node* value = scene.find(handle.pointer);
    switch (handle.kind) {
        case Handle::Kind::place:
        case Handle::Kind::origin:
            changes.push_back({handle.pointer, node_of(transform(by, handle.center), dimension)});
            break;
        case Handle::Kind::box: move_box(handle.pointer); break;
        case Handle::Kind::places: {
            if (value == nullptr) break;
            Node list = Node::array();
            for (std::size_t k = 0; k < value->size(); ++k)
                list.push_back(
                    node_of(transform(by, vector_of(&value->item(k), dimension).value_or(Vec3{})),
                            dimension));
            changes.push_back({handle.pointer, std::move(list)});
            break;
        }
        case Handle::Kind::plane: {
            const Vec3 normal =
                vector_of(scene.find(handle.pointer + "/normal"), dimension).value_or(Vec3{});
            const Vec3 turned = rotate(by, normal), place = transform(by, handle.center);
            double offset = 0;
            for (std::size_t c = 0; c < 3; ++c) offset += turned[c] * place[c];
            if (turned != normal)
                changes.push_back({handle.pointer + "/normal", node_of(turned, dimension)});
            changes.push_back({handle.pointer + "/offset", Node(std::round(offset * 1e9) / 1e9)});
            break;
        }
    }
    return changes;
}

}  // namespace hindcast::gui
