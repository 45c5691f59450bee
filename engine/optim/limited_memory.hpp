// The quadratic model of L-BFGS-B: an estimate of the Hessian from the last steps s and the changes
// y of the gradient along them, and the minimum of that model within bounds.
//
//     B = theta 1 - W M W^T,  W = [Y, theta S],  M = [-D, L^T; L, theta S^T S]^-1
//
// with theta = y.y / s.y of the last pair, D the diagonal and L the lower triangle of S^T Y
// (R. Byrd, P. Lu, J. Nocedal, C. Zhu, "A limited memory algorithm for bound constrained
// optimization", SIAM J. Sci. Comput. 16, 1995, (3.2) to (3.4)). Its minimum in two parts:
//
//   1. the first minimum of the model along the projected path P(u - t g), which tells the entries
//      that stand on a bound (the generalized Cauchy point; algorithm CP there),
//   2. the minimum over the other entries (the direct primal method, (5.11) there), projected on
//      the bounds (J. Morales and J. Nocedal, ACM Trans. Math. Softw. 38, 2011), or cut short at
//      the first bound if the projection is not a direction of descent.
//
// If no entry meets a bound, that is u - B^-1 g by the two-loop recursion (J. Nocedal, Math.
// Comput. 35, 1980), which is cheaper and rounds less.
#pragma once

#include <cstdint>
#include <deque>

#include "engine/document/node.hpp"
#include "engine/optim/vectors.hpp"

namespace hindcast::optim {

class LimitedMemory {
public:
    explicit LimitedMemory(std::size_t most_pairs) : most_(most_pairs) {}

    bool empty() const { return pairs_.empty(); }
    double theta() const { return theta_; }
    // Forgets all pairs; the model becomes theta 1.
    void clear(double theta);
    // Takes a pair, and forgets the oldest beyond the limit. A pair without positive curvature, or
    // whose curvature is lost in rounding, is left out.
    void add_pair(Vector s, Vector y);

    // Near the minimum of g.(x - u) + (x - u).B (x - u) / 2 over low <= x <= high. u lies in there.
    Vector minimum(const Vector& u, const Vector& g, const Vector& low, const Vector& high) const;

    document::Node state() const;
    void restore(const document::Node& state, std::size_t entries);

private:
    struct Pair {
        Vector s, y;
        double sy = 0;
    };
    struct Cauchy {
        Vector x, c;  // the point, and W^T (x - u)
        std::vector<bool> free;
        bool all_free = true;
    };
    class Model;

    Vector two_loop(const Vector& g) const;

    std::size_t most_;
    std::deque<Pair> pairs_;
    double theta_ = 0;
};

}  // namespace hindcast::optim
