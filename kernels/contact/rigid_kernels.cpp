#include "kernels/contact/rigid_kernels.hpp"

#include <algorithm>

#include "engine/ad/grad.hpp"
#include "engine/lang/quaternion.hpp"
#include "kernels/colliders/barrier_function.hpp"
#include "kernels/colliders/obstacle.hpp"

namespace hindcast::contact {

using namespace lang;
using geometry::PlacedBy;

namespace {

using Obstacle = barrier::Obstacle<3>;
using barrier::Form;

// A geom at rest in its body's frame.
struct Geom {
    const Obstacle obstacle;
    const Vec3 place;
    const Quat turned;

    Geom(const Form& form, const Int& number, const Property<Vec3>& geom_pos,
         const Property<Quat>& geom_quat, const Property<Vec3>& geom_size)
        : obstacle(made(form, geom_size[number])),
          place(geom_pos[number]),
          turned(normalize(geom_quat[number])) {}

    // s: a place in the body's frame.
    Float distance(const Vec3& s) const { return obstacle.distance(seen(s)); }
    Vec3 normal(const Vec3& s) const { return rotate(turned, obstacle.normal(seen(s))); }
    Float limit(const Vec3& s, const Vec3& way) const {
        return obstacle.limit(seen(s), rotate(conjugate(turned), way));
    }

private:
    Vec3 seen(const Vec3& s) const { return rotate(conjugate(turned), s - place); }
    static Obstacle made(const Form& form, const Vec3& size) {
        Obstacle o(form);
        o.center = Vec3(0.0, 0.0, 0.0);
        o.rotation = Mat3::identity();
        o.extent = Vec3(0.0, 0.0, 1.0);
        o.size = size[0];
        if (form.kind == ShapeKind::plane) o.size = Float(0);
        if (form.has_axis()) o.extent = Vec3(0.0, 0.0, size[1]);
        if (form.row().placed_by == PlacedBy::center_and_half_extents) o.extent = size;
        return o;
    }
};

Form form_of(ShapeKind kind) {
    Form form;
    form.kind = kind;
    return form;
}

// The place of the first of five points in the frame of the other four.
template <class At>
Vec3 local(const At& at) {
    const Vec3 origin = at(1), from = at(0) - origin;
    Vec3 s;
    for (int k = 0; k < 3; ++k) s[k] = dot(at(k + 2) - origin, from);
    return s;
}
Vec3 local(const Points<3, 5>& x) {
    return local([&](int k) { return x[static_cast<std::size_t>(k)]; });
}

const std::vector<std::string> geom_names{"geom", "geom_pos", "geom_quat", "geom_size"};
std::vector<std::string> with_geom(const std::vector<std::string>& names) {
    std::vector<std::string> all = geom_names;
    all.insert(all.end(), names.begin(), names.end());
    return all;
}

// The bristle after a way from `start` to s.
Vec3 bent(const Vec3& s, const Vec3& start, const Vec3& normal, const Vec3& bristle) {
    const Vec3 way = s - start;
    return bristle + way - normal * dot(normal, way);
}

Vec3 local_in(const Vec3& x, const Vec3& place, const Quat& turned) {
    return rotate(conjugate(turned), x - place);
}

}  // namespace

EnergyKernels barrier_energy(ShapeKind kind) {
    return energy<3, 5>("rigid_barrier", with_geom({"stiffness", "reach"}),
                        [form = form_of(kind)](Int i, const Points<3, 5>& x, Read<Int> geom,
                                               Property<Vec3> geom_pos, Property<Quat> geom_quat,
                                               Property<Vec3> geom_size, Property<Float> stiffness,
                                               Property<Float> reach) -> Float {
                            const Geom of(form, geom[i], geom_pos, geom_quat, geom_size);
                            return stiffness[0] * barrier::barrier(of.distance(local(x)), reach[0]);
                        });
}

EnergyKernels friction_energy() {
    return energy<3, 5>(
        "rigid_friction",
        {"friction", "bristle_stiffness", "normal_force", "normal", "bristle", "local_start"},
        [](Int i, const Points<3, 5>& x, Property<Float> friction, Property<Float> stiffness,
           Read<Float> force, Read<Vec3> normal, Read<Vec3> bristle,
           Read<Vec3> local_start) -> Float {
            const Vec3 z = bent(local(x), local_start[i], normal[i], bristle[i]);
            const Float e = barrier::bristle_energy<3>(z, friction[0] * force[i], stiffness[0]);
            return select(force[i] > 0.0, e, Float(0));
        });
}

KernelDef step_limit(ShapeKind kind) {
    std::vector<std::string> names = with_geom({"points", "x", "direction", "fraction"});
    return kernel(
        "rigid_step_limit", names,
        [form = form_of(kind)](Int i, Read<Int> geom, Property<Vec3> geom_pos,
                               Property<Quat> geom_quat, Property<Vec3> geom_size,
                               Read<Vec<Int, 5>> points, Read<Vec3> x, Read<Vec3> direction,
                               Write<Float> fraction) {
            const Geom of(form, geom[i], geom_pos, geom_quat, geom_size);
            const Vec<Int, 5> p = points[i];
            const Vec3 from = local([&](int k) { return Vec3(x[p[k]]); }),
                       to = local([&](int k) { return Vec3(x[p[k]]) + Vec3(direction[p[k]]); });
            fraction[i] = of.limit(from, to - from);
        });
}

KernelDef begin_slip() {
    return kernel("rigid_slip_begins", {"point", "body", "x", "xpos", "xquat", "local_start"},
                  [](Int i, Read<Int> point, Read<Int> body, Read<Vec3> x, Read<Vec3> xpos,
                     Read<Quat> xquat, Write<Vec3> local_start) {
                      local_start[i] =
                          local_in(x[point[i]], xpos[body[i]], normalize(Quat(xquat[body[i]])));
                  });
}

KernelDef keep_friction(ShapeKind kind) {
    return kernel(
        "rigid_friction_state",
        with_geom({"point", "body", "x", "xpos", "xquat", "stiffness", "reach", "friction",
                   "bristle_stiffness", "local_start", "normal_force", "normal", "bristle"}),
        [form = form_of(kind)](
            Int i, Read<Int> geom, Property<Vec3> geom_pos, Property<Quat> geom_quat,
            Property<Vec3> geom_size, Read<Int> point, Read<Int> body, Read<Vec3> x,
            Read<Vec3> xpos, Read<Quat> xquat, Property<Float> stiffness, Property<Float> reach,
            Property<Float> friction, Property<Float> bristle_stiffness, Read<Vec3> local_start,
            ReadWrite<Float> normal_force, ReadWrite<Vec3> normal, ReadWrite<Vec3> bristle) {
            const Geom of(form, geom[i], geom_pos, geom_quat, geom_size);
            const Vec3 s = local_in(x[point[i]], xpos[body[i]], normalize(Quat(xquat[body[i]])));
            const Vec3 n = of.normal(s);
            const Float force = normal_force[i];
            const Vec3 z = bent(s, local_start[i], normal[i], bristle[i]);
            const Vec3 kept =
                barrier::kept_bristle<3>(z, friction[0] * force, bristle_stiffness[0]);
            const Vec3 none(0.0, 0.0, 0.0);
            bristle[i] = select(force > 0.0, kept - n * dot(n, kept), none);
            normal[i] = n;
            normal_force[i] = stiffness[0] * barrier::repulsion(of.distance(s), reach[0]);
        });
}

KernelDef begin_friction() {
    return kernel("rigid_friction_begins", {"normal_force", "normal", "bristle"},
                  [](Int i, Write<Float> normal_force, Write<Vec3> normal, Write<Vec3> bristle) {
                      const Vec3 none(0.0, 0.0, 0.0);
                      normal_force[i] = Float(0);
                      normal[i] = none;
                      bristle[i] = none;
                  });
}

KernelDef force_on_points(ShapeKind kind, bool friction) {
    return kernel(
        "rigid_contact_force",
        with_geom({"point", "body", "x", "xpos", "xquat", "stiffness", "reach", "bristle_stiffness",
                   "bristle", "contact_force"}),
        [form = form_of(kind), friction](
            Int i, Read<Int> geom, Property<Vec3> geom_pos, Property<Quat> geom_quat,
            Property<Vec3> geom_size, Read<Int> point, Read<Int> body, Read<Vec3> x,
            Read<Vec3> xpos, Read<Quat> xquat, Property<Float> stiffness, Property<Float> reach,
            Property<Float> bristle_stiffness, Read<Vec3> bristle, Accumulate<Vec3> contact_force) {
            const Geom of(form, geom[i], geom_pos, geom_quat, geom_size);
            const Quat turned = normalize(Quat(xquat[body[i]]));
            const Vec3 s = local_in(x[point[i]], xpos[body[i]], turned);
            Vec3 f = of.normal(s) * (stiffness[0] * barrier::repulsion(of.distance(s), reach[0]));
            if (friction) f = f - bristle[i] * bristle_stiffness[0];
            contact_force[point[i]] += rotate(turned, f);
        });
}

}  // namespace hindcast::contact
