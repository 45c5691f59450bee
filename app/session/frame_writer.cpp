#include "app/session/frame_writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace hindcast::session {

namespace {

template <class T>
constexpr T hidden = std::numeric_limits<T>::quiet_NaN();

template <class T>
class Writer {
public:
    Writer(const Moment& moment, const std::vector<render::SharedMemory>& slot)
        : m_(moment), slot_(slot), plan_(moment.world->plan) {
        const std::vector<render::Channel>& channels = plan_.stage->channels;
        if (slot.size() != channels.size())
            throw Error("internal: frames go to memory of another stage");
        for (std::size_t c = 0; c < channels.size(); ++c)
            if (slot[c].host == nullptr || slot[c].bytes < channels[c].bytes(plan_.stage->real))
                throw Error("internal: there is no memory for the channel " + channels[c].name);
    }

    void write() {
        if (plan_.position >= 0) {
            place(plan_.position, m_.frame.get());
            place(plan_.ghost, m_.ghost.get());
            arrows();
        }
        for (const FieldChannel& field : plan_.fields) {
            T* const to = channel(field.channel);
            const std::size_t n = scalars(field.channel);
            if (!copy(m_.frame.get(), field.array, to, n)) std::fill_n(to, n, T(0));
        }
        colours();
    }

private:
    T* channel(int c) const {
        return reinterpret_cast<T*>(slot_[static_cast<std::size_t>(c)].host);
    }
    std::size_t scalars(int c) const {
        const render::Channel& ch = plan_.stage->channels[static_cast<std::size_t>(c)];
        return static_cast<std::size_t>(ch.elements) * static_cast<std::size_t>(ch.components);
    }
    // The array in the frame; null if it is not kept, or is not of n numbers.
    static const T* data(const KeptFrame* frame, const std::string& array, std::size_t n) {
        const Bytes* const bytes = frame == nullptr ? nullptr : frame->find(array);
        return bytes != nullptr && bytes->size() == n * sizeof(T)
                   ? reinterpret_cast<const T*>(bytes->data())
                   : nullptr;
    }
    static bool copy(const KeptFrame* frame, const std::string& array, T* to, std::size_t n) {
        const T* const from = data(frame, array, n);
        if (from == nullptr) return false;
        std::memcpy(to, from, n * sizeof(T));
        return true;
    }
    void place(int c, const KeptFrame* frame) const {
        const std::size_t n = scalars(c);
        if (!copy(frame, "position", channel(c), n)) std::fill_n(channel(c), n, hidden<T>);
    }

    // The array of a source in this moment, and how many numbers each point has; null if not kept.
    const T* array_of(const Source& source, std::size_t elements, std::size_t* components) const {
        const KeptFrame* const frame =
            source.kind == Source::Kind::array_gradient ? m_.adjoint.get() : m_.frame.get();
        const Bytes* const bytes = frame == nullptr ? nullptr : frame->find(source.array);
        if (bytes == nullptr || elements == 0) return nullptr;
        *components = bytes->size() / sizeof(T) / elements;
        return data(frame, source.array, *components * elements);
    }

    void arrows() const {
        T* const to = channel(plan_.arrows);
        const std::size_t n = scalars(plan_.arrows);
        std::fill_n(to, n, T(0));
        const auto found = m_.world->arrow_sources.find(m_.look.arrows);
        if (found == m_.world->arrow_sources.end()) return;
        std::size_t components = 0;
        const T* const from =
            array_of(found->second, static_cast<std::size_t>(plan_.points), &components);
        if (from != nullptr && components * static_cast<std::size_t>(plan_.points) == n)
            std::memcpy(to, from, n * sizeof(T));
    }

    void colours() const {
        T* points = nullptr;
        const auto count = static_cast<std::size_t>(plan_.points);
        if (plan_.colour >= 0) {
            points = channel(plan_.colour);
            std::fill_n(points, count, hidden<T>);
        }
        for (const SegmentChannel& s : plan_.segments)
            std::fill_n(channel(s.channel), scalars(s.channel), hidden<T>);
        const auto found = m_.world->colour_sources.find(m_.look.colour);
        if (found == m_.world->colour_sources.end()) return;
        const Source& source = found->second;
        if (source.of == Source::Of::field) return field_gradient(source);
        if (source.kind == Source::Kind::quantity || source.kind == Source::Kind::quantity_gradient)
            return quantity(source, points);
        std::size_t components = 0;
        const T* const from = array_of(source, count, &components);
        if (from == nullptr || points == nullptr) return;
        for (std::size_t p = 0; p < count; ++p) {
            if (components == 1) {
                points[p] = from[p];
                continue;
            }
            double sum = 0;
            for (std::size_t c = 0; c < components; ++c) {
                const double x = from[p * components + c];
                sum += x * x;
            }
            points[p] = static_cast<T>(std::sqrt(sum));
        }
        for (const SegmentChannel& s : plan_.segments) {  // between the colours of their ends
            const std::vector<std::uint32_t>& ends =
                plan_.stage->things[static_cast<std::size_t>(s.thing)].indices;
            T* const to = channel(s.channel);
            for (std::size_t k = 0; k + 1 < ends.size(); k += 2)
                to[k / 2] = (points[ends[k]] + points[ends[k + 1]]) / 2;
        }
    }

    void field_gradient(const Source& source) const {
        for (const FieldChannel& field : plan_.fields) {
            if (field.array != source.array) continue;
            std::size_t components = 0;
            const std::size_t n = scalars(field.channel);
            const T* const from = array_of(source, n, &components);
            if (from != nullptr && components == 1)
                std::memcpy(channel(field.channel), from, n * sizeof(T));
        }
    }

    // One number per element of its owner.
    void quantity(const Source& source, T* points) const {
        const std::vector<double> values =
            source.kind == Source::Kind::quantity
                ? m_.world->values_of(source.quantity, *m_.trajectory->base,
                                      m_.trajectory->parameters)
                : m_.world->gradient_of(source.quantity, m_.gradient);
        const QuantityMeta& q = m_.world->quantities[source.quantity];
        const auto components = static_cast<std::size_t>(q.info.components);
        const std::size_t count = values.size() / std::max<std::size_t>(components, 1);
        const auto number = [&](std::size_t element) {
            if (components == 1) return static_cast<T>(values[element]);
            double sum = 0;
            for (std::size_t c = 0; c < components; ++c)
                sum += values[element * components + c] * values[element * components + c];
            return static_cast<T>(std::sqrt(sum));
        };
        if (source.of == Source::Of::range && points != nullptr) {
            for (std::size_t k = 0; k < count; ++k)
                points[static_cast<std::size_t>(source.first) + k] = number(k);
        } else if (source.of == Source::Of::segments) {
            for (const SegmentChannel& s : plan_.segments)
                if (s.owner == q.owner && scalars(s.channel) == count)
                    for (std::size_t k = 0; k < count; ++k) channel(s.channel)[k] = number(k);
        } else if (source.of == Source::Of::surface && points != nullptr && count > 0) {
            for (const render::Thing& t : plan_.stage->things)
                if (!t.ghost && t.name == q.owner && t.kind == render::Thing::Kind::surface)
                    surface(t, number, points);
        }
    }

    // A corner has the mean of the triangles around it.
    template <class Number>
    void surface(const render::Thing& t, Number number, T* points) const {
        std::vector<double> sums(static_cast<std::size_t>(plan_.points), 0.0);
        std::vector<int> counts(sums.size(), 0);
        for (std::size_t k = 0; k < t.indices.size(); ++k) {
            const std::size_t element = t.element_of.empty() ? k / 3 : t.element_of[k / 3];
            sums[t.indices[k]] += number(element);
            ++counts[t.indices[k]];
        }
        for (std::size_t p = 0; p < sums.size(); ++p)
            if (counts[p] > 0) points[p] = static_cast<T>(sums[p] / counts[p]);
    }

    const Moment& m_;
    const std::vector<render::SharedMemory>& slot_;
    const StagePlan& plan_;
};

}  // namespace

render::Frame FrameJob::frame() const {
    render::Frame f;
    f.step = moment.frame->step;
    f.iteration = trajectory->iteration;
    f.time = static_cast<double>(f.step) * world->step_seconds;
    f.numbers = world->thing_numbers(*base, parameters);
    const std::vector<render::Thing>& things = world->plan.stage->things;
    if (moment.look.arrows.empty())  // none are drawn
        for (std::size_t k = 0; k < things.size(); ++k)
            if (things[k].kind == render::Thing::Kind::arrows) f.numbers[k] = {0};
    return f;
}

void write_frame(const FrameJob& job) {
    render::Frame frame = job.frame();
    frame.slot = job.exchange->begin();
    write_channels(job.moment, job.exchange->slot(frame.slot));
    job.exchange->publish(std::move(frame));
}

void write_channels(const Moment& moment, const std::vector<render::SharedMemory>& slot) {
    if (moment.world->plan.stage->real == render::RealType::f64)
        Writer<double>(moment, slot).write();
    else
        Writer<float>(moment, slot).write();
}

}  // namespace hindcast::session
