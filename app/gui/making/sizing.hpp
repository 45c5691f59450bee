// Squares in the picture at the sizes of what is selected (session/making/sizes.hpp), where the tool
// moves things: a drag changes a size, and with Ctrl how many points or cells there are.
#pragma once

#include <imgui.h>

#include <optional>
#include <string>

#include "app/gui/work/context.hpp"
#include "app/session/making/sizes.hpp"

namespace hindcast::gui {

// One drag, from the button's press on.
struct SizeDrag {
    std::size_t handle = 0;
    document::Document before;  // the scene when it began
    session::SizeHandle was;
    ImVec2 mouse{};        // then
    bool changed = false;  // the scene
    bool given_up = false;
    double by = 0;  // m
    bool repeats = false;
};

class Sizing {
public:
    // Call it once a frame after the picture's item, as Pulling::update(). True while a square has the
    // mouse.
    bool update(Context& context, ImVec2 at, int width, int height, bool pressed, bool active);
    void draw(const Context& context, ImVec2 at, int width, int height) const;

private:
    void find(const Context& context);

    std::string pointer_;  // of what `handles_` are
    std::uint64_t revision_ = 0;
    std::vector<session::SizeHandle> handles_;
    std::optional<std::size_t> over_;
    std::optional<SizeDrag> drag_;
    std::string text_;  // of the drag
};

}  // namespace hindcast::gui
