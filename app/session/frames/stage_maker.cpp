#include "app/session/frames/stage_maker.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "app/session/frames/spread.hpp"
#include "engine/model/handles/grips.hpp"
#include "engine/model/measured_motion.hpp"
#include "engine/model/shown.hpp"
#include "engine/model/volumes.hpp"

namespace hindcast::session {

namespace {

using model::Section;
using render::Channel;
using render::Color;
using render::Drawable;
using render::Stage;
using DrawableKind = render::Drawable::Kind;

// Apart for the color-blind as well (after Okabe and Ito 2008), a little paler: bodies; and
// forces, which are drawn among them.
constexpr Color body_colors[] = {{0.36F, 0.65F, 0.90F, 1}, {0.93F, 0.68F, 0.27F, 1},
                                 {0.30F, 0.72F, 0.58F, 1}, {0.86F, 0.55F, 0.73F, 1},
                                 {0.94F, 0.88F, 0.42F, 1}, {0.85F, 0.47F, 0.28F, 1}};
constexpr Color force_colors[] = {{0.62F, 0.65F, 0.70F, 1}, {0.56F, 0.62F, 0.58F, 1}};
constexpr Color collider_color{0.45F, 0.47F, 0.52F, 1};
constexpr Color wanted_color{0.95F, 0.32F, 0.34F, 1};
constexpr Color frame_color{0.55F, 0.57F, 0.60F, 1};
constexpr float ghost_alpha = 0.25F, measured_alpha = 0.4F;

struct Box {
    render::Vec3 low, high;
    bool empty = true;
    void add(const double* place, int dimension) {
        for (std::size_t k = 0; k < 3; ++k) {
            const double x = k < static_cast<std::size_t>(dimension) ? place[k] : 0;
            low[k] = empty ? x : std::min(low[k], x);
            high[k] = empty ? x : std::max(high[k], x);
        }
        empty = false;
    }
    double diagonal() const {
        double sum = 0;
        for (std::size_t k = 0; k < 3 && !empty; ++k)
            sum += (high[k] - low[k]) * (high[k] - low[k]);
        return std::sqrt(sum);
    }
};

// The distance between neighbors at the start: the median over some of the points. 0 for a single
// point.
double spacing_of(const double* places, std::size_t count, int dimension) {
    const auto d = static_cast<std::size_t>(dimension);
    const std::size_t sampled = std::min<std::size_t>(count, count > 100'000 ? 32 : 128);
    std::vector<double> nearest;
    for (std::size_t s = 0; s < sampled; ++s) {
        const double* p = places + s * (count / sampled) * d;
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t q = 0; q < count; ++q) {
            double sum = 0;
            for (std::size_t k = 0; k < d; ++k) {
                const double difference = places[q * d + k] - p[k];
                sum += difference * difference;
            }
            if (sum > 0 && sum < best) best = sum;
        }
        if (std::isfinite(best)) nearest.push_back(std::sqrt(best));
    }
    if (nearest.empty()) return 0;
    const auto middle = nearest.begin() + static_cast<std::ptrdiff_t>(nearest.size() / 2);
    std::nth_element(nearest.begin(), middle, nearest.end());
    return *middle;
}

class Maker {
public:
    explicit Maker(Simulation& simulation)
        : simulation_(simulation), model_(simulation.model()), stage_(std::make_shared<Stage>()) {}

    StagePlan make() {
        Stage& stage = *stage_;
        stage.dimension = model_.dimension();
        stage.real = simulation_.options().precision == ir::Precision::f32 ? render::RealType::f32
                                                                           : render::RealType::f64;
        if (const document::Node* up = simulation_.scene().document().root().find("up"))
            stage.up = up->string() == "y" ? 'y' : 'z';
        for (const auto& [name, range] : model_.bodies_with_points())
            stage.bodies.push_back({name, range.first, range.count});
        plan_.points = model_.point_count();
        measure_points();
        if (plan_.points > 0) {
            plan_.position = channel("position", plan_.points, stage.dimension);
            plan_.ghost = channel("ghost position", plan_.points, stage.dimension);
            plan_.color = channel("point color", plan_.points, 1);
            plan_.arrows = channel("arrows", plan_.points, stage.dimension);
        }
        color_owners();
        for (const model::Drawing& drawing : model_.drawings()) {
            owner_ = drawing.owner;
            std::visit([this](const auto& shape) { add(shape); }, drawing.shape);
        }
        add_field_targets();
        if (plan_.points > 0) {
            Drawable& arrows = drawable(DrawableKind::arrows, "arrows");
            arrows.places = plan_.position;
            arrows.values = plan_.arrows;
            arrows.count = plan_.points;
            arrows.indices = spread_order(model_.initial_points(), stage.dimension);
            arrows.color = wanted_color;
        }
        for (const model::ShownQuantity& shown : model::shown_quantities(model_))
            if (shown.of == model::ShownQuantity::Of::places) add(shown);
        add_ghosts();
        for (const model::MeasuredMotion& motion : model_.shared<model::MeasuredMotions>().list)
            add(motion);
        stage.low = box_.low;
        stage.high = box_.high;
        plan_.stage = stage_;
        return std::move(plan_);
    }

private:
    int channel(const std::string& name, std::int64_t elements, int components) {
        stage_->channels.push_back(Channel{name, elements, components});
        return static_cast<int>(stage_->channels.size()) - 1;
    }

    Drawable& drawable(DrawableKind kind, const std::string& name) {
        plan_.numbers.emplace_back();
        Drawable& t = stage_->drawables.emplace_back();
        t.kind = kind;
        t.name = name;
        const auto found = colors_.find(name);
        if (found != colors_.end()) t.color = found->second;
        return t;
    }

    void measure_points() {
        const std::vector<double>& x = model_.initial_points();
        const int d = model_.dimension();
        for (std::size_t k = 0; k + static_cast<std::size_t>(d) <= x.size();
             k += static_cast<std::size_t>(d))
            box_.add(&x[k], d);
        radius_ = radius_of(0, plan_.points);
    }

    double radius_of(std::int64_t first, std::int64_t count) const {
        const std::vector<double>& x = model_.initial_points();
        const auto d = static_cast<std::size_t>(model_.dimension());
        constexpr double alone = 0.05;    // m
        constexpr double largest = 0.03;  // of the scene's extent
        if (static_cast<std::size_t>(first + count) * d > x.size() || count == 0) return alone;
        const double spacing = spacing_of(x.data() + static_cast<std::size_t>(first) * d,
                                          static_cast<std::size_t>(count), model_.dimension());
        const double extent = box_.diagonal();
        if (extent <= 0) return alone;
        if (spacing <= 0) return largest * extent;
        return std::min(0.45 * spacing, largest * extent);
    }

    void color_owners() {
        std::map<Section, std::size_t> counts;
        for (const Scene::Object& object : simulation_.scene().objects()) {
            const std::size_t k = counts[object.section]++;
            Color color = frame_color;
            if (object.section == Section::bodies)
                color = body_colors[k % std::size(body_colors)];
            else if (object.section == Section::forces)
                color = force_colors[k % std::size(force_colors)];
            else if (object.section == Section::colliders)
                color = collider_color;
            else if (object.section == Section::objective)
                color = wanted_color;
            colors_[object.name] = color;
        }
    }

    void add(const model::DrawnPoints& shape) {
        Drawable& t = drawable(DrawableKind::points, owner_);
        t.places = plan_.position;
        t.values = plan_.color;
        t.first = shape.first;
        t.count = shape.count;
        t.radius = shape.radius > 0 ? shape.radius : radius_of(shape.first, shape.count);
        // One that is written may be optimized.
        const model::Quantity* const radius = model_.find_quantity(owner_ + ".radius");
        if (shape.radius > 0 && radius != nullptr) plan_.numbers.back().quantities = {radius->path};
    }

    void add(const model::DrawnSegments& shape) {
        const int number = static_cast<int>(stage_->drawables.size());
        Drawable& t = drawable(DrawableKind::segments, owner_);
        t.places = plan_.position;
        t.indices = shape.ends;
        t.radius = 0.25 * radius_;
        t.values = channel(owner_ + " color", static_cast<std::int64_t>(shape.ends.size() / 2), 1);
        plan_.segments.push_back({t.values, number, owner_});
    }

    void add(const model::DrawnSurface& shape) {
        Drawable& t = drawable(DrawableKind::surface, owner_);
        t.places = plan_.position;
        t.values = plan_.color;
        t.values_per_point = true;
        t.indices = shape.corners;
        t.element_of = shape.element_of;
        const auto& volumes = model_.shared<model::Volumes>().by_owner;
        if (const auto found = volumes.find(owner_); found != volumes.end())
            t.tetrahedra = found->second;
    }

    void add(const model::DrawnField& shape) {
        const std::string name = published_name(shape.values, model_);
        if (name.empty()) return;
        Drawable& t = drawable(DrawableKind::field, owner_);
        t.rows = shape.rows;
        t.columns = shape.columns;
        t.spacing = shape.spacing;
        t.values = channel(name, shape.rows * shape.columns, 1);
        plan_.fields.push_back({t.values, name});
        surround(t);
    }

    void surround(const Drawable& field) {
        const double low[] = {field.origin[0], field.origin[1]},
                     high[] = {low[0] + static_cast<double>(field.rows - 1) * field.spacing,
                               low[1] + static_cast<double>(field.columns - 1) * field.spacing};
        box_.add(low, 2);
        box_.add(high, 2);
    }

    // Adds the target values of an objective for each node of a field, to the right of the field.
    void add_field_targets() {
        double right = box_.high[0];
        for (const Scene::Object& object : simulation_.scene().objects()) {
            const document::Node* const of = object.node->find("of");
            if (object.section != Section::objective || of == nullptr || !of->is_string()) continue;
            const auto field =
                std::ranges::find_if(stage_->drawables, [&](const Drawable& drawable) {
                    return drawable.kind == DrawableKind::field && drawable.name == of->string();
                });
            const model::Quantity* const target = model_.find_quantity(object.name + ".target");
            if (field == stage_->drawables.end() || target == nullptr ||
                static_cast<std::int64_t>(target->values.size()) != field->rows * field->columns)
                continue;
            Drawable wanted = *field;
            wanted.name = object.name;
            const double width = static_cast<double>(wanted.rows) * wanted.spacing;
            wanted.origin = {right + 0.06 * width + wanted.spacing, 0, 0};
            right = wanted.origin[0] + width;
            wanted.values = channel(object.name + " target", wanted.rows * wanted.columns, 1);
            const auto own = std::ranges::find(plan_.fields, field->values, &FieldChannel::channel);
            plan_.targets.push_back({wanted.values, static_cast<int>(stage_->drawables.size()),
                                     target->path, own->array});
            surround(wanted);
            stage_->drawables.push_back(std::move(wanted));
            plan_.numbers.emplace_back();
        }
    }

    void add(const model::DrawnHalfSpace& shape) {
        drawable(DrawableKind::half_space, owner_);
        plan_.numbers.back().quantities = {shape.normal->path, shape.offset->path};
        if (shape.velocity != nullptr) plan_.numbers.back().velocity = shape.velocity->path;
    }

    void add(const model::DrawnBall& shape) {
        drawable(DrawableKind::ball, owner_);
        plan_.numbers.back().quantities = {shape.center->path, shape.radius->path};
        if (shape.velocity != nullptr) plan_.numbers.back().velocity = shape.velocity->path;
        const double radius = shape.radius->values.empty() ? 0 : shape.radius->values.front();
        for (const double sign : {-1.0, 1.0}) {
            std::vector<double> corner = shape.center->values;
            for (double& x : corner) x += sign * radius;
            if (static_cast<int>(corner.size()) >= model_.dimension())
                box_.add(corner.data(), model_.dimension());
        }
    }

    void add(const model::DrawnSolid& shape) {
        drawable(DrawableKind::solid, owner_);
        const auto source = std::make_shared<SolidSource>(shape);
        plan_.numbers.back().solid = source;
        const auto values = [this](const std::string& path) {
            return std::make_shared<const std::vector<double>>(model_.find_quantity(path)->values);
        };
        const std::vector<double> pose =
            source->pose([&](const std::string& path) { return *values(path); }, 0);
        for (const render::Vec3& p : source->mesh(values)->places)
            box_.add(render::placed(pose, p).data(), model_.dimension());
    }

    void add(const model::DrawnBody& shape) {
        Drawable& t = drawable(DrawableKind::solid, owner_);
        if (shape.row < 0) t.color = collider_color;
        if (const model::Grips* const grips = model::grips_of(model_, owner_))
            for (const auto& [name, range] : model_.bodies_with_points())
                for (std::size_t p = 0; name == owner_ && p < grips->body_of.size(); ++p)
                    if (grips->body_of[p] == shape.row)
                        t.indices.push_back(static_cast<std::uint32_t>(range.first) +
                                            static_cast<std::uint32_t>(p));
        const auto source = std::make_shared<BodySource>(shape, model_);
        plan_.numbers.back().body = source;
    }

    void add(const model::DrawnFrame& shape) {
        drawable(DrawableKind::box_edges, owner_);
        std::vector<double>& numbers = plan_.numbers.back().constant;
        for (const std::vector<double>* corner : {&shape.low, &shape.high}) {
            std::vector<double> place = *corner;
            place.resize(3, 0.0);
            box_.add(place.data(), model_.dimension());
            numbers.insert(numbers.end(), place.begin(), place.end());
        }
    }

    void add(const model::DrawnTargets& shape) {
        drawable(DrawableKind::markers, owner_);
        plan_.numbers.back().quantities = {shape.places->path};
        const auto d = static_cast<std::size_t>(model_.dimension());
        const std::vector<double>& places = shape.places->values;
        if (static_cast<std::size_t>(shape.places->components) != d) return;
        for (std::size_t k = 0; k + d <= places.size(); k += d)
            box_.add(&places[k], model_.dimension());
    }

    void add(const model::ShownQuantity& shown) {
        const int number = static_cast<int>(stage_->drawables.size());
        Drawable& arrows = drawable(DrawableKind::arrows, shown.owner);
        arrows.places = channel("places of " + shown.key(), shown.count, stage_->dimension);
        arrows.values = channel(shown.key(), shown.count, stage_->dimension);
        arrows.count = shown.count;
        arrows.color = wanted_color;
        plan_.placed.push_back({number, arrows.places, arrows.values, shown.key()});
    }

    // Adds moving drawables a second time, pale, at the places of another iteration.
    void add_ghosts() {
        const std::size_t count = stage_->drawables.size();
        for (std::size_t k = 0; k < count; ++k) {
            const Drawable& original = stage_->drawables[k];
            if (original.places < 0 || original.places != plan_.position ||
                original.kind == DrawableKind::arrows)
                continue;
            Drawable ghost = original;
            ghost.ghost = true;
            ghost.places = plan_.ghost;
            ghost.values = -1;
            ghost.tetrahedra.clear();
            ghost.color[3] = ghost_alpha;
            stage_->drawables.push_back(std::move(ghost));
            plan_.numbers.emplace_back();
        }
    }

    // The body's parts that move once more, pale, where they were measured.
    void add(const model::MeasuredMotion& motion) {
        const std::size_t count = stage_->drawables.size();
        for (std::size_t k = 0; k < count; ++k) {
            const std::shared_ptr<const BodySource> body = plan_.numbers[k].body;
            if (!body || !body->moves() || stage_->drawables[k].ghost ||
                stage_->drawables[k].name != motion.body)
                continue;
            Drawable& ghost = drawable(DrawableKind::solid, motion.owner);
            ghost.ghost = ghost.measured = true;
            ghost.measured_partly = motion.is_partial;
            ghost.color[3] = measured_alpha;
            plan_.numbers.back().body = std::make_shared<BodySource>(*body, motion);
        }
    }

    Simulation& simulation_;
    model::Model& model_;
    std::shared_ptr<Stage> stage_;
    StagePlan plan_;
    Box box_;
    double radius_ = 0;
    std::map<std::string, Color> colors_;
    std::string owner_;
};

bool same(const Channel& a, const Channel& b) {
    return a.name == b.name && a.elements == b.elements && a.components == b.components;
}

bool same(const Drawable& a, const Drawable& b) {
    return a.kind == b.kind && a.name == b.name && a.places == b.places && a.values == b.values &&
           a.ghost == b.ghost && a.measured == b.measured &&
           a.measured_partly == b.measured_partly && a.first == b.first && a.count == b.count &&
           std::fabs(a.radius - b.radius) <= 0.5 * std::max(a.radius, b.radius) &&
           // The order of arrows says only which of them are drawn.
           (a.indices == b.indices || a.kind == DrawableKind::arrows) &&
           a.element_of == b.element_of && a.tetrahedra == b.tetrahedra && a.origin == b.origin &&
           a.values_per_point == b.values_per_point && a.rows == b.rows && a.columns == b.columns &&
           a.spacing == b.spacing && a.color == b.color;
}

template <class T>
bool all_same(const std::vector<T>& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const T& x, const T& y) { return same(x, y); });
}

}  // namespace

StagePlan make_stage(Simulation& simulation) { return Maker(simulation).make(); }

bool same_layout(const Stage& a, const Stage& b) {
    return a.dimension == b.dimension && a.real == b.real && a.up == b.up &&
           all_same(a.channels, b.channels) && all_same(a.drawables, b.drawables);
}

bool ghost_fits(const Stage& shown, const Stage& ghost) {
    const auto places = [](const Stage& stage) {
        return std::ranges::find(stage.channels, std::string("ghost position"), &Channel::name);
    };
    const auto moving = [](const Stage& stage) {
        std::vector<const Drawable*> drawables;
        for (const Drawable& t : stage.drawables)
            if (t.ghost && !t.measured) drawables.push_back(&t);
        return drawables;
    };
    const auto a = places(shown), b = places(ghost);
    return a != shown.channels.end() && b != ghost.channels.end() && same(*a, *b) &&
           std::ranges::equal(
               moving(shown), moving(ghost), [](const Drawable* x, const Drawable* y) {
                   return x->kind == y->kind && x->name == y->name && x->first == y->first &&
                          x->count == y->count && x->indices == y->indices;
               });
}

}  // namespace hindcast::session
