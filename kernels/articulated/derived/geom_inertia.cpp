#include "kernels/articulated/derived/geom_inertia.hpp"

#include <fmt/format.h>

#include <cmath>

#include "engine/base/error.hpp"
#include "engine/base/vec3.hpp"
#include "engine/geometry/kinds/solids.hpp"
#include "engine/robot/model_reader.hpp"
#include "kernels/articulated/tree/host_axes.hpp"
#include "kernels/articulated/tree/shape_of_geom.hpp"

namespace hindcast::articulated {

using namespace geometry;

using robot::GeomType;
using robot::MeshInertia;
using robot::ObjectKind;

namespace {

using Point = numeric::Vec3;
using numeric::cross;
using numeric::dot;
using numeric::minus;
using Sixfold = std::array<double, 6>;  // xx yy zz xy xz yz

// Sums over triangles, each by itself or as the base of a tetrahedron with a common apex.
class Mesh {
public:
    std::vector<std::array<Point, 3>> triangles;
    MeshInertia rule{};

    void fill(MassedGeom& geom) const {
        // The legacy rule counts what is inside out as well: its apex decides. First it is the mean of
        // the surface, then the center of mass.
        Point apex{};
        if (rule == MeshInertia::legacy) apex = center_of(Sums(*this, {}, MeshInertia::shell));
        const Sums first(*this, apex, rule);
        geom.volume = first.content;
        geom.center = center_of(first);
        const Sums about(*this, geom.center, rule);
        const auto& s = about.second;
        const double trace = s[0] + s[1] + s[2];
        for (std::size_t k = 0; k < 3; ++k) geom.inertia[k] = (trace - s[k]) / about.content;
        for (std::size_t k = 3; k < 6; ++k) geom.inertia[k] = -s[k] / about.content;
    }

private:
    // Content, and first and second moments about the apex.
    struct Sums {
        double content = 0;
        Point apex, first{};
        Sixfold second{};

        Sums(const Mesh& mesh, const Point& at, MeshInertia rule) : apex(at) {
            const bool surface = rule == MeshInertia::shell;
            for (const auto& [a, b, c] : mesh.triangles) {
                const Point p = minus(a, at), q = minus(b, at), r = minus(c, at);
                const Point normal = cross(minus(q, p), minus(r, p));
                double size = surface ? std::sqrt(dot(normal, normal)) / 2 : dot(normal, p) / 6;
                if (rule == MeshInertia::legacy) size = std::fabs(size);
                content += size;
                const Point sum = {p[0] + q[0] + r[0], p[1] + q[1] + r[1], p[2] + q[2] + r[2]};
                for (std::size_t k = 0; k < 3; ++k) first[k] += size * sum[k] / (surface ? 3 : 4);
                static constexpr std::size_t pairs[6][2] = {{0, 0}, {1, 1}, {2, 2},
                                                            {0, 1}, {0, 2}, {1, 2}};
                for (std::size_t k = 0; k < 6; ++k) {
                    const auto [i, j] = pairs[k];
                    second[k] += size *
                                 (p[i] * p[j] + q[i] * q[j] + r[i] * r[j] + sum[i] * sum[j]) /
                                 (surface ? 12 : 20);
                }
            }
        }
    };
    static Point center_of(const Sums& sums) {
        Point center = sums.apex;
        for (std::size_t k = 0; k < 3; ++k) center[k] += sums.first[k] / sums.content;
        return center;
    }
};

class Finder : robot::ModelReader {
public:
    explicit Finder(const robot::RobotModel& model) : ModelReader(model) {}

    GeomInertias find() {
        const auto bodies = static_cast<std::size_t>(count("nbody"));
        all_.of_body.resize(bodies);
        all_.density.resize(static_cast<std::size_t>(count("ngeom")));
        all_.mass.resize(all_.density.size());
        keep_bodies(bodies);
        const robot::MassSources& sources = m_.masses();
        for (int g = 0; g < count("ngeom"); ++g) {
            const auto body = at(integer("geom_bodyid", g));
            const int group = integer("geom_group", g);
            if (body > 0 && sources.body_is_from_geoms[body] && group >= sources.least_group &&
                group <= sources.most_group)
                add(g, body);
        }
        bool some = false;
        for (std::size_t b = 1; b < bodies; ++b) {
            double mass = 0;
            for (const MassedGeom& geom : all_.of_body[b]) mass += all_.mass[at(geom.number)];
            if (mass == 0) all_.of_body[b].clear();
            if (all_.of_body[b].empty()) continue;
            some = true;
            check(b, mass);
        }
        if (!some)
            throw Error("no body of the model has its inertia from its geoms")
                .remedy("remove \"inertia_numbers\", or the <inertial> elements of the model");
        return std::move(all_);
    }

private:
    void keep_bodies(std::size_t bodies) {
        const auto numbers = [&](const char* name) {
            const auto values = m_.reals(name);
            return std::vector<double>(values.begin(), values.end());
        };
        all_.body_mass = numbers("body_mass");
        all_.body_ipos = numbers("body_ipos");
        all_.body_fullinertia.resize(6 * bodies);
        for (std::size_t b = 0; b < bodies; ++b) {
            const auto principal = m_.reals("body_inertia").subspan(3 * b, 3);
            const Sixfold turned = turn({principal[0], principal[1], principal[2], 0, 0, 0},
                                        axes_of(m_.reals("body_iquat").subspan(4 * b, 4)));
            std::ranges::copy(turned,
                              all_.body_fullinertia.begin() + static_cast<std::ptrdiff_t>(6 * b));
        }
    }

    static Sixfold turn(const Sixfold& s, const HostMatrix& r) {
        const double m[3][3] = {{s[0], s[3], s[4]}, {s[3], s[1], s[5]}, {s[4], s[5], s[2]}};
        const auto entry = [&](std::size_t i, std::size_t j) {
            double sum = 0;
            for (std::size_t k = 0; k < 3; ++k)
                for (std::size_t l = 0; l < 3; ++l) sum += r[i][k] * m[k][l] * r[j][l];
            return sum;
        };
        return {entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(0, 2), entry(1, 2)};
    }

    void add(int g, std::size_t body) {
        const robot::MassSources::Geom& source = m_.masses().geoms[at(g)];
        MassedGeom geom{.number = g,
                        .type = robot::enum_at<GeomType>(m_.integers("geom_type"), g),
                        .shell = source.shell,
                        .has_mass = !std::isnan(source.mass),
                        .center = {},
                        .inertia = {}};
        if (geom.type == GeomType::plane || geom.type == GeomType::hfield) return;
        const bool weightless = geom.has_mass ? source.mass == 0 : source.density == 0;
        const bool by_size = has_solid(kind_of(geom.type), geom.shell);
        if (weightless && !by_size) return;
        if (geom.type == GeomType::mesh) {
            mesh_of(integer("geom_dataid", g)).fill(geom);
        } else if (geom.shell && geom.type == GeomType::ellipsoid) {
            throw Error(m_.describe(ObjectKind::geom, g) +
                        " is the shell of an ellipsoid, whose inertia has no closed form")
                .remedy("write an <inertial> for its body, or leave out \"inertia_numbers\"");
        } else if (geom.type == GeomType::sdf) {
            throw Error(m_.describe(ObjectKind::geom, g) +
                        " is a signed distance field, whose inertia is not known here")
                .remedy("write an <inertial> for its body, or leave out \"inertia_numbers\"");
        }
        const double volume = solid(geom).volume;
        all_.mass[at(g)] = geom.has_mass ? source.mass : source.density * volume;
        all_.density[at(g)] = geom.has_mass ? source.mass / volume : source.density;
        all_.of_body[body].push_back(geom);
    }

    Solid<double> solid(const MassedGeom& geom) const {
        if (geom.type == GeomType::mesh) return {geom.volume, 0, 0, 0};
        const auto size = m_.reals("geom_size").subspan(3 * at(geom.number), 3);
        return solid_of<double>(kind_of(geom.type), geom.shell, {size[0], size[1], size[2]});
    }

    Mesh mesh_of(int number) const {
        Mesh mesh;
        mesh.rule = m_.masses().meshes[at(number)];
        const auto points = m_.reals("mesh_vert");
        const int first = integer("mesh_vertadr", number);
        const auto point = [&](int vertex) {
            const std::size_t k = 3 * at(first + vertex);
            return Point{points[k], points[k + 1], points[k + 2]};
        };
        if (mesh.rule == MeshInertia::convex) {
            for (int k = 0; k < integer("mesh_polynum", number); ++k) {
                const int polygon = integer("mesh_polyadr", number) + k,
                          begin = integer("mesh_polyvertadr", polygon);
                for (int c = 2; c < integer("mesh_polyvertnum", polygon); ++c)
                    mesh.triangles.push_back({point(integer("mesh_polyvert", begin)),
                                              point(integer("mesh_polyvert", begin + c - 1)),
                                              point(integer("mesh_polyvert", begin + c))});
            }
            return mesh;
        }
        const auto corners = m_.integers("mesh_face");
        for (int k = 0; k < integer("mesh_facenum", number); ++k) {
            const std::size_t face = 3 * at(integer("mesh_faceadr", number) + k);
            mesh.triangles.push_back(
                {point(corners[face]), point(corners[face + 1]), point(corners[face + 2])});
        }
        return mesh;
    }

    // Throws Error if the compiled inertia is not that of the geoms, to their precision.
    void check(std::size_t body, double mass) const {
        Point center{};
        std::vector<Point> places;
        std::vector<HostMatrix> axes;
        bool meshes = false;
        for (const MassedGeom& geom : all_.of_body[body]) {
            meshes = meshes || geom.type == GeomType::mesh;
            const auto place = m_.reals("geom_pos").subspan(3 * at(geom.number), 3);
            axes.push_back(axes_of(m_.reals("geom_quat").subspan(4 * at(geom.number), 4)));
            Point middle;
            for (std::size_t i = 0; i < 3; ++i)
                middle[i] = place[i] + dot(axes.back()[i], geom.center);
            for (std::size_t i = 0; i < 3; ++i)
                center[i] += all_.mass[at(geom.number)] * middle[i] / mass;
            places.push_back(middle);
        }
        Sixfold sum{};
        for (std::size_t k = 0; k < places.size(); ++k) {
            const MassedGeom& geom = all_.of_body[body][k];
            const Solid<double> own = solid(geom);
            const Sixfold inertia = geom.type == GeomType::mesh
                                        ? geom.inertia
                                        : Sixfold{own.xx, own.yy, own.zz, 0, 0, 0};
            const Sixfold turned = turn(inertia, axes[k]);
            const Point d = minus(places[k], center);
            const double square = dot(d, d);
            const Sixfold moved = {square - d[0] * d[0], square - d[1] * d[1], square - d[2] * d[2],
                                   -d[0] * d[1],         -d[0] * d[2],         -d[1] * d[2]};
            for (std::size_t i = 0; i < 6; ++i)
                sum[i] += all_.mass[at(geom.number)] * (turned[i] + moved[i]);
        }
        const double near = meshes ? 1e-5 : 1e-9;
        double largest = 0, off = 0;
        for (std::size_t i = 0; i < 6; ++i) {
            largest = std::max(largest, std::fabs(sum[i]));
            off = std::max(off, std::fabs(sum[i] - all_.body_fullinertia[6 * body + i]));
        }
        for (std::size_t i = 0; i < 3; ++i)
            off = std::max(off, std::fabs(center[i] - all_.body_ipos[3 * body + i]) *
                                    std::sqrt(mass * largest));
        if (std::fabs(mass - all_.body_mass[body]) > near * mass || off > near * largest)
            throw Error(fmt::format("{} has not the inertia of its geoms (their mass is {:.6g} kg, "
                                    "its mass {:.6g} kg)",
                                    m_.describe(ObjectKind::body, static_cast<int>(body)), mass,
                                    all_.body_mass[body]))
                .remedy(
                    "settotalmass, boundmass, boundinertia, balanceinertia or fusestatic of "
                    "<compiler> change it: remove them, or leave out \"inertia_numbers\"");
    }

    GeomInertias all_;
};

}  // namespace

GeomInertiasPointer geom_inertias_of(const robot::RobotModel& model) {
    return std::make_shared<const GeomInertias>(Finder(model).find());
}

KernelDef inertia_from_geoms(const GeomInertiasPointer& inertias) {
    return kernel(
        "articulated_inertia_from_geoms",
        {"geom_pos", "geom_quat", "geom_size", "geom_density", "geom_mass", "own_mass", "own_ipos",
         "own_inertia", "body_mass", "body_ipos", "body_fullinertia"},
        [inertias](Int, Property<Vec3> geom_pos, Property<Quat> geom_quat, Property<Vec3> geom_size,
                   Property<Float> geom_density, Property<Float> geom_mass, Read<Float> own_mass,
                   Read<Vec3> own_ipos, Read<Six> own_inertia, WriteSlice<Float> mass,
                   WriteSlice<Vec3> ipos, WriteSlice<Six> fullinertia) {
            for (std::size_t b = 0; b < inertias->of_body.size(); ++b) {
                const int body = static_cast<int>(b);
                const std::vector<MassedGeom>& geoms = inertias->of_body[b];
                if (geoms.empty()) {
                    mass.store_once(body, own_mass[body]);
                    ipos.store_once(body, own_ipos[body]);
                    fullinertia.store_once(body, own_inertia[body]);
                    continue;
                }
                std::vector<Float> masses;
                std::vector<Vec3> places;
                std::vector<Mat3> about;  // the inertia of a unit mass about its center
                Float total;
                Vec3 first;
                for (const MassedGeom& geom : geoms) {
                    const int g = geom.number;
                    const Mat3 axes = to_matrix(normalize(geom_quat[g]));
                    Float volume(geom.volume);
                    Vec3 place(geom_pos[g]);
                    Mat3 inertia;
                    if (geom.type == GeomType::mesh) {
                        const auto& [xx, yy, zz, xy, xz, yz] = geom.inertia;
                        inertia = symmetric(Six(xx, yy, zz, xy, xz, yz));
                        place = place + axes * Vec3(geom.center[0], geom.center[1], geom.center[2]);
                    } else {
                        const Vec3 size = geom_size[g];
                        const Solid<Float> own = solid_of<Float>(kind_of(geom.type), geom.shell,
                                                                 {size[0], size[1], size[2]});
                        volume = own.volume;
                        inertia = symmetric(Six(own.xx, own.yy, own.zz, 0.0, 0.0, 0.0));
                    }
                    masses.push_back(geom.has_mass ? Float(geom_mass[g])
                                                   : Float(geom_density[g]) * volume);
                    places.push_back(place);
                    about.push_back(axes * inertia * transpose(axes));
                    total = total + masses.back();
                    first = first + place * masses.back();
                }
                const Vec3 center = first / total;
                Six sum;
                for (std::size_t k = 0; k < geoms.size(); ++k) {
                    const Vec3 d = places[k] - center;
                    const Float square = dot(d, d);
                    const Mat3& i = about[k];
                    const Float& m = masses[k];
                    for (int r = 0; r < 3; ++r)
                        sum[r] = sum[r] + m * (i(r, r) + square - d[r] * d[r]);
                    sum[3] = sum[3] + m * (i(0, 1) - d[0] * d[1]);
                    sum[4] = sum[4] + m * (i(0, 2) - d[0] * d[2]);
                    sum[5] = sum[5] + m * (i(1, 2) - d[1] * d[2]);
                }
                mass.store_once(body, total);
                ipos.store_once(body, center);
                fullinertia.store_once(body, sum);
            }
        });
}

}  // namespace hindcast::articulated
