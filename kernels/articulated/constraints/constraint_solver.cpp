#include "kernels/articulated/constraints/constraint_solver.hpp"

#include <numeric>
#include <utility>
#include <vector>

#include "engine/base/error.hpp"
#include "kernels/articulated/constraints/constraint_search.hpp"

namespace hindcast::articulated {

using dense::DenseProblem;
using dense::Role;

namespace {

DenseProblem problem_of(const RowSizes& sizes, const std::map<std::string, Array>& arrays,
                        const Array& acceleration) {
    DenseProblem problem;
    problem.dimension = 1;
    problem.points = problem.unknowns = sizes.dofs;
    problem.precision =
        acceleration.type() == ir::Type::f32 ? ir::Precision::f32 : ir::Precision::f64;
    problem.options.most_iterations = 100;
    problem.positions = acceleration;
    const KernelDef gradient = constraint_gradient(sizes).without_unused();
    dense::DenseTerm term;
    term.name = "constraints";
    term.items = 1;
    term.points = sizes.dofs;
    term.gradient.kernel = gradient.trace(ir::Precision::f64);
    for (const ir::Parameter& parameter : term.gradient.kernel.parameters) {
        Role role;
        if (parameter.name == "x") {
            role.kind = Role::positions;
        } else if (parameter.name == "gradient") {
            role.kind = Role::output;
        } else {
            const Array& array = arrays.at(parameter.name);
            ir::Parameter own = parameter;
            if (ir::is_real(own.type)) own.type = ir::real_type(problem.precision);
            role.kind = Role::input;
            role.input_number = static_cast<int>(problem.inputs.size());
            problem.inputs.push_back({std::move(own), array, array});
        }
        term.gradient.roles.push_back(std::move(role));
    }
    problem.terms.push_back(std::move(term));
    std::vector<std::int64_t> all(static_cast<std::size_t>(sizes.dofs));
    std::iota(all.begin(), all.end(), 0);
    for (Array* const numbers : {&problem.free_points, &problem.unknown_of}) {
        *numbers = Array(ir::Type::i32, {sizes.dofs});
        numbers->assign_integers(all);
    }
    return problem;
}

}  // namespace

ConstraintKernels::ConstraintKernels(const RowSizes& sizes,
                                     const std::map<std::string, Array>& arrays,
                                     const Array& acceleration)
    : DenseKernels(problem_of(sizes, arrays, acceleration)), sizes_(sizes) {}

ConstraintTerms ConstraintKernels::terms(const dense::DenseTrace& trace) const {
    const auto symbol = [&](const char* name) {
        const auto& inputs = trace.problem.inputs;
        for (std::size_t k = 0; k < inputs.size(); ++k)
            if (inputs[k].parameter.name == name) return trace.input(static_cast<int>(k));
        return -1;  // the sizes have none
    };
    const auto reals = [&](const char* name) {
        return [&trace, s = symbol(name)](const Int& i) { return trace.load(s, 0, i); };
    };
    const auto integers = [&](const char* name) {
        return [&trace, s = symbol(name)](const Int& i) { return trace.load_integer(s, i); };
    };
    return {
        sizes_,
        {reals("inertia"), reals("force"), integers("dof_row_dof"), reals("dof_row_sign"),
         reals("dof_row_aref"), reals("dof_row_mass"), reals("dof_row_low"), reals("dof_row_high"),
         integers("row_count"), integers("row_cone"), reals("row_jacobian"), reals("row_aref"),
         reals("row_mass"), reals("row_low"), reals("row_high"), reals("row_friction")}};
}

dense::Minimum ConstraintKernels::search(dense::DenseTrace& trace, bool factorizes) const {
    const ConstraintTerms of = terms(trace);
    ConstraintSearch search(trace, of, factorizes);
    search.record();
    return search.minimum();
}

void ConstraintKernels::hessian(dense::DenseTrace& trace, const LocalArray& x,
                                const dense::DenseMatrix& h) const {
    constraint_hessian(terms(trace), x, h);
}

}  // namespace hindcast::articulated
