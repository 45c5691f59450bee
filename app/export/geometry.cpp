#include "app/export/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <variant>

#include "engine/base/error.hpp"

namespace hindcast::exporting {

namespace {

// "cage.strain" and "cage: strain" are of "cage", "cage2.strain" is not.
bool is_of(const std::string& array, const std::string& owner) {
    return array.size() > owner.size() && array.starts_with(owner) &&
           std::isalnum(static_cast<unsigned char>(array[owner.size()])) == 0 &&
           array[owner.size()] != '_';
}

}  // namespace

Geometry::Geometry(const model::Model& model)
    : model_(model), points_(model.point_count()), single_(model.real() == ir::Type::f32) {
    for (const model::Drawing& drawing : model.drawings())
        std::visit([&](const auto& shape) { add(drawing.owner, shape); }, drawing.shape);
    for (const auto& [name, published] : model.arrays())
        if (published.state && name != "position") add_attribute(name, published.array);
}

std::int64_t Geometry::cell_count() const {
    std::int64_t count = 0;
    for (const Part& part : parts_) count += part.count();
    return count;
}

std::vector<double> Geometry::places() const {
    std::vector<double> places(static_cast<std::size_t>(3 * points_), 0.0);
    if (points_ > 0) {
        const std::vector<double> position = model_.array("position").to_doubles();
        const auto d = static_cast<std::size_t>(model_.dimension());
        for (std::size_t k = 0; k < position.size(); ++k) places[k / d * 3 + k % d] = position[k];
    }
    places.insert(places.end(), nodes_.begin(), nodes_.end());
    return places;
}

void Geometry::add(const std::string& owner, const model::DrawnPoints& shape) {
    Part part{owner, 1, {}, {}};
    for (std::int64_t k = 0; k < shape.count; ++k) {
        part.cells.push_back(shape.first + k);
        part.element_of.push_back(k);
    }
    parts_.push_back(std::move(part));
}

void Geometry::add(const std::string& owner, const model::DrawnSegments& shape) {
    Part part{owner, 2, {shape.ends.begin(), shape.ends.end()}, {}};
    for (std::int64_t k = 0; k < part.count(); ++k) part.element_of.push_back(k);
    parts_.push_back(std::move(part));
}

void Geometry::add(const std::string& owner, const model::DrawnSurface& shape) {
    Part part{owner,
              3,
              {shape.corners.begin(), shape.corners.end()},
              {shape.element_of.begin(), shape.element_of.end()}};
    if (part.element_of.empty())
        for (std::int64_t k = 0; k < part.count(); ++k) part.element_of.push_back(k);
    parts_.push_back(std::move(part));
}

void Geometry::add(const std::string& owner, const model::DrawnField& shape) {
    Part part{owner, 3, {}, {}};
    const std::int64_t first = point_count();
    for (std::int64_t i = 0; i < shape.rows; ++i)
        for (std::int64_t j = 0; j < shape.columns; ++j) {
            nodes_.insert(nodes_.end(), {static_cast<double>(i) * shape.spacing,
                                         static_cast<double>(j) * shape.spacing, 0.0});
            if (i + 1 == shape.rows || j + 1 == shape.columns) continue;
            const std::int64_t a = first + i * shape.columns + j, b = a + shape.columns;
            part.cells.insert(part.cells.end(), {a, b, b + 1, a, b + 1, a + 1});
            const std::int64_t square = i * (shape.columns - 1) + j;
            part.element_of.insert(part.element_of.end(), {square, square});
        }
    parts_.push_back(std::move(part));
    fields_.push_back({owner, shape.values, first});
}

void Geometry::add_attribute(const std::string& name, const Array& array) {
    if (ir::size_of(array.type()) == 8 && array.type() != ir::Type::f64)
        throw Error(fmt::format("the state array {} has integers of 64 bits, which mesh files of "
                                "real numbers cannot hold",
                                name))
            .remedy("run without --export; states/ has the array");
    Attribute attribute{name, array};
    const std::int64_t elements = array.elements();
    for (const Field& field : fields_) {
        // A field's other time levels are of the same nodes.
        if (!array.same_memory(field.values) &&
            !(elements == field.values.elements() && is_of(name, field.owner)))
            continue;
        attribute.of = Attribute::Of::points;
        attribute.first = field.first;
    }
    for (std::size_t p = 0; p < parts_.size() && attribute.of == Attribute::Of::nothing; ++p) {
        const Part& part = parts_[p];
        if (part.cells.empty() || !is_of(name, part.owner)) continue;
        const std::int64_t last = *std::ranges::max_element(part.element_of);
        if (part.corners != 2 && elements == points_) continue;
        // The surface of a body of tetrahedra shows some elements only.
        if (part.corners == 3 ? elements <= last : elements != last + 1) continue;
        attribute.of = Attribute::Of::cells;
        attribute.part = p;
    }
    if (attribute.of == Attribute::Of::nothing && points_ > 0 && elements == points_)
        attribute.of = Attribute::Of::points;
    attributes_.push_back(std::move(attribute));
}

}  // namespace hindcast::exporting
