// ViewLook: the settings for drawing in the scene's "view", besides colors (color_look.hpp) and
// the camera: arrows, the thickness of tubes, a slice, fields as heights, distances. The window,
// `hindcast render` and Python share it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/exchange/stage.hpp"
#include "engine/document/document.hpp"

namespace hindcast::session {

// An end of a distance: a place that rests, or one on an object, with which it moves.
struct DistanceEnd {
    std::string of = {};                    // a body or another object; "": a place that rests
    std::vector<std::int64_t> points = {};  // of the body
    std::vector<double> weights = {};       // of the points; their sum is 1
    // Without points: the rigid bodies and balls of this name are counted, from 0.
    int part = 0;
    render::Vec3 place{};  // m; on a part, in its axes

    bool operator==(const DistanceEnd&) const = default;
};

struct Distance {
    DistanceEnd from, to;

    bool operator==(const Distance&) const = default;
};

// The place (m) of an element of the channel "position"; none if it is not known.
using PointPlaces = std::function<std::optional<render::Vec3>(std::int64_t point)>;
// The place of the end in this frame, m. Throws Error if the stage has no such object or point, or
// if the place is not known.
render::Vec3 place_of(const DistanceEnd& end, const render::Stage& stage,
                      const render::Frame& frame, const PointPlaces& points);

struct ViewLook {
    std::string arrows;  // FrameContents::arrows
    std::int64_t most_arrows = render::View().most_arrows;
    render::Tubes tubes;
    std::optional<render::Slice> slice;
    double heights = 0;  // of fields as surfaces, m per unit; 0: they are images
    std::vector<Distance> distances;

    bool operator==(const ViewLook&) const = default;

    // From "arrows", "most_arrows", "tubes", "slice", "heights" and "distances" of the scene's view,
    // else the default. Throws Error where Scene does.
    static ViewLook of(const document::Document& document);
    // The scene's view, with those keys as they are here and all else as it is.
    document::Node in_view_of(const document::Document& document) const;
    // Sets the view's fields of the same names.
    void apply(render::View& view) const;
};

}  // namespace hindcast::session
