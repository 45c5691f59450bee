// The factors L^T D L of an inertia matrix, from the leaves to the root, so that no entry fills in
// (Featherstone 2008, section 6.5).
#pragma once

#include <utility>
#include <vector>

#include "kernels/articulated/dynamics/spatial.hpp"
#include "kernels/articulated/tree/tree.hpp"

namespace hindcast::articulated {

using Numbers = std::vector<Float>;  // one for each degree of freedom

// The lower triangle of a symmetric matrix, of which only entries that the tree couples are used.
class Lower {
public:
    explicit Lower(const Tree& tree) : t_(tree), numbers_(at(tree.nv * tree.nv), Float(0)) {}
    Float& operator()(int i, int j) { return numbers_[at(t_.entry(i, j))]; }
    const Float& operator()(int i, int j) const { return numbers_[at(t_.entry(i, j))]; }

    // Replaces it by the factors L (unit, below the diagonal) and D of L^T D L.
    void factor() {
        for (int k = t_.nv - 1; k >= 0; --k) {
            const std::vector<int>& up = t_.ancestors[at(k)];
            const Float inverse = 1.0 / (*this)(k, k);
            for (std::size_t m = 1; m < up.size(); ++m) {
                const Float ratio = (*this)(k, up[m]) * inverse;
                for (std::size_t n = m; n < up.size(); ++n)
                    (*this)(up[m], up[n]) -= ratio * (*this)(k, up[n]);
                (*this)(k, up[m]) = ratio;
            }
            (*this)(k, k) = inverse;  // a solve multiplies by 1/D
        }
    }
    // After factor(): L^-T x, of which x . M^-1 x is the sum of squares over D.
    Numbers half_solve(Numbers x) const {
        for (int i = t_.nv - 1; i >= 0; --i) {
            const std::vector<int>& up = t_.ancestors[at(i)];
            for (std::size_t m = 1; m < up.size(); ++m)
                x[at(up[m])] -= (*this)(i, up[m]) * x[at(i)];
        }
        return x;
    }
    Numbers solve(Numbers x) const {
        x = half_solve(std::move(x));
        for (int i = 0; i < t_.nv; ++i) {
            x[at(i)] = x[at(i)] * (*this)(i, i);
            const std::vector<int>& up = t_.ancestors[at(i)];
            for (std::size_t m = 1; m < up.size(); ++m)
                x[at(i)] -= (*this)(i, up[m]) * x[at(up[m])];
        }
        return x;
    }

private:
    const Tree& t_;
    Numbers numbers_;
};

// M a, of a symmetric matrix with the entries matrix(i, j) on and below its diagonal, of which only those
// that the tree couples are used.
template <class Matrix>
Numbers times(const Tree& t, const Matrix& matrix, const Read<Float>& a) {
    Numbers product(at(t.nv), Float(0));
    for (int i = 0; i < t.nv; ++i)
        for (const int j : t.ancestors[at(i)]) {
            const Float entry = matrix(i, j);
            product[at(i)] = product[at(i)] + entry * a[j];
            if (j != i) product[at(j)] = product[at(j)] + entry * a[i];
        }
    return product;
}

}  // namespace hindcast::articulated
