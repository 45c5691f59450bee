// Geometry: the drawings of a model as points and cells for mesh files: points, segments, surfaces,
// fields on grids; without obstacles, frames and targets.
//
// The points are the model's, all of them, then the nodes of the fields. Attributes go by the
// number of the point.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/model/model.hpp"

namespace hindcast::exporting {

// The cells that one object of the scene draws, all of one kind.
struct Part {
    std::string owner;
    int corners = 1;                       // per cell: 1 a point, 2 a segment, 3 a triangle
    std::vector<std::int64_t> cells;       // numbers of points, `corners` each
    std::vector<std::int64_t> element_of;  // of each cell: the owner's element

    std::int64_t count() const { return static_cast<std::int64_t>(cells.size()) / corners; }
};

// A state array, and what its elements are of.
struct Attribute {
    enum class Of { points, cells, nothing };

    std::string name;
    Array array;
    Of of = Of::nothing;
    std::int64_t first = 0;  // point that element 0 is of
    std::size_t part = 0;    // whose cells, by their elements
};

class Geometry {
public:
    // Throws Error if a state array cannot be written.
    explicit Geometry(const model::Model& model);

    const std::vector<Part>& parts() const { return parts_; }
    const std::vector<Attribute>& attributes() const { return attributes_; }
    std::int64_t point_count() const {
        return points_ + static_cast<std::int64_t>(nodes_.size()) / 3;
    }
    std::int64_t cell_count() const;
    bool is_single() const { return single_; }  // the run's precision
    // x, y, z of every point as they stand, in meters; in the plane z = 0.
    std::vector<double> places() const;

private:
    void add(const std::string& owner, const model::DrawnPoints& shape);
    void add(const std::string& owner, const model::DrawnSegments& shape);
    void add(const std::string& owner, const model::DrawnSurface& shape);
    void add(const std::string& owner, const model::DrawnField& shape);
    template <class Shape>
    void add(const std::string&, const Shape&) {}  // no cells
    void add_attribute(const std::string& name, const Array& array);

    struct Field {
        std::string owner;
        Array values;
        std::int64_t first = 0;  // its first node among the points
    };

    const model::Model& model_;
    std::int64_t points_ = 0;  // the model's
    bool single_ = false;
    std::vector<double> nodes_;  // x, y, z of every node of a field
    std::vector<Part> parts_;
    std::vector<Field> fields_;
    std::vector<Attribute> attributes_;
};

}  // namespace hindcast::exporting
