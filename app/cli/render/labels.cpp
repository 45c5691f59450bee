#include "app/cli/render/labels.hpp"

#include <utility>

#include "app/cli/command.hpp"
#include "app/gui/places/labels.hpp"
#include "engine/base/hash.hpp"

namespace hindcast::cli {

void LabelOptions::add_to(CLI::App& app) {
    constexpr const char* group = "Labels";
    app.add_flag("--labels", names, "Names at bodies and targets")->group(group);
    const auto bar = [&app, this](const char* name, bool shown, const char* help) {
        return app.add_flag_callback(
            name, [this, shown] { color_bar = shown; }, help);
    };
    auto* const with =
        bar("--color-bar", true,
            "The colors with their numbers (default: where view.color_by of the scene chooses "
            "them)")
            ->group(group);
    bar("--no-color-bar", false, "Without them")->excludes(with)->group(group);
    // The British spellings of earlier versions.
    bar("--colour-bar", true, "")->group("");
    bar("--no-colour-bar", false, "")->group("");
    app.add_flag("--time-stamp", time_stamp, "Simulated time in s, and the iteration")
        ->group(group);
    app.add_option("--label-scale", scale,
                   "Size of the text; 1 is that of the window (default: by the picture's height)")
        ->check(CLI::Range(0.25, 16.0))
        ->group(group);
}

Photographer::Photographer(render::VulkanContext& context, render::Renderer& renderer,
                           LabelOptions options, std::shared_ptr<const document::Document> document,
                           std::vector<session::Distance> distances)
    : context_(context),
      renderer_(renderer),
      options_(options),
      document_(std::move(document)),
      distances_(std::move(distances)) {}

render::Image Photographer::take(const render::View& view, const session::ColorLook& look,
                                 const session::Snapshot& snapshot) {
    if (!options_.any() && distances_.empty()) return renderer_.picture(view);
    if (!offscreen_) {
        const double scale =
            options_.scale > 0 ? options_.scale : gui::OffscreenCanvas::scale_for(view.height);
        offscreen_ = std::make_unique<gui::OffscreenCanvas>(context_, view.dark, scale);
    }
    std::string problem;
    render::Image image = offscreen_->annotated(renderer_, view, [&](ImVec2 at) {
        const std::optional<render::Frame>& frame = renderer_.frame();
        if (frame)
            gui::draw_distances(
                at, view.width, view.height, view.camera,
                gui::distances_in(
                    distances_, *snapshot.scene.stage, *frame,
                    [&](std::int64_t point) { return renderer_.point(point); }, problem),
                snapshot.scene.stage->dimension);
        if (options_.names && frame)
            gui::draw_names(
                at, view.width, view.height, view.camera,
                gui::names_in(renderer_, *snapshot.scene.stage, *document_, registry()));
        if (options_.color_bar.value_or(false))
            gui::draw_color_bar(at, view.width, view.height,
                                {gui::color_title(snapshot.view.colors, look.by),
                                 view.range ? *view.range : renderer_.color_range(), view.map,
                                 view.log_colors, look.words(snapshot.view)});
        if (options_.time_stamp && frame)
            gui::draw_time(at, view.height,
                           gui::time_text(frame->time, frame->iteration,
                                          static_cast<double>(snapshot.run.steps) *
                                              snapshot.run.step_seconds));
    });
    if (!problem.empty()) throw Error(problem);
    return image;
}

}  // namespace hindcast::cli
