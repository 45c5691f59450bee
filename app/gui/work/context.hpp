// The parts of the window that panels and mouse tools share.
#pragma once

#include "app/gui/work/topics.hpp"

namespace hindcast::gui {

class Actions;
class Picture;

struct Context {
    Topics& work;
    Actions& actions;
    Picture& picture;
};

}  // namespace hindcast::gui
