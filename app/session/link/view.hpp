// The contents of the picture: the frame, and the fields that it can show.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/exchange/vec3.hpp"
#include "app/session/link/command.hpp"
#include "engine/base/error.hpp"

namespace hindcast::session {

// A field that can be shown as colors or arrows: a name for FrameContents.
struct ShownField {
    std::string name;  // "speed", "position gradient", "cage.stiffness", ...
    std::string unit;
    bool gradient = false;
    bool length = false;  // the length of a vector, which has no sign
};

// The least and the largest number that colors show in the frames of a run.
struct ColorRange {
    std::string color;                           // FrameContents::color
    std::optional<std::array<double, 2>> range;  // none: nothing has a number
    bool complete = false;                       // false: so far, the run or its measuring goes on

    bool operator==(const ColorRange&) const = default;
};

struct ViewSnapshot {
    FrameContents contents;  // asked for
    // The frame of this step, with those contents, is not in the Exchange yet.
    bool frame_waits = false;
    std::shared_ptr<const Error> frame_error;  // why there are no frames; until the next ShowOn
    std::vector<ShownField> colors, arrows;    // that can be shown
    std::optional<ColorRange> color_range;     // of the trajectory shown; none: nothing yet
    // With FrameContents::trails: the trails of some of the points from the start to the step
    // shown, for View::trail_lines. Null without.
    std::shared_ptr<const std::vector<std::vector<render::Vec3>>> trails;
};

}  // namespace hindcast::session
