// The graphics device of the window, and what is made with it: the canvas of a frame and the picture
// of the scene. A device that is lost is closed and opened again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "app/exchange/transport.hpp"
#include "app/gui/draw/canvas.hpp"
#include "app/gui/window/window.hpp"
#include "app/render/device/vulkan_context.hpp"

namespace hindcast::gui {

class Picture;

class Graphics {
public:
    Graphics();
    ~Graphics();
    Graphics(const Graphics&) = delete;
    Graphics& operator=(const Graphics&) = delete;

    // Opens the device with a canvas of this size in pixels. `window` null: without a screen.
    // Throws Error if there is no such device.
    void open(render::ContextOptions options, Window* window,
              std::optional<render::TransportKind> transport, int width, int height);
    // Ends everything that was made with the device; does nothing if it is not open.
    void close();
    bool is_open() const { return context_ != nullptr && picture_ != nullptr; }
    void wait_idle();  // unless the device is lost

    render::VulkanContext& context() { return *context_; }
    Canvas& canvas() { return *canvas_; }
    const Canvas& canvas() const { return *canvas_; }
    Picture& picture() { return *picture_; }

    // Counts the frames since the device was lost; call it once a frame.
    void count_frame();
    // Notes that the device is lost. True if that happened a short while ago too.
    bool note_loss();

private:
    std::unique_ptr<render::VulkanContext> context_;
    std::unique_ptr<Canvas> canvas_;
    std::unique_ptr<Picture> picture_;
    Window* window_ = nullptr;
    std::int64_t frames_since_loss_ = -1;  // -1: the device was never lost
};

}  // namespace hindcast::gui
