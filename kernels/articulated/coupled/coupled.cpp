#include "kernels/articulated/coupled/coupled.hpp"

#include <map>

#include "engine/ad/grad.hpp"
#include "kernels/articulated/dynamics/kinematics.hpp"
#include "kernels/articulated/dynamics/lower.hpp"

namespace hindcast::articulated {

namespace {

// The numbers of the frames of all bodies after the step that `increment` is of each velocity.
std::vector<Float> frames_after(const Tree& t, const Read<Float>& qpos, const TreeShape& shape,
                                const std::function<Float(int)>& increment) {
    std::map<int, Float> numbers;
    std::map<int, Quat> quaternions;
    for (const Joint& joint : t.joints) {
        const int ways = joint.scalars();
        for (int k = 0; k < ways; ++k)
            numbers.insert_or_assign(joint.qpos + k,
                                     qpos[joint.qpos + k] + increment(joint.dof + k));
        if (joint.dofs() < 3) continue;
        const int w = joint.dof + ways;
        const Vec3 turn(increment(w), increment(w + 1), increment(w + 2));
        quaternions.emplace(joint.qpos + ways,
                            quaternion_at(qpos, joint.qpos + ways) * exponential(turn));
    }
    std::vector<Float> all;
    each_frame(t, {[&](int k) { return numbers.at(k); }, [&](int k) { return quaternions.at(k); }},
               shape, [&](int b, const Frames& frames, const std::vector<Freedom>&) {
                   const Mat3 axes = to_matrix(frames.turned[at(b)]);
                   for (int r = 0; r < 3; ++r) all.push_back(frames.place[at(b)][r]);
                   for (int r = 0; r < 3; ++r)
                       for (int c = 0; c < 3; ++c) all.push_back(axes(r, c));
               });
    return all;
}

KernelDef frames(const TreePointer& tree) {
    return kernel(
        "articulated_frames_after_step",
        {"y", "qpos", "qvel", "h", "body_pos", "body_quat", "jnt_pos", "jnt_axis", "frame"},
        [tree](Int, Read<Float> y, Read<Float> qpos, Read<Float> qvel, Param<Float> h,
               Property<Vec3> body_pos, Property<Quat> body_quat, Property<Vec3> jnt_pos,
               Property<Vec3> jnt_axis, WriteSlice<Float> frame) {
            const std::vector<Float> numbers =
                frames_after(*tree, qpos, {body_pos, body_quat, jnt_pos, jnt_axis},
                             [&](int i) { return h.value() * qvel[i] + y[i]; });
            for (int k = 0; k < static_cast<int>(numbers.size()); ++k)
                frame.store_once(k, numbers[at(k)]);
        });
}

KernelDef frame_force(const TreePointer& tree) {
    return kernel(
        "articulated_force_of_frames",
        {"y", "qpos", "qvel", "h", "body_pos", "body_quat", "jnt_pos", "jnt_axis", "frame_force",
         "gradient"},
        [tree](Int, Read<Float> y, Read<Float> qpos, Read<Float> qvel, Param<Float> h,
               Property<Vec3> body_pos, Property<Quat> body_quat, Property<Vec3> jnt_pos,
               Property<Vec3> jnt_axis, Read<Float> frame_force, Accumulate<Float> gradient) {
            std::vector<Float> increments;
            for (int i = 0; i < tree->nv; ++i)
                increments.push_back(ad::variable(h.value() * qvel[i] + y[i]));
            const std::vector<Float> numbers =
                frames_after(*tree, qpos, {body_pos, body_quat, jnt_pos, jnt_axis},
                             [&](int i) { return increments[at(i)]; });
            Float work = 0;
            for (int k = 0; k < static_cast<int>(numbers.size()); ++k)
                work = work + numbers[at(k)] * frame_force[k];
            const std::vector<Float> g = ad::gradient(work, increments);
            for (int i = 0; i < tree->nv; ++i) gradient[i] += g[at(i)];
        });
}

const std::vector<std::string> row_arrays{
    "inertia",     "force",        "dof_row_dof", "dof_row_sign", "dof_row_aref", "dof_row_mass",
    "dof_row_low", "dof_row_high", "row_count",   "row_cone",     "row_jacobian", "row_aref",
    "row_mass",    "row_low",      "row_high",    "row_friction"};

std::vector<std::string> with_rows(std::vector<std::string> before,
                                   const std::vector<std::string>& after) {
    before.insert(before.end(), row_arrays.begin(), row_arrays.end());
    before.insert(before.end(), after.begin(), after.end());
    return before;
}

KernelDef value(const RowSizes& sizes) {
    return kernel(
        "articulated_energy_of_step", with_rows({"y", "h"}, {"scale", "value"}),
        [sizes](Int, Read<Float> y, Param<Float> h, Read<Float> inertia, Read<Float> force,
                Read<Int> dof, Read<Float> sign, Read<Float> dof_aref, Read<Float> dof_mass,
                Read<Float> dof_low, Read<Float> dof_high, Read<Int> count, Read<Int> cone,
                Read<Float> jacobian, Read<Float> aref, Read<Float> mass, Read<Float> low,
                Read<Float> high, Read<Float> friction, Param<Float> scale, Reduce<Float> result) {
            const ConstraintTerms t(
                sizes, reader_of(inertia, force, dof, sign, dof_aref, dof_mass, dof_low, dof_high,
                                 count, cone, jacobian, aref, mass, low, high, friction));
            const Float square = h.value() * h.value(), part = scale.value() * square;
            const ConstraintTerms::Vector a = [&](const Int& i) { return y[i] / square; };
            const int nv = sizes.dofs;
            t.each_dof([&](Int i) {
                const Float here = a(i);
                Float sum = 0.5 * inertia[i * nv + i] * here - force[i];
                for_(
                    0, i, [&](Int j) { sum += inertia[i * nv + j] * a(j); }, nv);
                result += part * sum * here;
            });
            t.each_dof_row([&](Int row, Int k, Float way, RowNumbers numbers) {
                result += part * numbers.value(way * a(k) - dof_aref[row]);
            });
            t.each_row(
                [&](Int row, RowNumbers numbers) {
                    result += part * numbers.value(t.residual(row, a));
                },
                [&](Int row, Cone of) { result += part * of.value(t.residuals(row, of, a)); });
        });
}

KernelDef gradient(const RowSizes& sizes) {
    return kernel(
        "articulated_gradient_of_step", with_rows({"y", "h"}, {"gradient"}),
        [sizes](Int, Read<Float> y, Param<Float> h, Read<Float> inertia, Read<Float> force,
                Read<Int> dof, Read<Float> sign, Read<Float> dof_aref, Read<Float> dof_mass,
                Read<Float> dof_low, Read<Float> dof_high, Read<Int> count, Read<Int> cone,
                Read<Float> jacobian, Read<Float> aref, Read<Float> mass, Read<Float> low,
                Read<Float> high, Read<Float> friction, Accumulate<Float> result) {
            const ConstraintTerms t(
                sizes, reader_of(inertia, force, dof, sign, dof_aref, dof_mass, dof_low, dof_high,
                                 count, cone, jacobian, aref, mass, low, high, friction));
            const Float square = h.value() * h.value();
            add_gradient(
                t, [&](const Int& i) { return y[i] / square; }, result);
        });
}

}  // namespace

CarrierKernels coupled_kernels(const TreePointer& tree, const RowSizes& sizes) {
    return {frames(tree), frame_force(tree), value(sizes), gradient(sizes)};
}

KernelDef places_in_bodies(const TreePointer& tree) {
    return kernel("articulated_places_in_bodies", {"body_ipos", "place"},
                  [tree](Int, Property<Vec3> body_ipos, WriteSlice<Vec3> place) {
                      int number = 0;
                      for (int b = 1; b < static_cast<int>(tree->bodies.size()); ++b)
                          place.store_once(number++, body_ipos[b]);
                      for (const Site& site : tree->sites)
                          place.store_once(
                              number++, Vec3(site.position[0], site.position[1], site.position[2]));
                  });
}

KernelDef start_of_search() {
    return kernel("articulated_start_of_search", {"qvel", "h", "y"},
                  [](Int i, Read<Float> qvel, Param<Float> h, Write<Float> y) {
                      y[i] = -(h.value() * qvel[i]);
                  });
}

KernelDef acceleration_of_step() {
    return kernel("articulated_acceleration_of_step", {"y", "h", "qacc"},
                  [](Int i, Read<Float> y, Param<Float> h, Write<Float> qacc) {
                      qacc[i] = y[i] / (h.value() * h.value());
                  });
}

KernelDef constrained_acceleration_of_step() {
    return kernel(
        "articulated_acceleration_of_step", {"y", "h", "qacc", "qacc_constrained"},
        [](Int i, Read<Float> y, Param<Float> h, Write<Float> qacc, Write<Float> qacc_constrained) {
            const Float a = y[i] / (h.value() * h.value());
            qacc[i] = a;
            qacc_constrained[i] = a;
        });
}

KernelDef smooth_acceleration(const TreePointer& tree) {
    return kernel("articulated_smooth_acceleration", {"metric", "force", "solved"},
                  [tree](Int, Read<Float> metric, Read<Float> force, WriteSlice<Float> solved) {
                      const Tree& t = *tree;
                      Lower m(t);
                      Numbers right;
                      for (int i = 0; i < t.nv; ++i) {
                          right.push_back(force[i]);
                          for (const int j : t.ancestors[at(i)]) m(i, j) = metric[t.entry(i, j)];
                      }
                      m.factor();
                      const Numbers a = m.solve(right);
                      for (int i = 0; i < t.nv; ++i) solved.store_once(i, a[at(i)]);
                  });
}

KernelDef force_of_acceleration(const TreePointer& tree) {
    return kernel(
        "articulated_force_of_acceleration", {"metric", "solved", "free_force"},
        [tree](Int, Read<Float> metric, Read<Float> solved, WriteSlice<Float> free_force) {
            const Tree& t = *tree;
            const Numbers f = times(
                t, [&](int i, int j) { return Float(metric[t.entry(i, j)]); }, solved);
            for (int i = 0; i < t.nv; ++i) free_force.store_once(i, f[at(i)]);
        });
}

}  // namespace hindcast::articulated
