// The kernels of one MLS-MPM step (Hu et al. 2018, "A moving least squares material point method"),
// with the affine transfers of Jiang et al. 2015 (APIC) and quadratic B-splines. With dx the
// spacing of the grid, b = floor(x/dx - 1/2) the first of 3 x 3 nodes, f = x/dx - b and
//     w_0 = (3/2 - f)^2 / 2    w_1 = 3/4 - (f - 1)^2    w_2 = (f - 1/2)^2 / 2      per axis:
//   particle_to_grid   A = m C - (4 h / dx^2) V tau,  momentum_ij += w_ij (m v + A ((i,j) - f) dx),
//                      mass_ij += w_ij m,  with the Kirchhoff stress of the corotated solid,
//                      tau = 2 mu (F - R) F^T + lambda J (J - 1) I,  F = R S
//   grid_update        u = momentum / (mass + floor) + h g; walls
//   grid_to_particle   v = sum w_ij u_ij,  C = (4 / dx) sum w_ij u_ij ((i,j) - f)^T,
//                      x += h v,  F += h C F
// The deformation gradient is updated as soon as C is known; the stress of the next step reads it.
// Only particle_to_grid and grid_update define the grid's arrays, from x, v, C and F alone.
#pragma once

#include "engine/lang/kernel.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::mpm {

enum class Walls : std::uint8_t { none, slip, stick };

// The literals in the kernels of one grid. Node (i, j) is number i * nodes[1] + j.
struct Grid {
    std::int64_t nodes[2] = {0, 0};
    bool shifted = false;  // the origin is not zero
    Walls walls = Walls::none;
    std::int64_t wall_nodes = 0;
};

// {x, v, C, F, mass, volume, mu, lambda, origin, inverse_spacing, stress_factor, grid}: one item
// per particle. stress_factor = -4 h / dx^2; grid holds momentum and mass, 3 components per node. A
// particle whose nodes are not all in the grid is a fault: index -1.
lang::KernelDef particle_to_grid(const Grid& grid);
// {grid, gravity, h, mass_floor, u}: one item per node.
lang::KernelDef grid_update(const Grid& grid);
// {u, origin, inverse_spacing, h, x, v, C, F}: one item per particle.
lang::KernelDef grid_to_particle(const Grid& grid);
// {F, volume, mu, lambda, first, scale, value}: value += scale sum V (mu |F - R|^2 +
// lambda/2 (J - 1)^2), the energy that tau comes from; item i is particle first + i.
lang::KernelDef elastic_energy();

// The four, with the grid's numbers as options.
void publish_kernels(Registry& registry);

}  // namespace hindcast::mpm
