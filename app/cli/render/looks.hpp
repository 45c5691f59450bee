// The options of `hindcast render` for arrows, tubes, the slice, fields as heights and distances;
// where they say nothing, the scene's view does.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "app/session/view/view_look.hpp"

namespace hindcast::cli {

struct LookOptions {
    std::string arrows;  // "none": none, whatever the scene says
    std::int64_t most_arrows = 0;
    double tube_radius = 0, tube_pixels = 0;
    std::string slice;
    double height_scale = 0;  // m per unit; 0: not given
    bool no_slice = false, no_distances = false, heights = false, no_heights = false;

    void add_to(CLI::App& app);
    session::ViewLook look(const document::Document& document) const;
};

}  // namespace hindcast::cli
