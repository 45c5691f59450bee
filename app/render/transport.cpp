// The names of the transports, and the hand-over of slots between writer and reader.
#include "app/render/transport.hpp"

#include "engine/base/error.hpp"

namespace hindcast::render {

namespace {

constexpr const char* names[] = {"exported", "imported", "staging", "mapped"};

}  // namespace

const char* name_of(TransportKind kind) { return names[static_cast<std::size_t>(kind)]; }

std::optional<TransportKind> transport_named(const std::string& name) {
    if (name == "auto") return std::nullopt;
    for (const auto kind : {TransportKind::exported, TransportKind::imported,
                            TransportKind::staging, TransportKind::mapped})
        if (name == name_of(kind)) return kind;
    throw Error("'" + name + "' is no way to hand frames to the renderer")
        .remedy("write auto, exported, imported, staging or mapped");
}

int Exchange::begin() {
    const std::lock_guard lock(mutex_);
    for (int slot = 0; slot < 3; ++slot) {
        if (latest_ && latest_->slot == slot) continue;
        if (held_ && held_->slot == slot) continue;
        return writing_ = slot;
    }
    throw Error("internal: a frame is written while another one is");
}

void Exchange::publish(Frame frame) {
    const std::lock_guard lock(mutex_);
    if (frame.slot != writing_) throw Error("internal: a frame is published that was not begun");
    frame.serial = ++serial_;
    latest_ = std::move(frame);
    writing_ = -1;
}

std::optional<Frame> Exchange::acquire() {
    const std::lock_guard lock(mutex_);
    return held_ = latest_;
}

void Exchange::release() {
    const std::lock_guard lock(mutex_);
    held_.reset();
}

std::uint64_t Exchange::serial() const {
    const std::lock_guard lock(mutex_);
    return latest_ ? latest_->serial : 0;
}

}  // namespace hindcast::render
