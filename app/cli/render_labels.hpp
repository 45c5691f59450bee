// What `hindcast render` writes onto its pictures: names, colour bar, time stamp; drawn by what
// draws them in the window (gui/draw/labels.hpp).
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "app/gui/draw/offscreen_canvas.hpp"
#include "app/session/snapshot.hpp"
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
    // `colour`: the name of what is shown as colour, or "".
    Photographer(render::VulkanContext& context, render::Renderer& renderer, LabelOptions options,
                 std::string colour, std::shared_ptr<const document::Document> document);

    // The newest frame in this view. `snapshot`: of the session that writes the frames.
    render::Image take(const render::View& view, const session::Snapshot& snapshot);

private:
    render::VulkanContext& context_;
    render::Renderer& renderer_;
    LabelOptions options_;
    std::string colour_;
    std::shared_ptr<const document::Document> document_;
    std::unique_ptr<gui::OffscreenCanvas> offscreen_;
};

}  // namespace hindcast::cli
