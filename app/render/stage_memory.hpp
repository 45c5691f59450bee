// StageMemory: the constant data of a stage: indices, the triangles that meet at each point, memory
// for normals, and the descriptor sets of every drawable in every slot.
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
    // The offset of the indices of a field's nodes, six for each square: for height fields.
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

// Records, submits and waits: for work that is not part of a frame. If the wait fails, the commands
// stay until the device has done them; the caller must keep the resources they use as long.
void run_once(VulkanContext& context, const std::string& name,
              const std::function<void(const vk::raii::CommandBuffer&)>& record);

// Fills a buffer of the device: `write` gets memory of its size. Waits for it. If that fails the
// buffer is gone.
void upload(VulkanContext& context, const std::string& name, Buffer& to, Use then,
            const std::function<void(std::byte*)>& write);

}  // namespace hindcast::render
