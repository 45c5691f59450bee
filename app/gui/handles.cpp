#include "app/gui/handles.hpp"

#include <fmt/format.h>

#include <cmath>

#include "app/gui/widgets.hpp"

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

// Rounded to a billionth: what a drag gives has no more meaning than that.
Node node_of(const Vec3& v, int dimension) {
    Node node = Node::array();
    for (std::size_t k = 0; k < static_cast<std::size_t>(dimension); ++k) {
        const double rounded = std::round(v[k] * 1e9) / 1e9;
        node.push_back(Node(rounded == 0 ? 0.0 : rounded));
    }
    return node;
}

void add_field(std::vector<Handle>& handles, const Document& scene, const std::string& pointer,
               const std::string& key, std::int64_t element, int dimension) {
    const Node* value = scene.find(pointer);
    if (value == nullptr) return;
    Handle handle;
    handle.key = key;
    handle.pointer = pointer;
    if (const auto place = vector_of(value, dimension)) {
        handle.centre = *place;
        handles.push_back(handle);
    } else if (value->is_array() && value->size() > 0) {
        if (element >= 0 && element < static_cast<std::int64_t>(value->size())) {
            handle.pointer = fmt::format("{}/{}", pointer, element);
            if (const auto one = vector_of(scene.find(handle.pointer), dimension)) {
                handle.centre = *one;
                handles.push_back(handle);
            }
            return;
        }
        handle.kind = Handle::Kind::places;
        handle.turns = value->size() > 1;
        for (std::size_t k = 0; k < value->size(); ++k) {
            const auto one = vector_of(&value->item(k), dimension);
            if (!one) return;
            for (std::size_t c = 0; c < 3; ++c)
                handle.centre[c] += (*one)[c] / static_cast<double>(value->size());
        }
        handles.push_back(handle);
    } else if (value->is_object()) {
        handle.kind = Handle::Kind::origin;
        const Node* grid = value->find("grid");
        const Node* box = value->find("box");
        if (grid != nullptr) {
            const char* name = grid->find("center") != nullptr ? "center" : "origin";
            handle.centre = vector_of(grid->find(name), dimension).value_or(Vec3{});
            handle.pointer = pointer + "/grid/" + name;
        } else if (box != nullptr) {
            handle.centre = vector_of(box->find("min"), dimension).value_or(Vec3{});
            handle.pointer = pointer + "/box";
        } else {
            return;
        }
        handles.push_back(handle);
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

std::vector<Handle> handles_of(const Document& scene, const Registry& registry,
                               const std::string& object, std::int64_t element, int dimension) {
    std::vector<Handle> handles;
    const Node* node = scene.find(object);
    if (node == nullptr || !node->is_object()) return handles;
    const Node* type = node->find("type");
    if (type == nullptr || !type->is_string()) return handles;
    for (const model::Section section : model::all_sections) {
        if (!object.starts_with(std::string("/") + model::name_of(section) + "/")) continue;
        const model::ModuleType* module = registry.find(section, type->string());
        if (module == nullptr) return handles;
        const auto normal = vector_of(node->find("normal"), dimension);
        const Node* offset_node = node->find("offset");
        if (normal) {
            Handle handle{Handle::Kind::plane, object, "plane", {}, true};
            const double offset =
                offset_node != nullptr ? plain_number(*offset_node).value_or(0) : 0;
            double length2 = 0;
            for (const double c : *normal) length2 += c * c;
            if (length2 > 0)
                for (std::size_t c = 0; c < 3; ++c)
                    handle.centre[c] = (*normal)[c] * offset / length2;
            handles.push_back(handle);
        }
        for (const model::Field& field : module->fields)
            if (field.unit_text == "m" &&
                (field.kind == model::FieldKind::vector || field.kind == model::FieldKind::vectors))
                add_field(
                    handles, scene, object + "/" + field.key, field.key,
                    section == model::Section::bodies || field.key == "targets" ? element : -1,
                    dimension);
    }
    return handles;
}

std::vector<Change> moved(const Document& scene, const Handle& handle, const Matrix& by,
                          int dimension) {
    std::vector<Change> changes;
    const Node* value = scene.find(handle.pointer);
    switch (handle.kind) {
        case Handle::Kind::place:
            changes.push_back({handle.pointer, node_of(transform(by, handle.centre), dimension)});
            break;
        case Handle::Kind::origin:
            if (handle.pointer.ends_with("/box")) {
                for (const char* corner : {"min", "max"})
                    if (const auto place =
                            vector_of(scene.find(handle.pointer + "/" + corner), dimension))
                        changes.push_back({handle.pointer + "/" + corner,
                                           node_of(transform(by, *place), dimension)});
            } else {
                changes.push_back(
                    {handle.pointer, node_of(transform(by, handle.centre), dimension)});
            }
            break;
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
            const Vec3 turned = rotate(by, normal), place = transform(by, handle.centre);
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
