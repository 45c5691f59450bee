#include "kernels/articulated/constraints/constraint_search.hpp"

#include <limits>
#include <string>

namespace hindcast::articulated {

using dense::DenseMatrix;

namespace {

constexpr int on_the_way = 0, at_the_end = 1, done = 2;  // phases
// A part of a step is a minimum along it where the slope is this part of that at its start.
constexpr double flat = 0.01;
constexpr int most_trials = 40;
// Steps go on being taken until they gain less than this part of the potential's terms. Rounding may
// keep them above it: a step that gains less than `small` of them, and not a quarter of what the one
// before gained, is the last one too.
constexpr double tolerance = 1e-20, small = 1e-13;

// The kept numbers of the rows of a cone.
Cone::Numbers kept(const LocalArray& of_rows, const Int& first, const Cone& cone) {
    Cone::Numbers numbers;
    for (int j = 0; j < cone.dimension(); ++j) numbers.push_back(of_rows[first + j]);
    return numbers;
}

class HessianOf {
public:
    HessianOf(const ConstraintTerms& terms, const DenseMatrix& h) : t_(terms), h_(h) {}

    void inertia() const {
        const int nv = t_.n.dofs;
        h_.clear();
        t_.each_dof([&](Int i) {
            for_(0, i + 1, [&](Int j) { h_.add(j, i, t_.read.inertia(i * nv + j)); });
        });
    }
    void row(const Int& row, const Float& curvature) const {
        if_(curvature > 0.0, [&] {
            t_.each_dof([&](Int i) {
                const Float weighted = curvature * t_.jacobian(row, i);
                if_(weighted != 0.0, [&] {
                    for_(0, i + 1, [&](Int j) { h_.add(j, i, weighted * t_.jacobian(row, j)); });
                });
            });
        });
    }
    void cone(const Int& row, const Cone& of, const Cone::Numbers& r) const {
        const int d = of.dimension();
        const Cone::Numbers c = of.curvature(r);
        if_(c[0] != 0.0 || c.back() != 0.0, [&] {
            t_.each_dof([&](Int i) {
                Cone::Numbers j_i, weighted;
                for (int a = 0; a < d; ++a) j_i.push_back(t_.jacobian(row + a, i));
                for (int a = 0; a < d; ++a) {
                    Float sum = 0;
                    for (int b = 0; b < d; ++b)
                        sum = sum + c[static_cast<std::size_t>(a) * j_i.size() +
                                      static_cast<std::size_t>(b)] *
                                        j_i[static_cast<std::size_t>(b)];
                    weighted.push_back(sum);
                }
                for_(0, i + 1, [&](Int j) {
                    Float sum = 0;
                    for (int a = 0; a < d; ++a)
                        sum = sum + weighted[static_cast<std::size_t>(a)] * t_.jacobian(row + a, j);
                    h_.add(j, i, sum);
                });
            });
        });
    }

private:
    const ConstraintTerms& t_;
    const DenseMatrix& h_;
};

}  // namespace

void constraint_hessian(const ConstraintTerms& terms, const LocalArray& x, const DenseMatrix& h) {
    const HessianOf hessian(terms, h);
    const ConstraintTerms::Vector at = [&](const Int& k) { return x[k]; };
    hessian.inertia();
    terms.each_dof_row([&](Int row, Int dof, Float sign, RowNumbers numbers) {
        h.add(dof, dof, numbers.curvature(sign * x[dof] - terms.read.dof_aref(row)));
    });
    terms.each_row(
        [&](Int row, RowNumbers numbers) {
            hessian.row(row, numbers.curvature(terms.residual(row, at)));
        },
        [&](Int row, Cone cone) { hessian.cone(row, cone, terms.residuals(row, cone, at)); });
}

ConstraintSearch::ConstraintSearch(dense::DenseTrace& trace, const ConstraintTerms& terms,
                                   bool factorizes)
    : t_(trace),
      terms_(terms),
      factorizes_(factorizes),
      x_(trace.vector()),
      g_(trace.vector()),
      step_(trace.vector()),
      r_(std::max(1, terms.n.rows)),
      r_step_(std::max(1, terms.n.rows)),
      dof_curvature_(std::max(1, terms.n.dof_rows)),
      curvature_(std::max(1, terms.n.rows)),
      h_(trace.problem.unknowns, trace.problem.rows()) {}

void ConstraintSearch::fail(const Bool& condition, const std::string& happened,
                            const std::string& remedy) {
    if_(condition && phase_ != done, [&] {
        t_.raise(happened + ", at degree of freedom %; " + remedy, t_.worst_point(g_));
        phase_ = done;
    });
}

void ConstraintSearch::residuals() {
    const ConstraintTerms::Vector at = [&](const Int& k) { return x_[k]; };
    if (terms_.n.rows == 0) return;
    for_(0, terms_.read.count(0), [&](Int row) { r_.put(row, terms_.residual(row, at)); });
}

// The gradient, and whether the Hessian differs from that of the last step.
void ConstraintSearch::slope() {
    const int nv = terms_.n.dofs;
    terms_.each_dof([&](Int i) { g_.put(i, -terms_.read.force(i)); });
    Float size = 0;
    terms_.each_dof([&](Int i) {
        const Float here = x_[i];
        Float sum = terms_.read.inertia(i * nv + i) * here;
        for_(0, i, [&](Int j) {
            const Float m = terms_.read.inertia(i * nv + j);
            sum += m * x_[j];
            g_.add(j, m * here);
        });
        g_.add(i, sum);
        size += abs(here * terms_.read.force(i)) + abs(here * sum);
    });
    const auto compare = [&](const LocalArray& before, const Int& row, const Float& now) {
        differs_ = select(before[row] == now, differs_, Int(1));
        before.put(row, now);
    };
    terms_.each_dof_row([&](Int row, Int dof, Float sign, RowNumbers numbers) {
        const Float r = sign * x_[dof] - terms_.read.dof_aref(row), s = numbers.slope(r);
        g_.add(dof, sign * s);
        size += abs(r * s);
        compare(dof_curvature_, row, numbers.curvature(r));
    });
    const auto push = [&](const Int& row, const Float& s) {
        if_(s != 0.0, [&] {
            terms_.each_dof([&](Int k) { g_.add(k, terms_.jacobian(row, k) * s); });
            size += abs(r_[row] * s);
        });
    };
    terms_.each_row(
        [&](Int row, RowNumbers numbers) {
            const Float r = r_[row];
            push(row, numbers.slope(r));
            compare(curvature_, row, numbers.curvature(r));
        },
        [&](Int row, Cone cone) {
            const Cone::Numbers r = kept(r_, row, cone), s = cone.slope(r);
            for (int j = 0; j < cone.dimension(); ++j)
                push(row + j, s[static_cast<std::size_t>(j)]);
            compare(curvature_, row, cone.curvature(r)[0]);
            // The curvature of a sliding cone differs everywhere.
            differs_ = select(cone.slides(r), Int(1), differs_);
        });
    scale_ = size;
}

void ConstraintSearch::curvature() {
    const HessianOf hessian(terms_, h_);
    hessian.inertia();
    terms_.each_dof_row(
        [&](Int row, Int dof, Float, RowNumbers) { h_.add(dof, dof, dof_curvature_[row]); });
    terms_.each_row([&](Int row, RowNumbers) { hessian.row(row, curvature_[row]); },
                    [&](Int row, Cone cone) { hessian.cone(row, cone, kept(r_, row, cone)); });
}

ConstraintSearch::Along ConstraintSearch::along_step(const Float& part, const Along& smooth) const {
    Float slope = smooth.slope + part * smooth.curvature, curvature = smooth.curvature;
    terms_.each_dof_row([&](Int row, Int dof, Float sign, RowNumbers numbers) {
        const Float way = sign * step_[dof],
                    r = sign * x_[dof] - terms_.read.dof_aref(row) + part * way;
        slope += way * numbers.slope(r);
        curvature += way * way * numbers.curvature(r);
    });
    terms_.each_row(
        [&](Int row, RowNumbers numbers) {
            const Float way = r_step_[row], r = r_[row] + part * way;
            slope += way * numbers.slope(r);
            curvature += way * way * numbers.curvature(r);
        },
        [&](Int row, Cone cone) {
            const Cone::Numbers way = kept(r_step_, row, cone);
            Cone::Numbers r = kept(r_, row, cone);
            const std::size_t d = r.size();
            for (std::size_t j = 0; j < d; ++j) r[j] = r[j] + part * way[j];
            const Cone::Numbers s = cone.slope(r), c = cone.curvature(r);
            for (std::size_t i = 0; i < d; ++i) {
                slope += way[i] * s[i];
                for (std::size_t j = 0; j < d; ++j) curvature += way[i] * way[j] * c[i * d + j];
            }
        });
    return {slope, curvature};
}

// Newton's method in the part, kept between the last two parts of different sides.
void ConstraintSearch::line_search() {
    const int nv = terms_.n.dofs;
    const ConstraintTerms::Vector step = [&](const Int& k) { return step_[k]; };
    if (terms_.n.rows > 0)
        for_(0, terms_.read.count(0), [&](Int row) { r_step_.put(row, terms_.along(row, step)); });
    Float linear = 0, square = 0;
    terms_.each_dof([&](Int i) {
        const Float p = step_[i], x = x_[i];
        linear -= p * terms_.read.force(i);
        const Float m_ii = terms_.read.inertia(i * nv + i);
        linear += p * (m_ii * x);
        square += p * (m_ii * p);
        for_(0, i, [&](Int j) {
            const Float m = terms_.read.inertia(i * nv + j), q = step_[j];
            linear += m * (p * x_[j] + q * x);
            square += 2.0 * (m * (p * q));
        });
    });
    part_ = 1.0;
    trials_ = 0;
    Float low = 0.0, high = std::numeric_limits<double>::infinity();
    Int found = 0;
    while_([&] { return found == 0; },
           [&] {
               const Along here = along_step(part_, {linear, square});
               trials_ += 1;
               if_(
                   abs(here.slope) <= flat * abs(slope_) || trials_ >= most_trials,
                   [&] { found = 1; },
                   [&] {
                       low = select(here.slope < 0.0, part_, low);
                       high = select(here.slope < 0.0, high, part_);
                       const Float next = part_ - here.slope / here.curvature;
                       const Bool inside = next > low && next < high;
                       const Bool open = high == std::numeric_limits<double>::infinity();
                       part_ = select(inside, next, select(open, 2.0 * part_, 0.5 * (low + high)));
                   });
           },
           most_trials + 1);
}

void ConstraintSearch::newton_step() {
    const Float before = gain_;
    Int bad = 0;
    if_(differs_ != 0, [&] {
        curvature();
        bad = h_.factorize(0.0).kind;
        differs_ = 0;
    });
    fail(bad != 0 || !(scale_ < std::numeric_limits<double>::infinity()),
         "the accelerations are not finite, or the inertia matrix is singular",
         "lower the step of time, and give every joint inertia or armature");
    if (factorizes_) if_(phase_ == at_the_end, [&] { phase_ = done; });
    if_(phase_ != done, [&] {
        for (int spare = terms_.n.dofs; spare < t_.problem.rows(); ++spare) step_.put(spare, 0.0);
        t_.each_unknown([&](Int u) { step_.put(u, -g_[u]); });
        h_.solve_roughly(step_);
        slope_ = t_.dot(g_, step_);
        gain_ = -0.5 * slope_;
        farthest_ = t_.largest(step_);
        iterations_ += 1;
        const int most = t_.problem.options.most_iterations;
        fail(iterations_ > most,
             "the accelerations under constraints were not found in " + std::to_string(most) +
                 " iterations",
             "lower the step of time, or make the constraints softer (solref, solimp)");
        const Bool rounding =
            farthest_ <= 4 * std::numeric_limits<double>::epsilon() * t_.largest(x_) ||
            (gain_ <= small * scale_ && gain_ > 0.25 * before);
        const Bool last = gain_ <= tolerance * scale_ || rounding;
        if_(
            last,
            [&] {
                part_ = 1.0;
                phase_ = select(phase_ == done, Int(done), Int(at_the_end));
            },
            [&] { line_search(); });
        t_.each_unknown([&](Int u) { x_.add(u, part_ * step_[u]); });
        if (!factorizes_) if_(phase_ == at_the_end, [&] { phase_ = done; });
        residuals();
    });
}

void ConstraintSearch::record() {
    t_.each_point([&](Int k) { x_.put(k, t_.fetch(t_.positions, 0, k)); });
    gain_ = std::numeric_limits<double>::infinity();
    differs_ = 1;
    residuals();
    while_([&] { return phase_ != done; },
           [&] {
               slope();
               newton_step();
           },
           t_.problem.options.most_iterations + 2);
    t_.each_point([&](Int k) { t_.put(t_.positions, 0, k, x_[k]); });
    dense::note_outcome(t_, {iterations_, 0, trials_, 0.0, scale_, max(gain_, Float(0.0)),
                             t_.largest(g_), farthest_});
}

}  // namespace hindcast::articulated
