#include "engine/runtime/minimization/dense/dense_problem.hpp"

#include <algorithm>
#include <utility>

#include "engine/ir/memory_type.hpp"

namespace hindcast::dense {

namespace {

class Roles {
public:
    Roles(const Potential& potential, std::vector<DenseInput>& inputs)
        : potential_(potential), inputs_(inputs) {}

    TermKernel of(const Launch& launch, const std::string& term) const {
        TermKernel result{launch.kernel(), {}};
        for (std::size_t p = 0; p < result.kernel.parameters.size(); ++p)
            result.roles.push_back(role(launch, p, term));
        return result;
    }
    int input(const Array& array, const ir::Parameter& parameter, const std::string& term) const {
        for (std::size_t k = 0; k < inputs_.size(); ++k)
            if (inputs_[k].array.same_memory(array)) return static_cast<int>(k);
        ir::Parameter own = parameter;
        own.name = term + ": " + parameter.name;
        std::ranges::replace(own.name, '.', ' ');
        const auto is_taken = [&](const DenseInput& i) { return i.parameter.name == own.name; };
        while (std::ranges::any_of(inputs_, is_taken)) own.name += "'";
        inputs_.push_back({own, array, array});
        return static_cast<int>(inputs_.size()) - 1;
    }

private:
    Role role(const Launch& launch, std::size_t p, const std::string& term) const {
        const ir::Parameter& parameter = launch.kernel().parameters[p];
        const Argument& argument = launch.arguments()[p];
        if (!ir::only_reads(parameter.access)) return {Role::output};
        if (!argument.is_array()) {
            const auto numbers = argument.numbers();
            return {Role::constant, -1, {numbers.begin(), numbers.end()}, parameter.type};
        }
        const Array& array = argument.array();
        if (array.same_memory(potential_.positions())) return {Role::positions};
        if (array.same_memory(potential_.direction())) return {Role::direction};
        return {Role::input, input(array, parameter, term)};
    }

    const Potential& potential_;
    std::vector<DenseInput>& inputs_;
};

}  // namespace

DenseProblem::DenseProblem(Potential& potential, const Array& given, std::vector<DenseInput> reals,
                           const MinimizationOptions& asked)
    : dimension(potential.dimension()),
      points(static_cast<int>(given.elements())),
      unknowns(potential.unknowns()),
      precision(given.type() == ir::Type::f32 ? ir::Precision::f32 : ir::Precision::f64),
      options(asked),
      inputs(std::move(reals)),
      positions(given) {
    const Roles roles(potential, inputs);
    for (Potential::Term& term : potential.terms()) {
        const Launch& gradient = term.gradient.launch;
        const int p = gradient.kernel().find_parameter("points");
        const Array& numbers = term.numbers;
        DenseTerm own{.name = term.name,
                      .items = gradient.items(),
                      .points = term.size / dimension,
                      .numbers = -1,
                      .value = roles.of(term.value.launch, term.name),
                      .gradient = roles.of(gradient, term.name),
                      .hessian = roles.of(term.hessian.launch, term.name)};
        if (term.limit) own.limit = roles.of(term.limit->launch, term.name);
        const ir::Parameter declared =
            p >= 0 ? gradient.kernel().parameter(p)
                   : ir::Parameter{"points", ir::Access::read, ir::Type::i32, own.points, 1};
        own.numbers = roles.input(numbers, declared, term.name);
        terms.push_back(std::move(own));
    }
    std::vector<std::int64_t> free, first(static_cast<std::size_t>(points), unknowns);
    for (int u = 0; u < unknowns; u += dimension) {
        free.push_back(potential.owner_of(u).number);
        first[static_cast<std::size_t>(free.back())] = u;
    }
    free_points = Array(ir::Type::i32, {static_cast<std::int64_t>(free.size())});
    free_points.assign_integers(free);
    unknown_of = Array(ir::Type::i32, {points});
    unknown_of.assign_integers(first);
}

bool is_dense(const Potential& potential, const MinimizationOptions& options) {
    const int n = potential.unknowns();
    // The kernel's memory also holds the fixed points.
    const bool fits =
        n > 0 && n <= most_dense && potential.positions().size() <= std::int64_t{4} * most_dense;
    if (options.solver == LinearSolverKind::dense && !fits)
        throw Error("the solver 'dense' takes 1 to " + std::to_string(most_dense) +
                    " unknowns and as many numbers of fixed points four times, but there are " +
                    std::to_string(n) + " unknowns and " +
                    std::to_string(potential.positions().size()) + " numbers in all")
            .remedy("choose 'automatic' or 'direct'");
    return fits && (options.solver == LinearSolverKind::dense ||
                    (options.solver == LinearSolverKind::automatic && n <= most_dense_alone));
}

}  // namespace hindcast::dense
