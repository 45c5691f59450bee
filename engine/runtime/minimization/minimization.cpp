#include "engine/runtime/minimization/minimization.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <utility>

#include "engine/ir/memory_type.hpp"
#include "engine/runtime/launch/host_function.hpp"
#include "engine/runtime/minimization/dense/dense_kernels.hpp"
#include "engine/runtime/minimization/dense/dense_trace.hpp"
#include "engine/runtime/minimization/newton.hpp"
#include "engine/runtime/minimization/rules/add_seconds.hpp"

namespace hindcast {

namespace {

constexpr const char* unknown = "positions";

// Between memory of a launch, of its type and layout, and the first elements of an array of f64.
template <class Real, class Copied = double, class F>
void each_scalar(const backend::Binding& memory, const Array& array, std::int64_t elements,
                 const F& f) {
    auto* const theirs = static_cast<Real*>(memory.data);
    auto* const ours = static_cast<Copied*>(array.data());
    const std::int64_t components = array.components();
    for (std::int64_t e = 0; e < elements; ++e)
        for (std::int64_t c = 0; c < components; ++c)
            f(theirs[e * memory.element_stride + c * memory.component_stride],
              ours[e * array.element_stride() + c * array.component_stride()]);
}
template <class F>
void each_scalar(const backend::Binding& memory, ir::Type type, const Array& array,
                 std::int64_t elements, const F& f) {
    if (type == ir::Type::f32)
        each_scalar<float>(memory, array, elements, f);
    else
        each_scalar<double>(memory, array, elements, f);
}

Array derived(Array array, std::string_view kinds) {
    while (!kinds.empty()) {
        const std::string_view kind = kinds.substr(0, 3);
        array = kind == ".a1"   ? array.gradient()
                : kind == ".t1" ? array.tangent()
                                : array.second_tangent();
        kinds.remove_prefix(3);
    }
    return array;
}

}  // namespace

// Every array that energies read has a copy in f64, to which their launches are bound. A run
// fetches the bindings' values into the copies, and brings derivatives back from them.
class Minimization::Function final : public HostFunction {
public:
    Function(std::shared_ptr<Device> device, const Array& positions, std::vector<char> fixed,
             std::vector<EnergyTerm> terms, const MinimizationOptions& options,
             std::vector<Carrier> carriers)
        : solved_(arrays_of(positions, carriers)),
          parameters_(parameters_of(positions, carriers)),
          potential_(std::move(device), positions.components(), std::move(fixed),
                     with_copies(std::move(terms)), with_copies(std::move(carriers))),
          newton_(potential_, options, times) {}

    const std::vector<ir::Parameter>& parameters() const override { return parameters_; }
    std::vector<Argument> arguments() const {
        std::vector<Argument> list(solved_.begin(), solved_.end());
        for (const Copied& c : copied_) list.emplace_back(c.original);
        return list;
    }

    Potential& potential() { return potential_; }
    // Inputs of a dense kernel that does the same.
    std::vector<dense::DenseInput> inputs() const {
        std::vector<dense::DenseInput> list;
        for (std::size_t k = 0; k < copied_.size(); ++k) {
            ir::Parameter parameter = parameters_[solved_.size() + k];
            if (parameter.access == ir::Access::value) parameter.type = ir::Type::f64;
            list.push_back({std::move(parameter), copied_[k].copy, copied_[k].original});
        }
        return list;
    }

    void differentiate_only(const std::vector<std::string>& active) override {
        const auto varies = [&](const Array& array) {
            for (std::size_t k = 0; k < copied_.size(); ++k)
                if (copied_[k].copy.same_memory(array))
                    return active.empty() ||
                           std::ranges::find(active, parameters_[solved_.size() + k].name) !=
                               active.end();
            // Among the other arrays the positions and the force vary; numbers do not.
            return array.same_memory(potential_.positions()) ||
                   array.same_memory(potential_.force().points);
        };
        for (Potential::Term& term : potential_.terms()) {
            std::vector<std::string> names;
            Launch& launch = term.gradient.launch;
            const ir::Kernel& kernel = launch.kernel();
            for (std::size_t p = 0; p < kernel.parameters.size(); ++p)
                if (ir::is_real(kernel.parameters[p].type) && varies(launch.arrays()[p]))
                    names.push_back(kernel.parameters[p].name);
            launch.differentiate_only(names);
        }
        for (const auto& carrier : potential_.carriers()) carrier->differentiate_only(varies);
    }

    void run(Direction direction, const ir::Kernel& signature,
             const backend::Binding* bindings) override {
        const AddSeconds timed(times.all_s);
        const Bound bound(*this, signature, bindings);
        bound.fetch();
        switch (direction) {
            case Direction::forward: minimize(); break;
            case Direction::tangent: tangent(); break;
            case Direction::tangent_tangent: second_tangent(); break;
            case Direction::adjoint: adjoint(); break;
            case Direction::adjoint_tangent: adjoint_tangent(); break;
        }
        bound.bring_back();
    }

    MinimizationOutcome outcome;
    MinimizationTotals totals;
    MinimizationTimes times;
    RemovedResiduals removed;
    bool removes_residuals = false;

private:
    struct Copied {
        Array original, copy;
        std::uint64_t version = 0;  // of the original, when it was copied last
    };

    // One run: what its parameters are bound to.
    class Bound {
    public:
        Bound(Function& function, const ir::Kernel& signature, const backend::Binding* bindings)
            : function_(function), signature_(signature), bindings_(bindings) {
            for (const ir::Parameter& parameter : signature.parameters) {
                std::string_view name = parameter.name;
                while (function.find(name) < 0) name.remove_suffix(3);
                places_.push_back({function.find(name), parameter.name.substr(name.size())});
            }
        }
        // Values into the copies; gradients start from zero there, but for those of the positions.
        void fetch() const {
            each([&](const ir::Parameter& p, const backend::Binding& binding, int index,
                     const std::string& kinds, const Array& copy) {
                const bool adds =
                    p.access == ir::Access::accumulate || p.access == ir::Access::reduce;
                if (adds) return copy.clear();
                if (kinds.empty() && function_.is_fetched(index, binding)) return;
                const std::int64_t elements = function_.elements_of(index, copy);
                if (elements < copy.elements()) copy.clear();
                if (p.type == ir::Type::i32) {
                    each_scalar<std::int32_t, std::int32_t>(
                        binding, copy, elements,
                        [](std::int32_t theirs, std::int32_t& ours) { ours = theirs; });
                    return copy.touch();
                }
                each_scalar(binding, p.access == ir::Access::value ? ir::Type::f64 : p.type, copy,
                            elements, [](const auto& theirs, double& ours) { ours = theirs; });
                copy.touch();
            });
        }
        void bring_back() const {
            each([&](const ir::Parameter& p, const backend::Binding& binding, int index,
                     const std::string&, const Array& copy) {
                const std::int64_t elements = function_.elements_of(index, copy);
                if (p.access == ir::Access::read_write)
                    each_scalar(binding, p.type, copy, elements, [](auto& theirs, double ours) {
                        theirs = static_cast<std::decay_t<decltype(theirs)>>(ours);
                    });
                const bool reduces = p.access == ir::Access::reduce;
                if (p.access == ir::Access::accumulate || reduces)
                    each_scalar(binding, reduces ? ir::Type::f64 : p.type, copy, elements,
                                [](auto& theirs, double ours) {
                                    theirs += static_cast<std::decay_t<decltype(theirs)>>(ours);
                                });
            });
        }

    private:
        template <class F>
        void each(const F& f) const {
            for (std::size_t p = 0; p < places_.size(); ++p) {
                const auto& [index, kinds] = places_[p];
                f(signature_.parameters[p], bindings_[p], index, kinds,
                  derived(function_.copy_of_parameter(static_cast<std::size_t>(index)), kinds));
            }
        }
        Function& function_;
        const ir::Kernel& signature_;
        const backend::Binding* bindings_;
        std::vector<std::pair<int, std::string>> places_;  // the parameter, and of which derivative
    };

    int find(std::string_view name) const {
        const auto at = std::ranges::find(parameters_, name, &ir::Parameter::name);
        return at == parameters_.end() ? -1 : static_cast<int>(at - parameters_.begin());
    }

    // In f64: what a parameter's launches are bound to.
    const Array& copy_of_parameter(std::size_t index) const {
        if (index == 0) return potential_.positions();
        if (index < solved_.size()) return potential_.carriers()[index - 1]->coordinates();
        return copied_[index - solved_.size()].copy;
    }
    // As many of those as the parameter has: positions are fewer than points with those of frames.
    std::int64_t elements_of(int index, const Array& copy) const {
        const auto k = static_cast<std::size_t>(index);
        return k < solved_.size() ? solved_[k].elements() : copy.elements();
    }
    static std::vector<Array> arrays_of(const Array& positions,
                                        const std::vector<Carrier>& carriers) {
        std::vector<Array> list{positions};
        for (const Carrier& c : carriers) list.push_back(c.coordinates);
        return list;
    }
    static std::vector<ir::Parameter> parameters_of(const Array& positions,
                                                    const std::vector<Carrier>& carriers) {
        std::vector<ir::Parameter> list{
            {unknown, ir::Access::read_write, positions.type(), positions.components(), 1}};
        for (const Carrier& c : carriers) {
            std::string name = c.name + ": coordinates";
            std::ranges::replace(name, '.', ' ');
            list.push_back({name, ir::Access::read_write, c.coordinates.type(), 1, 1});
        }
        return list;
    }

    // True if the copy already has the binding's values.
    bool is_fetched(int index, const backend::Binding& binding) {
        if (index < static_cast<int>(solved_.size())) return false;
        Copied& c = copied_[static_cast<std::size_t>(index) - solved_.size()];
        const std::uint64_t now = binding.data == c.original.data() ? c.original.version() : 0;
        return std::exchange(c.version, now) == now && now != 0;
    }

    // Replaces arrays that kernels name by copies: those of reals, and, if asked for, of integers.
    void use_copies(std::vector<NamedArgument>& arguments, const std::string& owner,
                    const std::vector<ir::Parameter>& declared, bool integers) {
        for (NamedArgument& a : arguments) {
            if (!a.argument.is_array()) continue;
            const ir::Type type = a.argument.array().type();
            if (!ir::is_real(type) && !(integers && type == ir::Type::i32)) continue;
            const auto p = std::ranges::find(declared, a.parameter, &ir::Parameter::name);
            if (p == declared.end()) continue;  // the launch reports it
            const bool shared = a.argument.is_shared() || p->access == ir::Access::value;
            const Array copy = copy_of(a, owner, *p, shared);
            a.argument = a.argument.is_shared() ? Argument::shared(copy) : Argument(copy);
        }
    }
    // The terms with copies of the arrays of reals that they name.
    std::vector<EnergyTerm> with_copies(std::vector<EnergyTerm> terms) {
        for (EnergyTerm& term : terms) {
            use_copies(term.arguments, term.name, term.kernels.gradient.parameters(), false);
            if (term.limit)
                use_copies(term.limit->arguments, term.name, term.limit->kernel.parameters(),
                           false);
        }
        return terms;
    }
    // The carriers with copies of all arrays that they name: integers change from step to step too.
    std::vector<Carrier> with_copies(std::vector<Carrier> carriers) {
        for (Carrier& carrier : carriers) {
            std::vector<ir::Parameter> declared;
            for (const lang::KernelDef* kernel :
                 {&carrier.kernels.frames, &carrier.kernels.frame_force, &carrier.kernels.value,
                  &carrier.kernels.gradient})
                declared.insert(declared.end(), kernel->parameters().begin(),
                                kernel->parameters().end());
            use_copies(carrier.arguments, carrier.name, declared, true);
            std::vector<NamedArgument> places{{"place", carrier.places}};
            use_copies(places, carrier.name, {{"place", ir::Access::read, ir::Type::f64, 3, 1}},
                       false);
            carrier.places = places.front().argument.array();
            carrier.coordinates = Array(ir::Type::f64, carrier.coordinates.shape());
        }
        return carriers;
    }

    Array copy_of(const NamedArgument& argument, const std::string& term,
                  const ir::Parameter& declared, bool shared) {
        const Array& original = argument.argument.array();
        for (const Copied& c : copied_)
            if (c.original.same_memory(original)) return c.copy;
        if (std::ranges::any_of(solved_, [&](const Array& a) { return original.same_memory(a); }))
            throw Error("'" + argument.parameter + "' of '" + term +
                        "' is the array that the minimization changes")
                .remedy("take the points of the energy, or a copy of the positions before");
        std::string name = term + ": " + argument.parameter;
        std::ranges::replace(name, '.', ' ');
        while (find(name) >= 0) name += "'";
        // A value is f64 in memory in both precisions.
        parameters_.push_back({name, shared ? ir::Access::value : ir::Access::read,
                               shared ? solved_.front().type() : original.type(),
                               declared.components, declared.rows});
        const ir::Type type = ir::is_real(original.type()) ? ir::Type::f64 : original.type();
        copied_.push_back({original, Array(type, original.shape(), original.layout())});
        return copied_.back().copy;
    }

    std::vector<double> part_of(const UnknownArrays& of) const {
        std::vector<double> values(static_cast<std::size_t>(potential_.unknowns()));
        potential_.gather(of, values);
        return values;
    }
    // x = sign H^-1 (unknowns of b), into the unknowns of x.
    void solve(const UnknownArrays& b, double sign, const UnknownArrays& x) {
        std::vector<double> rhs = part_of(b), result(rhs.size());
        newton_.solve(rhs, result);
        for (double& r : result) r *= sign;
        potential_.scatter(result, x);
    }

    // ---- the directions: from the copies to the copies

    void minimize() {
        outcome = newton_.minimize();
        ++totals.solves;
        MinimizationOutcome& all = totals.all;
        totals.most_iterations = std::max(totals.most_iterations, outcome.iterations);
        all.iterations += outcome.iterations;
        all.projected += outcome.projected;
        all.refused += outcome.refused;
        all.energy = std::max(all.energy, outcome.energy);
        all.scale = std::max(all.scale, outcome.scale);
        all.gain = std::max(all.gain, outcome.gain);
        all.residual = std::max(all.residual, outcome.residual);
        all.step = std::max(all.step, outcome.step);
    }

    // H dx = -(dG/dp dp + dG/dx_fixed dx_fixed)
    void tangent() {
        minimize();
        newton_.factorize_at_minimum();
        const UnknownArrays dx = potential_.state().tangent();
        potential_.clear_unknowns(dx);
        potential_.run_gradient(Direction::tangent);
        solve(potential_.force().tangent(), -1, dx);
        if (removes_residuals) remove_residual(dx);
        potential_.place(Direction::tangent);
    }

    // dx -= H^-1 r
    void remove_residual(const UnknownArrays& dx) {
        std::vector<double> moved = part_of(dx), r(moved.size()), way(moved.size());
        potential_.gradient(r);
        newton_.solve(r, way);
        for (std::size_t i = 0; i < way.size(); ++i) {
            moved[i] -= way[i];
            removed.distance = std::max(removed.distance, std::abs(way[i]));
        }
        ++removed.solves;
        potential_.scatter(moved, dx);
    }

    void second_tangent() {
        minimize();
        newton_.factorize_at_minimum();
        const UnknownArrays x = potential_.state(), g = potential_.force(), first = x.tangent(),
                            second = x.second_tangent(), both = x.tangent().second_tangent();
        for (const UnknownArrays& a : {first, second, both}) potential_.clear_unknowns(a);
        potential_.run_gradient(Direction::tangent_tangent);
        solve(g.tangent(), -1, first);
        solve(g.second_tangent(), -1, second);
        potential_.run_gradient(Direction::tangent_tangent);
        solve(g.tangent().second_tangent(), -1, both);
        potential_.place(Direction::tangent_tangent);
    }

    // l = H^-1 x_bar; p_bar -= l . dG/dp, and the same of the positions that are not free. Gradients
    // of carried points' positions are first those of the coordinates and of p.
    void adjoint() {
        newton_.factorize_at_minimum();
        const UnknownArrays x_bar = potential_.state().gradient(),
                            l = potential_.force().gradient();
        potential_.place(Direction::adjoint);
        l.clear();
        solve(x_bar, -1, l);
        potential_.run_gradient(Direction::adjoint);
        potential_.clear_unknowns(x_bar);
    }

    // The tangent of adjoint(): l_dot = H^-1 (x_bar_dot - H_dot l), and so on.
    void adjoint_tangent() {
        newton_.factorize_at_minimum();
        if (!potential_.carriers().empty()) potential_.run_gradient(Direction::tangent);
        const UnknownArrays x_bar = potential_.state().gradient(), x_bar_dot = x_bar.tangent(),
                            l = potential_.force().gradient(), l_dot = l.tangent();
        potential_.place(Direction::adjoint_tangent);
        l.clear();
        l_dot.clear();
        solve(x_bar, -1, l);
        potential_.run_gradient(Direction::adjoint_tangent);  // adds -H_dot l to x_bar_dot
        l.clear();
        l_dot.clear();  // the first run has left tangents of carried points' forces there
        solve(x_bar_dot, -1, l_dot);
        potential_.run_gradient(Direction::adjoint_tangent);  // the terms with l_dot
        potential_.clear_unknowns(x_bar);
        potential_.clear_unknowns(x_bar_dot);
    }

    std::vector<Array> solved_;              // the positions, then the coordinates of carriers
    std::vector<ir::Parameter> parameters_;  // those of solved_, then of copied_
    std::vector<Copied> copied_;
    Potential potential_;
    Newton newton_;
};

namespace {
std::shared_ptr<Device> on_host(const std::shared_ptr<Device>& device) {
    if (!device) throw Error("a minimization needs a device");
    if (!device->cuda()) return device;
    DeviceOptions options = device->options();
    options.kind = DeviceKind::cpu;
    options.others.clear();
    return std::make_shared<Device>(options);
}
}  // namespace

Minimization::Minimization(std::shared_ptr<Device> device, const Array& positions,
                           std::vector<char> fixed, std::vector<EnergyTerm> terms,
                           const MinimizationOptions& options, const std::string& description,
                           std::vector<Carrier> carriers)
    : launch_([&] {
          const auto fail = [&](const std::string& what, const std::string& remedy) {
              throw Error(what).in_kernel(description).remedy(remedy);
          };
          const int components = positions.components();
          if (!ir::is_real(positions.type()) || (components != 2 && components != 3))
              fail("the positions are not vectors of 2 or 3 reals", "check the array's shape");
          if (static_cast<std::int64_t>(fixed.size()) != positions.elements())
              fail("there are " + std::to_string(positions.elements()) + " points, but " +
                       std::to_string(fixed.size()) + " say whether they are fixed",
                   "give one per point");
          for (const EnergyTerm& term : terms)
              if (term.kernels.dimension != components)
                  fail("'" + term.name + "' is an energy in " +
                           std::to_string(term.kernels.dimension) + " dimensions",
                       "make it for " + std::to_string(components));
          if (!(options.tolerance > 0) || options.most_iterations < 1)
              fail("the tolerance and the number of iterations must be positive",
                   "leave them out for 1e-12 and 200");
          if (!carriers.empty() && options.solver == LinearSolverKind::dense)
              fail("bodies carry points, which a minimization in one kernel has not",
                   "choose another solver");
          for (const Carrier& carrier : carriers)
              if (carrier.coordinates.type() != positions.type())
                  fail("the coordinates of '" + carrier.name + "' are not of the positions' type",
                       "make both f32 or f64");
          const bool alone = carriers.empty();
          function_ = std::make_shared<Function>(on_host(device), positions, std::move(fixed),
                                                 std::move(terms), options, std::move(carriers));
          if (alone && dense::is_dense(function_->potential(), options)) {
              kernels_ = std::make_shared<dense::DenseKernels>(dense::DenseProblem(
                  function_->potential(), positions, function_->inputs(), options));
              return Launch(device, kernels_, 1, kernels_->arguments(), description);
          }
          const auto precision =
              positions.type() == ir::Type::f32 ? ir::Precision::f32 : ir::Precision::f64;
          return Launch(device, function_, precision, function_->arguments(), description);
      }()) {}

MinimizationOutcome Minimization::outcome() const {
    return kernels_ ? dense::Outcomes::last(kernels_->outcomes()) : function_->outcome;
}
MinimizationTotals Minimization::totals() const {
    return kernels_ ? dense::Outcomes::all(kernels_->outcomes()) : function_->totals;
}
MinimizationTimes Minimization::times() const { return function_->times; }
void Minimization::clear_totals() {
    if (kernels_) dense::Outcomes::clear(kernels_->outcomes());
    function_->totals = {};
    function_->times = {};
}

void Minimization::remove_residuals(bool on) {
    if (kernels_) {
        launch_.set(dense::removes_residuals, on ? 1.0 : 0.0);
        if (on) dense::Outcomes::clear_removed(kernels_->outcomes());
    }
    function_->removes_residuals = on;
    if (on) function_->removed = {};
}
RemovedResiduals Minimization::removed_residuals() const {
    return kernels_ ? dense::Outcomes::removed_residuals(kernels_->outcomes()) : function_->removed;
}

}  // namespace hindcast
