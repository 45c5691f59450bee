// A page that ImGui and ImPlot draw on without a window: pictures of plots, and labels on pictures
// of the scene. It has contexts and fonts of its own, so it may be used beside a window and between
// its frames, on the same thread.
//
//     Sheet sheet(context, /*dark=*/true);
//     render::Image plot = sheet.draw(800, 480, [] { ImPlot::BeginPlot(...); ... });
//     render::Image labelled = sheet.annotated(renderer, view, [&](ImVec2 at) {
//         draw_time(at, view.height, "0.500 s");
//     });
#pragma once

#include <imgui.h>

#include <functional>
#include <memory>

#include "app/render/device/vulkan_context.hpp"
#include "app/render/renderer.hpp"

namespace hindcast::gui {

class Sheet {
public:
    // `scale` multiplies text and sizes. Throws Error if the device cannot do it.
    Sheet(render::VulkanContext& context, bool dark, double scale = 1);
    ~Sheet();
    // The scale at which labels on a picture of that height look as in the window; at least 1.
    static double scale_for(int height);
    Sheet(const Sheet&) = delete;
    Sheet& operator=(const Sheet&) = delete;

    // What `content` draws into a window that fills a page of width x height pixels, drawn so many
    // times (plots find their axes in the first) of which the last is given.
    render::Image draw(int width, int height, const std::function<void()>& content, int frames = 1);
    // The scene as the renderer draws this view, and what `labels` draws on it; `at` is its upper
    // left corner. The renderer must be of the same context, and live until the sheet goes.
    render::Image annotated(render::Renderer& renderer, const render::View& view,
                            const std::function<void(ImVec2 at)>& labels);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hindcast::gui
