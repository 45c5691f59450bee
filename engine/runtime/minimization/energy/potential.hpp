// Potential: the sum of energies as a function of the free points, with its gradient and its sparse
// Hessian. All in f64 and on the host.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/runtime/device/device.hpp"
#include "engine/runtime/minimization/energy/energy.hpp"
#include "engine/runtime/minimization/linear/linear_solver.hpp"

namespace hindcast {

class Potential {
public:
    // `device`: of the host. `fixed`: of each point, whether it is none of the unknowns. Throws
    // Error for an item that names a point twice, or one that is not there.
    Potential(std::shared_ptr<Device> device, int dimension, std::vector<char> fixed,
              std::vector<EnergyTerm> terms);

    int unknowns() const { return static_cast<int>(point_of_.size()); }
    int dimension() const { return dimension_; }
    std::int64_t point_of(int unknown) const {
        return point_of_[static_cast<std::size_t>(unknown)];
    }

    // All points, f64 {points, dimension}; those that are free are the unknowns. Their derivatives
    // are where the launches of terms() find them.
    const Array& positions() const { return x_; }
    // The step that limits are asked about, as positions().
    const Array& direction() const { return direction_; }
    // The array that the launches add their gradients to.
    const Array& force() const { return g_; }
    // gather() reads the unknowns' components from an array shaped like positions(); scatter()
    // writes them back and leaves the other components.
    void gather(const Array& from, std::span<double> unknowns) const;
    void scatter(std::span<const double> unknowns, const Array& to) const;
    void clear_unknowns(const Array& of) const;

    // At positions().
    double value();
    double magnitude() const { return magnitude_; }  // the sum of the terms' |values|, at value()
    void gradient(std::span<double> unknowns);
    const SymmetricMatrix& hessian();
    // The same, of the last hessian(), with the negative eigenvalues of each element's as 0.
    const SymmetricMatrix& projected();
    const SymmetricMatrix& matrix() const { return matrix_; }  // whichever was made last
    // The last one with `shift` added to its diagonal.
    const SymmetricMatrix& shifted(double shift);
    // The part of the step along `direction` that no obstacle is passed with, at most 1.
    double step_limit(std::span<const double> direction);

    // A launch with the replays that were asked for.
    struct Work {
        Launch launch;
        std::map<Direction, Launch::Replay> replays = {};
        const Launch::Replay& in(Direction direction = Direction::forward) {
            Launch::Replay& replay = replays[direction];
            if (!replay) replay = launch.replay(direction);
            return replay;
        }
    };
    struct Term {
        std::string name;
        Work value, gradient, hessian;
        std::optional<Work> limit = {};
        Array numbers;  // of the points of each item
        Array value_at, columns, fraction = {};
        std::vector<int> entries =
            {};        // per element of the lower triangles: where in the matrix, or -1
        int size = 0;  // rows of an element's Hessian
        std::vector<std::int64_t> points;
    };
    std::vector<Term>& terms() { return terms_; }
    template <class F>
    void each_work(F f) {
        for (Term& term : terms_) {
            for (Work* work : {&term.value, &term.gradient, &term.hessian}) f(term, *work);
            if (term.limit) f(term, *term.limit);
        }
    }
    // "item 3 of 'beam: elastic' (eigenvalue -2.1e3)": of the items at a point, the one with the least
    // eigenvalue at positions().
    std::string least_stable_item(std::int64_t point);

private:
    void add(EnergyTerm term);
    void make_pattern();
    void assemble(const Term& term, const std::vector<double>* projected);

    std::shared_ptr<Device> device_;
    int dimension_;
    Array x_, g_, direction_;
    std::vector<int> unknown_of_;  // per component of a point; -1: fixed
    std::vector<std::int64_t> point_of_;
    std::vector<Term> terms_;
    SymmetricMatrix matrix_;
    double magnitude_ = 0;
};

}  // namespace hindcast
