// BodySource: the mesh and the pose of a rigid body (model::DrawnBody).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/exchange/stage.hpp"
#include "engine/model/measured_motion.hpp"
#include "engine/model/model.hpp"

namespace hindcast::session {

// Under which the model publishes the array; "" if it does not.
std::string published_name(const Array& array, const model::Model& model);

class BodySource {
public:
    // Throws Error if its arrays are not the model's.
    BodySource(const model::DrawnBody& body, const model::Model& model);
    // The same body where it was measured; not drawn at times that are not measured.
    BodySource(const BodySource& body, const model::MeasuredMotion& motion);

    bool moves() const { return row_ >= 0; }
    const std::string& name() const { return name_; }  // within its robot; "": it has none

    // The arrays that the pose is read from; empty: none.
    const std::vector<std::string>& arrays() const { return arrays_; }
    // Frame::numbers: place, rotation by rows. `array` gives one of those by its name, or nullptr: then
    // the body is not drawn.
    std::vector<double> pose(const std::function<const Array*(const std::string&)>& array) const;
    std::shared_ptr<const render::Mesh> mesh() const { return mesh_; }

private:
    std::string name_;
    std::vector<std::string> arrays_;
    std::int64_t row_;
    std::shared_ptr<const render::Mesh> mesh_;
};

}  // namespace hindcast::session
