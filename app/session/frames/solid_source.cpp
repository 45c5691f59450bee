#include "app/session/frames/solid_source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <utility>

#include "engine/model/model.hpp"

namespace hindcast::session {

namespace {

using render::cross;
using render::dot;
using render::Mesh;
using render::plus;
using render::Vec3;
using SolidKind = model::DrawnSolid::Kind;
using Turn = std::array<Vec3, 3>;  // rows of a rotation

Vec3 scaled(const Vec3& a, double s) { return {a[0] * s, a[1] * s, a[2] * s}; }
Vec3 unit(const Vec3& a) {
    const double length = std::sqrt(dot(a, a));
    return length > 0 ? scaled(a, 1 / length) : a;
}

// Of the rotation vector, by the quaternion (cos |r|/2, sin |r|/2 r/|r|).
std::array<double, 4> quaternion_of(const Vec3& r) {
    const double angle = std::sqrt(dot(r, r));
    const Vec3 v = scaled(unit(r), std::sin(angle / 2));
    return {std::cos(angle / 2), v[0], v[1], v[2]};
}
// Of a quaternion of any length but 0.
Turn turn_of(const std::array<double, 4>& q) {
    const auto [w, x, y, z] = q;
    const double s = 2 / (w * w + x * x + y * y + z * z);
    return {Vec3{1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
            Vec3{s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)},
            Vec3{s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)}};
}
Turn product(const Turn& a, const Turn& b) {
    Turn c{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t k = 0; k < 3; ++k) c[i] = plus(c[i], scaled(b[k], a[i][k]));
    return c;
}

Vec3 padded(const std::vector<double>& values) {
    Vec3 v{};
    std::copy_n(values.begin(), std::min<std::size_t>(values.size(), 3), v.begin());
    return v;
}
// A rotation vector: of a number, about z.
Vec3 rotation_vector(const std::vector<double>& values) {
    return values.size() == 1 ? Vec3{0, 0, values[0]} : padded(values);
}

struct Vertex {
    Vec3 place, normal;
};
void add(Mesh& mesh, const Vertex& a, const Vertex& b, const Vertex& c) {
    for (const Vertex* v : {&a, &b, &c}) {
        mesh.places.push_back(v->place);
        mesh.normals.push_back(v->normal);
    }
}
void add_fan(Mesh& mesh, const std::vector<Vertex>& corners) {
    for (std::size_t k = 2; k < corners.size(); ++k)
        add(mesh, corners[0], corners[k - 1], corners[k]);
}

// From the axis and along it; its normal alike. From one end of the axis to the other.
struct Ring {
    double radius, along, normal_out, normal_along;
};
Mesh revolved(const Vec3& axis, const std::vector<Ring>& profile, int around) {
    const Vec3 d = unit(axis);
    const std::size_t least = static_cast<std::size_t>(
        std::ranges::min_element(d, {}, [](double x) { return std::abs(x); }) - d.begin());
    Vec3 e{};
    e[least] = 1;
    const Vec3 a = unit(cross(e, d)), b = cross(d, a);
    const auto at = [&](const Ring& ring, int k) {
        const double angle = 2 * std::numbers::pi * (k % around) / around;
        const Vec3 out = plus(scaled(a, std::cos(angle)), scaled(b, std::sin(angle)));
        return Vertex{plus(scaled(out, ring.radius), scaled(d, ring.along)),
                      plus(scaled(out, ring.normal_out), scaled(d, ring.normal_along))};
    };
    Mesh mesh;
    for (std::size_t i = 0; i + 1 < profile.size(); ++i) {
        const Ring &from = profile[i], &to = profile[i + 1];
        if (from.radius == to.radius && from.along == to.along) continue;  // an edge
        for (int k = 0; k < around; ++k) {
            if (from.radius > 0) add(mesh, at(from, k), at(from, k + 1), at(to, k));
            if (to.radius > 0) add(mesh, at(from, k + 1), at(to, k + 1), at(to, k));
        }
    }
    return mesh;
}

class FieldMesh {
public:
    FieldMesh(const std::vector<std::int64_t>& counts, double spacing,
              const std::vector<double>& samples)
        : axes_(counts.size()), spacing_(spacing), samples_(samples) {
        std::copy(counts.begin(), counts.end(), counts_.begin());
        // The spline is defined from the second node to the last but one.
        const auto longest = static_cast<double>(*std::ranges::max_element(counts) - 3);
        const double step = longest / std::clamp(longest, 48.0, 96.0);
        for (std::size_t k = 0; k < axes_; ++k) {
            const auto length = static_cast<double>(counts_[k] - 3);
            cells_[k] = static_cast<std::int64_t>(std::ceil(length / step - 1e-9));
            step_[k] = length / static_cast<double>(cells_[k]);
        }
    }

    Mesh make() {
        values_.reserve(static_cast<std::size_t>(index({cells_[0], cells_[1], cells_[2]}) + 1));
        for_each(1, [&](const Cell& c) { values_.push_back(sampled(node(c)).value); });
        for_each(0, [&](const Cell& c) {
            std::array<std::size_t, 3> order{0, 1, 2};
            do cut(c, order);
            while (std::next_permutation(order.begin(),
                                         order.begin() + static_cast<std::ptrdiff_t>(axes_)));
        });
        return std::move(mesh_);
    }

private:
    using Cell = std::array<std::int64_t, 3>;
    struct Sample {
        double value = 0;
        Vec3 slope{};
    };

    void for_each(std::int64_t more, const auto& act) const {
        Cell c{};
        const auto end = [&](std::size_t k) { return k < axes_ ? cells_[k] + more : 1; };
        for (c[0] = 0; c[0] < end(0); ++c[0])
            for (c[1] = 0; c[1] < end(1); ++c[1])
                for (c[2] = 0; c[2] < end(2); ++c[2]) act(c);
    }
    // Of a node of the lattice.
    std::int64_t index(const Cell& c) const {
        return (c[0] * (cells_[1] + 1) + c[1]) * (cells_[2] + 1) + c[2];
    }
    Vec3 node(const Cell& c) const {  // in spacings from the grid's first
        Vec3 u{};
        for (std::size_t k = 0; k < axes_; ++k) u[k] = 1 + step_[k] * static_cast<double>(c[k]);
        return u;
    }
    Vec3 place(const Vec3& u) const {
        Vec3 x{};
        for (std::size_t k = 0; k < axes_; ++k)
            x[k] = spacing_ * (u[k] - 0.5 * static_cast<double>(counts_[k] - 1));
        return x;
    }

    Sample sampled(const Vec3& u) const {
        std::array<std::array<double, 4>, 3> weight{}, slope{};
        std::array<std::int64_t, 3> first{};
        for (std::size_t k = 0; k < 3; ++k) {
            weight[k] = {1, 0, 0, 0};
            if (k >= axes_) continue;
            const auto cell = std::clamp(static_cast<std::int64_t>(std::floor(u[k])),
                                         std::int64_t{1}, counts_[k] - 3);
            const double f = u[k] - static_cast<double>(cell), g = 1 - f;
            weight[k] = {g * g * g / 6, (4 + f * f * (3 * f - 6)) / 6,
                         (4 + g * g * (3 * g - 6)) / 6, f * f * f / 6};
            slope[k] = {-g * g / 2, (1.5 * f - 2) * f, (2 - 1.5 * g) * g, f * f / 2};
            first[k] = cell - 1;
        }
        Sample sum;
        const auto reach = [&](std::size_t k) { return k < axes_ ? std::size_t{4} : 1; };
        for (std::size_t i = 0; i < reach(0); ++i)
            for (std::size_t j = 0; j < reach(1); ++j)
                for (std::size_t k = 0; k < reach(2); ++k) {
                    const auto at = static_cast<std::size_t>(
                        ((first[0] + static_cast<std::int64_t>(i)) * counts_[1] + first[1] +
                         static_cast<std::int64_t>(j)) *
                            counts_[2] +
                        first[2] + static_cast<std::int64_t>(k));
                    const double s = samples_.size() == 1 ? samples_.front() : samples_[at];
                    const double x = weight[0][i], y = weight[1][j], z = weight[2][k];
                    sum.value += s * x * y * z;
                    sum.slope = plus(
                        sum.slope,
                        scaled({slope[0][i] * y * z, x * slope[1][j] * z, x * y * slope[2][k]}, s));
                }
        return sum;
    }

    Vertex vertex(const Vec3& u) const {
        return {place(u), axes_ == 3 ? unit(sampled(u).slope) : Vec3{0, 0, 1}};
    }
    // Where the spline is zero between two nodes of which one is inside (false position after
    // Illinois).
    const Vertex& between(const Cell& a, const Cell& b) {
        const std::pair<std::int64_t, std::int64_t> key = std::minmax(index(a), index(b));
        const auto found = found_.find(key);
        if (found != found_.end()) return found->second;
        Vec3 low = node(a), high = node(b), at = low;
        double f = value(a), g = value(b);
        for (int round = 0; round < 40; ++round) {
            at = plus(low, scaled(plus(high, scaled(low, -1)), f / (f - g)));
            const double here = sampled(at).value;
            if (std::abs(here) <= 1e-12 * spacing_) break;
            if ((here <= 0) == (g <= 0)) {
                high = at;
                g = here;
                f /= 2;
            } else {
                low = at;
                f = here;
                g /= 2;
            }
        }
        return found_.emplace(key, vertex(at)).first->second;
    }
    double value(const Cell& c) const { return values_[static_cast<std::size_t>(index(c))]; }

    // The part of a cell where u[order[0]] >= u[order[1]] >= ... from its corner.
    void cut(Cell corner, const std::array<std::size_t, 3>& order) {
        std::array<Cell, 4> corners{};
        corners[0] = corner;
        for (std::size_t k = 0; k < axes_; ++k) {
            ++corner[order[k]];
            corners[k + 1] = corner;
        }
        bool even = true;  // the corners' orientation
        for (std::size_t i = 0; i < axes_; ++i)
            for (std::size_t j = i + 1; j < axes_; ++j) even = even != (order[i] > order[j]);
        std::vector<Vertex> polygon;
        if (axes_ == 2) {
            for (std::size_t k = 0; k < 3; ++k) {
                const Cell &a = corners[k], &b = corners[(k + 1) % 3];
                if (value(a) <= 0) polygon.push_back(vertex(node(a)));
                if ((value(a) <= 0) != (value(b) <= 0)) polygon.push_back(between(a, b));
            }
        } else {
            std::vector<Cell> in, out;
            for (std::size_t k = 0; k < 4; ++k) {
                if (value(corners[k]) > 0) {
                    out.push_back(corners[k]);
                } else {
                    if (out.size() % 2 == 1) even = !even;  // brought to the front
                    in.push_back(corners[k]);
                }
            }
            if (in.size() == 2) {
                polygon = {between(in[0], out[0]), between(in[0], out[1]), between(in[1], out[1]),
                           between(in[1], out[0])};
            } else {
                for (const Cell& a : in)
                    for (const Cell& b : out) polygon.push_back(between(a, b));
            }
        }
        if (!even) std::ranges::reverse(polygon);
        add_fan(mesh_, polygon);
    }

    std::size_t axes_;
    double spacing_;
    const std::vector<double>& samples_;
    Cell counts_{1, 1, 1}, cells_{};
    Vec3 step_{};
    std::vector<double> values_;
    std::map<std::pair<std::int64_t, std::int64_t>, Vertex> found_;
    Mesh mesh_;
};

}  // namespace

Mesh box_mesh(const Vec3& half, int dimension) {
    Mesh mesh;
    for (std::size_t k = dimension == 2 ? 2 : 0; k < 3; ++k)
        for (const double side : {1.0, -1.0}) {
            if (dimension == 2 && side < 0) continue;
            Vec3 normal{};
            normal[k] = side;
            std::vector<Vertex> corners;
            for (const auto& [x, y] :
                 {std::pair(-1.0, -1.0), {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}}) {
                Vec3 p{};
                p[k] = side * half[k];
                p[(k + 1) % 3] = x * half[(k + 1) % 3];
                p[(k + 2) % 3] = y * half[(k + 2) % 3];
                corners.push_back({p, normal});
            }
            if (side < 0) std::ranges::reverse(corners);
            add_fan(mesh, corners);
        }
    return mesh;
}

Mesh capsule_mesh(const Vec3& half, double radius, int dimension, int around) {
    const double length = std::sqrt(dot(half, half)), right = std::numbers::pi / 2;
    if (dimension == 2) {
        const Vec3 d = unit(half), left{-d[1], d[0], 0};
        std::vector<Vertex> outline{{Vec3{}, {0, 0, 1}}};
        const int half_way = around / 2;
        for (const double end : {1.0, -1.0})
            for (int k = 0; k <= half_way; ++k) {
                const double angle = 2 * right * k / half_way - right;
                const Vec3 out =
                    plus(scaled(d, end * std::cos(angle)), scaled(left, end * std::sin(angle)));
                outline.push_back({plus(scaled(half, end), scaled(out, radius)), {0, 0, 1}});
            }
        outline.push_back(outline[1]);
        Mesh mesh;
        add_fan(mesh, outline);
        return mesh;
    }
    std::vector<Ring> profile;
    const int quarter = around / 4;
    for (const double end : {-1.0, 1.0})
        for (int k = 0; k <= quarter; ++k) {
            // From the pole to the equator, and back.
            const int step = end < 0 ? k : quarter - k;
            const double out = step == 0 ? 0 : std::sin(right * step / quarter),
                         along = end * std::cos(right * step / quarter);
            profile.push_back({radius * out, end * length + radius * along, out, along});
        }
    return revolved(half, profile, around);
}

Mesh cylinder_mesh(const Vec3& half, double radius, int around) {
    const double h = std::sqrt(dot(half, half));
    return revolved(half,
                    {{0, -h, 0, -1},
                     {radius, -h, 0, -1},
                     {radius, -h, 1, 0},
                     {radius, h, 1, 0},
                     {radius, h, 0, 1},
                     {0, h, 0, 1}},
                    around);
}

Mesh ellipsoid_mesh(const Vec3& radii, int around) {
    std::vector<Ring> profile;
    const int half = around / 2;
    for (int k = 0; k <= half; ++k) {
        const double angle = std::numbers::pi * k / half;
        const double out = k == 0 || k == half ? 0 : std::sin(angle), along = -std::cos(angle);
        profile.push_back({out, along, out, along});
    }
    Mesh mesh = revolved({0, 0, 1}, profile, around);
    for (Vec3& p : mesh.places)
        for (std::size_t k = 0; k < 3; ++k) p[k] *= radii[k];
    for (Vec3& n : mesh.normals) {
        for (std::size_t k = 0; k < 3; ++k) n[k] /= radii[k];
        n = unit(n);
    }
    return mesh;
}

Vec3 normal_of(const Vec3& a, const Vec3& b, const Vec3& c) {
    return unit(cross(plus(b, scaled(a, -1)), plus(c, scaled(a, -1))));
}

std::array<Vec3, 3> rotation_of(const std::array<double, 4>& quaternion) {
    return turn_of(quaternion);
}

Mesh field_mesh(const std::vector<std::int64_t>& counts, double spacing,
                const std::vector<double>& samples) {
    return FieldMesh(counts, spacing, samples).make();
}

SolidSource::SolidSource(const model::DrawnSolid& shape)
    : kind_(shape.kind),
      dimension_(shape.place->components),
      counts_(shape.counts),
      spacing_(shape.spacing) {
    const auto path = [](const model::Quantity* q) { return q == nullptr ? "" : q->path; };
    place_ = path(shape.place);
    extent_ = path(shape.extent);
    radius_ = path(shape.radius);
    orientation_ = path(shape.orientation);
    velocity_ = path(shape.velocity);
    angular_velocity_ = path(shape.angular_velocity);
    samples_ = path(shape.samples);
}

std::vector<double> SolidSource::pose(
    const std::function<std::vector<double>(const std::string&)>& values, double time) const {
    Vec3 centre = padded(values(place_));
    if (kind_ == SolidKind::capsule || kind_ == SolidKind::cylinder)
        centre = scaled(plus(centre, padded(values(extent_))), 0.5);
    for (std::size_t k = 0; k < counts_.size(); ++k)
        centre[k] += 0.5 * spacing_ * static_cast<double>(counts_[k] - 1);
    if (!velocity_.empty()) centre = plus(centre, scaled(padded(values(velocity_)), time));
    Turn turn = turn_of({1, 0, 0, 0});
    if (!orientation_.empty()) {
        const std::vector<double> q = values(orientation_);
        turn = turn_of(q.size() == 4 ? std::array{q[0], q[1], q[2], q[3]}
                                     : quaternion_of(rotation_vector(q)));
    }
    if (!angular_velocity_.empty())
        turn = product(
            turn_of(quaternion_of(scaled(rotation_vector(values(angular_velocity_)), time))), turn);
    std::vector<double> numbers(centre.begin(), centre.end());
    for (const Vec3& row : turn) numbers.insert(numbers.end(), row.begin(), row.end());
    return numbers;
}

std::shared_ptr<const Mesh> SolidSource::mesh(
    const std::function<Values(const std::string&)>& values) const {
    std::vector<Values> from;
    const bool axis = kind_ == SolidKind::capsule || kind_ == SolidKind::cylinder;
    const auto read = [&](const std::string& path) { return from.emplace_back(values(path)); };
    const std::lock_guard lock(mutex_);
    const Values samples = kind_ == SolidKind::distance_field ? read(samples_) : nullptr,
                 extent = kind_ != SolidKind::distance_field ? read(extent_) : nullptr,
                 start = axis ? read(place_) : nullptr, radius = axis ? read(radius_) : nullptr;
    const bool same = std::ranges::equal(
        from, made_from_, [](const Values& a, const Values& b) { return a == b || *a == *b; });
    if (made_ && same) return made_;
    Mesh mesh;
    const auto half = [&] {
        return scaled(plus(padded(*extent), scaled(padded(*start), -1)), 0.5);
    };
    switch (kind_) {
        case SolidKind::box: mesh = box_mesh(padded(*extent), dimension_); break;
        case SolidKind::capsule: mesh = capsule_mesh(half(), radius->front(), dimension_); break;
        case SolidKind::cylinder: mesh = cylinder_mesh(half(), radius->front()); break;
        case SolidKind::distance_field: mesh = field_mesh(counts_, spacing_, *samples); break;
    }
    made_from_ = from;
    made_ = std::make_shared<const Mesh>(std::move(mesh));
    return made_;
}

}  // namespace hindcast::session
