// ColorLook: the mapping of a scene's numbers to colors: from the scene's "view", the user's
// choice, and for the renderer. The window, `hindcast render` and Python share it.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "app/exchange/stage.hpp"
#include "app/session/link/view.hpp"
#include "engine/document/document.hpp"

namespace hindcast::session {

struct ColorLook {
    enum class Range : std::uint8_t {
        run,    // of all frames of the run that is shown
        frame,  // of each frame
        hand    // two numbers
    };
    std::string by;  // FrameContents::color
    Range range = Range::run;
    std::array<double, 2> ends{0, 1};      // by hand, in the field's unit
    std::string ends_are = "set by hand";  // the words for them in words()
    bool logarithmic = false;
    std::optional<render::ColorMap> map;  // none: by the signs of the numbers

    // Numbers count only where they are the range.
    bool operator==(const ColorLook& other) const {
        return by == other.by && range == other.range && logarithmic == other.logarithmic &&
               map == other.map && (range != Range::hand || ends == other.ends);
    }

    // From "color_by", "color_range", "color_scale" and "color_map" of the scene's view, else the
    // default. Throws Error where Scene does.
    static ColorLook of(const document::Document& document);
    // The scene's view, with those keys as they are here and all else as it is.
    document::Node in_view_of(const document::Document& document) const;

    // The map that is used: without a choice, coolwarm for derivatives that have a sign and where
    // the run has numbers on both sides of 0, else viridis.
    render::ColorMap map_for(const ViewSnapshot& now) const;
    // Sets map, range and scale of the view. While the range of the run is not known, that of the
    // frame is taken.
    void apply(render::View& view, const ViewSnapshot& now) const;
    // True if the whole run, or all frames that it will ever have, is measured.
    bool is_settled(const ViewSnapshot& now) const;
    // The kind of range: "of the whole run", "of the run so far", "of this moment", "set by hand".
    std::string words(const ViewSnapshot& now) const;
};

// Names as scenes write them ("purple_orange").
const char* name_of(render::ColorMap map);
std::optional<render::ColorMap> color_map_named(const std::string& name);
// The present name of a shown field, for the name that users write: scenes and scripts of earlier
// versions may have its British spelling.
std::string present_field(const std::string& name);

}  // namespace hindcast::session
