#include "app/gui/work/picture.hpp"

#include "app/gui/work/state/frame_wishes.hpp"
#include "app/gui/work/state/measured.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/running.hpp"

namespace hindcast::gui {

Picture::Picture(Canvas& canvas, std::optional<render::TransportKind> transport)
    : canvas_(canvas), transport_(transport), renderer_(canvas.context()) {}

Picture::~Picture() {
    if (texture_) canvas_.forget(*texture_);
}

void Picture::connect(Running& running, Measured& measured, Messages& messages) {
    if (running.now().scene.stage == stage_) return;
    stage_ = running.now().scene.stage;
    if (!stage_) return;
    exchange_.reset();
    try {
        exchange_ = renderer_.share(stage_, transport_, running.now().scene.cuda_uuid);
    } catch (const Error& error) {
        messages.fail(error);
    }
    // The transport that was asked for cannot be had: the best one that works.
    if (!exchange_ && transport_) {
        transport_.reset();
        try {
            exchange_ = renderer_.share(stage_, transport_, running.now().scene.cuda_uuid);
        } catch (const Error& error) {
            messages.fail(error);
        }
    }
    if (!exchange_) return;  // the simulation runs; only its picture is missing
    measured.transport = render::name_of(exchange_->kind());
    running.send(session::ShowOn{exchange_});
}

std::optional<ImTextureRef> Picture::draw(render::View& view, Measured& measured, int width,
                                          int height) {
    frame_wishes().shows_picture();
    if (!exchange_ || width < 1 || height < 1) return std::nullopt;
    view.width = width;
    view.height = height;
    const double begin = ImGui::GetTime();
    renderer_.draw(view);
    measured.draw_seconds = ImGui::GetTime() - begin;
    measured.device_seconds = renderer_.device_seconds();
    const render::Renderer::Texture texture = renderer_.texture();
    if (texture.view == nullptr) return std::nullopt;
    if (!texture_ || texture.generation != generation_) {
        if (texture_) canvas_.forget(*texture_);
        texture_ = canvas_.texture(static_cast<VkImageView>(texture.view));
        generation_ = texture.generation;
    }
    return ImTextureRef(*texture_);
}

render::Pick Picture::pick(int x, int y) { return renderer_.pick(x, y); }

const render::Frame* Picture::frame() const {
    const std::optional<render::Frame>& frame = renderer_.frame();
    return frame ? &*frame : nullptr;
}

bool Picture::expects() const { return exchange_ && exchange_->expects(); }

render::Image Picture::image(const render::View& view) { return renderer_.picture(view); }

}  // namespace hindcast::gui
