// Labels on the pictures of `hindcast render`: names, colour bar, time stamp, distances; drawn by
// the window's code (gui/draw/labels.hpp).
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/draw/offscreen_canvas.hpp"
#include "app/session/link/snapshot.hpp"
#include "app/session/view/colour_look.hpp"
#include "app/session/view/view_look.hpp"
#include "engine/base/hash.hpp"
#include "engine/document/document.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::cli {

struct LabelOptions {
    bool names = false, time_stamp = false;
    std::optional<bool> colour_bar;  // none: where the scene chooses the colours
    double scale = 0;                // of the text; 0: by the height of the picture

    void add_to(CLI::App& app);
    bool any() const { return names || colour_bar.value_or(false) || time_stamp; }
};

class Photographer {
public:
    Photographer(render::VulkanContext& context, render::Renderer& renderer, LabelOptions options,
                 std::shared_ptr<const document::Document> document,
                 std::vector<session::Distance> distances);

    // The newest frame in this view. `look`: what its colours are; `snapshot`: of the session that
    // writes the frames. Throws Error where an end of a distance is not there.
    render::Image take(const render::View& view, const session::ColourLook& look,
                       const session::Snapshot& snapshot);

private:
    render::VulkanContext& context_;
    render::Renderer& renderer_;
    LabelOptions options_;
    std::shared_ptr<const document::Document> document_;
    const std::vector<session::Distance> distances_;
    std::unique_ptr<gui::OffscreenCanvas> offscreen_;
};

}  // namespace hindcast::cli
