#include "kernels/articulated/dynamics/tendons.hpp"

#include <algorithm>
#include <map>

#include "kernels/articulated/dynamics/dynamics.hpp"
#include "kernels/articulated/dynamics/wrapping.hpp"

namespace hindcast::articulated {

namespace {

constexpr double least = 1e-15;

using Moment = std::map<int, Float>;  // by degree of freedom

// A point of the path, fixed to a body.
struct End {
    int body = 0;
    Vec3 place;
};

Vec3 site_place(const Site& site, const Read<Vec3>& xpos, const Read<Quat>& xquat) {
    const Vec3 local(site.position[0], site.position[1], site.position[2]);
    return Vec3(xpos[site.body]) + rotate(xquat[site.body], local);
}

struct Line {
    Vec3 direction;  // of length 1
    Float length;
};
Line line(const Vec3& from, const Vec3& to) {
    const Vec3 way = to - from;
    const Float square = dot(way, way);
    const Bool some = square > least * least;
    const Float length = sqrt(select(some, square, Float(1)));
    return {select(some, way / length, Vec3(1, 0, 0)), select(some, length, Float(0))};
}

// Path: lengths of a tendon's lines, and their derivatives.
class Path {
public:
    Path(const Tree& tree, const Read<Vec3>& xpos, const Read<Quat>& xquat, const Read<Six>& cdof)
        : t_(tree), xpos_(xpos), xquat_(xquat), cdof_(cdof) {}

    End site(int number) const {
        const Site& s = t_.sites[at(number)];
        return {s.body, site_place(s, xpos_, xquat_)};
    }
    // The length of a line, whose derivative is added to `moment`.
    Float add(Moment& moment, const End& a, const End& b) const {
        const Line l = line(a.place, b.place);
        // Degrees of freedom that move both bodies change nothing.
        add_one_side(moment, a, b.body, -l.direction);
        add_one_side(moment, b, a.body, l.direction);
        return l.length;
    }

private:
    void add_one_side(Moment& moment, const End& end, int other, const Vec3& direction) const {
        const Body& body = t_.bodies[at(end.body)];
        const std::vector<int>& both = t_.bodies[at(other)].dofs;
        for (const int k : body.dofs) {
            if (std::ranges::binary_search(both, k)) continue;
            const Motion way(cdof_[k]);
            const Vec3 arm = end.place - Vec3(xpos_[body.root]);
            const Float value = dot(direction, way.linear + cross(way.angular, arm));
            const auto [entry, is_new] = moment.try_emplace(k, value);
            if (!is_new) entry->second = entry->second + value;
        }
    }

    const Tree& t_;
    Read<Vec3> xpos_;
    Read<Quat> xquat_;
    Read<Six> cdof_;
};

}  // namespace

KernelDef tendons(const TreePointer& tree) {
    return kernel(
        "articulated_tendons",
        {"xpos", "xquat", "cdof", "geom_pos", "geom_quat", "geom_size", "tendon_length",
         "tendon_moment"},
        [tree](Int, Read<Vec3> xpos, Read<Quat> xquat, Read<Six> cdof, Property<Vec3> geom_pos,
               Property<Quat> geom_quat, Property<Vec3> geom_size, WriteSlice<Float> tendon_length,
               WriteSlice<Float> tendon_moment) {
            const Tree& t = *tree;
            const Path path(t, xpos, xquat, cdof);
            // The length of a piece, whose derivative becomes `moment`.
            const auto piece_length = [&](const TendonPiece& piece, Moment& moment) {
                const End a = path.site(piece.first), b = path.site(piece.second);
                const Float straight = path.add(moment, a, b);
                if (piece.geom < 0) return straight;
                const RoundGeom& geom = t.obstacles[at(piece.geom)];
                const Quat turn(xquat[geom.body]);
                Obstacle obstacle;
                obstacle.is_sphere = geom.is_sphere;
                obstacle.place = Vec3(xpos[geom.body]) + rotate(turn, geom_pos[geom.number]);
                obstacle.axes = to_matrix(turn * normalize(geom_quat[geom.number]));
                obstacle.radius = Vec3(geom_size[geom.number])[0];
                Vec3 side;
                if (piece.side >= 0) {
                    side = path.site(piece.side).place;
                    obstacle.side = &side;
                }
                const Wrap w = wrap(obstacle, a.place, b.place);
                Moment around;
                const Float before = path.add(around, a, {geom.body, w.first}),
                            after = path.add(around, {geom.body, w.second}, b);
                for (const auto& [k, value] : around) moment.try_emplace(k, Float(0));
                for (auto& [k, value] : moment) {
                    const auto other = around.find(k);
                    const Float wrapped = other == around.end() ? Float(0) : other->second;
                    value = select(w.touches, wrapped, value);
                }
                return select(w.touches, before + w.along + after, straight);
            };
            for (int i = 0; i < static_cast<int>(t.tendons.size()); ++i) {
                const Tendon& tendon = t.tendons[at(i)];
                Float length;
                std::vector<Float> row(at(t.nv));
                for (const auto& [joint, coefficient] : tendon.joints)
                    row[at(t.joints[at(joint)].dof)] += coefficient;
                for (const TendonPiece& piece : tendon.pieces) {
                    Moment moment;
                    length = length + piece.share * piece_length(piece, moment);
                    for (const auto& [k, value] : moment)
                        row[at(k)] = row[at(k)] + piece.share * value;
                }
                if (!tendon.fixed) tendon_length.store_once(i, length);
                for (const int k : tendon.dofs) tendon_moment.store_once(t.entry(i, k), row[at(k)]);
            }
        });
}

// The second derivative of the length of a line with ends p and q is
// u . (a_q - a_p) + (|w|^2 - (u . w)^2) / l with w = v_q - v_p.
KernelDef tendon_bias(const TreePointer& tree) {
    return kernel(
        "articulated_tendon_bias", {"xpos", "xquat", "cdof", "cvel", "qvel", "tendon_bias"},
        [tree](Int, Read<Vec3> xpos, Read<Quat> xquat, Read<Six> cdof, Read<Six> cvel,
               Read<Float> qvel, WriteSlice<Float> tendon_bias) {
            const Tree& t = *tree;
            const std::vector<Motion> carried =
                carried_accelerations(t, Motion(), cdof, cvel, qvel);
            struct Moving {
                Vec3 place, velocity, acceleration;
            };
            const auto moving = [&](int number) {
                const Site& site = t.sites[at(number)];
                Moving m;
                m.place = site_place(site, xpos, xquat);
                if (!t.moves(site.body)) return m;
                const Vec3 arm = m.place - Vec3(xpos[t.bodies[at(site.body)].root]);
                const Motion v(cvel[site.body]), a = carried[at(site.body)];
                m.velocity = v.linear + cross(v.angular, arm);
                m.acceleration = a.linear + cross(a.angular, arm) + cross(v.angular, m.velocity);
                return m;
            };
            for (int i = 0; i < static_cast<int>(t.tendons.size()); ++i) {
                const Tendon& tendon = t.tendons[at(i)];
                if (tendon.fixed || tendon.armature == 0) continue;
                Float sum;
                for (const TendonPiece& piece : tendon.pieces) {
                    const Moving a = moving(piece.first), b = moving(piece.second);
                    const Line l = line(a.place, b.place);
                    const Vec3 w = b.velocity - a.velocity;
                    const Float along = dot(l.direction, w);
                    const Bool some = l.length > 0.0;
                    const Float turning =
                        (dot(w, w) - along * along) / select(some, l.length, Float(1));
                    sum = sum + piece.share * (dot(l.direction, b.acceleration - a.acceleration) +
                                               select(some, turning, Float(0)));
                }
                tendon_bias.store_once(i, sum);
            }
        });
}

Float TendonReader::length(int tendon) const {
    const Tendon& own = tree.tendons[at(tendon)];
    if (!own.fixed) return length_of[tendon];
    Float sum;
    for (const auto& [joint, coefficient] : own.joints)
        sum = sum + coefficient * qpos[tree.joints[at(joint)].qpos];
    return sum;
}

std::vector<std::pair<int, Float>> TendonReader::moment(int tendon) const {
    const Tendon& own = tree.tendons[at(tendon)];
    std::vector<std::pair<int, Float>> row;
    if (own.fixed)
        for (const auto& [joint, coefficient] : own.joints)
            row.emplace_back(tree.joints[at(joint)].dof, Float(coefficient));
    else
        for (const int k : own.dofs) row.emplace_back(k, moment_of[tree.entry(tendon, k)]);
    return row;
}

Float TendonReader::velocity(int tendon, const Read<Float>& qvel) const {
    Float sum;
    for (const auto& [dof, value] : moment(tendon)) sum = sum + value * qvel[dof];
    return sum;
}

}  // namespace hindcast::articulated
