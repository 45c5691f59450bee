#include "app/session/frames/frame_writer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "engine/backend/cuda/context.hpp"
#include "engine/base/log.hpp"

namespace hindcast::session {

namespace {

constexpr double hidden = std::numeric_limits<double>::quiet_NaN();

ir::Type type_of(const render::Stage& stage) {
    return stage.real == render::RealType::f32 ? ir::Type::f32 : ir::Type::f64;
}

std::vector<std::int64_t> shape_of(const render::Channel& channel) {
    if (channel.components == 1) return {channel.elements};
    return {channel.elements, channel.components};
}

// True if a field shows its own values in these colors.
bool shows_own(const ValueSource* color, const std::string& array) {
    return color == nullptr || color->of != ValueSource::Of::field || color->array != array ||
           color->kind == ValueSource::Kind::array;
}

}  // namespace

class ChannelWriter {
public:
    ChannelWriter(FrameWriter& writer, const FrameInput& input, const std::vector<Array>& channels)
        : w_(writer),
          kernels_(writer.kernels_),
          m_(input),
          channels_(channels),
          plan_(input.scene->plan) {}

    void write() {
        if (plan_.position >= 0) {
            put(kept(m_.frame, "position"), channel(plan_.position), hidden);
            put(kept(m_.ghost, "position"), channel(plan_.ghost), hidden);
            const ValueSource* const arrows = m_.scene->shown_arrows(m_.contents.arrows);
            put(arrows != nullptr ? array_of(*arrows) : nullptr, channel(plan_.arrows), 0);
            for (const PlacedArrows& placed : plan_.placed) put(placed, arrows);
        }
        write_colors();
    }

    void write_colors() const {
        const auto found = m_.scene->color_sources.find(m_.contents.color);
        const ValueSource* const color =
            found == m_.scene->color_sources.end() ? nullptr : &found->second;
        for (const FieldChannel& field : plan_.fields) {
            const bool other = color != nullptr && color->of == ValueSource::Of::field &&
                               color->array == field.array;
            const bool of_host = other && (color->kind == ValueSource::Kind::quantity ||
                                           color->kind == ValueSource::Kind::quantity_gradient);
            if (of_host) {
                paint(*color, {field.channel});
                continue;
            }
            const Array* const from = other ? array_of(*color) : nullptr;
            put(from != nullptr ? from : kept(m_.frame, field.array), channel(field.channel), 0);
        }
        write_targets(color);
        colors(color);
    }

private:
    // Writes the target values of fields.
    void write_targets(const ValueSource* color) const {
        FrameWriter::Targets& kept = w_.targets_;
        const Trajectory& t = *m_.trajectory;
        if (kept.scene != m_.scene || kept.parameters != t.parameters || kept.base != t.base)
            kept = {m_.scene, t.parameters, t.base, {}};
        for (const TargetChannel& target : plan_.targets) {
            if (!shows_own(color, target.array)) {
                kernels_.fill(channel(target.channel), hidden);
                continue;
            }
            Array& array = kept.channels[target.channel];
            if (!array)
                array =
                    Array::from(m_.scene->values_of(m_.scene->quantity_of.at(target.quantity),
                                                    *t.base, t.parameters),
                                channel(target.channel).type(), channel(target.channel).shape());
            put(&array, channel(target.channel), 0);
        }
    }

    const Array& channel(int c) const { return channels_[static_cast<std::size_t>(c)]; }

    static const Array* kept(const FramePointer& frame, const std::string& array) {
        return frame == nullptr ? nullptr : frame->find(array);
    }
    const Array* array_of(const ValueSource& source) const {
        return kept(source.kind == ValueSource::Kind::array_gradient ? m_.adjoint : m_.frame,
                    source.array);
    }

    // Fills `to` with `otherwise` if the array was not kept.
    void put(const Array* from, const Array& to, double otherwise) const {
        if (from != nullptr && from->size() == to.size())
            kernels_.copy(*from, to);
        else
            kernels_.fill(to, otherwise);
    }

    void put(const PlacedArrows& to, const ValueSource* chosen) const {
        const Array* from = nullptr;
        if (chosen != nullptr && chosen->draws(to.drawable)) from = kept(m_.frame, to.key);
        if (from != nullptr) return kernels_.split(*from, channel(to.places), channel(to.vectors));
        for (const int c : {to.places, to.vectors}) kernels_.fill(channel(c), 0);
    }

    void colors(const ValueSource* source) const {
        const auto paints = [&](ValueSource::Kind kind) {
            return source != nullptr && source->kind == kind &&
                   source->of != ValueSource::Of::field;
        };
        if (paints(ValueSource::Kind::quantity) || paints(ValueSource::Kind::quantity_gradient)) {
            std::vector<int> channels;
            if (plan_.color >= 0) channels.push_back(plan_.color);
            for (const SegmentChannel& s : plan_.segments) channels.push_back(s.channel);
            paint(*source, channels);
        } else if (paints(ValueSource::Kind::array) || paints(ValueSource::Kind::array_gradient)) {
            const Array* const from = plan_.color < 0 ? nullptr : array_of(*source);
            if (from == nullptr || from->elements() != plan_.points) return hide_all();
            kernels_.magnitude(*from, channel(plan_.color));
            for (const SegmentChannel& s : plan_.segments)  // between the colors of their ends
                kernels_.middle(channel(plan_.color), ends_of(s), channel(s.channel));
        } else if (paints(ValueSource::Kind::shown)) {
            hide_all();
            for (const ValueSource::Part& part : source->parts)
                if (const Array* const from = kept(m_.frame, part.key)) show(*from, part.drawable);
        } else {
            hide_all();
        }
    }

    void hide_all() const {
        if (plan_.color >= 0) kernels_.fill(channel(plan_.color), hidden);
        for (const SegmentChannel& s : plan_.segments) kernels_.fill(channel(s.channel), hidden);
    }

    // A number for each of the drawable's elements.
    void show(const Array& numbers, int drawable) const {
        const render::Drawable& t = plan_.stage->drawables[static_cast<std::size_t>(drawable)];
        if (t.kind == render::Drawable::Kind::segments)
            kernels_.copy(numbers, channel(t.values));
        else
            kernels_.mean(numbers, around_points(drawable), channel(t.values));
    }

    void draw_this_stage() const {
        if (w_.drawn_of_ == plan_.stage) return;
        w_.ends_.clear();
        w_.around_.clear();
        w_.drawn_of_ = plan_.stage;
    }

    const Array& ends_of(const SegmentChannel& s) const {
        draw_this_stage();
        Array& ends = w_.ends_[s.drawable];
        if (ends) return ends;
        const std::vector<std::uint32_t>& indices =
            plan_.stage->drawables[static_cast<std::size_t>(s.drawable)].indices;
        ends = Array(ir::Type::i32, {static_cast<std::int64_t>(indices.size() / 2), 2});
        ends.assign_integers(std::vector<std::int64_t>(indices.begin(), indices.end()));
        return ends;
    }

    // The elements of the triangles around each point of a surface; around a point inside, those of
    // the tetrahedra.
    const FrameKernels::Means& around_points(int surface) const {
        draw_this_stage();
        FrameKernels::Means& around = w_.around_[surface];
        if (around.points) return around;
        const render::Drawable& t = plan_.stage->drawables[static_cast<std::size_t>(surface)];
        std::map<std::uint32_t, std::vector<std::int64_t>> elements;
        for (std::size_t k = 0; k < t.indices.size(); ++k)
            elements[t.indices[k]].push_back(static_cast<std::int64_t>(t.cell_of(k / 3)));
        for (const auto& [point, element] : inside_of(t)) elements[point].push_back(element);
        std::vector<std::int64_t> points, begins{0}, which;
        for (const auto& [point, list] : elements) {
            points.push_back(point);
            which.insert(which.end(), list.begin(), list.end());
            begins.push_back(static_cast<std::int64_t>(which.size()));
        }
        const auto indices = [](const std::vector<std::int64_t>& list) {
            Array array(ir::Type::i32, {static_cast<std::int64_t>(list.size())});
            array.assign_integers(list);
            return array;
        };
        return around = {indices(points), indices(begins), indices(which)};
    }

    // Corners of tetrahedra that are not on the surface, each with the tetrahedron's element.
    static std::vector<std::pair<std::uint32_t, std::int64_t>> inside_of(
        const render::Drawable& t) {
        const std::set<std::uint32_t> outside(t.indices.begin(), t.indices.end());
        std::vector<std::pair<std::uint32_t, std::int64_t>> inside;
        for (std::size_t k = 0; k < t.tetrahedra.size(); ++k)
            if (!outside.contains(t.tetrahedra[k]))
                inside.emplace_back(t.tetrahedra[k], static_cast<std::int64_t>(k / 4));
        return inside;
    }

    // ---- numbers of the host: one per element of the quantity's owner ----

    void paint(const ValueSource& source, const std::vector<int>& channels) const {
        FrameWriter::Painted& p = w_.painted_;
        const Trajectory& t = *m_.trajectory;
        const bool gradient = source.kind == ValueSource::Kind::quantity_gradient;
        if (p.scene != m_.scene || p.quantity != source.quantity || p.gradient != gradient ||
            p.parameters != t.parameters || p.gradients != m_.gradient || p.base != t.base ||
            p.channels.empty()) {
            p = {m_.scene, source.quantity, gradient, t.parameters, m_.gradient, t.base, {}};
            for (const int c : channels) p.channels[c] = Array();
            const std::vector<double> numbers = magnitudes(source, gradient);
            for (auto& [c, array] : p.channels) {
                std::vector<double> values(static_cast<std::size_t>(channel(c).size()), hidden);
                if (place(source, numbers, c, values))
                    array = Array::from(values, channel(c).type(), channel(c).shape());
            }
        }
        for (const auto& [c, array] : p.channels) put(array ? &array : nullptr, channel(c), hidden);
    }

    std::vector<double> magnitudes(const ValueSource& source, bool gradient) const {
        std::vector<double> values =
            gradient ? m_.scene->gradient_of(source.quantity, m_.gradient)
                     : m_.scene->values_of(source.quantity, *m_.trajectory->base,
                                           m_.trajectory->parameters);
        const auto components =
            static_cast<std::size_t>(m_.scene->quantities[source.quantity].info.components);
        if (components == 1) return values;
        std::vector<double> lengths(values.size() / std::max<std::size_t>(components, 1));
        for (std::size_t k = 0; k < lengths.size(); ++k) {
            double sum = 0;
            for (std::size_t c = 0; c < components; ++c)
                sum += values[k * components + c] * values[k * components + c];
            lengths[k] = std::sqrt(sum);
        }
        return lengths;
    }

    // Writes the numbers to `values` if this channel shows them, and then returns true.
    bool place(const ValueSource& source, const std::vector<double>& numbers, int c,
               std::vector<double>& values) const {
        if (numbers.empty()) return false;
        const std::string& owner = m_.scene->quantities[source.quantity].owner;
        if (source.of == ValueSource::Of::range && c == plan_.color) {
            std::copy(numbers.begin(), numbers.end(), values.begin() + source.first);
            return true;
        }
        if (source.of == ValueSource::Of::field) {
            if (values.size() != numbers.size()) return false;
            values = numbers;
            return true;
        }
        if (source.of == ValueSource::Of::segments) {
            const bool of_owner = std::any_of(
                plan_.segments.begin(), plan_.segments.end(),
                [&](const SegmentChannel& s) { return s.channel == c && s.owner == owner; });
            if (!of_owner || values.size() != numbers.size()) return false;
            values = numbers;
            return true;
        }
        if (source.of != ValueSource::Of::surface || c != plan_.color) return false;
        for (const render::Drawable& t : plan_.stage->drawables)
            if (!t.ghost && t.name == owner && t.kind == render::Drawable::Kind::surface)
                surface(t, numbers, values);
        return true;
    }

    // A corner has the mean of the triangles around it.
    static void surface(const render::Drawable& t, const std::vector<double>& numbers,
                        std::vector<double>& values) {
        std::vector<double> sums(values.size(), 0.0);
        std::vector<int> counts(values.size(), 0);
        for (std::size_t k = 0; k < t.indices.size(); ++k) {
            sums[t.indices[k]] += numbers[t.cell_of(k / 3)];
            ++counts[t.indices[k]];
        }
        for (const auto& [point, element] : inside_of(t)) {
            sums[point] += numbers[static_cast<std::size_t>(element)];
            ++counts[point];
        }
        for (std::size_t p = 0; p < sums.size(); ++p)
            if (counts[p] > 0) values[p] = sums[p] / counts[p];
    }

    FrameWriter& w_;
    FrameKernels& kernels_;
    const FrameInput& m_;
    const std::vector<Array>& channels_;
    const StagePlan& plan_;
};

render::Frame FrameJob::frame() const {
    render::Frame f;
    f.step = input.frame->step;
    f.iteration = trajectory->iteration;
    f.time = static_cast<double>(f.step) * scene->step_seconds;
    f.arrows = input.contents.arrows;
    f.numbers = scene->drawable_numbers(*base, parameters, f.time, input.frame.get());
    f.meshes = scene->drawable_meshes(*base, parameters);
    const std::vector<render::Drawable>& drawables = scene->plan.stage->drawables;
    const ValueSource* const arrows = scene->shown_arrows(input.contents.arrows);
    for (std::size_t k = 0; k < drawables.size(); ++k) {
        if (drawables[k].kind != render::Drawable::Kind::arrows) continue;
        const bool own = drawables[k].places != scene->plan.position;
        const bool drawn =
            own ? arrows != nullptr && arrows->draws(static_cast<int>(k))
                : !input.contents.arrows.empty() &&
                      (arrows == nullptr || arrows->kind != ValueSource::Kind::shown);
        // Arrows at contacts and joints are seen through the bodies.
        if (!drawn || own) f.numbers[k] = {drawn ? 1.0 : 0.0};
    }
    const auto color = scene->color_sources.find(input.contents.color);
    for (const TargetChannel& target : scene->plan.targets)
        if (color != scene->color_sources.end() && !shows_own(&color->second, target.array))
            f.numbers[static_cast<std::size_t>(target.drawable)] = {0};
    return f;
}

FrameWriter::FrameWriter(std::shared_ptr<Device> device) : kernels_(std::move(device)) {}

FrameWriter::~FrameWriter() = default;

void FrameWriter::release() {
    kernels_.forget();
    for (auto& arrays : arrays_) arrays.clear();
    semaphore_ = nullptr;
    tried_ = false;
    painted_ = {};
    targets_ = {};
    ends_.clear();
    around_.clear();
    drawn_of_ = nullptr;
    measured_of_ = nullptr;
    measured_.clear();
    exchange_ = nullptr;
}

std::optional<std::array<double, 2>> FrameWriter::color_range(const FrameJob& job) {
    using Kind = render::Drawable::Kind;
    const StagePlan& plan = job.input.scene->plan;
    const render::Stage& stage = *plan.stage;
    if (measured_of_ != plan.stage) {
        measured_.assign(stage.channels.size(), Array());
        colored_.clear();
        const auto need = [&](int number) -> const render::Channel& {
            const render::Channel& channel = stage.channels[static_cast<std::size_t>(number)];
            Array& array = measured_[static_cast<std::size_t>(number)];
            if (!array) array = Array(type_of(stage), shape_of(channel));
            return channel;
        };
        for (const render::Drawable& t : stage.drawables) {
            if (t.ghost || t.values < 0 || t.kind == Kind::arrows) continue;
            const render::Channel& channel = need(t.values);
            const bool points = t.kind == Kind::points;
            colored_.push_back(
                {t.values, points ? t.first : 0, points ? t.count : channel.elements});
        }
        if (plan.color >= 0) need(plan.color);
        for (const SegmentChannel& segments : plan.segments) need(segments.channel);
        for (const FieldChannel& field : plan.fields) need(field.channel);
        for (const TargetChannel& target : plan.targets) need(target.channel);
        measured_of_ = plan.stage;
    }
    ChannelWriter(*this, job.input, measured_).write_colors();
    kernels_.device()->synchronize();
    double low = std::numeric_limits<double>::infinity(), high = -low;
    const auto add = [&]<class T>(const T* numbers, const Colored& of) {
        for (std::int64_t k = of.first; k < of.first + of.count; ++k) {
            const auto x = static_cast<double>(numbers[k]);
            if (!std::isfinite(x)) continue;
            low = std::min(low, x);
            high = std::max(high, x);
        }
    };
    for (const Colored& of : colored_) {
        const Array& array = measured_[static_cast<std::size_t>(of.channel)];
        if (array.size() == 0) continue;
        if (stage.real == render::RealType::f64)
            add(static_cast<const double*>(array.data()), of);
        else
            add(static_cast<const float*>(array.data()), of);
    }
    if (low > high) return std::nullopt;
    return std::array{low, high};
}

void FrameWriter::connect(const std::shared_ptr<render::Exchange>& exchange) {
    if (exchange_ == exchange) return;
    release();
    const bool exported = exchange->kind() == render::TransportKind::exported;
    const Device& device = *kernels_.device();
    if (exported && !device.cuda())
        throw Error("frames are to go to memory of a CUDA device, but the solver is on another one")
            .remedy("choose another --transport, or --device cuda");
    exchange_ = exchange;
}

// Arrays over the slot's memory.
const std::vector<Array>& FrameWriter::slot(int slot) {
    std::vector<Array>& arrays = arrays_[static_cast<std::size_t>(slot)];
    if (!arrays.empty()) return arrays;
    const render::Stage& stage = exchange_->stage();
    const std::vector<render::SharedMemory>& memory = exchange_->slot(slot);
    if (memory.size() != stage.channels.size())
        throw Error("internal: frames go to memory of another stage");
    const Device& device = *kernels_.device();
    std::vector<Array> made;
    for (std::size_t c = 0; c < memory.size(); ++c) {
        const render::Channel& channel = stage.channels[c];
        const std::size_t bytes = channel.bytes(stage.real);
        const render::SharedMemory& m = memory[c];
        if (exchange_->kind() == render::TransportKind::exported) {
            if (m.device_uuid != device.cuda()->info().uuid)
                throw Error("frames are to go to memory of another GPU than the solver's")
                    .remedy("choose another --transport, or the --device cuda:N that draws");
            made.push_back(Array::over(device.cuda(), {m.descriptor, m.exported_bytes, m.offset},
                                       type_of(stage), shape_of(channel)));
        } else if (m.host == nullptr || m.bytes < bytes) {
            throw Error("internal: there is no memory for the channel " + channel.name);
        } else {
            made.push_back(
                Array::over(std::span(m.host, bytes), m.alive, type_of(stage), shape_of(channel)));
        }
    }
    arrays = std::move(made);
    return arrays;
}

bool FrameWriter::raises() {
    if (std::exchange(tried_, true)) return semaphore_ != nullptr;
    const int shared = exchange_->semaphore();
    if (shared < 0) return false;
    const Device& device = *kernels_.device();
    try {
        auto semaphore = std::make_unique<backend::cuda::Semaphore>(device.cuda(), shared);
        const std::uint64_t value = exchange_->next_value();
        semaphore->raise(value);
        device.synchronize();
        if (exchange_->raised() == value) semaphore_ = std::move(semaphore);
    } catch (const Error& error) {
        log_warning("{}; frames wait for the device instead", error.what());
        return false;
    }
    if (!semaphore_)
        log_warning(
            "Vulkan does not see that CUDA raises its semaphore; frames wait for the device "
            "instead");
    return semaphore_ != nullptr;
}

void FrameWriter::write(const FrameJob& job) {
    connect(job.exchange);
    const render::Stage& stage = job.exchange->stage();
    const StagePlan& plan = job.input.scene->plan;
    if (stage.channels.size() != plan.stage->channels.size() || stage.real != plan.stage->real)
        throw Error("internal: frames go to memory of another stage");
    render::Frame frame = job.frame();
    if (job.exchange->full()) {
        kernels_.device()->synchronize();
        job.exchange->settle();
    }
    frame.slot = job.exchange->begin();
    const std::vector<Array>& channels = slot(frame.slot);
    ChannelWriter(*this, job.input, channels).write();
    if (raises()) {
        frame.ready = job.exchange->next_value();
        semaphore_->raise(frame.ready);
    } else {
        kernels_.device()->synchronize();
    }
    if (job.exchange->kind() != render::TransportKind::exported)
        for (const Array& channel : channels)
            if (channel.size() > 0) channel.data();  // of the host, from wherever it was made
    job.exchange->publish(std::move(frame));
}

}  // namespace hindcast::session
