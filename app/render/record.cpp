// The commands of one draw, from measuring to the finished picture.
#include <algorithm>

#include "app/render/renderer_state.hpp"

namespace hindcast::render {

namespace {

constexpr auto all_stages = vk::ShaderStageFlagBits::eVertex | vk::ShaderStageFlagBits::eFragment |
                            vk::ShaderStageFlagBits::eCompute;

std::uint32_t groups(std::uint32_t items, std::uint32_t each) { return (items + each - 1) / each; }

void set_area(const vk::raii::CommandBuffer& commands, int width, int height) {
    const vk::Extent2D size{static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)};
    commands.setViewport(
        0, vk::Viewport(0, 0, static_cast<float>(width), static_cast<float>(height), 0, 1));
    commands.setScissor(0, vk::Rect2D({0, 0}, size));
}

}  // namespace

void Renderer::State::bind(const vk::raii::CommandBuffer& commands, vk::PipelineBindPoint point,
                           FrameMemory& memory, int drawable, bool from_host) {
    vk::DescriptorSet numbers = memory.lines_set;
    if (!from_host && drawable >= 0 && frame) numbers = stage->set(frame->slot, drawable);
    commands.bindDescriptorSets(point, pipelines.layout(), 0, {memory.view_set, numbers}, {});
}

void Renderer::State::record_item(const vk::raii::CommandBuffer& commands, FrameMemory& memory,
                                  const Item& item, const How& how) {
    if (item.vertices == 0) return;
    const bool wide = !item.from_host && exchange && exchange->stage().real == RealType::f64;
    commands.bindPipeline(
        vk::PipelineBindPoint::eGraphics,
        pipelines.draw({item.shape, how.pass, how.samples, wide, how.blended, how.depth_only,
                        list.shadows && how.pass == Pass::color && item.shape != Shape::background,
                        list.sliced && item.shape != Shape::background, how.strict}));
    bind(commands, vk::PipelineBindPoint::eGraphics, memory, item.drawable, item.from_host);
    commands.pushConstants<DrawConstants>(pipelines.layout(), all_stages, 0, item.constants);
    commands.setDepthWriteEnable(how.pass != Pass::mask && item.writes_depth);
    if (item.shape == Shape::heights) {
        commands.bindIndexBuffer(stage->indices(), stage->field_indices(item.drawable),
                                 vk::IndexType::eUint32);
        commands.drawIndexed(item.vertices, 1, 0, 0, 0);
    } else {
        commands.draw(item.vertices, 1, 0, 0);
    }
}

void Renderer::State::record(FrameMemory& memory, const View& view) {
    const vk::raii::CommandBuffer& commands = memory.commands;
    memory.pool.reset();
    commands.begin({vk::CommandBufferUsageFlagBits::eOneTimeSubmit});
    if (memory.timed) {
        commands.resetQueryPool(*memory.timestamps, 0, 2);
        commands.writeTimestamp2(vk::PipelineStageFlagBits2::eTopOfPipe, *memory.timestamps, 0);
    }
    if (exchange && frame && changed)
        counters.host_bytes_copied += exchange->upload(commands, frame->slot);
    record_measurements(commands, memory);
    record_normals(commands, memory);
    record_shadows(commands, memory);
    record_things(commands, memory, put_to);
    if (put_to) {
        record_mask(commands, memory, view);
        record_picture(commands, view);
    }
    Barriers barriers;
    barriers.use(targets->finished.state(), Use::fragment_sample);
    barriers.record(commands);
    if (memory.timed)
        commands.writeTimestamp2(vk::PipelineStageFlagBits2::eBottomOfPipe, *memory.timestamps, 1);
    commands.end();
}

void Renderer::State::settle(const vk::raii::CommandBuffer& commands, FrameMemory& memory,
                             Barriers& barriers, std::uint32_t mode) {
    DrawConstants constants;
    constants.mode = mode;
    barriers.use(*measured, measured.state(), Use::compute_write);
    barriers.record(commands);
    commands.bindPipeline(vk::PipelineBindPoint::eCompute, pipelines.compute("settle.comp", false));
    bind(commands, vk::PipelineBindPoint::eCompute, memory, -1, true);
    commands.pushConstants<DrawConstants>(pipelines.layout(), all_stages, 0, constants);
    commands.dispatch(1, 1, 1);
}

void Renderer::State::measure(const vk::raii::CommandBuffer& commands, FrameMemory& memory,
                              const Measurement& one) {
    const bool wide = exchange && exchange->stage().real == RealType::f64;
    commands.bindPipeline(vk::PipelineBindPoint::eCompute, pipelines.compute("measure.comp", wide));
    bind(commands, vk::PipelineBindPoint::eCompute, memory, one.drawable, false);
    commands.pushConstants<DrawConstants>(pipelines.layout(), all_stages, 0, one.constants);
    constexpr std::uint32_t per_group = 64 * 16, most_groups = 1024;
    commands.dispatch(std::clamp(groups(one.constants.count, per_group), 1U, most_groups), 1, 1);
}

void Renderer::State::record_measurements(const vk::raii::CommandBuffer& commands,
                                          FrameMemory& memory) {
    Barriers barriers;
    settle(commands, memory, barriers, 0);
    barriers.use(*measured, measured.state(), Use::compute_write);
    barriers.record(commands);
    for (const Measurement& one : list.measurements) measure(commands, memory, one);
    barriers.use(*settled, settled.state(), Use::compute_write);
    settle(commands, memory, barriers, 1);
    barriers.use(*settled, settled.state(), Use::copy_and_draw_read);
    barriers.use(*memory.settled, memory.settled.state(), Use::transfer_write);
    barriers.record(commands);
    commands.copyBuffer(*settled, *memory.settled, vk::BufferCopy(0, 0, sizeof(SettledBlock)));
    barriers.use(*memory.settled, memory.settled.state(), Use::host_read);
    barriers.record(commands);
}

void Renderer::State::record_normals(const vk::raii::CommandBuffer& commands, FrameMemory& memory) {
    if (list.normals.empty()) return;
    const bool wide = exchange->stage().real == RealType::f64;
    commands.bindPipeline(vk::PipelineBindPoint::eCompute, pipelines.compute("normals.comp", wide));
    Barriers barriers;
    for (const std::uint32_t mode : {0U, 1U}) {
        barriers.use(*stage->normals(), stage->normals().state(), Use::compute_write);
        barriers.record(commands);
        for (const int drawable : list.normals) {
            const Drawable& surface =
                exchange->stage().drawables[static_cast<std::size_t>(drawable)];
            DrawConstants constants;
            constants.count = static_cast<std::uint32_t>(surface.indices.size() / 3);
            constants.first = static_cast<std::uint32_t>(
                exchange->stage().channels[static_cast<std::size_t>(surface.places)].elements + 1);
            constants.flags = exchange->stage().dimension == 2 ? in_plane : 0U;
            constants.mode = mode;
            bind(commands, vk::PipelineBindPoint::eCompute, memory, drawable, false);
            commands.pushConstants<DrawConstants>(pipelines.layout(), all_stages, 0, constants);
            const std::uint32_t items = mode == 0 ? constants.count : 3 * constants.count;
            commands.dispatch(std::max(groups(items, 64), 1U), 1, 1);
        }
    }
    barriers.use(*stage->normals(), stage->normals().state(), Use::draw_read);
    barriers.record(commands);
}

void Renderer::State::record_shadows(const vk::raii::CommandBuffer& commands, FrameMemory& memory) {
    Barriers barriers;
    // Its first content is light everywhere.
    if (list.shadows || shadow_map.state().unused()) {
        barriers.use(shadow_map.state(), Use::depth_attachment, true);
        barriers.record(commands);
        const vk::ClearValue far(vk::ClearDepthStencilValue(1, 0));
        commands.beginRenderPass({pipelines.render_pass(Pass::shadow, 1), *shadow_framebuffer,
                                  vk::Rect2D({0, 0}, shadow_map.extent()), far},
                                 vk::SubpassContents::eInline);
        set_area(commands, shadow_map.width(), shadow_map.height());
        for (const Item& item : list.items)
            if (item.casts_shadow) record_item(commands, memory, item, {Pass::shadow});
        commands.endRenderPass();
    }
    barriers.use(shadow_map.state(), Use::fragment_sample);
    barriers.record(commands);
}

void Renderer::State::record_things(const vk::raii::CommandBuffer& commands, FrameMemory& memory,
                                    bool to_lit) {
    const int samples = targets->samples();
    Barriers barriers;
    Target& resolved = to_lit ? targets->lit : targets->finished;
    barriers.use(resolved.state(), Use::color_attachment, true);
    if (targets->color) barriers.use(targets->color.state(), Use::color_attachment, true);
    barriers.use(targets->depth.state(), Use::depth_attachment, true);
    if (to_lit && targets->nearest)
        barriers.use(targets->nearest.state(), Use::depth_resolve, true);
    barriers.record(commands);
    std::array<vk::ClearValue, 2> clear;  // the color is not cleared
    clear[1].setDepthStencil({0, 0});
    const vk::Rect2D area({0, 0}, resolved.extent());
    commands.beginRenderPass({pipelines.render_pass(Pass::color, samples, to_lit),
                              targets->drawing(to_lit), area, clear},
                             vk::SubpassContents::eInline);
    set_area(commands, resolved.width(), resolved.height());

    Item background;
    background.shape = Shape::background;
    background.vertices = 3;
    background.writes_depth = false;
    record_item(commands, memory, background, {Pass::color, samples});
    const auto draw_group = [&](Group group, const How& how) {
        for (const Item& item : list.items)
            if (item.group == group) record_item(commands, memory, item, how);
    };
    draw_group(Group::ground, {Pass::color, samples, true});
    const bool ghosts = std::ranges::any_of(
        list.items, [](const Item& item) { return item.group == Group::ghost; });
    if (ghosts) {
        // First how near they are, so that of each ghost only what is in front is blended.
        if (!list.flat) draw_group(Group::ghost, {Pass::color, samples, false, true});
        draw_group(Group::ghost, {Pass::color, samples, true, false, list.flat});
        // And then nothing is behind them; what the ground hides stays hidden.
        const vk::ClearAttachment far(vk::ImageAspectFlagBits::eDepth, 0,
                                      vk::ClearDepthStencilValue(0, 0));
        commands.clearAttachments(far, vk::ClearRect(area, 0, 1));
        draw_group(Group::ground, {Pass::color, samples, false, true});
    }
    draw_group(Group::solid, {Pass::color, samples});
    draw_group(Group::grid, {Pass::color, samples, true});
    draw_group(Group::overlay, {Pass::color, samples, true});
    commands.endRenderPass();
}

void Renderer::State::record_mask(const vk::raii::CommandBuffer& commands, FrameMemory& memory,
                                  const View& view) {
    if (!targets->mask) return;
    Barriers barriers;
    // Also when nothing is selected the image is read, and must hold something.
    if (view.selected_drawable >= 0 || targets->mask.state().unused()) {
        barriers.use(targets->mask.state(), Use::color_attachment, true);
        barriers.record(commands);
        const vk::ClearValue nothing(vk::ClearColorValue(std::array{0.0F, 0.0F, 0.0F, 0.0F}));
        commands.beginRenderPass({pipelines.render_pass(Pass::mask, 1), targets->masking(),
                                  vk::Rect2D({0, 0}, targets->mask.extent()), nothing},
                                 vk::SubpassContents::eInline);
        set_area(commands, targets->mask.width(), targets->mask.height());
        for (Item item : list.items) {
            if (item.drawable < 0 || item.drawable != view.selected_drawable) continue;
            const Drawable& drawable =
                exchange->stage().drawables[static_cast<std::size_t>(item.drawable)];
            const bool points = elements_of(drawable.kind) == ElementKind::point;
            if (view.selected_element >= 0)
                item.constants.only = static_cast<std::int32_t>(view.selected_element +
                                                                (points ? drawable.first : 0));
            record_item(commands, memory, item, {Pass::mask});
        }
        commands.endRenderPass();
    }
}

void Renderer::State::record_picture(const vk::raii::CommandBuffer& commands, const View& view) {
    Target& depth = targets->nearest ? targets->nearest : targets->depth;
    Barriers barriers;
    barriers.use(depth.state(), Use::compute_sample);
    barriers.use(targets->lit.state(), Use::compute_sample);
    if (targets->mask) barriers.use(targets->mask.state(), Use::compute_sample);
    barriers.use(targets->finished.state(), Use::storage_image, true);
    commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, pipelines.picture_layout(), 0,
                                targets->set(), {});
    commands.pushConstants<PictureConstants>(pipelines.picture_layout(),
                                             vk::ShaderStageFlagBits::eCompute, 0, list.picture);
    const auto run = [&](const char* shader, const Target& over) {
        barriers.use(targets->distance.state(), Use::storage_image);
        barriers.use(targets->open.state(), Use::storage_image);
        barriers.use(targets->calm.state(), Use::storage_image);
        barriers.record(commands);
        commands.bindPipeline(
            vk::PipelineBindPoint::eCompute,
            pipelines.picture(shader, list.occlusion, view.selected_drawable >= 0));
        commands.dispatch(groups(over.extent().width, 8), groups(over.extent().height, 8), 1);
    };
    if (list.occlusion) {
        run("distance.comp", targets->distance);
        run("occlusion.comp", targets->distance);
        run("calm.comp", targets->distance);
    }
    run("compose.comp", targets->finished);
}

}  // namespace hindcast::render
