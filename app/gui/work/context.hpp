// The parts of the window that panels and mouse tools share.
#pragma once

namespace hindcast::gui {

class Workspace;
class Actions;
class Picture;

struct Context {
    Workspace& work;
    Actions& actions;
    Picture& picture;
};

}  // namespace hindcast::gui
