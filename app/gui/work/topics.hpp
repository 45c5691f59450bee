// The topics of the window's work: the edited scene, the session, messages and so on. Code that needs
// one includes its header, and nothing of the others.
//
//     work.scene.set("/forces/0/stiffness", document::Node(90.0), "Stiffness");
//     work.messages.tell("Stiffer");
//
// The topics belong to the Workspace. They are used only by the window's thread.
#pragma once

namespace hindcast::gui {

class Adding;
class CameraTrack;
struct Chosen;
class EditedScene;
class Ending;
class FoundValues;
class Handover;
class KeptSettings;
class KeptValues;
class Looks;
struct Measured;
class Messages;
class OpenedResults;
class Opening;
class Pulls;
class Reports;
struct Requests;
class Running;
class Saving;
struct SceneText;

struct Topics {
    // work/state/
    Messages& messages;
    Requests& requests;
    Measured& measured;
    KeptSettings& settings;
    Running& running;
    EditedScene& scene;
    SceneText& text;
    Chosen& chosen;
    // work/view/
    Looks& looks;
    CameraTrack& camera;
    // work/edits/
    Adding& adding;
    Pulls& pulls;
    Reports& reports;
    // work/values/
    Handover& handover;
    FoundValues& values;
    KeptValues& checkpoints;
    // work/files/
    Saving& saving;
    Opening& opening;
    OpenedResults& results;
    Ending& ending;
};

// True if the window shows the scene that runs.
bool shows_run(const Topics& work);

}  // namespace hindcast::gui
