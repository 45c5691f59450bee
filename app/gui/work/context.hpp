// What panels and tools of the mouse work with.
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
