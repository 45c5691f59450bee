// The scene's picture in the window: the renderer, its exchange with the simulation, and the
// texture that ImGui shows.
#pragma once

#include <imgui.h>

#include <memory>
#include <optional>
#include <vector>

#include "app/gui/draw/canvas.hpp"
#include "app/render/renderer.hpp"

namespace hindcast::gui {

struct Measured;
class Messages;
class Running;

class Picture {
public:
    Picture(Canvas& canvas, std::optional<render::TransportKind> transport);
    ~Picture();
    Picture(const Picture&) = delete;
    Picture& operator=(const Picture&) = delete;

    // Waits for the device where a newer frame is to be drawn: before the snapshot is taken that is
    // shown beside it.
    void finish_drawing() { renderer_.finish_drawing(); }
    // Call it once a frame: a new build of the simulation gets new memory to write frames into.
    void connect(Running& running, Measured& measured, Messages& messages);
    // Draws the view at this size and returns the texture. None if there is nothing to draw.
    std::optional<ImTextureRef> draw(render::View& view, Measured& measured, int width, int height);
    render::Pick pick(int x, int y);
    // The frame drawn last; null before the first.
    const render::Frame* frame() const;
    const render::Stage* stage() const { return stage_.get(); }
    std::array<double, 2> color_range() const { return renderer_.color_range(); }
    render::Renderer::Longest longest_arrow() const { return renderer_.longest_arrow(); }
    // The box around drawables in the frame drawn last, m; none if they have no position.
    std::optional<render::Bounds> bounds_of(const std::vector<int>& drawables,
                                            const render::Element& part = {}) {
        return renderer_.bounds_of(drawables, part);
    }
    // The numbers that an element is colored by, as Renderer::numbers_of().
    std::optional<std::array<double, 2>> numbers_of(int drawable, const render::Element& element) {
        return renderer_.numbers_of(drawable, element);
    }
    // The places of the points of all bodies in the frame drawn last, m.
    std::vector<render::Vec3> points() { return renderer_.points(); }
    // The place of one of them, m; none if there is no such point.
    std::optional<render::Vec3> point(std::int64_t point) { return renderer_.point(point); }
    bool expects() const;  // whether a frame is being written
    // True if there is a newer frame than the one drawn.
    bool is_behind() const { return exchange_ && renderer_.has_newer(); }
    // The picture alone, at the size of the view.
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
