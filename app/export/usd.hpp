// The motion of a scene as one file NAME.usda for Blender, Houdini, Omniverse and others: what the
// window shows of it, without ghosts and arrows.
//
//   points        Points, with velocities (m/s)
//   springs       BasisCurves, one line each
//   surfaces      Mesh, with velocities
//   rigid bodies  Mesh in their own axes, and a transform for each frame
//   obstacles     likewise; balls as Sphere; planes as large rectangles
//   fields        Mesh of the nodes, with the values as a primvar
//   frames, targets  curves and points with the purpose "guide"
//
// Meters; frame k of the file is the k-th exported one; `up` is the scene's, y in the plane.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/export/usd_file.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {
struct SceneInfo;
}
namespace hindcast::render {
struct Mesh;
}

namespace hindcast::exporting {

class UsdScene {
public:
    // Frames wait in an unnamed file in that folder. `seconds`: between two frames. The simulation
    // must outlive this. Throws Error if nothing is drawn.
    UsdScene(const std::filesystem::path& folder, Simulation& simulation, double seconds);
    ~UsdScene();

    // All as it stands, at that time (s).
    void add(double time);
    // Throws Error if it cannot be written.
    void write(const std::filesystem::path& file) const;

private:
    struct Thing;  // the objects of one drawable
    // Frame::numbers of each drawable.
    using Poses = std::vector<std::vector<double>>;
    // `rest`: its numbers at the start; `changes`: they are others at the end. `shape`: of a solid.
    std::unique_ptr<Thing> thing_of(std::size_t drawable, const std::vector<double>& rest,
                                    bool changes, const render::Mesh* shape);

    Simulation& simulation_;
    std::shared_ptr<const session::SceneInfo> info_;
    double seconds_;
    double last_ = 0;  // frame
    // Values of the scene's quantities, which stay as they are.
    std::shared_ptr<const std::vector<std::shared_ptr<const std::vector<double>>>> base_;
    UsdFile file_;
    std::vector<std::unique_ptr<Thing>> things_;
};

}  // namespace hindcast::exporting
