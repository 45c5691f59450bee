#include "app/gui/window/graphics.hpp"

#include <algorithm>
#include <utility>

#include "app/gui/work/picture.hpp"

namespace hindcast::gui {

Graphics::Graphics() = default;
Graphics::~Graphics() = default;

void Graphics::open(render::ContextOptions options, Window* window,
                    std::optional<render::TransportKind> transport, int width, int height) {
    window_ = window;
    context_ = std::make_unique<render::VulkanContext>(std::move(options));
    if (window != nullptr) {
        window->connect(*context_);
        width = std::max(window->width(), 1);
        height = std::max(window->height(), 1);
    }
    canvas_ = std::make_unique<Canvas>(*context_, width, height);
    picture_ = std::make_unique<Picture>(*canvas_, transport);
}

void Graphics::close() {
    if (!context_) return;
    picture_.reset();
    canvas_.reset();
    if (window_ != nullptr) window_->disconnect();
    context_.reset();
}

void Graphics::wait_idle() {
    if (context_ && !context_->lost()) context_->wait_idle();
}

void Graphics::count_frame() {
    if (frames_since_loss_ >= 0) ++frames_since_loss_;
}

bool Graphics::note_loss() {
    constexpr std::int64_t soon = 600;  // frames: ten seconds or more
    const bool again = frames_since_loss_ >= 0 && frames_since_loss_ < soon;
    frames_since_loss_ = 0;
    return again;
}

}  // namespace hindcast::gui
