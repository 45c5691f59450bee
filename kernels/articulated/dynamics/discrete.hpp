// The integrator `discrete`: a step of h is the acceleration a with
//   (M + h D + h^2 K) a = f - h K v + J^T f_constraint
// where D and K are the damping and the stiffness of joints, tendons and actuators, each where it is not
// negative, so that forces of springs and dampers are those at the end of the step (MuJoCo, "Computation",
// numerical integration). A spring, damper or actuator along one row J of the joints adds a
// coupling: J^T (h c + h^2 k) J. Those that couple only what the tree couples are a part of the
// matrix; others are rows of the constraints' problem. Arrays:
//   metric       dofs x dofs   M + h D + h^2 K on and below the diagonal, but for such rows
//   force        dofs          f - h K v
//   rise         actuators     derivative of each actuator's force by its length; 0 as its slope is
//   dof_shares   dofs x 2      1 / M_ii, and the same of the matrix with all of D and K
#pragma once

#include "kernels/articulated/dynamics/tendons.hpp"

namespace hindcast::articulated {

struct CouplingOf {
    bool actuator = false;  // else a tendon
    int number = 0;
};

// The couplings that a robot may have.
std::vector<CouplingOf> couplings_of(const Tree& tree);
// True if the tree couples all degrees of freedom that the coupling couples.
bool fits(const Tree& tree, const CouplingOf& coupling);

struct Coupling {
    std::vector<std::pair<int, Float>> row;  // degree of freedom, value
    Float stiffness, damping;                // not negative

    Float resistance(const Float& h) const { return h * h * stiffness + h * damping; }
};

// Kernels' access to couplings.
struct Couplings {
    const Tree& tree;
    TendonReader tendons;
    Read<Float> moment, slope, rise;

    Coupling of(const CouplingOf& coupling) const;
};

// The share of its inverse inertia that a constraint feels if springs and dampers resist as well:
// the sum of J_i^2 / (M_ii + (h D + h^2 K)_ii) over that of J_i^2 / M_ii; 1 for a row of zeros.
class Share {
public:
    Share() : all_(0), less_(0) {}
    void add(const Float& value, const Vec<Float, 2>& shares) {
        all_ += value * value * shares[0];
        less_ += value * value * shares[1];
    }
    Float felt() const {
        const Bool some = all_ > 0.0;
        return select(some, less_ / select(some, all_, Float(1)), Float(1));
    }

private:
    Float all_, less_;
};

// inertia, passive, actuator, bias and the state -> metric, force, dof_shares. `coulomb`: dry friction of
// joints (SceneForces), which is implicit with their damping.
KernelDef discrete_step_map(const TreePointer& tree, bool coulomb);

}  // namespace hindcast::articulated
