// A page that ImGui and ImPlot draw on without a window: pictures of plots, and labels on pictures
// of the scene. It has its own contexts and fonts, so it may be used beside a window and between
// the window's frames, on the same thread.
//
//     OffscreenCanvas sheet(context, /*dark=*/true);
//     render::Image plot = sheet.draw(800, 480, [] { ImPlot::BeginPlot(...); ... });
//     render::Image labeled = sheet.annotated(renderer, view, [&](ImVec2 at) {
//         draw_time(at, view.height, "0.500 s");
//     });
#pragma once

#include <imgui.h>

#include <functional>
#include <memory>

#include "app/render/device/vulkan_context.hpp"
#include "app/render/renderer.hpp"

namespace hindcast::gui {

class OffscreenCanvas {
public:
    // `scale` multiplies text and sizes. Throws Error if the device does not support it.
    OffscreenCanvas(render::VulkanContext& context, bool dark, double scale = 1);
    ~OffscreenCanvas();
    // The scale at which labels on a picture of that height look as in the window; at least 1.
    static double scale_for(int height);
    OffscreenCanvas(const OffscreenCanvas&) = delete;
    OffscreenCanvas& operator=(const OffscreenCanvas&) = delete;

    // `content` drawn into a window that fills a page of width x height pixels. It is drawn
    // `frames` times (plots fit their axes in the first), and the last is returned.
    render::Image draw(int width, int height, const std::function<void()>& content, int frames = 1);
    // The scene as the renderer draws this view, with what `labels` draws on it; `at` is its upper
    // left corner. The renderer must use the same context and outlive this object.
    render::Image annotated(render::Renderer& renderer, const render::View& view,
                            const std::function<void(ImVec2 at)>& labels);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hindcast::gui
