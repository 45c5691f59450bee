#include "kernels/mpm/transfer.hpp"

#include "engine/model/model.hpp"

namespace hindcast::mpm {

using namespace lang;

namespace {

// The 3 x 3 nodes around a particle.
struct Stencil {
    Int node;        // number of the first
    Vec2 f;          // distance from it, in spacings
    Vec2 weight[3];  // per axis
    Float x(int i) const { return weight[i].x(); }
    Float y(int j) const { return weight[j].y(); }
};

Stencil stencil(const Grid& grid, const Vec2& x, const Vec2& origin, const Float& inverse_spacing) {
    const Vec2 position = (grid.shifted ? x - origin : x) * inverse_spacing;
    const Int bx = Int(floor(position.x() - 0.5)), by = Int(floor(position.y() - 0.5));
    const Bool inside = UInt(bx) <= UInt(static_cast<std::uint32_t>(grid.nodes[0] - 3)) &&
                        UInt(by) <= UInt(static_cast<std::uint32_t>(grid.nodes[1] - 3));
    Stencil s;
    s.node = select(inside, bx * Int(static_cast<int>(grid.nodes[1])) + by, Int(-1));
    s.f = Vec2(position.x() - Float(bx), position.y() - Float(by));
    for (int axis = 0; axis < 2; ++axis) {
        const Float d = s.f[axis] - 1.0, low = 0.5 - d, high = 0.5 + d;
        s.weight[0][axis] = 0.5 * (low * low);
        s.weight[1][axis] = 0.75 - d * d;
        s.weight[2][axis] = 0.5 * (high * high);
    }
    return s;
}

// F - R. In two dimensions F = R S has R along (F00 + F11, F10 - F01).
Mat2 without_rotation(const Mat2& F) {
    const Float p = F(0, 0) + F(1, 1), q = F(1, 0) - F(0, 1);
    const Float inverse = 1.0 / sqrt(p * p + q * q);
    const Float c = p * inverse, s = q * inverse;
    Mat2 D = F;
    D(0, 0) -= c;
    D(0, 1) += s;
    D(1, 0) -= s;
    D(1, 1) -= c;
    return D;
}

// tau of the corotated solid.
Mat2 kirchhoff_stress(const Mat2& F, const Float& mu, const Float& lambda) {
    const Mat2 D = without_rotation(F);
    const Float J = determinant(F).name("J"), pressure = lambda * J * (J - 1.0), twice = 2.0 * mu;
    // D F^T is symmetric.
    const Float off = twice * (D(0, 0) * F(1, 0) + D(0, 1) * F(1, 1));
    Mat2 tau;
    tau(0, 0) = twice * (D(0, 0) * F(0, 0) + D(0, 1) * F(0, 1)) + pressure;
    tau(0, 1) = off;
    tau(1, 0) = off;
    tau(1, 1) = twice * (D(1, 0) * F(1, 0) + D(1, 1) * F(1, 1)) + pressure;
    return tau;
}

}  // namespace

KernelDef particle_to_grid(const Grid& grid) {
    return kernel(
        "particle_to_grid",
        {"x", "v", "C", "F", "mass", "volume", "mu", "lambda", "origin", "inverse_spacing",
         "stress_factor", "grid"},
        [grid](Int i, Read<Vec2> x, Read<Vec2> v, Read<Mat2> C, Read<Mat2> F, Read<Float> mass,
               Read<Float> volume, Read<Float> mu, Read<Float> lambda, Param<Vec2> origin,
               Param<Float> inverse_spacing, Param<Float> stress_factor, Sum<Vec3> nodes) {
            const Stencil s = stencil(grid, x[i], origin.value(), inverse_spacing.value());
            const Float m = mass[i], dx = 1.0 / inverse_spacing.value();
            const Mat2 A = (C[i] * m + kirchhoff_stress(F[i], mu[i], lambda[i]) *
                                           (stress_factor.value() * volume[i])) *
                           dx;
            const Vec2 a0 = A.column(0), a1 = A.column(1);
            Vec2 row = v[i] * m - a0 * s.f.x() - a1 * s.f.y();
            for (int k = 0; k < 3; ++k) {
                Vec2 momentum = row;
                for (int l = 0; l < 3; ++l) {
                    const Float w = s.x(k) * s.y(l);
                    nodes[s.node + Int(static_cast<int>(k * grid.nodes[1] + l))] +=
                        Vec3(w * momentum.x(), w * momentum.y(), w * m);
                    momentum += a1;
                }
                row += a0;
            }
        });
}

KernelDef grid_update(const Grid& grid) {
    return kernel("grid_update", {"grid", "gravity", "h", "mass_floor", "u"},
                  [grid](Int node, Read<Vec3> nodes, Property<Vec2> gravity, Param<Float> h,
                         Param<Float> mass_floor, Write<Vec2> u) {
                      const Vec3 here = nodes[node];
                      const Float inverse = 1.0 / (here.z() + mass_floor.value());
                      Vec2 velocity = Vec2(here.x(), here.y()) * inverse + gravity[0] * h.value();
                      const Int index[2] = {node / Int(static_cast<int>(grid.nodes[1])),
                                            node % Int(static_cast<int>(grid.nodes[1]))};
                      for (int axis = 0; axis < 2 && grid.walls != Walls::none; ++axis) {
                          const Int low(static_cast<int>(grid.wall_nodes)),
                              high(static_cast<int>(grid.nodes[axis] - grid.wall_nodes));
                          const Bool outwards = (index[axis] < low && velocity[axis] < 0.0) ||
                                                (index[axis] > high && velocity[axis] > 0.0);
                          for (int c = 0; c < 2; ++c)
                              if (c == axis || grid.walls == Walls::stick)
                                  velocity[c] = select(outwards, Float(0), velocity[c]);
                      }
                      u[node] = velocity;
                  });
}

KernelDef grid_to_particle(const Grid& grid) {
    return kernel(
        "grid_to_particle", {"u", "origin", "inverse_spacing", "h", "x", "v", "C", "F"},
        [grid](Int i, Read<Vec2> u, Param<Vec2> origin, Param<Float> inverse_spacing,
               Param<Float> h, ReadWrite<Vec2> x, Write<Vec2> v, Write<Mat2> C, ReadWrite<Mat2> F) {
            const Vec2 start = x[i];
            const Stencil s = stencil(grid, start, origin.value(), inverse_spacing.value());
            // Moments about the middle node, along the second axis first.
            Vec2 sum[3], slope[3];
            for (int k = 0; k < 3; ++k) {
                const auto at = [&](int l) {
                    return u[s.node + Int(static_cast<int>(k * grid.nodes[1] + l))];
                };
                const Vec2 low = at(0) * s.y(0), high = at(2) * s.y(2);
                sum[k] = at(1) * s.y(1) + (low + high);
                slope[k] = high - low;
            }
            const Vec2 low = sum[0] * s.x(0), high = sum[2] * s.x(2);
            const Vec2 velocity = sum[1] * s.x(1) + (low + high);
            const Vec2 along_x = (high - low) - velocity * (s.f.x() - 1.0);
            const Vec2 along_y = slope[0] * s.x(0) + slope[1] * s.x(1) + slope[2] * s.x(2) -
                                 velocity * (s.f.y() - 1.0);
            const Mat2 gradient =
                Mat2::from_columns({along_x, along_y}) * (4.0 * inverse_spacing.value());
            const Mat2 before = F[i];
            x[i] = start + velocity * h.value();
            v[i] = velocity;
            C[i] = gradient;
            F[i] = before + (gradient * before) * h.value();
        });
}

KernelDef elastic_energy() {
    return kernel("material_points_energy",
                  {"F", "volume", "mu", "lambda", "first", "scale", "value"},
                  [](Int i, Read<Mat2> F, Read<Float> volume, Read<Float> mu, Read<Float> lambda,
                     Param<Int> first, Param<Float> scale, Reduce<Float> value) {
                      const Int j = i + first.value();
                      const Mat2 deformation = F[j], D = without_rotation(deformation);
                      Float square = 0;
                      for (int k = 0; k < 4; ++k) square += D(k / 2, k % 2) * D(k / 2, k % 2);
                      const Float stretch = determinant(deformation) - 1.0;
                      value += volume[j] * (mu[j] * square + 0.5 * lambda[j] * stretch * stretch) *
                               scale.value();
                  });
}

void publish_kernels(Registry& registry) {
    using model::integer;
    using model::PublishedKernel;
    using model::Settings;
    const auto nodes = [](const char* key, const char* axis) {
        return integer(key).at_least(3).at_most(1 << 15).doc(std::string("of the grid along ") +
                                                             axis);
    };
    const std::vector<model::Field> size{nodes("nodes_x", "x"),
                                         nodes("nodes_y", "y: node (i, j) is i nodes_y + j")};
    const auto grid_of = [](const Settings& options) {
        Grid grid;
        grid.nodes[0] = options.integer("nodes_x");
        grid.nodes[1] = options.integer("nodes_y");
        grid.shifted = true;
        return grid;
    };
    const PublishedKernel::Parameter x{"x", "positions, m"}, v{"v", "velocities, m/s"},
        C{"C", "affine velocities, 1/s"}, F{"F", "deformation gradients"}, h{"h", "the step, s"},
        volume{"volume", "m^2"}, mu{"mu", "Pa"}, lambda{"lambda", "Pa"},
        origin{"origin", "of the grid, m"}, inverse_spacing{"inverse_spacing", "1 / dx, 1/m"};
    registry.publish(
        {"particle_to_grid",
         "One item per particle (MLS-MPM, corotated solid): adds its momentum, stress included, "
         "and mass to the 3 x 3 nodes around it, after clearing them all.",
         size,
         {x,
          v,
          C,
          F,
          {"mass", "kg"},
          volume,
          mu,
          lambda,
          origin,
          inverse_spacing,
          {"stress_factor", "-4 h / dx^2"},
          {"grid", "momentum and mass of each node"}},
         [grid_of](const Settings& options) { return particle_to_grid(grid_of(options)); }});
    std::vector<model::Field> with_walls = size;
    with_walls.push_back(model::choice("walls", {"none", "slip", "stick"})
                             .fallback("\"none\"")
                             .doc("what the nodes at the border do"));
    with_walls.push_back(integer("wall_nodes")
                             .fallback("3")
                             .at_least(0)
                             .at_most(1 << 15)
                             .doc("thickness of the walls"));
    registry.publish({"grid_update",
                      "One item per node: u = momentum / (mass + mass_floor) + h gravity; walls.",
                      with_walls,
                      {{"grid", "momentum and mass of each node"},
                       {"gravity", "m/s^2"},
                       h,
                       {"mass_floor", "kg, so that empty nodes divide by no zero"},
                       {"u", "velocity of each node, m/s"}},
                      [grid_of](const Settings& options) {
                          Grid grid = grid_of(options);
                          const std::string walls = options.choice("walls");
                          grid.walls = walls == "none"   ? Walls::none
                                       : walls == "slip" ? Walls::slip
                                                         : Walls::stick;
                          grid.wall_nodes = options.integer("wall_nodes");
                          return grid_update(grid);
                      }});
    registry.publish(
        {"grid_to_particle",
         "One item per particle: v = sum w u, C = 4 / dx sum w u ((i, j) - f)^T, x += h v, F += h "
         "C F over the 3 x 3 nodes around it.",
         size,
         {{"u", "velocity of each node, m/s"}, origin, inverse_spacing, h, x, v, C, F},
         [grid_of](const Settings& options) { return grid_to_particle(grid_of(options)); }});
    registry.publish(
        {"material_points_energy",
         "One item per particle j = first + i: value += scale volume (mu |F - R|^2 + lambda/2 (J - "
         "1)^2), F = R S.",
         {},
         {F,
          volume,
          mu,
          lambda,
          {"first", "number of the first particle"},
          {"scale", "a factor"},
          {"value", "a sum, J"}},
         [](const Settings&) { return elastic_energy(); }});
}

}  // namespace hindcast::mpm
