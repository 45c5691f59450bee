// The public functions of the renderer, and what it keeps from draw to draw.
#include "app/render/renderer.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "app/render/color_map.hpp"
#include "app/render/renderer_state.hpp"

namespace hindcast::render {

Renderer::State::State(VulkanContext& of) : context(of), pipelines(of) {
    using Usage = vk::BufferUsageFlagBits;
    measured = Buffer(context, measured_bytes, Usage::eStorageBuffer | Usage::eTransferSrc,
                      Residence::device, "measured");
    settled = Buffer(context, sizeof(SettledBlock),
                     Usage::eStorageBuffer | Usage::eUniformBuffer | Usage::eTransferSrc,
                     Residence::device, "settled");
    constexpr std::size_t map_bytes = std::size_t{4} * color_steps;
    // The number after the tables is the zero of scene.glsl.
    colors = Buffer(context, map_bytes * color_maps + sizeof(std::uint32_t),
                    Usage::eStorageBuffer | Usage::eTransferDst, Residence::device, "colors");
    shadow_map =
        Target(context, shadow_map_size, shadow_map_size, depth_format, 1,
               vk::ImageUsageFlagBits::eDepthStencilAttachment | vk::ImageUsageFlagBits::eSampled,
               "shadow map");
    const std::array view = {shadow_map.view()};
    shadow_framebuffer =
        vk::raii::Framebuffer(context.state().device,
                              vk::FramebufferCreateInfo({}, pipelines.render_pass(Pass::shadow, 1),
                                                        view, shadow_map_size, shadow_map_size, 1));
    context.name(VK_OBJECT_TYPE_FRAMEBUFFER, static_cast<VkFramebuffer>(*shadow_framebuffer),
                 "to shadow map");
    upload(context, "upload of colors", colors, Use::shader_read, [&](std::byte* memory) {
        std::memset(memory, 0, colors.size());
        for (std::size_t map = 0; map < color_maps; ++map)
            std::memcpy(memory + map * map_bytes, color_table(static_cast<ColorMap>(map)).data(),
                        map_bytes);
    });
    prepare_frames();
}

Renderer::State::~State() {
    context.state().finish_all();
    if (exchange) exchange->release();
}

void Renderer::State::prepare_frames() {
    auto& state = context.state();
    using Type = vk::DescriptorType;
    using Usage = vk::BufferUsageFlagBits;
    for (std::size_t k = 0; k < frames.size(); ++k) {
        FrameMemory& memory = frames[k];
        const std::string of = fmt::format(" of frame {}", k);
        memory.pool = vk::raii::CommandPool(
            state.device, {vk::CommandPoolCreateFlagBits::eTransient, state.family});
        context.name(VK_OBJECT_TYPE_COMMAND_POOL, static_cast<VkCommandPool>(*memory.pool),
                     "commands" + of);
        vk::raii::CommandBuffers buffers(state.device,
                                         {*memory.pool, vk::CommandBufferLevel::ePrimary, 1});
        memory.commands = std::move(buffers.front());
        context.name(VK_OBJECT_TYPE_COMMAND_BUFFER, static_cast<VkCommandBuffer>(*memory.commands),
                     "commands" + of);
        memory.timed = state.timestamp_period > 0;
        if (memory.timed) {
            memory.timestamps =
                vk::raii::QueryPool(state.device, {{}, vk::QueryType::eTimestamp, 2});
            context.name(VK_OBJECT_TYPE_QUERY_POOL, static_cast<VkQueryPool>(*memory.timestamps),
                         "timestamps" + of);
        }
        memory.scene = Buffer(context, sizeof(SceneBlock), Usage::eUniformBuffer, Residence::upload,
                              "view" + of);
        memory.settled = Buffer(context, sizeof(SettledBlock), Usage::eTransferDst,
                                Residence::readback, "settled" + of);
        const std::array sizes = {vk::DescriptorPoolSize(Type::eUniformBuffer, 2),
                                  vk::DescriptorPoolSize(Type::eStorageBuffer, 9),
                                  vk::DescriptorPoolSize(Type::eCombinedImageSampler, 1)};
        memory.sets =
            vk::raii::DescriptorPool(state.device, vk::DescriptorPoolCreateInfo({}, 2, sizes));
        context.name(VK_OBJECT_TYPE_DESCRIPTOR_POOL, static_cast<VkDescriptorPool>(*memory.sets),
                     "sets" + of);
        const std::array layouts = {pipelines.view_set(), pipelines.drawable_set()};
        const auto sets =
            (*state.device)
                .allocateDescriptorSets({*memory.sets, layouts}, *state.device.getDispatcher());
        memory.view_set = sets[0];
        memory.lines_set = sets[1];
        context.name(VK_OBJECT_TYPE_DESCRIPTOR_SET, static_cast<VkDescriptorSet>(sets[0]),
                     "view" + of);
        context.name(VK_OBJECT_TYPE_DESCRIPTOR_SET, static_cast<VkDescriptorSet>(sets[1]),
                     "lines" + of);
        const vk::DescriptorBufferInfo scene(*memory.scene, 0, VK_WHOLE_SIZE),
            table(*colors, 0, VK_WHOLE_SIZE), found(*measured, 0, VK_WHOLE_SIZE),
            result(*settled, 0, VK_WHOLE_SIZE);
        const vk::DescriptorImageInfo map(pipelines.shadow_sampler(), shadow_map.view(),
                                          vk::ImageLayout::eShaderReadOnlyOptimal);
        const std::array writes = {
            vk::WriteDescriptorSet(sets[0], 0, 0, 1, Type::eUniformBuffer, nullptr, &scene),
            vk::WriteDescriptorSet(sets[0], 1, 0, 1, Type::eStorageBuffer, nullptr, &table),
            vk::WriteDescriptorSet(sets[0], 2, 0, 1, Type::eStorageBuffer, nullptr, &found),
            vk::WriteDescriptorSet(sets[0], 3, 0, 1, Type::eCombinedImageSampler, &map),
            vk::WriteDescriptorSet(sets[0], 4, 0, 1, Type::eStorageBuffer, nullptr, &result),
            vk::WriteDescriptorSet(sets[0], 5, 0, 1, Type::eUniformBuffer, nullptr, &result)};
        state.device.updateDescriptorSets(writes, {});
        write_lines(memory);
    }
}

// The places that the host gives, in memory that grows by doubling. Its last draw must be done.
void Renderer::State::write_lines(FrameMemory& memory) {
    const std::size_t bytes = list.host_places.size() * sizeof(float);
    if (!memory.lines || memory.lines.size() < bytes) {
        vk::DeviceSize size = 4096;
        while (size < bytes) size *= 2;
        memory.lines = Buffer(context, size, vk::BufferUsageFlagBits::eStorageBuffer,
                              Residence::upload, "lines");
        const vk::DescriptorBufferInfo all(*memory.lines, 0, VK_WHOLE_SIZE);
        std::vector<vk::WriteDescriptorSet> writes;
        for (std::uint32_t b = 0; b < 6; ++b)
            writes.emplace_back(memory.lines_set, b, 0, 1, vk::DescriptorType::eStorageBuffer,
                                nullptr, &all);
        context.state().device.updateDescriptorSets(writes, {});
    }
    if (bytes > 0) std::memcpy(memory.lines.mapped(), list.host_places.data(), bytes);
}

void Renderer::State::prepare_targets(const View& view) {
    const bool outlined = view.selected_drawable >= 0;
    put_to = list.occlusion || outlined;
    if (targets && targets->fits(view.width, view.height, view.samples, put_to, outlined)) return;
    // Images that exist stay although the draw no longer needs them, so that switching is cheap.
    const bool had_lit = targets && targets->lit, had_mask = targets && targets->mask;
    retire(context, targets);
    targets = std::make_shared<Targets>(context, pipelines, view.width, view.height, view.samples,
                                        put_to || had_lit, outlined || had_mask);
    ++generation;
}

void Renderer::State::finish(FrameMemory& memory) {
    if (memory.value == 0) return;
    context.wait(memory.value);
    const auto& found = *memory.settled.as<SettledBlock>();
    color_range = {found.color_range[0], found.color_range[1]};
    measured_range = {found.shadow_texel[2], found.shadow_texel[3]};
    longest = {memory.arrows, static_cast<double>(found.color_range[2])};
    if (memory.timed) {
        const auto [result, times] = memory.timestamps.getResults<std::uint64_t>(
            0, 2, 2 * sizeof(std::uint64_t), sizeof(std::uint64_t),
            vk::QueryResultFlagBits::e64 | vk::QueryResultFlagBits::eWait);
        if (result == vk::Result::eSuccess)
            device_seconds = static_cast<double>(times[1] - times[0]) *
                             static_cast<double>(context.state().timestamp_period) * 1e-9;
    }
    memory.value = 0;
}

// The oldest first: what the newest found stays.
void Renderer::State::finish_done(bool wait) {
    const std::uint64_t done = wait ? 0 : context.completed();
    for (std::size_t k = 0; k < frames.size(); ++k) {
        FrameMemory& memory = frames[(drawn + k) % frames.size()];
        if (wait || memory.value <= done) finish(memory);
    }
}

bool Renderer::State::draw(const View& view) {
    if (view.width < 1 || view.height < 1) return false;
    const auto most = static_cast<int>(context.state().limits.maxImageDimension2D);
    if (view.width > most || view.height > most)
        throw Error(fmt::format("a picture of {} x {} pixels is larger than '{}' can draw",
                                view.width, view.height, context.facts().name))
            .remedy(fmt::format("ask for at most {} x {}", most, most));
    View wanted = view;
    wanted.samples = view.samples > 1 ? 4 : 1;
    const bool newer = has_newer();
    if (!newer && !changed && last_view && *last_view == wanted) {
        context.state().guarded([&] { finish_done(false); });
        return false;
    }
    return context.state().guarded([&] {
        FrameMemory& memory = frames[drawn % frames.size()];
        if (newer) {
            // The slot that is given back must not be read any more.
            finish_done(true);
            frame = exchange->acquire();
            changed = true;
        }
        finish(memory);
        const auto start = std::chrono::steady_clock::now();
        list = make_draw_list(exchange ? &exchange->stage() : nullptr, frame ? &*frame : nullptr,
                              wanted, shadow_map_size);
        prepare_targets(wanted);
        std::memcpy(memory.scene.mapped(), &list.scene, sizeof list.scene);
        write_lines(memory);
        record(memory, wanted);
        record_seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        Submission submission;
        submission.commands = static_cast<VkCommandBuffer>(*memory.commands);
        std::array<VkSemaphoreSubmitInfo, 1> complete{};
        if (const auto wait = exchange && frame ? exchange->complete(*frame) : std::nullopt) {
            complete[0] = *wait;
            submission.waits = complete;
        }
        memory.value = context.submit(submission);
        memory.arrows = frame ? frame->arrows : "";
        ++drawn;
        ++counters.frames;
        last_view = std::move(wanted);
        changed = false;
        return true;
    });
}

Image Renderer::State::read_image() {
    Image image;
    if (!targets) return image;
    return context.state().guarded([&] {
        Target& picture = targets->finished;
        image.width = picture.width();
        image.height = picture.height();
        const std::size_t bytes = 4UL * image.width * image.height;
        if (readback.size() < bytes) {
            retire(context, readback);
            readback = Buffer(context, bytes, vk::BufferUsageFlagBits::eTransferDst,
                              Residence::readback, "picture for the host");
        }
        run_once(context, "read the picture", [&](const vk::raii::CommandBuffer& commands) {
            Barriers barriers;
            barriers.use(picture.state(), Use::transfer_read);
            barriers.use(*readback, readback.state(), Use::transfer_write);
            barriers.record(commands);
            const vk::BufferImageCopy copy(0, 0, 0, {vk::ImageAspectFlagBits::eColor, 0, 0, 1},
                                           {0, 0, 0},
                                           {picture.extent().width, picture.extent().height, 1});
            commands.copyImageToBuffer(picture.image(), vk::ImageLayout::eTransferSrcOptimal,
                                       *readback, copy);
            barriers.use(*readback, readback.state(), Use::host_read);
            barriers.use(picture.state(), Use::fragment_sample);
            barriers.record(commands);
        });
        finish_done(true);
        const auto* const first = readback.as<std::uint8_t>();
        image.pixels.assign(first, first + bytes);
        return image;
    });
}

// ---- public -------------------------------------------------------------------------------------

Renderer::Renderer(VulkanContext& context)
    : state_(context.state().guarded([&] { return std::make_unique<State>(context); })) {}
Renderer::~Renderer() = default;

std::shared_ptr<Exchange> Renderer::share(
    std::shared_ptr<const Stage> stage, std::optional<TransportKind> kind,
    const std::optional<std::array<std::uint8_t, 16>>& cuda_uuid) {
    State& state = *state_;
    return state.context.state().guarded([&] {
        const auto make = [&](TransportKind which) {
            return std::make_shared<SharedExchange>(state.context, stage, which);
        };
        std::shared_ptr<SharedExchange> made;
        if (kind) {
            made = make(*kind);
        } else {
            try {
                made = make(best_kind(state.context, cuda_uuid));
            } catch (const std::exception&) {
                made = make(TransportKind::staging);  // works everywhere
            }
        }
        auto memory = std::make_shared<StageMemory>(state.context, state.pipelines, *made);
        if (state.exchange) state.exchange->release();
        retire(state.context, state.exchange);
        retire(state.context, state.stage);
        state.exchange = made;
        state.stage = std::move(memory);
        state.frame.reset();
        state.longest = {};
        for (FrameMemory& each : state.frames) each.arrows.clear();
        state.changed = true;
        return std::static_pointer_cast<Exchange>(made);
    });
}

bool Renderer::draw(const View& view) { return state_->draw(view); }
const std::optional<Frame>& Renderer::frame() const { return state_->frame; }
bool Renderer::has_newer() const { return state_->has_newer(); }
void Renderer::finish_drawing() {
    if (state_->has_newer()) state_->context.state().guarded([&] { state_->finish_done(true); });
}
Image Renderer::read_image() { return state_->read_image(); }
Image Renderer::picture(const View& view) {
    if (state_->exchange) state_->exchange->await();
    draw(view);
    return read_image();
}
Pick Renderer::pick(int x, int y) { return state_->pick(x, y); }
std::array<double, 2> Renderer::color_range() const { return state_->color_range; }
Renderer::Longest Renderer::longest_arrow() const { return state_->longest; }
std::optional<std::array<double, 2>> Renderer::numbers_of(int drawable, const Element& element) {
    return state_->numbers_of(drawable, element);
}

std::optional<Bounds> Renderer::bounds_of(const std::vector<int>& drawables, const Element& part) {
    return state_->bounds_of({drawables}, part).front();
}
std::vector<std::optional<Bounds>> Renderer::bounds_of_each(const std::vector<int>& drawables) {
    std::vector<std::vector<int>> alone;
    for (const int drawable : drawables) alone.push_back({drawable});
    return state_->bounds_of(alone, {});
}
std::vector<Vec3> Renderer::points(std::int64_t first, std::int64_t count) {
    return state_->points(first, count);
}
std::optional<Vec3> Renderer::point(std::int64_t number) {
    const std::vector<Vec3> found = points(number, 1);
    if (found.empty()) return std::nullopt;
    return found.front();
}
double Renderer::device_seconds() const { return state_->device_seconds; }
double Renderer::record_seconds() const { return state_->record_seconds; }
Renderer::Counters Renderer::counters() const { return state_->counters; }

Renderer::Texture Renderer::texture() const {
    Texture texture;
    const State& state = *state_;
    if (!state.targets) return texture;
    const Target& picture = state.targets->finished;
    texture.view = static_cast<VkImageView>(picture.view());
    texture.sampler = static_cast<VkSampler>(state.pipelines.linear_sampler());
    texture.generation = state.generation;
    texture.width = picture.width();
    texture.height = picture.height();
    return texture;
}

}  // namespace hindcast::render
