#include "app/session/frames/scene_info.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "app/session/frames/force_adjoint.hpp"
#include "app/session/frames/frame_kernels.hpp"
#include "app/session/frames/probed_gradients.hpp"
#include "app/session/session.hpp"
#include "engine/model/element_names.hpp"
#include "engine/model/handles/sliders.hpp"
#include "engine/model/measured_motion.hpp"
#include "engine/model/shown.hpp"
#include "engine/sim/results/results.hpp"

namespace hindcast::session {

namespace {

constexpr std::size_t most_values_shown = 4096;

void add_quantities(SceneInfo& scene, Simulation& simulation) {
    for (const auto& [path, q] : simulation.model().quantities()) {
        scene.quantity_of[path] = scene.quantities.size();
        QuantityMeta& meta = scene.quantities.emplace_back();
        meta.info.path = path;
        meta.info.unit = q->unit;
        meta.info.scene_pointer = q->scene_pointer;
        meta.info.count = q->count;
        meta.info.rows = q->rows();
        meta.info.components = q->components;
        meta.info.may_optimize = q->may_optimize;
        meta.info.low = q->range.low;
        meta.info.high = q->range.high;
        meta.info.shared = q->shared;
        if (const model::ElementNames* const names = model::element_names(simulation.model(), path))
            meta.info.names = std::make_shared<const model::ElementNames>(*names);
        if (const auto& sliders = model::sliders(simulation.model(), path); !sliders.empty())
            meta.info.sliders = std::make_shared<const std::vector<model::Slider>>(sliders);
        const std::size_t dot = path.find('.');
        meta.owner = dot == std::string::npos ? "" : path.substr(0, dot);
    }
}

void add_parameters(SceneInfo& scene, Simulation& simulation) {
    std::size_t first = 0;
    for (const Parameter& p : simulation.parameters().list()) {
        const std::size_t q = scene.quantity_of.at(p.quantity->path);
        scene.quantities[q].info.optimized = true;
        ParameterInfo info;
        info.path = p.path;
        info.unit = p.quantity->unit;
        info.group = p.group;
        info.low = p.low;
        info.high = p.high;
        info.log_scale = p.log_scale;
        info.names = p.names;
        info.first = first;
        info.count = p.entries.size();
        scene.parameters.push_back(std::move(info));
        scene.places.push_back({q, first, p.entries});
        first += p.entries.size();
    }
    scene.parameter_count = first;
}

// The unit of the derivative of a number by something in this unit: "m/s" -> "s/m".
std::string per(const std::string& unit) {
    if (unit.empty()) return "";
    const std::size_t slash = unit.find('/');
    if (slash == std::string::npos) return "1/" + unit;
    const std::string over = unit.substr(0, slash);
    std::string under = unit.substr(slash + 1);
    if (over == "1") return under;
    return under + "/" + (over.find(' ') == std::string::npos ? over : "(" + over + ")");
}

// Finds the values that can be shown as colors or arrows, and their sources.
class Shown {
public:
    Shown(SceneInfo& scene, Simulation& simulation) : scene_(scene), model_(simulation.model()) {}

    void find() {
        for (const auto& [name, published] : model_.arrays()) {
            const Array& array = published.array;
            if (!ir::is_real(array.type())) continue;
            scene_.array_bytes[name] = bytes_of(array);
            if (!is_of_points(array) || published.internal) continue;
            if (name != "position" && name != "inverse_mass")
                color(name == "velocity" ? "speed" : name, published.unit, array_source(name));
            const bool vector = array.components() == model_.dimension();
            if (vector && (name == "velocity" || name == "force"))
                arrow(name, published.unit, array_source(name));
        }
        for (const char* name : {"position", "velocity"})
            if (scene_.plan.points > 0 && model_.has_array(name))
                scene_.recorded.emplace_back(name);
        for (const FieldChannel& field : scene_.plan.fields) scene_.recorded.push_back(field.array);
        for (const DrawableValues& from : scene_.plan.numbers) {
            if (!from.body) continue;
            for (const std::string& name : from.body->arrays())
                if (std::ranges::find(scene_.recorded, name) == scene_.recorded.end())
                    scene_.recorded.push_back(name);
        }
        for (const model::MeasuredMotion& motion : model_.shared<model::MeasuredMotions>().list)
            for (const auto& [name, array] : {std::pair(motion.name_of_places(), motion.places),
                                              {motion.name_of_orientations(), motion.orientations},
                                              {motion.name_of_known(), motion.known}})
                scene_.array_bytes[name] = bytes_of(array);
        for (const model::ShownQuantity& q : model::shown_quantities(model_)) add_shown(q);
        for (std::size_t q = 0; q < scene_.quantities.size(); ++q) add_quantity(q, false);
        if (scene_.has_objective && scene_.has_parameters) add_gradients();
    }

private:
    // True if it has a number, vector or matrix for each point.
    bool is_of_points(const Array& array) const {
        return scene_.plan.points > 0 && array.elements() == scene_.plan.points &&
               FrameKernels::takes(array);
    }

    static std::int64_t bytes_of(const Array& array) {
        return array.size() * static_cast<std::int64_t>(ir::size_of(array.type()));
    }

    static ValueSource array_source(const std::string& name) {
        ValueSource s;
        s.array = name;
        return s;
    }
    static ValueSource gradient_source(const std::string& name, ValueSource::Of of) {
        ValueSource s;
        s.kind = ValueSource::Kind::array_gradient;
        s.array = name;
        s.of = of;
        return s;
    }
    void color(const std::string& name, const std::string& unit, const ValueSource& source,
               bool length = false) {
        scene_.colors.push_back(
            {name, unit, source.kind >= ValueSource::Kind::array_gradient, length});
        scene_.color_sources[name] = source;
    }
    void arrow(const std::string& name, const std::string& unit, const ValueSource& source) {
        scene_.arrows.push_back({name, unit, source.kind >= ValueSource::Kind::array_gradient});
        scene_.arrow_sources[name] = source;
    }

    void add_shown(const model::ShownQuantity& q) {
        const std::int64_t bytes =
            q.count * q.components * static_cast<std::int64_t>(ir::size_of(model_.real()));
        if (q.of == model::ShownQuantity::Of::places) return add_placed(q, 2 * bytes);
        if (q.of == model::ShownQuantity::Of::points) {
            if (scene_.color_sources.contains(q.name)) return;  // that of several owners
            scene_.array_bytes[q.key()] = bytes;
            color(q.name, q.unit, array_source(q.name));
            if (q.components == model_.dimension()) arrow(q.name, q.unit, array_source(q.name));
            return;
        }
        const std::string name = model::shown_name(model_, q);
        const std::vector<render::Drawable>& drawables = scene_.plan.stage->drawables;
        for (std::size_t k = 0; k < drawables.size(); ++k) {
            const render::Drawable& t = drawables[k];
            if (t.ghost || t.name != q.drawn_by() || !has_elements(t, q.count)) continue;
            scene_.array_bytes[q.key()] = bytes;
            if (!scene_.color_sources.contains(name)) {
                ValueSource source;
                source.kind = ValueSource::Kind::shown;
                color(name, q.unit, source);
            }
            scene_.color_sources[name].parts.push_back({q.key(), static_cast<int>(k)});
            return;
        }
    }

    // Arrows at places of their own, of one owner or several.
    void add_placed(const model::ShownQuantity& q, std::int64_t bytes) {
        for (const PlacedArrows& placed : scene_.plan.placed) {
            if (placed.key != q.key()) continue;
            scene_.array_bytes[q.key()] = bytes;
            if (!scene_.arrow_sources.contains(q.name)) {
                ValueSource source;
                source.kind = ValueSource::Kind::shown;
                arrow(q.name, q.unit, source);
            }
            scene_.arrow_sources[q.name].parts.push_back({q.key(), placed.drawable});
        }
    }

    // True if it shows the owner's `count` elements: segments, or the triangles of a surface.
    static bool has_elements(const render::Drawable& t, std::int64_t count) {
        if (t.kind == render::Drawable::Kind::segments)
            return static_cast<std::int64_t>(t.indices.size() / 2) == count;
        if (t.kind != render::Drawable::Kind::surface) return false;
        return t.element_of.empty() ? static_cast<std::int64_t>(t.indices.size() / 3) == count
                                    : *std::max_element(t.element_of.begin(), t.element_of.end()) <
                                          static_cast<std::uint64_t>(count);
    }

    // A number for each element of something that is drawn.
    void add_quantity(std::size_t k, bool gradient) {
        const QuantityMeta& q = scene_.quantities[k];
        if (q.info.shared || q.info.count == 0) return;
        ValueSource source;
        source.kind = gradient ? ValueSource::Kind::quantity_gradient : ValueSource::Kind::quantity;
        source.quantity = k;
        bool found = false;
        for (const render::Drawable& t : scene_.plan.stage->drawables) {
            if (t.ghost || t.name != q.owner) continue;
            if (t.kind == render::Drawable::Kind::points && t.count == q.info.count) {
                source.of = ValueSource::Of::range;
                source.first = t.first;
                source.count = t.count;
            } else if (has_elements(t, q.info.count)) {
                source.of = t.kind == render::Drawable::Kind::segments ? ValueSource::Of::segments
                                                                       : ValueSource::Of::surface;
            } else {
                continue;
            }
            found = true;
            break;
        }
        // A number for each node of the only field: its first values, or what it is to become.
        if (!found && q.info.components == 1 && scene_.plan.fields.size() == 1) {
            const FieldChannel& field = scene_.plan.fields.front();
            const render::Channel& channel =
                scene_.plan.stage->channels[static_cast<std::size_t>(field.channel)];
            if (channel.elements * channel.components == q.info.count) {
                source.of = ValueSource::Of::field;
                source.array = field.array;
                found = true;
            }
        }
        if (!found) return;
        if (gradient)
            color(q.info.path + " gradient", "1/(" + q.info.unit + ")", source,
                  q.info.components > 1);
        else
            color(q.info.path, q.info.unit, source);
    }

    void add_gradients() {
        if (scene_.plan.points > 0)
            for (const std::string name : {"position", "velocity"}) {
                if (!model_.has_array(name)) continue;
                const std::string unit = per(model_.arrays().at(name).unit);
                const ValueSource source = gradient_source(name, ValueSource::Of::points);
                color(name + " gradient", unit, source, true);
                arrow(name + " gradient", unit, source);
            }
        for (const auto& [name, published] : model_.arrays()) {
            if (published.state && !published.internal && is_of_points(published.array) &&
                name != "position" && name != "velocity")
                color(name + " gradient", per(published.unit),
                      gradient_source(name, ValueSource::Of::points),
                      published.array.components() > 1);
        }
        if (scene_.plan.points > 0 && ForceAdjoint::holds_for(model_)) {
            const ValueSource source = gradient_source("force", ValueSource::Of::points);
            color("force gradient", "1/N", source, true);
            arrow("force gradient", "1/N", source);
        }
        for (const FieldChannel& field : scene_.plan.fields)
            color(field.array + " gradient", per(model_.arrays().at(field.array).unit),
                  gradient_source(field.array, ValueSource::Of::field));
        std::set<std::size_t> optimized;
        for (const ParameterPlace& place : scene_.places) optimized.insert(place.quantity);
        for (const std::size_t q : optimized) add_quantity(q, true);
    }

    SceneInfo& scene_;
    model::Model& model_;
};

}  // namespace

std::vector<std::string> ValueSource::kept() const {
    std::vector<std::string> names;
    if (kind == Kind::array) names.push_back(array);
    for (const Part& part : parts) names.push_back(part.key);
    return names;
}

bool ValueSource::draws(int drawable) const {
    return std::ranges::any_of(parts, [&](const Part& part) { return part.drawable == drawable; });
}

const ValueSource* SceneInfo::shown_arrows(const std::string& chosen) const {
    const auto found = arrow_sources.find(chosen);
    return found == arrow_sources.end() ? nullptr : &found->second;
}

std::vector<TermInfo> term_infos(const std::vector<Simulation::TermValue>& terms) {
    std::vector<TermInfo> list;
    for (const Simulation::TermValue& t : terms) list.push_back({t.name, t.weight, t.value});
    return list;
}

namespace {

std::shared_ptr<const std::vector<PairInfo>> pairs_of(const model::Model& model) {
    auto pairs = std::make_shared<std::vector<PairInfo>>();
    for (const model::ContactPairs::Pair& pair : model.contact_pairs().list())
        pairs->push_back({.a = pair.a->name,
                          .b = pair.b->name,
                          .a_pointer = pair.a->pointer,
                          .b_pointer = pair.b->pointer,
                          .law = pair.law,
                          .is_exception = pair.is_exception});
    return pairs;
}

}  // namespace

std::shared_ptr<SceneInfo> make_scene_info(Simulation& simulation) {
    auto info = std::make_shared<SceneInfo>();
    info->plan = make_stage(simulation);
    const Scene& scene = simulation.scene();
    info->name = scene.name();
    info->device = simulation.options().device->describe();
    info->cuda_uuid = cuda_uuid(*simulation.options().device);
    info->precision = name_of(simulation.options().precision);
    info->f64 = simulation.options().precision == ir::Precision::f64;
    info->substeps = std::max<std::int64_t>(simulation.model().options().substeps, 1);
    info->step_seconds = scene.step();
    info->steps = simulation.steps() / info->substeps;
    info->has_objective = !simulation.model().terms().empty();
    info->terms = term_infos(simulation.terms());
    for (TermInfo& term : info->terms) term.value = std::numeric_limits<double>::quiet_NaN();
    info->has_parameters = simulation.parameters().size() > 0;
    add_quantities(*info, simulation);
    add_parameters(*info, simulation);
    info->pairs = pairs_of(simulation.model());
    Shown(*info, simulation).find();
    return info;
}

bool same_shape(const SceneInfo& a, const SceneInfo& b) {
    const auto same_quantity = [](const QuantityMeta& x, const QuantityMeta& y) {
        return x.info.path == y.info.path && x.info.scene_pointer == y.info.scene_pointer &&
               x.info.rows == y.info.rows && x.info.components == y.info.components &&
               x.info.shared == y.info.shared && x.info.count == y.info.count;
    };
    const auto same_parameter = [](const ParameterInfo& x, const ParameterInfo& y) {
        return x.names == y.names && x.low == y.low && x.high == y.high &&
               x.log_scale == y.log_scale;
    };
    return a.step_seconds == b.step_seconds && a.steps == b.steps && a.substeps == b.substeps &&
           a.recorded == b.recorded && a.array_bytes == b.array_bytes &&
           std::ranges::equal(a.quantities, b.quantities, same_quantity) &&
           std::ranges::equal(a.parameters, b.parameters, same_parameter) &&
           same_layout(*a.plan.stage, *b.plan.stage);
}

bool SceneInfo::is_recorded(const std::string& array) const {
    return std::ranges::find(recorded, array) != recorded.end();
}

std::vector<std::string> SceneInfo::kept(const FrameContents& contents) const {
    std::vector<std::string> names = recorded;
    const auto add = [&](const std::map<std::string, ValueSource>& sources,
                         const std::string& chosen) {
        const auto found = sources.find(chosen);
        if (found == sources.end()) return;
        for (const std::string& array : found->second.kept())
            if (std::ranges::find(names, array) == names.end()) names.push_back(array);
    };
    add(color_sources, contents.color);
    add(arrow_sources, contents.arrows);
    return names;
}

bool lacks(const Trajectory& trajectory, const FrameContents& contents) {
    return !std::ranges::all_of(trajectory.scene->kept(contents),
                                [&](const std::string& name) { return trajectory.holds(name); });
}

std::int64_t same_moment(std::int64_t step, double step_seconds, const SceneInfo& scene) {
    if (step_seconds > 0 && step_seconds != scene.step_seconds)
        step = std::llround(static_cast<double>(step) * step_seconds / scene.step_seconds);
    return std::clamp<std::int64_t>(step, 0, scene.steps);
}

std::int64_t SceneInfo::bytes() const {
    std::size_t sum = sizeof(SceneInfo);
    for (const render::Drawable& t : plan.stage->drawables)
        sum += sizeof(t) + t.indices.size() * sizeof(t.indices[0]) +
               t.element_of.size() * sizeof(t.element_of[0]);
    for (const QuantityMeta& q : quantities)
        sum += sizeof(q) + q.info.path.size() + q.info.scene_pointer.size();
    for (const ParameterPlace& p : places) sum += sizeof(p) + p.entries.size() * sizeof(p.first);
    for (const ParameterInfo& p : parameters)
        for (const std::string& entry : p.names) sum += sizeof(std::string) + entry.size();
    return static_cast<std::int64_t>(sum);
}

render::Vec3 place_of(const KeptFrame& frame, const Trajectory& t, std::int64_t point) {
    const Array* const position = frame.find("position");
    if (position == nullptr || point < 0 || point >= t.scene->plan.points)
        throw Error("internal: the place of a point is not kept");
    render::Vec3 place{};
    for (int c = 0; c < t.scene->plan.stage->dimension; ++c)
        place[static_cast<std::size_t>(c)] = position->value(point, c);
    return place;
}

std::shared_ptr<const std::vector<SharedValues>> numbers_of(Simulation& simulation) {
    auto all = std::make_shared<std::vector<SharedValues>>();
    for (const auto& [path, q] : simulation.model().quantities())
        all->push_back(std::make_shared<const std::vector<double>>(q->values));
    return all;
}

std::vector<double> SceneInfo::values_of(std::size_t quantity,
                                         const std::vector<SharedValues>& base,
                                         const SharedValues& at) const {
    std::vector<double> values = *base[quantity];
    if (at)
        for (const ParameterPlace& p : places) {
            if (p.quantity != quantity) continue;
            for (std::size_t k = 0; k < p.entries.size(); ++k)
                values[p.entries[k]] = (*at)[p.first + k];
        }
    return values;
}

std::vector<double> SceneInfo::gradient_of(std::size_t quantity,
                                           const SharedValues& gradient) const {
    std::vector<double> values;
    if (!gradient || gradient->size() != parameter_count) return values;
    for (const ParameterPlace& p : places) {
        if (p.quantity != quantity) continue;
        const QuantityInfo& info = quantities[quantity].info;
        values.resize(static_cast<std::size_t>(info.rows * info.components), 0.0);
        for (std::size_t k = 0; k < p.entries.size(); ++k)
            values[p.entries[k]] = (*gradient)[p.first + k];
    }
    return values;
}

std::vector<QuantityInfo> SceneInfo::quantity_infos(const Trajectory& t,
                                                    const ProbedGradients* probe) const {
    std::vector<QuantityInfo> infos;
    for (std::size_t q = 0; q < quantities.size(); ++q) {
        QuantityInfo info = quantities[q].info;
        info.values = values_of(q, *t.base, t.parameters);
        info.gradient = gradient_of(q, t.gradient);
        if (probe != nullptr && info.gradient.empty())
            if (const auto found = probe->gradients.find(q); found != probe->gradients.end())
                info.gradient = found->second;
        if (!info.values.empty()) {
            const auto [low, high] = std::ranges::minmax(info.values);
            info.least = low;
            info.most = high;
        }
        double square = 0;
        for (const double g : info.gradient) square += g * g;
        info.gradient_norm = std::sqrt(square);
        if (info.values.size() > most_values_shown) info.values.resize(most_values_shown);
        if (info.gradient.size() > most_values_shown) info.gradient.resize(most_values_shown);
        infos.push_back(std::move(info));
    }
    return infos;
}

std::vector<std::vector<double>> SceneInfo::drawable_numbers(const std::vector<SharedValues>& base,
                                                             const SharedValues& at, double time,
                                                             const KeptFrame* frame) const {
    std::vector<std::vector<double>> all;
    using Kind = render::Drawable::Kind;
    const auto dimension = static_cast<std::size_t>(plan.stage->dimension);
    for (std::size_t k = 0; k < plan.stage->drawables.size(); ++k) {
        const DrawableValues& from = plan.numbers[k];
        std::vector<double>& numbers = all.emplace_back(from.constant);
        const Kind kind = plan.stage->drawables[k].kind;
        if (from.body)
            numbers = from.body->pose([&](const std::string& array) {
                return frame == nullptr ? nullptr : frame->find(array);
            });
        if (from.solid)
            numbers = from.solid->pose(
                [&](const std::string& path) { return values_of(quantity_of.at(path), base, at); },
                time);
        for (const std::string& path : from.quantities) {
            const std::size_t q = quantity_of.at(path);
            std::vector<double> values = values_of(q, base, at);
            if (quantities[q].info.components == 1) {
                numbers.push_back(values.empty() ? 0 : values.front());
                continue;
            }
            if (kind == Kind::half_space) {  // of length 1
                double sum = 0;
                for (const double x : values) sum += x * x;
                if (sum > 0)
                    for (double& x : values) x /= std::sqrt(sum);
            }
            for (std::size_t row = 0; row < values.size(); row += dimension)
                for (std::size_t c = 0; c < 3; ++c)
                    numbers.push_back(c < dimension ? values[row + c] : 0.0);
        }
        if (from.velocity.empty()) continue;
        const std::vector<double> u = values_of(quantity_of.at(from.velocity), base, at);
        for (std::size_t c = 0; c < dimension && c < u.size(); ++c) {
            if (kind == Kind::half_space)  // normal, offset: along the normal
                numbers[3] += numbers[c] * u[c] * time;
            else
                numbers[c] += u[c] * time;
        }
    }
    return all;
}

std::vector<std::shared_ptr<const render::Mesh>> SceneInfo::drawable_meshes(
    const std::vector<SharedValues>& base, const SharedValues& at) const {
    std::vector<std::shared_ptr<const render::Mesh>> all;
    const auto values = [&](const std::string& path) {
        const std::size_t q = quantity_of.at(path);
        const bool tried = at && std::ranges::any_of(places, [&](const ParameterPlace& p) {
                               return p.quantity == q;
                           });
        return tried ? std::make_shared<const std::vector<double>>(values_of(q, base, at))
                     : base[q];
    };
    for (const DrawableValues& from : plan.numbers)
        all.push_back(from.solid  ? from.solid->mesh(values)
                      : from.body ? from.body->mesh()
                                  : nullptr);
    return all;
}

}  // namespace hindcast::session
