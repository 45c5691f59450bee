// PlainExchange: slots of plain memory of the host, for a solver that is watched without a
// renderer: benchmarks and tests.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "app/exchange/transport.hpp"
#include "engine/base/aligned.hpp"

namespace hindcast::render {

class PlainExchange : public Exchange {
public:
    explicit PlainExchange(std::shared_ptr<const Stage> stage) : stage_(std::move(stage)) {
        for (auto& slot : slots_)
            for (const Channel& channel : stage_->channels) {
                auto memory =
                    std::make_shared<AlignedBuffer<std::byte>>(channel.bytes(stage_->real));
                SharedMemory shared;
                shared.host = memory->data();
                shared.bytes = memory->size();
                shared.alive = std::move(memory);
                slot.push_back(std::move(shared));
            }
    }
    TransportKind kind() const override { return TransportKind::mapped; }
    const Stage& stage() const override { return *stage_; }
    const std::vector<SharedMemory>& slot(int slot) const override {
        return slots_[static_cast<std::size_t>(slot)];
    }

private:
    std::shared_ptr<const Stage> stage_;
    std::array<std::vector<SharedMemory>, 3> slots_;
};

}  // namespace hindcast::render
