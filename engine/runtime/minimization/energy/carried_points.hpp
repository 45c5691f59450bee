// CarriedPoints: a carrier at work in a potential: its points' positions from its coordinates, and
// the force on its coordinates from that on its points. All in f64 and on the host.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/runtime/device/device.hpp"
#include "engine/runtime/minimization/energy/carrier.hpp"
#include "engine/runtime/minimization/energy/launch_directions.hpp"

namespace hindcast {

class CarriedPoints {
public:
    // `x` and `g`: positions of all points, and the gradient of the energies by them. `first`: the
    // number of its first coordinate among the unknowns. The carrier's arrays are in f64. Throws
    // Error for a point or body that is not there.
    CarriedPoints(const std::shared_ptr<Device>& device, const Carrier& carrier, const Array& x,
                  const Array& g, int first);

    const std::string& name() const { return name_; }
    int first() const { return first_; }
    int size() const { return static_cast<int>(y_.elements()); }
    std::span<const std::int64_t> points() const { return points_; }
    const Array& coordinates() const { return y_; }
    const Array& force() const { return force_; }  // the gradient by the coordinates

    // Forward and in tangents: positions of the points. In adjoints: gradients of the positions go
    // to the coordinates and to what the frames depend on.
    void place(Direction direction);
    // Forward and in tangents: force(), from the gradient by the points and the carrier's energy. In
    // adjoints: gradients of force() go the way back.
    void collect(Direction direction);
    double value();  // of the carrier's energy

    // The derivative of the points' positions and that of force() by the coordinates, the latter at
    // a constant gradient by the points; after collect().
    void linearize();
    // The part of the k-th point: 3 x size(), column by column.
    const double* jacobian(std::size_t k) const {
        return jacobians_.data() + k * static_cast<std::size_t>(3 * size());
    }
    // size() x size(), symmetric.
    std::span<const double> curvature() const { return curvature_; }

    // Restricts derivatives to arrays that vary.
    void differentiate_only(const std::function<bool(const Array&)>& varies);

private:
    // Points that are placed by one launch. `turned`: by the coordinates alone, into an array of its
    // own, for linearize().
    struct Group {
        std::size_t count;
        LaunchDirections place, gather, turned_place;
        Array turned_x;
    };
    void add(const std::shared_ptr<Device>& device, const std::vector<std::int64_t>& points,
             const std::vector<std::int64_t>& bodies, const Array& places, const Array& x,
             const Array& g);

    std::string name_;
    int first_;
    std::vector<std::int64_t> points_;
    Array y_, force_, frame_, frame_force_, value_at_;
    LaunchDirections frames_, frame_forces_, gradient_, value_;
    std::vector<Group> groups_;
    Array turned_y_, turned_frame_, turned_force_;
    LaunchDirections turned_frames_, turned_forces_, turned_gradient_;
    std::vector<double> jacobians_, curvature_;
};

}  // namespace hindcast
