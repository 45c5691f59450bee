// The names of the transports, and the hand-over of slots between writer and reader.
#include "app/exchange/transport.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

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

void Exchange::take_up() {
    if (coming_.empty()) return;
    const std::uint64_t value = raised();
    while (!coming_.empty() && coming_.front().ready <= value) {
        latest_ = std::move(coming_.front());
        coming_.pop_front();
    }
}

std::optional<int> Exchange::free_slot() const {
    for (int slot = 0; slot < 3; ++slot) {
        const auto has = [slot](const Frame& frame) { return frame.slot == slot; };
        if ((!latest_ || !has(*latest_)) && (!held_ || !has(*held_)) &&
            std::ranges::none_of(coming_, has))
            return slot;
    }
    return std::nullopt;
}

int Exchange::begin() {
    const std::lock_guard lock(mutex_);
    take_up();
    const std::optional<int> slot = free_slot();
    if (!slot) throw Error("internal: a frame is written while others are");
    return writing_ = *slot;
}

bool Exchange::full() {
    const std::lock_guard lock(mutex_);
    take_up();
    return !free_slot();
}

void Exchange::settle() {
    const std::lock_guard lock(mutex_);
    if (coming_.empty()) return;
    latest_ = std::move(coming_.back());
    coming_.clear();
}

std::uint64_t Exchange::next_value() {
    const std::lock_guard lock(mutex_);
    return ++value_;
}

void Exchange::publish(Frame frame) {
    const std::lock_guard lock(mutex_);
    if (frame.slot != writing_) throw Error("internal: a frame is published that was not begun");
    writing_ = -1;
    frame.serial = ++serial_;
    if (frame.ready > 0) {
        coming_.push_back(std::move(frame));
    } else {
        coming_.clear();  // complete as well, and older
        latest_ = std::move(frame);
    }
}

std::optional<Frame> Exchange::acquire() {
    const std::lock_guard lock(mutex_);
    take_up();
    return held_ = latest_;
}

void Exchange::release() {
    const std::lock_guard lock(mutex_);
    held_.reset();
}

std::uint64_t Exchange::serial() {
    const std::lock_guard lock(mutex_);
    take_up();
    return latest_ ? latest_->serial : 0;
}

bool Exchange::expects() {
    const std::lock_guard lock(mutex_);
    take_up();
    return !coming_.empty();
}

void Exchange::await() {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point last = Clock::now() + std::chrono::minutes(1);
    while (expects()) {
        if (Clock::now() > last)
            throw Error("the solver's device did not finish a frame within a minute")
                .remedy("draw fewer frames, or choose another --transport");
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

}  // namespace hindcast::render
