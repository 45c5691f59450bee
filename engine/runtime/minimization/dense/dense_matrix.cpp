#include "engine/runtime/minimization/dense/dense_matrix.hpp"

#include <limits>
#include <vector>

#include "engine/lang/elementary.hpp"
#include "engine/runtime/minimization/rules/search_rules.hpp"

namespace hindcast::dense {

using lang::Float;
using lang::for_;
using lang::Int;
using lang::LocalArray;
using lang::repeat;

namespace {
using search::least_pivot;
// Rows that are eliminated side by side.
constexpr int together = 4;
}  // namespace

DenseMatrix::DenseMatrix(int rows, int stride)
    : rows_(rows),
      stride_(stride),
      a_(stride * stride),
      inverse_(rows),
      row_(rows * together),
      residual_(rows),
      lost_(rows) {}

Int DenseMatrix::at(const Int& row, const Int& column) const { return row * stride_ + column; }

void DenseMatrix::clear() const {
    repeat(stride_ * stride_, [&](Int i) { a_.put(i, 0.0); });
}

void DenseMatrix::add(const Int& row, const Int& column, const Float& value) const {
    a_.add(at(row, column), value);
}

DenseMatrix::Finding DenseMatrix::factorize(const Float& shift) const {
    Judgment judgment{{0, -1}, least_pivot};
    const int whole = rows_ / together;
    repeat(whole, [&](Int block) { eliminate(block * together, together, shift, judgment); });
    if (rows_ % together != 0) eliminate(whole * together, rows_ % together, shift, judgment);
    return judgment.found;
}

// Rows first .. first + count - 1: of each D L^T, then L. Sums of different rows go on side by side,
// so that none waits for the one before.
void DenseMatrix::eliminate(const Int& first, int count, const Float& shift,
                            Judgment& judgment) const {
    const auto w = [&](const Int& k, int r) { return row_[k * together + r]; };
    for_(0, first, [&](Int j) {
        std::vector<Float> sums;
        for (int r = 0; r < count; ++r) sums.push_back(a_[at(j, first + r)]);
        for_(0, j, [&](Int k) {
            const Float l = a_[at(j, k)];
            for (int r = 0; r < count; ++r) sums[static_cast<std::size_t>(r)] -= l * w(k, r);
        });
        for (int r = 0; r < count; ++r)
            row_.put(j * together + r, sums[static_cast<std::size_t>(r)]);
    });
    for (int r = 0; r < count; ++r) {
        const Int i = first + r;
        for (int q = 0; q < r; ++q) {
            const Int j = first + q;
            Float sum = a_[at(j, i)];
            for_(0, j, [&](Int k) { sum -= a_[at(j, k)] * w(k, r); });
            row_.put(j * together + r, sum);
        }
        const Float diagonal = a_[at(i, i)] + shift;
        Float pivot = diagonal;
        for_(0, i, [&](Int j) {
            const Float x = w(j, r), l = x * inverse_[j];
            a_.put(at(i, j), l);
            pivot -= l * x;
        });
        inverse_.put(i, 1.0 / pivot);
        judge(i, pivot, diagonal, judgment);
    }
}

void DenseMatrix::judge(const Int& i, const Float& pivot, const Float& diagonal,
                        Judgment& judgment) {
    DenseMatrix::Finding& found = judgment.found;
    const Float part = pivot / diagonal;
    const lang::Bool positive =
        diagonal > 0.0 && pivot > 0.0 && pivot < std::numeric_limits<double>::infinity();
    // The first pivot that is not positive counts; what follows it is meaningless.
    const lang::Bool goes_on = judgment.least > 0.0;
    lang::if_(goes_on && !positive, [&] {
        const lang::Bool zero = pivot == 0.0 || abs(pivot) < least_pivot * abs(diagonal);
        found.kind = select(zero, Int(2), Int(1));
        found.unknown = i;
        judgment.least = -1.0;
    });
    lang::if_(goes_on && positive && part < judgment.least, [&] {
        found.kind = 2;
        found.unknown = i;
        judgment.least = part;
    });
}

// By columns: what is subtracted from different elements does not wait for each other.
void DenseMatrix::back_substitute(const LocalArray& b) const {
    repeat(rows_, [&](Int j) {
        const Float x = b[j];
        for_(j + 1, rows_, [&](Int i) { b.put(i, b[i] - a_[at(i, j)] * x); });
    });
    repeat(rows_, [&](Int i) { b.put(i, b[i] * inverse_[i]); });
    repeat(rows_, [&](Int k) {
        const Int j = (rows_ - 1) - k;
        const Float x = b[j];
        for_(0, j, [&](Int i) { b.put(i, b[i] - a_[at(j, i)] * x); });
    });
}

void DenseMatrix::solve(const Float& shift, const LocalArray& b) const {
    repeat(rows_, [&](Int i) {
        residual_.put(i, b[i]);
        lost_.put(i, 0.0);
    });
    back_substitute(b);
    // One step of refinement, with the residual as in twice the precision (Ogita, Rump and Oishi 2005).
    const auto subtract = [&](const Int& i, const Float& a, const Float& x) {
        const Float old = residual_[i], product = a * x, rest = fma(a, x, -product),
                    sum = old - product, taken = old - sum;
        residual_.put(i, sum);
        lost_.add(i, ((old - (sum + taken)) - (product - taken)) - rest);
    };
    repeat(rows_, [&](Int j) {
        const Float x = b[j];
        for_(0, j, [&](Int i) { subtract(i, a_[at(i, j)], x); });
        subtract(j, a_[at(j, j)] + shift, x);
        for_(j + 1, rows_, [&](Int i) { subtract(i, a_[at(j, i)], x); });
    });
    repeat(rows_, [&](Int i) { residual_.add(i, lost_[i]); });
    back_substitute(residual_);
    repeat(rows_, [&](Int i) { b.add(i, residual_[i]); });
}

Float DenseMatrix::mean_diagonal() const {
    Float sum = std::numeric_limits<double>::min();
    repeat(rows_, [&](Int i) { sum += abs(a_[at(i, i)]) / static_cast<double>(rows_); });
    return sum;
}

}  // namespace hindcast::dense
