// A symmetric matrix of a few dozen rows inside a kernel, in memory of its own for every item: of many
// items side by side each lane factorizes its own.
//
//     DenseMatrix a(n, n + spare);
//     a.clear();  a.add(i, j, x);  a.add(j, i, x);
//     const DenseMatrix::Finding found = a.factorize(0.0);
//     a.solve(0.0, b);                                  // b = A^-1 b
//
// Every element of L is a sum in one fixed order, the bits do not depend on the lanes.
#pragma once

#include "engine/lang/control.hpp"
#include "engine/lang/local_array.hpp"

namespace hindcast::dense {

class DenseMatrix {
public:
    // The first `rows` of `stride` rows and columns are the matrix; the others take what is added
    // there, and are not looked at.
    DenseMatrix(int rows, int stride);

    void clear() const;
    // To be called for both of (i, j) and (j, i); one of them is kept.
    void add(const lang::Int& row, const lang::Int& column, const lang::Float& value) const;

    // The result of factorize(), like LinearSolver::Finding.
    struct Finding {
        lang::Int kind;     // 0: positive definite, 1: indefinite, 2: singular to rounding
        lang::Int unknown;  // where it is not positive definite
    };
    // A + shift I = L D L^T. Without pivoting; to its end also where a pivot is not positive.
    Finding factorize(const lang::Float& shift) const;
    // b = (A + shift I)^-1 b, with one step of refinement.
    void solve(const lang::Float& shift, const lang::LocalArray& b) const;
    // The same without refinement, of what was factorized.
    void solve_roughly(const lang::LocalArray& b) const { back_substitute(b); }
    // The mean of the diagonal's magnitudes.
    lang::Float mean_diagonal() const;

private:
    struct Judgment {
        Finding found;
        lang::Float least;  // the least part of a diagonal element that a pivot kept; -1: no more
    };
    void eliminate(const lang::Int& first, int count, const lang::Float& shift,
                   Judgment& judgment) const;
    static void judge(const lang::Int& row, const lang::Float& pivot, const lang::Float& diagonal,
                      Judgment& judgment);
    lang::Int at(const lang::Int& row, const lang::Int& column) const;
    void back_substitute(const lang::LocalArray& b) const;

    int rows_, stride_;
    lang::LocalArray a_;                // A on and above the diagonal, L below it
    lang::LocalArray inverse_;          // of D
    lang::LocalArray row_;              // D L^T of the rows that are eliminated side by side
    lang::LocalArray residual_, lost_;  // and what rounding took from it
};

}  // namespace hindcast::dense
