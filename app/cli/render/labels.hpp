// Labels on the pictures of `hindcast render`: names, color bar, time stamp, distances; drawn by
// the window's code (gui/draw/labels.hpp).
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/draw/offscreen_canvas.hpp"
#include "app/session/link/snapshot.hpp"
#include "app/session/view/color_look.hpp"
#include "app/session/view/view_look.hpp"
#include "engine/base/hash.hpp"
#include "engine/document/document.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::cli {

struct LabelOptions {
    bool names = false, time_stamp = false;
    std::optional<bool> color_bar;  // none: where the scene chooses the colors
    double scale = 0;               // of the text; 0: by the height of the picture

    void add_to(CLI::App& app);
    bool any() const { return names || color_bar.value_or(false) || time_stamp; }
};

class Photographer {
public:
    Photographer(render::VulkanContext& context, render::Renderer& renderer, LabelOptions options,
                 std::shared_ptr<const document::Document> document,
                 std::vector<session::Distance> distances);

    // The newest frame in this view. `look`: what its colors are; `snapshot`: of the session that
    // writes the frames. Throws Error where an end of a distance is not there.
    render::Image take(const render::View& view, const session::ColorLook& look,
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
