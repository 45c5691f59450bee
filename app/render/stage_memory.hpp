// What of a stage stays as it is: indices, which triangles meet at a point, memory for normals, and
// the descriptor sets of every drawable in every slot.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "app/render/device/exchange.hpp"
#include "app/render/pipelines.hpp"

namespace hindcast::render {

class StageMemory {
public:
    // Copies to the device and waits for that. Throws Error if the stage contradicts itself.
    StageMemory(VulkanContext& context, const Pipelines& pipelines, const SharedExchange& exchange);

    vk::DescriptorSet set(int slot, int drawable) const {
        return sets_[static_cast<std::size_t>(slot)][static_cast<std::size_t>(drawable)];
    }
    Buffer& normals() { return normals_; }
    // Of the nodes of a field, six for each square: for height fields.
    vk::DeviceSize field_indices(int drawable) const {
        return parts_[static_cast<std::size_t>(drawable)].indices.first;
    }
    vk::Buffer indices() const { return *tables_; }

private:
    struct Range {
        vk::DeviceSize first = 0, bytes = 0;
    };
    struct Parts {
        Range indices, element_of, around, normals;
    };

    Range append(const std::vector<std::uint32_t>& numbers);

    std::vector<std::uint32_t> host_;  // only while it is made
    vk::DeviceSize alignment_ = 256;
    std::vector<Parts> parts_;
    Buffer tables_, normals_;
    vk::raii::DescriptorPool pool_{nullptr};
    std::array<std::vector<vk::DescriptorSet>, 3> sets_;  // the pool's
};

// Records, submits and waits: for what is not part of a frame. Where the wait fails, the commands
// stay until the device has done them; so must what they use, which is the caller's.
void run_once(VulkanContext& context, const std::string& name,
              const std::function<void(const vk::raii::CommandBuffer&)>& record);

// Fills a buffer of the device: `write` gets memory of its size. Waits for it. If that fails the
// buffer is gone.
void upload(VulkanContext& context, const std::string& name, Buffer& to, Use then,
            const std::function<void(std::byte*)>& write);

}  // namespace hindcast::render
