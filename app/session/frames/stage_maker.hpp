// Turns the modules' descriptions of what they look like (engine/model/drawing.hpp) into the
// renderer's Stage, and says where the numbers of each channel and drawable come from.
//
// Channels: the positions of all points ("position"), those of the ghost, one number per point for
// colors, arrows; the values of each grid field, and those wanted of it; one number per segment for
// each set of segments;
// places and vectors of arrows that are at places of their own.
// A number that is not finite is not shown as a color: the drawable keeps its own. Without a ghost
// its positions are not finite.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/exchange/stage.hpp"
#include "app/session/frames/body_source.hpp"
#include "app/session/frames/solid_source.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

struct FieldChannel {
    int channel = -1;
    std::string array;  // of the model
};

// Target values of an objective for a field, drawn beside it while the field shows its own values.
struct TargetChannel {
    int channel = -1;
    int drawable = -1;
    std::string quantity;  // path: one number for each node
    std::string array;     // of the model: the field's
};

struct SegmentChannel {
    int channel = -1;
    int drawable = -1;
    std::string owner;
};

// Arrows at places of their own (model::ShownQuantity::Of::places).
struct PlacedArrows {
    int drawable = -1;
    int places = -1, vectors = -1;  // channels
    std::string key;                // of what is shown
};

// The source of a drawable's numbers (Frame::numbers).
struct DrawableValues {
    std::vector<std::string> quantities;  // paths, in the order of the numbers
    std::vector<double> constant;         // instead
    std::string velocity;  // path of the velocity of the position among the numbers; "": none
    std::shared_ptr<const SolidSource> solid;  // gives the numbers and the mesh instead
    std::shared_ptr<const BodySource> body;    // likewise
};

struct StagePlan {
    std::shared_ptr<const render::Stage> stage;
    std::vector<DrawableValues> numbers;  // of each drawable
    std::vector<FieldChannel> fields;
    std::vector<TargetChannel> targets;
    std::vector<SegmentChannel> segments;
    std::vector<PlacedArrows> placed;
    std::int64_t points = 0;
    int position = -1, ghost = -1, color = -1, arrows = -1;  // channels; -1: there are no points
};

StagePlan make_stage(Simulation& simulation);

// True if frames for one can be shown on the other: both are the same up to the bounding box and
// small differences of radii.
bool same_layout(const render::Stage& a, const render::Stage& b);
// True if the positions of `ghost` can be drawn on `shown`: the same drawables move.
bool ghost_fits(const render::Stage& shown, const render::Stage& ghost);

}  // namespace hindcast::session
