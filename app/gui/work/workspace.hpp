// The owner of the window's topics (topics.hpp). There is one per window. It is used only by the
// window's thread and never waits for the simulation.
#pragma once

#include <filesystem>
#include <vector>

#include "app/gui/work/edits/adding.hpp"
#include "app/gui/work/edits/pulls.hpp"
#include "app/gui/work/edits/reports.hpp"
#include "app/gui/work/files/ending.hpp"
#include "app/gui/work/files/opened_results.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/files/saving.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/measured.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/scene_text.hpp"
#include "app/gui/work/state/settings.hpp"
#include "app/gui/work/topics.hpp"
#include "app/gui/work/values/found_values.hpp"
#include "app/gui/work/values/handover.hpp"
#include "app/gui/work/values/kept_values.hpp"
#include "app/gui/work/view/camera_track.hpp"
#include "app/gui/work/view/looks.hpp"

namespace hindcast::gui {

class Workspace {
public:
    Workspace(const Registry& registry, SessionLink link, const std::filesystem::path& state_folder,
              std::vector<std::filesystem::path> galleries);
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    Topics& topics() { return topics_; }
    // Takes the newest snapshot and reacts to it. Call it once for each frame, and a few times a
    // second while none is drawn.
    void update();

private:
    void finish_opening();

    Messages messages_;
    Requests requests_;
    Measured measured_;
    Running running_;
    EditedScene scene_;
    KeptSettings settings_;
    SceneText text_;
    Chosen chosen_;
    Looks looks_;
    CameraTrack camera_;
    Adding adding_;
    Pulls pulls_;
    Reports reports_;
    Handover handover_;
    FoundValues values_;
    KeptValues checkpoints_;
    Saving saving_;
    Opening opening_;
    OpenedResults results_;
    Ending ending_;
    Topics topics_;
};

}  // namespace hindcast::gui
