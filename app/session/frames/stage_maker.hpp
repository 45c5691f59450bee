// From what modules say about their looks (engine/model/drawing.hpp) to the renderer's Stage, and
// where the numbers of each channel and thing come from.
//
// Channels: places of all points ("position"), the same of the ghost, one number per point for
// colours, arrows; for each grid field its values; for each set of segments one number per segment.
// A number that is not finite is not shown: the thing then has its own colour. Places of a ghost
// that is not there are not finite either.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/exchange/stage.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

struct FieldChannel {
    int channel = -1;
    std::string array;  // of the model
};

struct SegmentChannel {
    int channel = -1;
    int thing = -1;
    std::string owner;
};

// Where the numbers of a thing come from (Frame::numbers).
struct ThingNumbers {
    std::vector<std::string> quantities;  // paths, in the order of the numbers
    std::vector<double> constant;         // instead
    std::string velocity;  // path: with it the place among the numbers moves; "": it rests
};

struct StagePlan {
    std::shared_ptr<const render::Stage> stage;
    std::vector<ThingNumbers> numbers;  // of each thing
    std::vector<FieldChannel> fields;
    std::vector<SegmentChannel> segments;
    std::int64_t points = 0;
    int position = -1, ghost = -1, colour = -1, arrows = -1;  // channels; -1: there are no points
};

StagePlan make_stage(Simulation& simulation);

// Whether frames for one can be shown on the other: all is the same but the box around everything,
// and radii nearly.
bool same_layout(const render::Stage& a, const render::Stage& b);
// Whether the places of the one can be drawn as a ghost on the other: what moves is the same.
bool ghost_fits(const render::Stage& shown, const render::Stage& ghost);

}  // namespace hindcast::session
