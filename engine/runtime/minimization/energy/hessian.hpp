// Hessian: the second derivative of a potential by its unknowns, as a sparse matrix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/runtime/minimization/energy/potential.hpp"
#include "engine/runtime/minimization/linear/linear_solver.hpp"

namespace hindcast {

class Hessian {
public:
    explicit Hessian(Potential& potential);

    // At the potential's state().
    const SymmetricMatrix& as_it_is();
    // The same, of the last as_it_is(), with the negative eigenvalues of each element's as 0.
    const SymmetricMatrix& projected();
    const SymmetricMatrix& last() const { return matrix_; }  // whichever was made last
    // The last one with `shift` added to its diagonal.
    const SymmetricMatrix& shifted(double shift);
    // "item 3 of 'beam: elastic' (eigenvalue -2.1e3)": of the items at a point, the one with the
    // least eigenvalue at the potential's state().
    std::string least_stable_item(std::int64_t point);

private:
    using Term = Potential::Term;
    void make_pattern();
    double* entry(int row, int column);
    void assemble(std::size_t term, const double* hessians);
    void assemble_carried(const Term& term, const double* hessians);
    void assemble_coordinates(bool projects);

    Potential& potential_;
    SymmetricMatrix matrix_;
    // For each term, per element of the lower triangles: the place in the matrix, or -1.
    std::vector<std::vector<int>> entries_;
};

}  // namespace hindcast
