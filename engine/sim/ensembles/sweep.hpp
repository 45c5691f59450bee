// Sweep: a scene at every point of a grid over some of its numbers.
//
// An axis is a path and the values it takes; the grid is their product, the last axis running
// fastest. The numbers of an axis must be differentiable, as those of a parameter must; they change
// as an optimization would change them, after the scene was built. A path that means several
// numbers (one per element) gives all of them the value. Numbers that the scene does not name as
// parameters are added to its parameters, so that their derivatives come out too; the norm of the
// gradient is that of the scene's own.
#pragma once

#include <string>
#include <vector>

#include "engine/sim/simulation.hpp"

namespace hindcast {

struct SweepAxis {
    std::string path;
    std::vector<double> values;

    // "cage.stiffness=50,100,200" or, evenly spaced with both ends, "cage.stiffness=50:200:4".
    // Throws Error.
    static SweepAxis parse(const std::string& text);
};

class Sweep {
public:
    static constexpr std::size_t most_points = 10'000'000;

    // Throws Error for a path that is not a number of the scene, is swept twice, or takes a value
    // that is not allowed there, and for a grid of more points.
    Sweep(Scene scene, const Registry& registry, const SimulationOptions& options,
          std::vector<SweepAxis> axes);

    Simulation& simulation() { return *simulation_; }
    const std::vector<SweepAxis>& axes() const { return axes_; }
    std::size_t size() const { return size_; }
    // The scene's own parameters.
    std::size_t own_parameters() const { return own_; }

    std::vector<double> coordinates(std::size_t point) const;  // one per axis
    std::vector<double> parameters(std::size_t point) const;   // of the simulation
    // The derivative of the loss along an axis, and the norm over the scene's own parameters, of a
    // gradient of the simulation.
    double slope(std::size_t axis, const std::vector<double>& gradient) const;
    double gradient_norm(const std::vector<double>& gradient) const;

private:
    std::vector<std::size_t> entries_of(const std::string& path) const;

    std::vector<SweepAxis> axes_;
    std::unique_ptr<Simulation> simulation_;
    std::vector<std::vector<std::size_t>> entries_;  // per axis: of the parameter vector
    std::vector<double> start_;
    std::size_t size_ = 1, own_ = 0;
};

}  // namespace hindcast
