#include "kernels/articulated/looks/grips.hpp"

#include <algorithm>
#include <optional>

#include "engine/model/handles/grips.hpp"
#include "engine/runtime/minimization/linear/eigen.hpp"
#include "kernels/articulated/dynamics/dynamics.hpp"
#include "kernels/articulated/dynamics/lower.hpp"

namespace hindcast::articulated {

using model::Model;

namespace {

std::int64_t body_of(const Tree& t, std::int64_t point) {
    const auto bodies = static_cast<std::int64_t>(t.bodies.size()) - 1;
    return point < bodies ? point + 1 : t.sites[static_cast<std::size_t>(point - bodies)].body;
}

// A, row by row, of a point in the world.
KernelDef mobility(const TreePointer& tree, int body) {
    return kernel("articulated_mobility", {"xpos", "cdof", "inertia", "place", "mobility"},
                  [tree, body](Int, Read<Vec3> xpos, Read<Six> cdof, Read<Float> inertia,
                               Read<Vec3> place, WriteSlice<Float> mobility) {
                      const Tree& t = *tree;
                      Lower m(t);
                      for (int i = 0; i < t.nv; ++i)
                          for (const int j : t.ancestors[at(i)]) m(i, j) = inertia[t.entry(i, j)];
                      m.factor();
                      const Vec3 arm = Vec3(place[0]) - Vec3(xpos[t.bodies[at(body)].root]);
                      std::vector<Numbers> rows(3, Numbers(at(t.nv), Float(0)));
                      for (const int k : t.bodies[at(body)].dofs) {
                          const Motion way(cdof[k]);
                          const Vec3 v = way.linear + cross(way.angular, arm);
                          for (int c = 0; c < 3; ++c) rows[at(c)][at(k)] = v[c];
                      }
                      for (Numbers& row : rows) row = m.half_solve(std::move(row));
                      for (int a = 0; a < 3; ++a)
                          for (int b = 0; b < 3; ++b) {
                              Float sum = 0;
                              for (int i = 0; i < t.nv; ++i)
                                  sum = sum + rows[at(a)][at(i)] * m(i, i) * rows[at(b)][at(i)];
                              mobility.store_once(3 * a + b, sum);
                          }
                  });
}

}  // namespace

void publish_grips(Model& model, const std::string& owner, const TreePointer& tree,
                   const Launcher& launch) {
    model::Grips grips;
    const auto points = static_cast<std::int64_t>(tree->bodies.size() - 1 + tree->sites.size());
    for (std::int64_t p = 0; p < points; ++p) grips.body_of.push_back(body_of(*tree, p));
    const model::Quantity* const mass = model.find_quantity(owner + ".body_mass");
    std::optional<Array> derived;  // from other numbers
    if (mass == nullptr) derived = model.array(owner + ".body_mass");
    std::int64_t first = 0;
    for (const auto& [name, range] : model.bodies_with_points())
        if (name == owner) first = range.first;
    grips.masses = [tree, launch, mass, derived, first, position = model.array("position"),
                    real = model.real()](std::int64_t point) {
        const int body = static_cast<int>(body_of(*tree, point));
        model::GripMasses felt;
        if (!tree->moves(body)) return felt;
        Array place(real, {1, 3}), mobile(real, {9, 1});
        std::vector<double> at_point;
        for (int c = 0; c < 3; ++c) at_point.push_back(position.value(first + point, c));
        place.assign(at_point);
        launch(inertia(tree), "inertia matrix", {}, 1).forward().run();
        launch(mobility(tree, body), "mobility of a point",
               {{"place", place}, {"mobility", mobile}}, 1)
            .forward()
            .run();
        const std::vector<double> a = mobile.to_doubles();
        const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(
            Eigen::Map<const Eigen::Matrix3d>(a.data()), Eigen::EigenvaluesOnly);
        const double most = solver.eigenvalues().maxCoeff();
        if (!(most > 0)) return felt;
        felt.least = 1 / most;
        for (int b = 1; b < static_cast<int>(tree->bodies.size()); ++b)
            if (tree->moves(b) && tree->bodies[at(b)].root == tree->bodies[at(body)].root)
                felt.all += derived ? derived->value(b, 0) : mass->values[mass->shared ? 0 : at(b)];
        felt.all = std::max(felt.all, felt.least);
        return felt;
    };
    model::publish_grips(model, owner, std::move(grips));
}

}  // namespace hindcast::articulated
