// The places of points in the frame drawn last, for the host.
#include <algorithm>
#include <cstring>

#include "app/render/device/barriers.hpp"
#include "app/render/renderer_state.hpp"
#include "app/render/stage_memory.hpp"

namespace hindcast::render {

namespace {

template <class Real>
std::vector<Vec3> vectors(const std::byte* bytes, std::int64_t count, int components) {
    std::vector<Vec3> places(static_cast<std::size_t>(count));
    const auto stride = static_cast<std::size_t>(components);
    for (std::size_t p = 0; p < places.size(); ++p)
        for (std::size_t c = 0; c < std::min<std::size_t>(stride, 3); ++c) {
            Real number = 0;
            std::memcpy(&number, bytes + (p * stride + c) * sizeof(Real), sizeof(Real));
            places[p][c] = static_cast<double>(number);
        }
    return places;
}

}  // namespace

std::vector<Vec3> Renderer::State::points(std::int64_t first, std::int64_t count) {
    if (!exchange || !frame || frame->slot < 0) return {};
    const Stage& shown = exchange->stage();
    const auto channel = std::ranges::find(shown.channels, "position", &Channel::name);
    if (channel == shown.channels.end() || first < 0 || first >= channel->elements) return {};
    count = std::min(count, channel->elements - first);
    if (count < 1) return {};
    const bool wide = shown.real == RealType::f64;
    const auto vector_bytes =
        static_cast<std::size_t>(channel->components) * (wide ? sizeof(double) : sizeof(float));
    const std::size_t skipped = static_cast<std::size_t>(first) * vector_bytes;
    const auto read = [&](const std::byte* bytes) {
        return wide ? vectors<double>(bytes, count, channel->components)
                    : vectors<float>(bytes, count, channel->components);
    };
    const auto number = static_cast<std::size_t>(channel - shown.channels.begin());
    if (const std::byte* const host = exchange->slot(frame->slot)[number].host)
        return read(host + skipped);
    return context.state().guarded([&] {
        const std::size_t bytes = static_cast<std::size_t>(count) * vector_bytes;
        if (read_points.size() < bytes) {
            retire(context, read_points);
            read_points = Buffer(context, bytes, vk::BufferUsageFlagBits::eTransferDst,
                                 Residence::readback, "points for the host");
        }
        const vk::DescriptorBufferInfo from =
            exchange->channel(frame->slot, static_cast<int>(number));
        run_once(context, "read points", [&](const vk::raii::CommandBuffer& commands) {
            Barriers barriers;
            barriers.use(*read_points, read_points.state(), Use::transfer_write);
            barriers.record(commands);
            commands.copyBuffer(from.buffer, *read_points,
                                vk::BufferCopy(from.offset + skipped, 0, bytes));
            barriers.use(*read_points, read_points.state(), Use::host_read);
            barriers.record(commands);
        });
        return read(read_points.mapped());
    });
}

}  // namespace hindcast::render
