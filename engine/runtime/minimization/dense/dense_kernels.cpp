#include "engine/runtime/minimization/dense/dense_kernels.hpp"

#include <algorithm>
#include <utility>

#include "engine/ir/clone.hpp"
#include "engine/runtime/minimization/dense/dense_search.hpp"

namespace hindcast::dense {

DenseKernels::DenseKernels(DenseProblem problem)
    : problem_(std::move(problem)), outcomes_(ir::Type::f64, {Outcomes::size}) {}

std::vector<Argument> DenseKernels::arguments() const {
    std::vector<Argument> list{problem_.positions};
    for (const DenseInput& input : problem_.inputs) list.push_back(input.argument);
    list.insert(list.end(), {problem_.free_points, problem_.unknown_of, outcomes_, 0.0});
    return list;
}

Minimum DenseKernels::search(DenseTrace& trace, bool factorizes) const {
    DenseSearch search(trace, factorizes);
    search.record();
    return {search.x(), search.gradient(), search.hessian()};
}

void DenseKernels::hessian(DenseTrace& trace, const LocalArray& x, const DenseMatrix& h) const {
    trace.hessian(x, h);
}

ir::Kernel DenseKernels::kernel(Direction direction, const std::vector<std::string>& active) const {
    ir::Builder builder("minimization", problem_.precision);
    const bool back = goes_back(direction);
    {
        const lang::Tracing tracing(builder);
        const lang::RealScope real(ir::Type::f64);
        DenseTrace trace(problem_, builder, back);
        Derivative derivative(trace, active, [&](const LocalArray& x, const DenseMatrix& h) {
            hessian(trace, x, h);
        });
        if (back) {
            direction == Direction::adjoint ? derivative.adjoint() : derivative.adjoint_tangent();
        } else {
            const Minimum minimum = search(trace, direction != Direction::forward);
            if (direction == Direction::tangent) derivative.tangent(minimum);
            if (direction == Direction::tangent_tangent) derivative.second_tangent(minimum);
        }
    }
    const bool once = direction == Direction::tangent || direction == Direction::adjoint_tangent;
    builder.set_orders(back ? 1 : 0, direction == Direction::tangent_tangent ? 2 : once ? 1 : 0);
    ir::Kernel kernel = ir::simplify(builder.finish(), true);
    ir::verify(kernel, "recording a minimization");
    return kernel;
}

// ---------------------------------------------------------------- what became of it

namespace {
// Eight numbers, in the order of MinimizationOutcome.
MinimizationOutcome outcome_at(const Array& outcomes, int first) {
    const auto at = [&](int k) { return outcomes.value(first + k); };
    return {.iterations = static_cast<int>(at(0)),
            .projected = static_cast<int>(at(1)),
            .refused = static_cast<int>(at(2)),
            .energy = at(3),
            .scale = at(4),
            .gain = at(5),
            .residual = at(6),
            .step = at(7)};
}
}  // namespace

MinimizationOutcome Outcomes::last(const Array& of) { return outcome_at(of, last_iterations); }

MinimizationTotals Outcomes::all(const Array& of) {
    return {.solves = static_cast<std::int64_t>(of.value(solves)),
            .all = outcome_at(of, iterations),
            .most_iterations = static_cast<int>(of.value(most_iterations))};
}

RemovedResiduals Outcomes::removed_residuals(const Array& of) {
    return {static_cast<std::int64_t>(of.value(removed_solves)), of.value(removed_distance)};
}

void Outcomes::clear(const Array& of) { of.clear(); }

void Outcomes::clear_removed(const Array& of) {
    std::vector<double> numbers = of.to_doubles();
    numbers[removed_solves] = numbers[removed_distance] = 0;
    of.assign(numbers);
}

}  // namespace hindcast::dense
