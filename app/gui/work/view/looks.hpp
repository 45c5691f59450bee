// Looks of the scene: camera and picture, colors, arrows, distances, the mouse's tool.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "app/render/renderer.hpp"
#include "app/session/view/color_look.hpp"
#include "app/session/view/view_look.hpp"

namespace hindcast::gui {

class EditedScene;
class Messages;
class Running;
struct Settings;

// Box and lasso choose parts: points or elements. Measure: clicks are the ends of distances.
enum class Tool { look, move, rotate, box, lasso, measure };
constexpr bool has_gizmo(Tool tool) { return tool == Tool::move || tool == Tool::rotate; }

class Looks {
public:
    Looks(Running& running, EditedScene& scene, Messages& messages);

    render::View view;
    session::ColorLook colors;  // sets the view's map, range and scale of colors
    std::string arrows;
    std::vector<session::Distance> distances;  // shown in the picture
    std::string distance_problem;              // why some of them are not shown; or empty
    bool camera_is_set = false;
    bool show_labels = false;   // names of the objects
    bool show_measured = true;  // ghosts where measured data say that robots were
    bool show_time = false;     // a time stamp
    Tool tool = Tool::look;
    // Why the tool cannot change the selected object; empty if it can.
    std::string tool_problem;
    bool fit_arrows = true;        // their scale is automatic until the user chooses one
    std::set<std::string> hidden;  // names of hidden objects of this scene

    // Takes colors and trails from the snapshot; call it once a frame.
    void update();
    // Begins with the looks of the scene that has been opened. Only settings stay as they were.
    void begin(const Settings& settings);

    // True for a scene that is shown as a plane, only from above.
    bool is_flat() const;
    void reset_camera(double aspect);
    void send_frame_contents();  // after a change of colors, arrows or trails
    // Keeps the way in which the range is found, but for a range set by hand: that was of another
    // field.
    void color_by(const std::string& field);
    // Writes the colors into the scene's view, where the next start and `render` find them.
    void keep_colors();
    // Does the same with arrows, slice, tubes and distances.
    void keep_view();

private:
    Running& running_;
    EditedScene& scene_;
    Messages& messages_;
    std::shared_ptr<const std::vector<std::vector<render::Vec3>>> trails_;  // kept for `view`
};

}  // namespace hindcast::gui
