// Tables and descriptor sets of a stage.
#include "app/render/stage_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace hindcast::render {

namespace {

// A stage comes from the program itself; what is wrong in it must not reach the device.
void check(const Stage& stage) {
    for (const Drawable& drawable : stage.drawables) {
        const auto fail = [&](const char* what) {
            throw Error(fmt::format("internal: '{}' cannot be drawn: {}", drawable.name, what));
        };
        const auto channel = [&](int number) -> const Channel* {
            if (number < 0) return nullptr;
            if (number >= static_cast<int>(stage.channels.size())) fail("there is no such channel");
            return &stage.channels[static_cast<std::size_t>(number)];
        };
        const Channel *const places = channel(drawable.places), *const values =
                                                                    channel(drawable.values);
        using Kind = Drawable::Kind;
        const bool listed = drawable.kind == Kind::points || drawable.kind == Kind::arrows;
        const bool indexed = drawable.kind == Kind::segments || drawable.kind == Kind::surface;
        if ((listed || indexed) && places == nullptr) fail("it has no places");
        if (places != nullptr && places->components != stage.dimension)
            fail("its places are of another dimension");
        if (listed && (drawable.first < 0 || drawable.count < 0 ||
                       drawable.first + drawable.count > places->elements ||
                       (values != nullptr && drawable.first + drawable.count > values->elements)))
            fail("it has fewer points than it should");
        if (drawable.kind == Kind::arrows &&
            (values == nullptr || values->components != stage.dimension))
            fail("its arrows are no vectors");
        if (drawable.kind != Kind::arrows && values != nullptr && values->components != 1)
            fail("its values are vectors");
        // A field without values draws nothing.
        if (drawable.kind == Kind::field && values != nullptr &&
            (drawable.rows < 2 || drawable.columns < 2 ||
             drawable.rows * drawable.columns > values->elements))
            fail("it has fewer nodes than it should");
        if (drawable.kind == Kind::arrows && !drawable.indices.empty() &&
            (static_cast<std::int64_t>(drawable.indices.size()) != drawable.count ||
             std::ranges::max(drawable.indices) >= static_cast<std::uint64_t>(drawable.count)))
            fail("its order is not one of its arrows");
        if (!indexed) continue;
        for (const std::uint32_t corner : drawable.tetrahedra)
            if (corner >= static_cast<std::uint64_t>(places->elements))
                fail("a corner of a tetrahedron is too large");
        if (drawable.tetrahedra.size() % 4 != 0) fail("a corner of a tetrahedron is missing");
        for (const std::uint32_t index : drawable.indices)
            if (index >= static_cast<std::uint64_t>(places->elements))
                fail("an index is too large");
        const std::size_t corners = drawable.kind == Kind::segments ? 2 : 3;
        if (drawable.indices.size() % corners != 0) fail("an index is missing");
        const std::size_t count = drawable.indices.size() / corners;
        if (!drawable.element_of.empty() && drawable.element_of.size() != count)
            fail("its triangles have no elements");
        if (values == nullptr) continue;
        auto needed = static_cast<std::int64_t>(count);
        if (drawable.values_per_point) {
            needed = places->elements;
        } else if (!drawable.element_of.empty()) {
            needed = 1 + static_cast<std::int64_t>(*std::ranges::max_element(drawable.element_of));
        }
        if (needed > values->elements) fail("it has fewer values than elements");
    }
}

// The triangles around each point: where each list begins, then the lists, in order.
std::vector<std::uint32_t> triangles_around(const std::vector<std::uint32_t>& corners,
                                            std::size_t points) {
    std::vector<std::uint32_t> table(points + 1 + corners.size(), 0);
    for (const std::uint32_t point : corners) ++table[point + 1];
    for (std::size_t p = 0; p < points; ++p) table[p + 1] += table[p];
    std::vector<std::uint32_t> next(table.begin(),
                                    table.begin() + static_cast<std::ptrdiff_t>(points));
    for (std::size_t k = 0; k < corners.size(); ++k)
        table[points + 1 + next[corners[k]]++] = static_cast<std::uint32_t>(k / 3);
    return table;
}

std::vector<std::uint32_t> squares(std::int64_t rows, std::int64_t columns) {
    std::vector<std::uint32_t> indices;
    indices.reserve(static_cast<std::size_t>(6 * (rows - 1) * (columns - 1)));
    for (std::int64_t i = 0; i + 1 < rows; ++i)
        for (std::int64_t j = 0; j + 1 < columns; ++j) {
            const auto a = static_cast<std::uint32_t>(i * columns + j), b = a + 1,
                       c = static_cast<std::uint32_t>(a + columns), d = c + 1;
            indices.insert(indices.end(), {a, c, b, b, c, d});
        }
    return indices;
}

}  // namespace

void run_once(VulkanContext& context, const std::string& name,
              const std::function<void(const vk::raii::CommandBuffer&)>& record) {
    auto& state = context.state();
    vk::raii::CommandPool pool(state.device,
                               {vk::CommandPoolCreateFlagBits::eTransient, state.family});
    context.name(VK_OBJECT_TYPE_COMMAND_POOL, static_cast<VkCommandPool>(*pool), name);
    vk::raii::CommandBuffers buffers(state.device, {*pool, vk::CommandBufferLevel::ePrimary, 1});
    const vk::raii::CommandBuffer& commands = buffers.front();
    context.name(VK_OBJECT_TYPE_COMMAND_BUFFER, static_cast<VkCommandBuffer>(*commands), name);
    commands.begin({vk::CommandBufferUsageFlagBits::eOneTimeSubmit});
    record(commands);
    commands.end();
    Submission submission;
    submission.commands = static_cast<VkCommandBuffer>(*commands);
    const std::uint64_t value = context.submit(submission);
    try {
        context.wait(value);
    } catch (...) {  // the device may still be at them
        struct Commands {
            vk::raii::CommandPool pool;
            vk::raii::CommandBuffers buffers;  // of the pool, so before it
        };
        auto kept = std::make_shared<Commands>(Commands{std::move(pool), std::move(buffers)});
        retire(context, kept);
        throw;
    }
}

void upload(VulkanContext& context, const std::string& name, Buffer& to, Use then,
            const std::function<void(std::byte*)>& write) {
    Buffer from(context, to.size(), vk::BufferUsageFlagBits::eTransferSrc, Residence::upload, name);
    write(from.mapped());
    try {
        run_once(context, name, [&](const vk::raii::CommandBuffer& commands) {
            Barriers barriers;
            barriers.use(*to, to.state(), Use::transfer_write);
            barriers.record(commands);
            commands.copyBuffer(*from, *to, vk::BufferCopy(0, 0, to.size()));
            barriers.use(*to, to.state(), then);
            barriers.record(commands);
        });
    } catch (...) {  // the device may still copy
        retire(context, from);
        retire(context, to);
        throw;
    }
}

StageMemory::Range StageMemory::append(const std::vector<std::uint32_t>& numbers) {
    const Range range{host_.size() * 4, numbers.size() * 4};
    host_.insert(host_.end(), numbers.begin(), numbers.end());
    host_.resize((host_.size() * 4 + alignment_ - 1) / alignment_ * alignment_ / 4, 0);
    return range;
}

StageMemory::StageMemory(VulkanContext& context, const Pipelines& pipelines,
                         const SharedExchange& exchange) {
    auto& state = context.state();
    const Stage& stage = exchange.stage();
    check(stage);
    alignment_ = std::max<vk::DeviceSize>(256, state.limits.minStorageBufferOffsetAlignment);
    vk::DeviceSize normals = 0;
    append({0, 0, 0, 0});  // for what a drawable does not have
    for (const Drawable& drawable : stage.drawables) {
        Parts parts;
        if (drawable.kind == Drawable::Kind::field && drawable.rows > 1 && drawable.columns > 1) {
            parts.indices = append(squares(drawable.rows, drawable.columns));
        } else {
            std::vector<std::uint32_t> indices = drawable.indices;
            indices.insert(indices.end(), drawable.tetrahedra.begin(), drawable.tetrahedra.end());
            parts.indices = append(indices);
            parts.element_of = append(drawable.element_of);
        }
        if (drawable.kind == Drawable::Kind::surface && stage.dimension == 3) {
            const auto points = static_cast<std::size_t>(
                stage.channels[static_cast<std::size_t>(drawable.places)].elements);
            parts.around = append(triangles_around(drawable.indices, points));
            // Three of three corners and one of its own for each triangle.
            parts.normals = {normals, drawable.indices.size() / 3 * 12 * sizeof(float)};
            normals += (parts.normals.bytes + alignment_ - 1) / alignment_ * alignment_;
        }
        for (const Range& range : {parts.indices, parts.around, parts.normals})
            if (range.bytes > state.limits.maxStorageBufferRange)
                throw Error(fmt::format("'{}' has more triangles than the graphics device '{}' can "
                                        "read",
                                        drawable.name, state.facts.name))
                    .remedy("show a smaller scene");
        parts_.push_back(parts);
    }

    using Usage = vk::BufferUsageFlagBits;
    const vk::DeviceSize bytes = host_.size() * 4;
    tables_ =
        Buffer(context, bytes, Usage::eStorageBuffer | Usage::eIndexBuffer | Usage::eTransferDst,
               Residence::device, "tables of the stage");
    normals_ = Buffer(context, std::max<vk::DeviceSize>(normals, 256), Usage::eStorageBuffer,
                      Residence::device, "normals");
    upload(context, "upload of the stage", tables_, Use::table_read,
           [&](std::byte* memory) { std::memcpy(memory, host_.data(), bytes); });
    host_ = {};

    const auto drawables = static_cast<std::uint32_t>(stage.drawables.size());
    if (drawables == 0) return;
    const vk::DescriptorPoolSize size(vk::DescriptorType::eStorageBuffer, 6 * 3 * drawables);
    pool_ = vk::raii::DescriptorPool(state.device,
                                     vk::DescriptorPoolCreateInfo({}, 3 * drawables, size));
    context.name(VK_OBJECT_TYPE_DESCRIPTOR_POOL, static_cast<VkDescriptorPool>(*pool_),
                 "sets of the things");
    const std::vector<vk::DescriptorSetLayout> layouts(drawables, pipelines.drawable_set());
    const vk::DescriptorBufferInfo nothing(*tables_, 0, 16);
    const auto part = [&](const Range& range) {
        return range.bytes == 0 ? nothing
                                : vk::DescriptorBufferInfo(*tables_, range.first, range.bytes);
    };
    for (int slot = 0; slot < 3; ++slot) {
        auto& sets = sets_[static_cast<std::size_t>(slot)];
        // Freed with the pool.
        sets = (*state.device)
                   .allocateDescriptorSets({*pool_, layouts}, *state.device.getDispatcher());
        for (std::size_t t = 0; t < drawables; ++t) {
            const Drawable& drawable = stage.drawables[t];
            const Parts& parts = parts_[t];
            const std::array infos = {
                drawable.places >= 0 ? exchange.channel(slot, drawable.places) : nothing,
                drawable.values >= 0 ? exchange.channel(slot, drawable.values) : nothing,
                part(parts.indices),
                part(parts.element_of),
                parts.normals.bytes > 0
                    ? vk::DescriptorBufferInfo(*normals_, parts.normals.first, parts.normals.bytes)
                    : vk::DescriptorBufferInfo(*normals_, 0, 16),
                part(parts.around)};
            std::vector<vk::WriteDescriptorSet> writes;
            for (std::uint32_t b = 0; b < infos.size(); ++b)
                writes.emplace_back(sets[t], b, 0, 1, vk::DescriptorType::eStorageBuffer, nullptr,
                                    &infos[b]);
            state.device.updateDescriptorSets(writes, {});
            context.name(VK_OBJECT_TYPE_DESCRIPTOR_SET, static_cast<VkDescriptorSet>(sets[t]),
                         fmt::format("'{}' in slot {}", drawable.name, slot));
        }
    }
}

}  // namespace hindcast::render
