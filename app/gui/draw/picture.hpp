// The scene's picture in the window: the renderer, the exchange that connects it with the
// simulation, and the texture that ImGui shows.
#pragma once

#include <imgui.h>

#include <memory>
#include <optional>

#include "app/gui/draw/canvas.hpp"
#include "app/gui/work/workspace.hpp"
#include "app/render/renderer.hpp"

namespace hindcast::gui {

class Picture {
public:
    Picture(Canvas& canvas, std::optional<render::TransportKind> transport);
    ~Picture();
    Picture(const Picture&) = delete;
    Picture& operator=(const Picture&) = delete;

    // Once a frame: a simulation that was built anew gets memory of its own to write frames to.
    void connect(Workspace& work);
    // Draws the view at this size and gives the picture. None if there is nothing to draw.
    std::optional<ImTextureRef> draw(Workspace& work, int width, int height);
    render::Pick pick(int x, int y);
    // The moment that was drawn last; null before the first.
    const render::Frame* frame() const;
    const render::Stage* stage() const { return stage_.get(); }
    std::array<double, 2> colour_range() const { return renderer_.colour_range(); }
    render::Renderer::Longest longest_arrow() const { return renderer_.longest_arrow(); }
    // The box around things of the drawn moment, m; none if they are nowhere.
    std::optional<render::Bounds> bounds_of(const std::vector<int>& things,
                                            const render::Element& part = {}) {
        return renderer_.bounds_of(things, part);
    }
    bool expects() const;  // whether a frame is on its way
    // Whether there is a newer one than the drawn one.
    bool is_behind() const {
        return exchange_ && exchange_->serial() != (frame() ? frame()->serial : 0);
    }
    // The picture alone, at a size of its own.
    render::Image image(const render::View& view);
    render::Renderer& renderer() { return renderer_; }
    render::VulkanContext& vulkan() { return canvas_.context(); }

private:
    Canvas& canvas_;
    std::optional<render::TransportKind> transport_;
    render::Renderer renderer_;
    std::shared_ptr<const render::Stage> stage_;
    std::shared_ptr<render::Exchange> exchange_;
    std::optional<ImTextureID> texture_;
    std::uint64_t generation_ = 0;
};

}  // namespace hindcast::gui
