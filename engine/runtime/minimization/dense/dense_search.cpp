#include "engine/runtime/minimization/dense/dense_search.hpp"

#include <limits>

#include "engine/lang/elementary.hpp"
#include "engine/runtime/minimization/dense/dense_kernels.hpp"

namespace hindcast::dense {

using lang::Bool;
using lang::if_;
using lang::while_;

namespace {

// The first multiple of the identity that is added, as part of the mean of the diagonal, and what
// follows.
constexpr double first_shift = 1e-3, shift_growth = 4;
constexpr int most_shifts = 20;

// Phases of the search.
constexpr int at_start = 0, on_the_way = 1, at_the_end = 2, done = 3;

// As DenseTrace::raise takes it.
std::string at_a_point(const search::Words& words) {
    return words.happened + ", at point %; " + words.remedy;
}

}  // namespace

void fail_no_minimum(DenseTrace& t, const DenseMatrix::Finding& found) {
    const search::Words* const words[] = {&search::indefinite, &search::singular};
    for (int k = 0; k < 2; ++k)
        if_(found.kind == k + 1,
            [&] { t.raise(at_a_point(*words[k]), t.point_of(found.unknown)); });
}

DenseSearch::DenseSearch(DenseTrace& trace, bool factorizes)
    : t_(trace),
      factorizes_(factorizes),
      x_(trace.all_points()),
      base_(trace.vector()),
      step_(trace.vector()),
      g_(trace.vector()),
      h_(trace.problem.unknowns, trace.problem.rows()) {}

void DenseSearch::fail(const Bool& condition, const search::Words& words, const Int& point) {
    if_(condition && phase_ != done, [&] {
        t_.raise(at_a_point(words), point);
        phase_ = done;
    });
}

// x = base + fraction step
void DenseSearch::move() {
    const int D = t_.problem.dimension;
    t_.each_free([&](Int point, Int unknown) {
        for (int c = 0; c < D; ++c)
            x_.put(point * D + c, base_[unknown + c] + fraction_ * step_[unknown + c]);
    });
}

void DenseSearch::evaluate() {
    here_ = 0.0;
    terms_here_ = 0.0;
    t_.energy(x_, here_, terms_here_);
    t_.gradient(x_, g_);
}

// At a point that is taken: the next step from there.
void DenseSearch::arrive() {
    const int D = t_.problem.dimension;
    energy_ = here_;
    magnitude_ = terms_here_;
    scale_ = max(scale_, magnitude_);
    t_.each_free([&](Int point, Int unknown) {
        for (int c = 0; c < D; ++c) base_.put(unknown + c, x_[point * D + c]);
    });
    if (factorizes_)
        step();
    else
        if_(
            phase_ != at_the_end, [&] { step(); }, [&] { phase_ = done; });
}

void DenseSearch::step() {
    const MinimizationOptions& options = t_.problem.options;
    t_.hessian(x_, h_);
    DenseMatrix::Finding as_it_is{0, -1};
    Int kind = 0, tries = 0;
    Float shift = 0.0;
    const Float mean = h_.mean_diagonal();
    while_(
        [&] { return tries == 0 || (kind != 0 && phase_ != at_the_end && tries <= most_shifts); },
        [&] {
            shift = select(tries == 0, Float(0.0),
                           select(tries == 1, first_shift * mean, shift_growth * shift));
            const DenseMatrix::Finding found = h_.factorize(shift);
            kind = found.kind;
            if_(tries == 0, [&] {
                as_it_is.kind = found.kind;
                as_it_is.unknown = found.unknown;
            });
            tries += 1;
        },
        most_shifts + 2);
    const auto no_minimum_if = [&](const Bool& condition) {
        if_(condition && phase_ != done, [&] {
            fail_no_minimum(t_, as_it_is);
            phase_ = done;
        });
    };
    no_minimum_if(kind != 0);
    if (factorizes_) if_(phase_ == at_the_end, [&] { phase_ = done; });
    if_(phase_ != done, [&] {
        for (int spare = t_.problem.unknowns; spare < t_.problem.rows(); ++spare)
            step_.put(spare, 0.0);
        t_.each_unknown([&](Int u) { step_.put(u, -g_[u]); });
        h_.solve(shift, step_);
        slope_ = t_.dot(g_, step_);
        gain_ = -0.5 * slope_;
        farthest_ = t_.largest(step_);
        const Bool exact = tries == 1;
        const Bool at_rounding =
            farthest_ <= 4 * std::numeric_limits<double>::epsilon() * t_.largest(base_);
        const Bool converged = gain_ <= options.tolerance * scale_ || at_rounding;
        no_minimum_if(converged && !exact);
        iterations_ += 1;
        projected_ += select(exact, Int(0), Int(1));
        fail(iterations_ > options.most_iterations, search::too_many(options.most_iterations),
             t_.worst_point(step_));
        const Float limit = t_.step_limit(x_, step_);
        halvings_ = 0;
        fraction_ = limit;
        if_(
            converged && limit >= 1.0,
            [&] { phase_ = select(phase_ == done, Int(done), Int(at_the_end)); },
            [&] {
                fail(!(slope_ < 0.0), search::not_down, t_.worst_point(g_));
                refused_ += select(limit < 1.0, Int(1), Int(0));
                phase_ = select(phase_ == done, Int(done), Int(on_the_way));
            });
        move();
    });
}

void DenseSearch::refuse() {
    fraction_ = 0.5 * fraction_;
    halvings_ += 1;
    refused_ += 1;
    fail(halvings_ >= search::most_halvings, search::no_part, t_.worst_point(step_));
    move();
}

void DenseSearch::record() {
    const MinimizationOptions& options = t_.problem.options;
    const int D = t_.problem.dimension;
    t_.each_point([&](Int point) {
        for (int c = 0; c < D; ++c) x_.put(point * D + c, t_.fetch(t_.positions, c, point));
    });
    while_([&] { return phase_ != done; },
           [&] {
               evaluate();
               const Bool finite = abs(here_) < std::numeric_limits<double>::infinity();
               fail(phase_ == at_start && !finite, search::bad_start, t_.worst_point(g_));
               const Float noise = search::rounding * max(magnitude_, terms_here_);
               const Bool falls = here_ <= energy_ + search::sufficient * fraction_ * slope_;
               const Bool level = abs(here_ - energy_) <= noise &&
                                  t_.dot(g_, step_) <= search::steepest_at_end * slope_;
               const Bool taken = phase_ != on_the_way || (finite && (falls || level));
               if_(phase_ != done, [&] {
                   if_(
                       taken, [&] { arrive(); }, [&] { refuse(); });
               });
           },
           std::int64_t{search::most_halvings + 2} * (options.most_iterations + 2));
    t_.each_free([&](Int point, Int) {
        for (int c = 0; c < D; ++c) t_.put(t_.positions, c, point, x_[point * D + c]);
    });
    const Float residual = t_.largest(g_);
    phase_ = at_start;
    fail(!(residual < std::numeric_limits<double>::infinity()), search::bad_end,
         t_.worst_point(g_));
    note_outcome(t_, {iterations_, projected_, refused_, energy_, scale_, max(gain_, Float(0.0)),
                      residual, farthest_});
}

void note_outcome(DenseTrace& t, const SearchNumbers& numbers) {
    const auto put = [&](int where, const Float& value) { t.put(t.outcomes, 0, where, value); };
    const auto old = [&](int where) { return t.fetch(t.outcomes, 0, where); };
    const Float counts[] = {Float(numbers.iterations), Float(numbers.projected),
                            Float(numbers.refused)};
    const Float sizes[] = {numbers.energy, numbers.scale, numbers.gain, numbers.residual,
                           numbers.step};
    put(Outcomes::solves, old(Outcomes::solves) + 1.0);
    int k = 0;
    for (const Float& count : counts) {
        put(Outcomes::last_iterations + k, count);
        put(Outcomes::iterations + k, old(Outcomes::iterations + k) + count);
        ++k;
    }
    for (const Float& size : sizes) {
        put(Outcomes::last_iterations + k, size);
        put(Outcomes::iterations + k, max(old(Outcomes::iterations + k), size));
        ++k;
    }
    put(Outcomes::most_iterations, max(old(Outcomes::most_iterations), counts[0]));
}

}  // namespace hindcast::dense
