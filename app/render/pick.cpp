// Picking: drawable, element and depth are drawn for the few pixels around a pixel alone, and read
// back. The middle pixel counts, or else the nearest one that shows something, so that thin
// drawables can be hit.
#include <cmath>
#include <cstring>
#include <limits>

#include "app/render/renderer_state.hpp"

namespace hindcast::render {

namespace {

struct PickedPixel {
    std::uint32_t drawable_and_one = 0, element = 0;
    float depth = 0;
    std::uint32_t unused = 0;
};

std::shared_ptr<PickMemory> make_memory(VulkanContext& context, const Pipelines& pipelines) {
    using Usage = vk::ImageUsageFlagBits;
    constexpr int size = PickMemory::size;
    auto memory = std::make_shared<PickMemory>();
    memory->ids = Target(context, size, size, pick_format, 1,
                         Usage::eColorAttachment | Usage::eTransferSrc, "things under the cursor");
    memory->depth = Target(context, size, size, depth_format, 1, Usage::eDepthStencilAttachment,
                           "depth under the cursor");
    const std::array views = {memory->ids.view(), memory->depth.view()};
    memory->framebuffer = vk::raii::Framebuffer(
        context.state().device,
        vk::FramebufferCreateInfo({}, pipelines.render_pass(Pass::pick, 1), views, size, size, 1));
    context.name(VK_OBJECT_TYPE_FRAMEBUFFER, static_cast<VkFramebuffer>(*memory->framebuffer),
                 "to what is under the cursor");
    memory->result =
        Buffer(context, sizeof(PickedPixel) * size * size, vk::BufferUsageFlagBits::eTransferDst,
               Residence::readback, "what is under the cursor");
    return memory;
}

}  // namespace

Pick Renderer::State::pick(int x, int y) {
    if (!last_view || !frame || x < 0 || y < 0 || x >= last_view->width || y >= last_view->height)
        return {};
    return context.state().guarded([&] {
        if (!picking) picking = make_memory(context, pipelines);
        constexpr int size = PickMemory::size, middle = size / 2;
        // The memory of the last draw still holds its view and lines.
        FrameMemory& memory = frames[(drawn + frames.size() - 1) % frames.size()];
        run_once(context, "pick", [&](const vk::raii::CommandBuffer& commands) {
            Barriers barriers;
            barriers.use(picking->ids.state(), Use::color_attachment, true);
            barriers.use(picking->depth.state(), Use::depth_attachment, true);
            barriers.record(commands);
            std::array<vk::ClearValue, 2> clear;
            clear[0].color.setUint32({0, 0, 0, 0});
            clear[1].setDepthStencil({0, 0});
            const vk::Rect2D area({0, 0}, picking->ids.extent());
            commands.beginRenderPass(
                {pipelines.render_pass(Pass::pick, 1), *picking->framebuffer, area, clear},
                vk::SubpassContents::eInline);
            commands.setViewport(
                0, vk::Viewport(static_cast<float>(middle - x), static_cast<float>(middle - y),
                                static_cast<float>(last_view->width),
                                static_cast<float>(last_view->height), 0, 1));
            commands.setScissor(0, area);
            for (const Item& item : list.items) {
                // Neither grid nor trails are drawables; ghosts are not picked.
                if (item.drawable < 0 || item.group == Group::ghost) continue;
                record_item(commands, memory, item, {Pass::pick});
            }
            commands.endRenderPass();
            barriers.use(picking->ids.state(), Use::transfer_read);
            barriers.use(*picking->result, picking->result.state(), Use::transfer_write);
            barriers.record(commands);
            const vk::BufferImageCopy copy(0, 0, 0, {vk::ImageAspectFlagBits::eColor, 0, 0, 1},
                                           {0, 0, 0}, {size, size, 1});
            commands.copyImageToBuffer(picking->ids.image(), vk::ImageLayout::eTransferSrcOptimal,
                                       *picking->result, copy);
            barriers.use(*picking->result, picking->result.state(), Use::host_read);
            barriers.record(commands);
        });
        const auto* const pixels = picking->result.as<PickedPixel>();
        int best = std::numeric_limits<int>::max(), at_x = 0, at_y = 0;
        for (int j = 0; j < size; ++j)
            for (int i = 0; i < size; ++i) {
                const int off = (i - middle) * (i - middle) + (j - middle) * (j - middle);
                if (pixels[j * size + i].drawable_and_one == 0 || off >= best) continue;
                best = off;
                at_x = i;
                at_y = j;
            }
        Pick pick;
        if (best == std::numeric_limits<int>::max()) return pick;
        const PickedPixel& hit = pixels[at_y * size + at_x];
        pick.drawable = static_cast<int>(hit.drawable_and_one) - 1;
        const Drawable& drawable =
            exchange->stage().drawables[static_cast<std::size_t>(pick.drawable)];
        pick.element.kind = elements_of(drawable.kind);
        // The shaders count points through all of the places.
        if (pick.element.kind != ElementKind::none)
            pick.element.number =
                hit.element - (pick.element.kind == ElementKind::point ? drawable.first : 0);
        const Camera& camera = last_view->camera;
        const Ray ray = ray_through(camera, x + at_x - middle + 0.5, y + at_y - middle + 0.5,
                                    last_view->width, last_view->height);
        const Axes axes = axes_of(camera);
        // As draw_list.cpp makes depths from distances along the view.
        double along = 0;
        const double depth = hit.depth;
        if (list.flat) {
            along = axes.distance;
        } else if (camera.orthographic) {
            along = (0.5 - depth) * 100 * (axes.distance + camera.height) + axes.distance;
        } else {
            double cosine = 0;
            for (std::size_t c = 0; c < 3; ++c) cosine += ray.direction[c] * axes.forward[c];
            along = axes.distance * 1e-3 / std::max(depth, 1e-12) / cosine;
        }
        for (std::size_t c = 0; c < 3; ++c)
            pick.place[c] = ray.origin[c] + along * ray.direction[c];
        return pick;
    });
}

}  // namespace hindcast::render
