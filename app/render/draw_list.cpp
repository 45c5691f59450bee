// From stage, frame and view to draws.
#include "app/render/draw_list.hpp"

#include <algorithm>
#include <cmath>

#include "app/render/camera_axes.hpp"

namespace hindcast::render {

namespace {

constexpr float ghost_alpha = 0.30F;

// In the plane: what lies over what. Larger is nearer.
float layer_of(Drawable::Kind kind) {
    using Kind = Drawable::Kind;
    switch (kind) {
        case Kind::field: return 0.10F;
        case Kind::surface: return 0.30F;
        case Kind::half_space: return 0.35F;
        case Kind::box_edges: return 0.40F;
        case Kind::solid: return 0.45F;
        case Kind::ball: return 0.50F;
        case Kind::segments: return 0.60F;
        case Kind::points: return 0.70F;
        case Kind::arrows: return 0.80F;
        case Kind::markers: return 0.99F;
    }
    return 0;
}
constexpr float trail_layer = 0.55F, grid_layer = 0.02F;

Float4 narrow(const Vec3& v, double w = 0) {
    return {static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2]),
            static_cast<float>(w)};
}

Vec3 unit(const Vec3& v) { return normalized(v, {0, 0, 1}); }

// Depth 1 at the near plane and 0 far away: even resolution over all distances.
Float16 view_projection(const Camera& camera, const Axes& axes, double aspect) {
    const Vec3 &r = axes.right, &u = axes.up, &f = axes.forward, &e = camera.eye;
    const double half = camera.orthographic ? camera.height / 2 : axes.half_tangent;
    const double x = 1 / (half * aspect), y = -1 / half;
    Float16 m{};
    for (std::size_t c = 0; c < 3; ++c) {
        m[4 * c] = static_cast<float>(r[c] * x);
        m[4 * c + 1] = static_cast<float>(u[c] * y);
    }
    m[12] = static_cast<float>(-dot(r, e) * x);
    m[13] = static_cast<float>(-dot(u, e) * y);
    if (camera.orthographic) {
        const double reach = 50 * (axes.distance + camera.height);
        for (std::size_t c = 0; c < 3; ++c) m[4 * c + 2] = static_cast<float>(-f[c] / (2 * reach));
        m[14] = static_cast<float>(0.5 + (dot(f, e) + axes.distance) / (2 * reach));
        m[15] = 1;
    } else {
        for (std::size_t c = 0; c < 3; ++c) m[4 * c + 3] = static_cast<float>(f[c]);
        m[14] = static_cast<float>(axes.distance * 1e-3);
        m[15] = static_cast<float>(-dot(f, e));
    }
    return m;
}

class Maker {
public:
    Maker(const Stage* stage, const Frame* frame, const View& view) : view_(view), stage_(stage) {
        list_.flat = stage != nullptr && stage->dimension == 2 && !view.heights;
        list_.shadows = view.shadows && !list_.flat;
        list_.occlusion = view.ambient_occlusion && !list_.flat;
        list_.sliced = view.slice.has_value() && !list_.flat;
        if (frame != nullptr) frame_ = frame;
    }

    DrawList make(int shadow_map_size) {
        fill_scene(shadow_map_size);
        if (stage_ != nullptr) {
            bool has_ground = false;
            for (std::size_t t = 0; t < stage_->drawables.size(); ++t)
                has_ground = add_thing(static_cast<int>(t)) || has_ground;
            // A grid would cut through what goes up and down around it.
            if (view_.floor && !has_ground && !list_.has_heights) add_grid();
            add_trails();
        }
        std::ranges::stable_sort(list_.items, {}, &Item::group);
        return std::move(list_);
    }

private:
    void fill_scene(int shadow_map_size);
    // True if it is a floor.
    bool add_thing(int number);
    void add_grid();
    void add_arrows(int number, DrawConstants constants);
    void add_tubes(int number, DrawConstants constants);
    void add_surface(int number, DrawConstants constants);
    void add_trails();
    void add_plane(int number, const Vec3& normal, double offset, std::uint32_t flags,
                   const Color& color);
    void add_box(int number, const std::vector<double>& numbers);
    void add_ball(int number, const std::vector<double>& numbers);
    void add_solid(int number, const std::vector<double>& numbers, const Mesh& mesh);
    void add_markers(int number, const std::vector<double>& numbers);
    void measure(const Drawable& drawable, int number, const DrawConstants& constants);
    DrawConstants constants_of(const Drawable& drawable, int number) const;
    void add_line(const Vec3& a, const Vec3& b);
    Item& add(Shape shape, int drawable, std::uint32_t vertices, const DrawConstants& constants);
    void know(const Vec3& low, const Vec3& high);
    double pixel_at_target() const;
    Vec3 up() const;
    Vec3 middle() const;
    bool hidden(int number) const {
        const auto n = static_cast<std::size_t>(number);
        return n < view_.hidden.size() && view_.hidden[n];
    }

    const View& view_;
    const Stage* stage_;
    const Frame* frame_ = nullptr;
    Axes axes_;
    double reach_ = 1;
    std::vector<int> measured_;  // channels of places
    DrawList list_;
};

Vec3 Maker::up() const {
    return stage_ != nullptr && stage_->dimension == 3 && stage_->up == 'y' ? Vec3{0, 1, 0}
                                                                            : Vec3{0, 0, 1};
}

Vec3 Maker::middle() const {
    if (stage_ == nullptr) return {};
    Vec3 sum = plus(stage_->low, stage_->high);
    for (double& x : sum) x /= 2;
    return sum;
}

double Maker::pixel_at_target() const {
    const double height =
        view_.camera.orthographic ? view_.camera.height : 2 * axes_.distance * axes_.half_tangent;
    return height / std::max(view_.height, 1);
}

void Maker::fill_scene(int shadow_map_size) {
    const Camera& camera = view_.camera;
    const double aspect = static_cast<double>(view_.width) / std::max(view_.height, 1);
    axes_ = axes_of(camera);
    SceneBlock& scene = list_.scene;
    scene.view_projection = view_projection(camera, axes_, aspect);
    scene.eye = narrow(camera.eye, camera.orthographic ? 0 : 1);
    scene.right =
        narrow(axes_.right, (camera.orthographic ? camera.height : 2 * axes_.half_tangent) /
                                std::max(view_.height, 1));
    scene.up = narrow(axes_.up);
    scene.forward = narrow(axes_.forward);

    // From above, from the left of where the cameras stand at first.
    const Vec3 above = up();
    const Vec3 light = unit(above[2] > 0 ? Vec3{-0.42, -0.38, 0.82} : Vec3{-0.42, 0.82, 0.38});
    const Vec3 light_right = unit(cross(above, light)), light_up = cross(light, light_right);
    scene.to_light = narrow(light, 1.0 / shadow_map_size);
    scene.light_right = narrow(light_right);
    scene.light_up = narrow(light_up);
    scene.world_up = narrow(above);
    scene.background_top = view_.background_top;
    scene.background_bottom = view_.background_bottom;
    scene.size = {static_cast<float>(view_.width), static_cast<float>(view_.height),
                  1.0F / static_cast<float>(std::max(view_.width, 1)),
                  1.0F / static_cast<float>(std::max(view_.height, 1))};
    if (view_.range)
        scene.range = {static_cast<float>((*view_.range)[0]), static_cast<float>((*view_.range)[1]),
                       0, 0};
    if (list_.sliced && view_.slice)
        scene.slice = narrow(unit(view_.slice->normal), view_.slice->offset);
    const std::uint32_t range = (view_.range ? range_given : 0U) |
                                (view_.symmetric ? std::uint32_t{range_symmetric} : 0U) |
                                (view_.log_colors ? std::uint32_t{range_log} : 0U);
    scene.flags = {list_.flat ? 1U : 0U, range, static_cast<std::uint32_t>(view_.map),
                   list_.shadows ? 1U : 0U};

    double diagonal = 1;
    if (stage_ != nullptr) {
        const Vec3 size = plus(stage_->high, stage_->low, -1);
        diagonal = std::max(std::sqrt(dot(size, size)), 1e-6);
    }
    reach_ = list_.flat ? 4 * (camera.height * std::max(aspect, 1.0) + diagonal)
                        : std::max(5 * diagonal, 2.5 * axes_.distance);
    scene.focus = narrow(middle(), reach_);

    PictureConstants& picture = list_.picture;
    const double ahead = 50 * (axes_.distance + camera.height);
    const double half = camera.orthographic ? camera.height / 2 : axes_.half_tangent;
    picture.lens = {static_cast<float>(axes_.distance * 1e-3), static_cast<float>(2 * ahead),
                    static_cast<float>(axes_.distance), camera.orthographic ? 0.0F : 1.0F};
    picture.window = {static_cast<float>(half * aspect), static_cast<float>(half), scene.size[0],
                      scene.size[1]};
    picture.outline = {1.0F, 0.58F, 0.10F, 1};
    picture.nearby = {static_cast<float>(0.07 * diagonal), 1.9F, 0, 0};
}

DrawConstants Maker::constants_of(const Drawable& drawable, int number) const {
    DrawConstants constants;
    constants.color = drawable.color;
    constants.color[3] = !drawable.ghost         ? 1
                         : drawable.color[3] < 1 ? drawable.color[3]
                                                 : ghost_alpha;
    constants.radius = static_cast<float>(radius_in(drawable, number, *frame_));
    constants.spacing = static_cast<float>(drawable.spacing);
    constants.layer = layer_of(drawable.kind) + 1e-4F * static_cast<float>(number % 256);
    constants.first = static_cast<std::uint32_t>(drawable.first);
    constants.count = static_cast<std::uint32_t>(drawable.count);
    constants.rows = static_cast<std::uint32_t>(drawable.rows);
    constants.columns = static_cast<std::uint32_t>(drawable.columns);
    constants.drawable = static_cast<std::uint32_t>(number);
    if (stage_->dimension == 2) constants.flags |= in_plane;
    if (drawable.values >= 0 && drawable.kind != Drawable::Kind::arrows)
        constants.flags |= has_values;
    if (drawable.values_per_point) constants.flags |= values_per_point;
    if (!drawable.element_of.empty()) constants.flags |= has_element_of;
    return constants;
}

Item& Maker::add(Shape shape, int drawable, std::uint32_t vertices,
                 const DrawConstants& constants) {
    Item item;
    item.shape = shape;
    item.drawable = drawable;
    item.vertices = vertices;
    item.constants = constants;
    const bool ghost = drawable >= 0 && stage_->drawables[static_cast<std::size_t>(drawable)].ghost;
    if (ghost) item.group = Group::ghost;
    item.casts_shadow = list_.shadows && !ghost;
    return list_.items.emplace_back(item);
}

void Maker::know(const Vec3& low, const Vec3& high) {
    SceneBlock& scene = list_.scene;
    const bool first = scene.known_low[3] == 0;
    for (std::size_t c = 0; c < 3; ++c) {
        const auto l = static_cast<float>(low[c]), h = static_cast<float>(high[c]);
        scene.known_low[c] = first ? l : std::min(scene.known_low[c], l);
        scene.known_high[c] = first ? h : std::max(scene.known_high[c], h);
    }
    scene.known_low[3] = 1;
}

void Maker::measure(const Drawable& drawable, int number, const DrawConstants& constants) {
    if (!drawable.ghost && (constants.flags & has_values) != 0 && (!view_.range || view_.heights)) {
        Measurement range{number, constants};
        range.constants.mode = 0;
        if (drawable.kind != Drawable::Kind::points) {
            range.constants.first = 0;
            range.constants.count = static_cast<std::uint32_t>(
                stage_->channels[static_cast<std::size_t>(drawable.values)].elements);
        }
        list_.measurements.push_back(range);
    }
    if (drawable.kind == Drawable::Kind::arrows) {
        Measurement longest{number, constants};
        longest.constants.mode = 1;
        list_.measurements.push_back(longest);
    }
    if (list_.shadows && !drawable.ghost && drawable.places >= 0 &&
        drawable.kind != Drawable::Kind::arrows &&
        std::ranges::find(measured_, drawable.places) == measured_.end()) {
        measured_.push_back(drawable.places);
        Measurement box{number, constants};
        box.constants.mode = 2;
        box.constants.first = 0;
        box.constants.count = static_cast<std::uint32_t>(
            stage_->channels[static_cast<std::size_t>(drawable.places)].elements);
        list_.measurements.push_back(box);
    }
}

bool Maker::add_thing(int number) {
    using Kind = Drawable::Kind;
    const auto n = static_cast<std::size_t>(number);
    const Drawable& drawable = stage_->drawables[n];
    if (hidden(number) || frame_ == nullptr) return false;
    DrawConstants constants = constants_of(drawable, number);
    static const std::vector<double> none;
    const auto& numbers = n < frame_->numbers.size() ? frame_->numbers[n] : none;
    switch (drawable.kind) {
        case Kind::points: add(Shape::points, number, 3 * constants.count, constants); break;
        case Kind::segments: add_tubes(number, constants); break;
        case Kind::surface: add_surface(number, constants); break;
        case Kind::field:
            if (drawable.values < 0 || (!numbers.empty() && numbers[0] == 0)) return false;
            constants.a = narrow(drawable.origin);
            constants.scale = static_cast<float>(view_.height_scale);
            constants.mode = view_.smooth_fields ? 1 : 0;
            if (view_.heights) {
                add(Shape::heights, number, 6 * (constants.rows - 1) * (constants.columns - 1),
                    constants);
                list_.has_heights = true;
                know(drawable.origin,
                     plus(drawable.origin,
                          {drawable.spacing * static_cast<double>(drawable.rows - 1),
                           drawable.spacing * static_cast<double>(drawable.columns - 1), 0}));
            } else {
                add(Shape::image, number, 6, constants).casts_shadow = false;
            }
            break;
        case Kind::arrows:
            if (!numbers.empty() && numbers[0] == 0) return false;
            constants.scale = static_cast<float>(view_.arrow_scale);
            if (view_.arrow_log) constants.flags |= arrow_log;
            constants.mode = !numbers.empty() && numbers[0] == 1 ? 1 : 0;
            add_arrows(number, constants);
            break;
        case Kind::half_space: {
            if (numbers.size() < 4) return false;
            const Vec3 normal{numbers[0], numbers[1], numbers[2]};
            const double length = std::sqrt(dot(normal, normal));
            if (!(length > 0) || !std::isfinite(length)) return false;
            add_plane(number, unit(normal), numbers[3] / length, 0, drawable.color);
            return !list_.flat && dot(normal, up()) > 0.999 * length;
        }
        case Kind::ball: add_ball(number, numbers); break;
        case Kind::solid:
            if (n < frame_->meshes.size() && frame_->meshes[n])
                add_solid(number, numbers, *frame_->meshes[n]);
            break;
        case Kind::box_edges: add_box(number, numbers); break;
        case Kind::markers: add_markers(number, numbers); break;
    }
    measure(drawable, number, constants);
    return false;
}

void Maker::add_plane(int number, const Vec3& normal, double offset, std::uint32_t flags,
                      const Color& color) {
    DrawConstants constants;
    constants.color = color;
    constants.color[3] = view_.dark ? 0 : 1;
    constants.flags = flags | uncut;
    if (number >= 0) constants.drawable = static_cast<std::uint32_t>(number);
    constants.layer = (flags & is_grid) != 0 ? grid_layer : layer_of(Drawable::Kind::half_space);
    constants.mode = (flags & is_grid) != 0 ? 1 : 0;
    constants.a = narrow(normal, offset);
    const Vec3 center = list_.flat ? view_.camera.target : middle();
    constants.b = narrow(plus(center, normal, offset - dot(center, normal)), 4 * pixel_at_target());
    // The finest grid has lines 14 to 140 pixels apart where the camera looks.
    const double level = std::log10(std::max(pixel_at_target(), 1e-30) * 14);
    constants.spacing = static_cast<float>(std::pow(10.0, std::ceil(level)));
    constants.scale = static_cast<float>(std::min(1.0, 1.6 * (std::ceil(level) - level)));
    Item& item = add(Shape::plane, number, 6, constants);
    item.casts_shadow = false;
    // The grid hides nothing: things below it are seen through it.
    if ((flags & is_grid) != 0 && !list_.flat) {
        item.group = Group::grid;
        item.writes_depth = false;
        return;
    }
    if (item.group != Group::ghost) item.group = Group::ground;
    // Seen from below it hides nothing.
    const Camera& camera = view_.camera;
    const double side =
        camera.orthographic ? -dot(axes_.forward, normal) : dot(camera.eye, normal) - offset;
    item.writes_depth = !list_.flat && side > 0;
}

// At the height of the lowest point at the start.
void Maker::add_grid() {
    const Color& bottom = view_.background_bottom;
    Color color{};
    for (std::size_t c = 0; c < 3; ++c)
        color[c] = view_.dark ? std::min(1.0F, bottom[c] * 1.35F + 0.09F)
                              : std::min(1.0F, bottom[c] * 0.6F + 0.40F);
    const Vec3 normal = up();
    // The box goes through the middles of the balls that stand on the grid.
    double radius = 0;
    for (const Drawable& drawable : stage_->drawables)
        if (drawable.kind == Drawable::Kind::points && !drawable.ghost)
            radius = std::max(radius, drawable.radius);
    const double height = list_.flat ? 0 : dot(stage_->low, normal) - radius;
    add_plane(-1, normal, height, is_grid, color);
}

void Maker::add_line(const Vec3& a, const Vec3& b) {
    for (const Vec3* end : {&a, &b})
        for (const double x : *end) list_.host_places.push_back(static_cast<float>(x));
}

void Maker::add_box(int number, const std::vector<double>& numbers) {
    if (numbers.size() < 6) return;
    const auto corner = [&](unsigned bits) {
        Vec3 p{};
        for (std::size_t c = 0; c < 3; ++c) p[c] = numbers[(bits >> c & 1U) != 0 ? c + 3 : c];
        return p;
    };
    const auto first = static_cast<std::uint32_t>(list_.host_places.size() / 6);
    const unsigned corners = stage_->dimension == 2 ? 4 : 8;
    std::uint32_t lines = 0;
    for (unsigned k = 0; k < corners; ++k)
        for (unsigned axis = 1; axis < corners; axis <<= 1)
            if ((k & axis) == 0) {
                add_line(corner(k), corner(k | axis));
                ++lines;
            }
    DrawConstants constants =
        constants_of(stage_->drawables[static_cast<std::size_t>(number)], number);
    constants.flags = unlit | pixel_radius | uncut;
    constants.radius = 1.0F;
    constants.first = first;
    constants.mode = 1;
    Item& item = add(Shape::segments, number, 6 * lines, constants);
    item.from_host = true;
    item.casts_shadow = false;
}

void Maker::add_ball(int number, const std::vector<double>& numbers) {
    if (numbers.size() < 4) return;
    const Vec3 center{numbers[0], numbers[1], numbers[2]};
    const double radius = numbers[3];
    if (!std::isfinite(dot(center, center)) || !(radius > 0)) return;
    DrawConstants constants =
        constants_of(stage_->drawables[static_cast<std::size_t>(number)], number);
    constants.a = narrow(center, radius);
    constants.radius = static_cast<float>(radius);
    constants.first = 0;
    constants.mode = 1;
    constants.flags &= ~std::uint32_t{has_values};
    add(Shape::points, number, 3, constants);
    know(plus(center, {1, 1, 1}, -radius), plus(center, {1, 1, 1}, radius));
}

void Maker::add_solid(int number, const std::vector<double>& numbers, const Mesh& mesh) {
    if (numbers.size() < 12 ||
        !std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }))
        return;
    constexpr std::size_t each = 6;  // numbers of a vertex: place, normal
    while (list_.host_places.size() % each != 0) list_.host_places.push_back(0);
    DrawConstants constants =
        constants_of(stage_->drawables[static_cast<std::size_t>(number)], number);
    constants.flags = closed;
    constants.first = static_cast<std::uint32_t>(list_.host_places.size() / each);
    for (std::size_t k = 0; k < mesh.places.size(); ++k) {
        const Vec3 place = placed(numbers, mesh.places[k]);
        const Vec3 normal = plus(placed(numbers, mesh.normals[k]), placed(numbers, {}), -1);
        for (const Vec3* v : {&place, &normal})
            for (const double x : *v) list_.host_places.push_back(static_cast<float>(x));
        know(place, place);
    }
    Item& item =
        add(Shape::solid, number, static_cast<std::uint32_t>(mesh.places.size()), constants);
    item.from_host = true;
}

void Maker::add_markers(int number, const std::vector<double>& numbers) {
    // Their places stand before the lines' in the same array.
    const std::size_t count = numbers.size() / 3;
    if (count == 0) return;
    while (list_.host_places.size() % 6 != 0) list_.host_places.push_back(0);
    DrawConstants constants =
        constants_of(stage_->drawables[static_cast<std::size_t>(number)], number);
    constants.flags = 0;
    constants.first = static_cast<std::uint32_t>(list_.host_places.size() / 3);
    constants.count = static_cast<std::uint32_t>(count);
    constants.mode = view_.dark ? 0 : 1;
    for (std::size_t k = 0; k < 3 * count; ++k)
        list_.host_places.push_back(static_cast<float>(numbers[k]));
    while (list_.host_places.size() % 6 != 0) list_.host_places.push_back(0);
    Item& item = add(Shape::markers, number, static_cast<std::uint32_t>(6 * count), constants);
    item.from_host = true;
    item.casts_shadow = false;
    item.writes_depth = false;
    if (item.group != Group::ghost) item.group = Group::overlay;
}

void Maker::add_arrows(int number, DrawConstants constants) {
    const bool through = constants.mode == 1;
    // Whole, or not at all.
    constants.flags |= uncut;
    const Drawable& drawable = stage_->drawables[static_cast<std::size_t>(number)];
    if (drawable.count > view_.most_arrows && !drawable.indices.empty())
        constants.flags |= has_order;
    const auto most =
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(view_.most_arrows, 0, drawable.count));
    Item& item = add(Shape::arrows, number, 9 * most, constants);
    item.casts_shadow = false;
    item.writes_depth = !through;
    if (through && item.group != Group::ghost) item.group = Group::overlay;
}

void Maker::add_tubes(int number, DrawConstants constants) {
    if (view_.tubes.radius > 0) constants.radius = static_cast<float>(view_.tubes.radius);
    if (view_.tubes.pixels > 0) {
        constants.radius = static_cast<float>(view_.tubes.pixels);
        constants.flags |= pixel_radius;
    }
    const Drawable& drawable = stage_->drawables[static_cast<std::size_t>(number)];
    add(Shape::segments, number, static_cast<std::uint32_t>(3 * drawable.indices.size()),
        constants);
}

// The triangles of a surface and, where a slice cuts what they enclose, the cut.
void Maker::add_surface(int number, DrawConstants constants) {
    const Drawable& drawable = stage_->drawables[static_cast<std::size_t>(number)];
    const auto indices = static_cast<std::uint32_t>(drawable.indices.size());
    constants.count = indices / 3;
    if (list_.sliced && !drawable.ghost && !drawable.tetrahedra.empty()) {
        DrawConstants cut = constants;
        cut.flags |= uncut;
        cut.columns = indices;
        cut.count = static_cast<std::uint32_t>(drawable.tetrahedra.size() / 4);
        add(Shape::cut, number, 6 * cut.count, cut);
    }
    if (view_.edges || list_.flat) constants.flags |= edges_shown;
    add(Shape::surface, number, indices, constants);
    if (!list_.flat) list_.normals.push_back(number);
}

void Maker::add_trails() {
    if (!view_.trails) return;
    const auto first = static_cast<std::uint32_t>(list_.host_places.size() / 6);
    std::uint32_t lines = 0;
    for (const auto& line : view_.trail_lines)
        for (std::size_t k = 1; k < line.size(); ++k, ++lines) add_line(line[k - 1], line[k]);
    if (lines == 0) return;
    DrawConstants constants;
    constants.color = view_.dark ? Color{0.98F, 0.78F, 0.36F, 1} : Color{0.80F, 0.44F, 0.05F, 1};
    constants.flags = unlit | pixel_radius | uncut;
    constants.radius = 0.9F;
    constants.layer = trail_layer;
    constants.first = first;
    constants.mode = 1;
    Item& item = add(Shape::segments, -1, 6 * lines, constants);
    item.from_host = true;
    item.casts_shadow = false;
}

}  // namespace

DrawList make_draw_list(const Stage* stage, const Frame* frame, const View& view,
                        int shadow_map_size) {
    return Maker(stage, frame, view).make(shadow_map_size);
}

}  // namespace hindcast::render
