// Pulls with the mouse on points of the scene, and the forces that they leave in it.
#pragma once

#include <cstdint>
#include <vector>

#include "app/exchange/vec3.hpp"

namespace hindcast::gui {

class EditedScene;
class Messages;
class Running;

class Pulls {
public:
    Pulls(Running& running, EditedScene& scene, Messages& messages);

    // Starts a pull on that one of these points of the scene that is nearest to the place (m). On
    // release its force is written into the scene, unless it is discarded. Returns its number.
    std::uint64_t grab(std::vector<std::int64_t> points, const render::Vec3& place);
    void update();  // writes the force of a pull that was released; call it once a frame

private:
    Running& running_;
    EditedScene& scene_;
    Messages& messages_;
    std::uint64_t number_ = 0;   // of the last pull
    std::uint64_t written_ = 0;  // number of the last pull whose force is in the scene
};

}  // namespace hindcast::gui
