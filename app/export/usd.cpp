#include "app/export/usd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "app/exchange/srgb.hpp"
#include "app/session/frames/scene_info.hpp"

namespace hindcast::exporting {

using render::cross;
using render::dot;
using render::Drawable;
using render::minus;
using render::normalized;
using render::plus;
using render::Vec3;
using Kind = Drawable::Kind;

namespace {

// USD's colors are linear.
std::string color_of(const Drawable& drawable) {
    std::vector<double> linear;
    for (std::size_t k = 0; k < 3; ++k) linear.push_back(render::linear_of_srgb(drawable.color[k]));
    return "color3f[] primvars:displayColor = " + usd_vectors(linear);
}

std::string list_of(const std::vector<std::uint32_t>& numbers) {
    return fmt::format("[{}]", fmt::join(numbers, ", "));
}

std::string repeated(std::size_t count, int number) {
    return list_of(std::vector<std::uint32_t>(count, static_cast<std::uint32_t>(number)));
}

// The box around them and `more` beyond, m: two corners.
std::string extent_of(const std::vector<double>& places, double more) {
    if (places.empty()) return "[]";
    std::vector<double> corners(places.begin(), places.begin() + 3);
    corners.insert(corners.end(), places.begin(), places.begin() + 3);
    for (std::size_t k = 0; k < places.size(); ++k) {
        corners[k % 3] = std::min(corners[k % 3], places[k]);
        corners[3 + k % 3] = std::max(corners[3 + k % 3], places[k]);
    }
    for (std::size_t k = 0; k < 6; ++k) corners[k] += k < 3 ? -more : more;
    return usd_vectors(corners);
}

// Points with the same place are one, so that surfaces are smooth where their normals are.
struct Indexed {
    std::vector<double> places;
    std::vector<std::uint32_t> corners;
};
Indexed indexed(const std::vector<Vec3>& corners) {
    Indexed mesh;
    std::map<Vec3, std::uint32_t> known;
    for (const Vec3& corner : corners) {
        const auto [found, fresh] =
            known.try_emplace(corner, static_cast<std::uint32_t>(known.size()));
        if (fresh) mesh.places.insert(mesh.places.end(), corner.begin(), corner.end());
        mesh.corners.push_back(found->second);
    }
    return mesh;
}

// The matrix for row vectors, as in USD: (x, y, z, 1) times this. `pose`: center, rotation by rows.
std::string matrix_of(const std::vector<double>& pose) {
    std::string text = "( ";
    for (std::size_t i = 0; i < 3; ++i)
        text += fmt::format("({}, {}, {}, 0), ", pose[3 + i], pose[6 + i], pose[9 + i]);
    return text + fmt::format("({}, {}, {}, 1) )", pose[0], pose[1], pose[2]);
}

}  // namespace

// One object of the file.
struct UsdScene::Thing {
    enum class Form : std::uint8_t { points, segments, surface, field, rigid, ball, plane };
    Form form = Form::points;
    std::size_t drawable = 0, object = 0;
    // Points of the model, in the order of the file.
    std::vector<std::size_t> of_points;
    double radius = 0;  // m, around them
    std::string array;  // a field's
    double offset = 0;  // m, a plane's at the start
    // Numbers of properties; none: it does not move, or has none.
    std::optional<std::size_t> places = {}, velocities = {}, extent = {}, values = {}, pose = {};
};

UsdScene::UsdScene(const std::filesystem::path& folder, Simulation& simulation, double seconds)
    : simulation_(simulation),
      info_(session::make_scene_info(simulation)),
      seconds_(seconds),
      base_(session::numbers_of(simulation)),
      file_(folder) {
    const Scene& scene = simulation.scene();
    const std::int64_t steps = simulation.steps() / scene.substeps();  // whole ones
    const double end = scene.step() * static_cast<double>(steps);
    const Poses first = info_->drawable_numbers(*base_, nullptr, 0),
                last = info_->drawable_numbers(*base_, nullptr, end);
    const auto meshes = info_->drawable_meshes(*base_, nullptr);
    for (std::size_t k = 0; k < first.size(); ++k)
        if (auto thing = thing_of(k, first[k], first[k] != last[k], meshes[k].get()))
            things_.push_back(std::move(thing));
    if (file_.size() == 0)
        throw Error("the scene draws nothing to export").remedy("run without --export");
}

UsdScene::~UsdScene() = default;

std::unique_ptr<UsdScene::Thing> UsdScene::thing_of(std::size_t number,
                                                    const std::vector<double>& rest, bool changes,
                                                    const render::Mesh* shape) {
    const render::Stage& stage = *info_->plan.stage;
    const Drawable& drawable = stage.drawables[number];
    if (drawable.ghost || drawable.kind == Kind::arrows) return nullptr;
    const session::DrawableValues& from = info_->plan.numbers[number];
    auto thing = std::make_unique<Thing>();
    thing->drawable = number;
    const auto object = [&](const char* type) {
        const std::string part = from.body ? from.body->name() : "";
        thing->object = file_.add(type, part.empty() ? drawable.name : drawable.name + "_" + part);
        file_.set(thing->object, color_of(drawable));
    };
    const auto set = [&](const std::string& property) { file_.set(thing->object, property); };
    const auto widths = [&](double radius) {
        set(fmt::format("float[] widths = [{}] (interpolation = \"constant\")",
                        static_cast<float>(2 * radius)));
    };
    const auto mesh = [&](const std::vector<std::uint32_t>& corners, int per_face) {
        set("int[] faceVertexCounts = " +
            repeated(corners.size() / static_cast<std::size_t>(per_face), per_face));
        set("int[] faceVertexIndices = " + list_of(corners));
        set("uniform token subdivisionScheme = \"none\"");
        set("uniform bool doubleSided = 1");
    };
    const auto still = [&](const std::vector<double>& places, double radius) {
        set("point3f[] points = " + usd_vectors(places));
        set("float3[] extent = " + extent_of(places, radius));
    };
    const auto moving = [&](bool velocities) {
        thing->places = file_.add_sampled(thing->object, "point3f[] points");
        thing->extent = file_.add_sampled(thing->object, "float3[] extent");
        if (velocities)
            thing->velocities = file_.add_sampled(thing->object, "vector3f[] velocities");
    };
    const Vec3 across_all = minus(stage.high, stage.low);
    const double extent = std::sqrt(dot(across_all, across_all));
    const bool flying = simulation_.model().arrays().contains("velocity");
    switch (drawable.kind) {
        case Kind::points:
            object("Points");
            thing->radius = rest.empty() ? drawable.radius : rest.front();
            for (std::int64_t k = 0; k < drawable.count; ++k)
                thing->of_points.push_back(static_cast<std::size_t>(drawable.first + k));
            widths(thing->radius);
            moving(flying);
            break;
        case Kind::segments:
            object("BasisCurves");
            thing->form = Thing::Form::segments;
            thing->radius = drawable.radius;
            thing->of_points.assign(drawable.indices.begin(), drawable.indices.end());
            set("uniform token type = \"linear\"");
            set("int[] curveVertexCounts = " + repeated(drawable.indices.size() / 2, 2));
            widths(thing->radius);
            moving(false);
            break;
        case Kind::surface: {
            object("Mesh");
            thing->form = Thing::Form::surface;
            std::map<std::uint32_t, std::uint32_t> own;  // the model's point, the mesh's
            for (const std::uint32_t corner : drawable.indices) own.try_emplace(corner, 0);
            for (auto& [point, place] : own) {
                place = static_cast<std::uint32_t>(thing->of_points.size());
                thing->of_points.push_back(point);
            }
            std::vector<std::uint32_t> corners;
            for (const std::uint32_t corner : drawable.indices) corners.push_back(own.at(corner));
            mesh(corners, 3);
            moving(flying);
            break;
        }
        case Kind::field: {
            object("Mesh");
            thing->form = Thing::Form::field;
            std::vector<double> places;
            std::vector<std::uint32_t> corners;
            const auto columns = static_cast<std::uint32_t>(drawable.columns);
            for (std::uint32_t i = 0; i < drawable.rows; ++i)
                for (std::uint32_t j = 0; j < columns; ++j) {
                    places.insert(places.end(),
                                  {drawable.origin[0] + i * drawable.spacing,
                                   drawable.origin[1] + j * drawable.spacing, drawable.origin[2]});
                    if (i + 1 == drawable.rows || j + 1 == columns) continue;
                    const std::uint32_t a = i * columns + j, b = a + columns;
                    corners.insert(corners.end(), {a, b, b + 1, a + 1});
                }
            mesh(corners, 4);
            still(places, 0);
            const std::string property = "float[] primvars:value";
            const auto& fields = info_->plan.fields;
            if (const auto own =
                    std::ranges::find(fields, drawable.values, &session::FieldChannel::channel);
                own != fields.end()) {
                thing->array = own->array;
                thing->values =
                    file_.add_sampled(thing->object, property, "interpolation = \"vertex\"");
            }
            for (const session::TargetChannel& target : info_->plan.targets)
                if (target.channel == drawable.values)
                    set(property + " = " +
                        usd_numbers(simulation_.model().find_quantity(target.quantity)->values) +
                        " (interpolation = \"vertex\")");
            break;
        }
        case Kind::half_space: {
            object("Mesh");
            thing->form = Thing::Form::plane;
            thing->offset = rest[3];
            const Vec3 normal{rest[0], rest[1], rest[2]};
            Vec3 middle{};
            double size = 1;
            for (std::size_t k = 0; k < 3; ++k) {
                middle[k] = (stage.low[k] + stage.high[k]) / 2;
                size = std::max(size, 5 * (stage.high[k] - stage.low[k]));
            }
            middle = plus(middle, normal, rest[3] - dot(normal, middle));
            // Two directions in the plane; in two dimensions the second goes into the obstacle.
            Vec3 along = std::abs(normal[2]) < 0.9 ? Vec3{0, 0, 1} : Vec3{1, 0, 0};
            along = normalized(cross(normal, along), {1, 0, 0});
            Vec3 across = cross(normal, along);
            const bool flat = stage.dimension == 2;
            if (flat) across = {-normal[0], -normal[1], -normal[2]};
            std::vector<double> places;
            for (const auto& [a, b] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}) {
                const Vec3 p = plus(plus(middle, along, a * size), across,
                                    flat ? (b + 1) * 0.05 * size : b * size);
                places.insert(places.end(), p.begin(), p.end());
            }
            mesh({0, 1, 2, 3}, 4);
            still(places, 0);
            break;
        }
        case Kind::ball:
            object("Sphere");
            thing->form = Thing::Form::ball;
            thing->radius = rest[3];
            set(fmt::format("double radius = {}", rest[3]));
            set(fmt::format("float3[] extent = {}", extent_of({0, 0, 0}, rest[3])));
            break;
        case Kind::solid: {
            if (shape == nullptr || shape->places.empty()) return nullptr;
            object("Mesh");
            thing->form = Thing::Form::rigid;
            const Indexed own = indexed(shape->places);
            mesh(own.corners, 3);
            still(own.places, 0);
            break;
        }
        case Kind::box_edges: {
            object("BasisCurves");
            set("uniform token purpose = \"guide\"");
            set("uniform token type = \"linear\"");
            std::vector<double> places;
            std::vector<std::uint32_t> counts;
            const bool flat = stage.dimension == 2;
            for (std::size_t low = 0; low < (flat ? 4U : 8U); ++low)
                for (std::size_t axis = 0; axis < (flat ? 2U : 3U); ++axis) {
                    if ((low >> axis & 1U) != 0) continue;
                    for (const std::size_t corner : {low, low | std::size_t{1} << axis})
                        for (std::size_t k = 0; k < 3; ++k)
                            places.push_back(rest[(corner >> k & 1U) != 0 ? 3 + k : k]);
                    counts.push_back(2);
                }
            set("int[] curveVertexCounts = " + list_of(counts));
            widths(0.002 * extent);
            still(places, 0);
            return nullptr;
        }
        case Kind::markers:
            if (rest.empty()) return nullptr;
            object("Points");
            set("uniform token purpose = \"guide\"");
            widths(0.02 * extent);
            still(rest, 0);
            return nullptr;
        case Kind::arrows: return nullptr;
    }
    // Objects that may move have a transform: a body, or an obstacle with a velocity.
    const bool by_matrix = thing->form == Thing::Form::rigid;
    if (!by_matrix && thing->form != Thing::Form::ball && thing->form != Thing::Form::plane)
        return thing;
    const bool moves = from.body ? from.body->moves() : changes;
    const std::string operation = by_matrix ? "transform" : "translate",
                      property = (by_matrix ? "matrix4d" : "double3") + std::string(" xformOp:") +
                                 operation;
    if (moves)
        thing->pose = file_.add_sampled(thing->object, property);
    else if (by_matrix)
        set(property + " = " + matrix_of(rest));
    else if (thing->form == Thing::Form::ball)
        set(property + fmt::format(" = ({}, {}, {})", rest[0], rest[1], rest[2]));
    if (moves || thing->form != Thing::Form::plane)
        set("uniform token[] xformOpOrder = [\"xformOp:" + operation + "\"]");
    return thing;
}

void UsdScene::add(double time) {
    last_ = time / seconds_;
    // Whole but for rounding, as all frames are but the last one.
    if (std::abs(last_ - std::round(last_)) < 1e-6) last_ = std::round(last_);
    const model::Model& model = simulation_.model();
    const auto d = static_cast<std::size_t>(model.dimension());
    std::map<std::string, std::vector<double>> arrays;
    const auto values_of = [&](const std::string& name) -> const std::vector<double>& {
        const auto [found, fresh] = arrays.try_emplace(name);
        if (fresh) found->second = model.array(name).to_doubles();
        return found->second;
    };
    const auto of_points = [&](const Thing& thing, const std::string& name) {
        const std::vector<double>& all = values_of(name);
        std::vector<double> own;
        own.reserve(3 * thing.of_points.size());
        for (const std::size_t point : thing.of_points)
            for (std::size_t k = 0; k < 3; ++k) own.push_back(k < d ? all[d * point + k] : 0);
        return own;
    };
    const Poses numbers = info_->drawable_numbers(*base_, nullptr, time);
    std::map<std::string, Array> of_bodies;
    const auto array_of_bodies = [&](const std::string& name) {
        return &of_bodies.try_emplace(name, model.array(name)).first->second;
    };
    for (const auto& owned : things_) {
        const Thing& thing = *owned;
        if (thing.places && thing.extent) {
            const std::vector<double> places = of_points(thing, "position");
            file_.sample(*thing.places, last_, usd_vectors(places));
            file_.sample(*thing.extent, last_, extent_of(places, thing.radius));
        }
        if (thing.velocities)
            file_.sample(*thing.velocities, last_, usd_vectors(of_points(thing, "velocity")));
        if (thing.values) file_.sample(*thing.values, last_, usd_numbers(values_of(thing.array)));
        if (!thing.pose) continue;
        const session::DrawableValues& from = info_->plan.numbers[thing.drawable];
        const std::vector<double>& now = numbers[thing.drawable];
        if (thing.form == Thing::Form::rigid) {
            const std::vector<double> pose = from.body ? from.body->pose(array_of_bodies) : now;
            file_.sample(*thing.pose, last_, matrix_of(pose));
            continue;
        }
        Vec3 moved{now[0], now[1], now[2]};
        if (thing.form == Thing::Form::plane) moved = plus({}, moved, now[3] - thing.offset);
        file_.sample(*thing.pose, last_, fmt::format("({}, {}, {})", moved[0], moved[1], moved[2]));
    }
}

void UsdScene::write(const std::filesystem::path& file) const {
    const render::Stage& stage = *info_->plan.stage;
    file_.write(file, {simulation_.scene().name(),
                       stage.dimension == 2 || stage.up == 'y' ? 'Y' : 'Z', 1 / seconds_, last_});
}

}  // namespace hindcast::exporting
