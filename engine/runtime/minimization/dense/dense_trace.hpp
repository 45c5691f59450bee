// DenseTrace: records the parts that the kernels of a dense problem share: parameters, vectors of
// the unknowns, sums over the items of energies.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "engine/lang/control.hpp"
#include "engine/lang/local_array.hpp"
#include "engine/lang/trace.hpp"
#include "engine/runtime/minimization/dense/dense_matrix.hpp"
#include "engine/runtime/minimization/dense/dense_problem.hpp"
#include "engine/runtime/minimization/dense/item_clone.hpp"

namespace hindcast::dense {

using lang::Float;
using lang::Int;
using lang::LocalArray;

// The parameter that is 1 if tangents include the residual term -H^-1 r, otherwise 0.
inline constexpr const char* removes_residuals = "removes residuals";

// The name of an input, or of the positions (number -1).
std::string name_of(const DenseProblem& problem, int input);

class DenseTrace {
public:
    // `going_back`: the kernel is an adjoint, which reads the positions that the launch left.
    DenseTrace(const DenseProblem& problem, ir::Builder& builder, bool going_back);

    // ---- parameters
    int symbol(const std::string& name, const std::function<ir::Parameter()>& make);
    // The symbol of a derivative; `input` is an input's number, or -1 for the positions.
    int derivative(int input, const std::string& suffix, bool adds);
    int input(int number) const { return inputs_[static_cast<std::size_t>(number)]; }  // a symbol
    Float number(int symbol) const;                                                    // a value
    Float load(int symbol, int component, const Int& index) const;
    Int load_integer(int symbol, const Int& index) const;
    Float fetch(int symbol, int component, const Int& index) const;
    void put(int symbol, int component, const Int& index, const Float& value) const;

    // ---- points and unknowns
    Int unknown_of(const Int& point) const { return load_integer(unknown_of_, point); }
    // For each point, or each that is free (with its first unknown): its number.
    void each_point(const std::function<void(Int point)>& body) const;
    void each_free(const std::function<void(Int point, Int unknown)>& body) const;
    void each_unknown(const std::function<void(Int unknown)>& body) const;
    LocalArray vector() const { return LocalArray(problem.rows()); }  // of unknowns
    LocalArray all_points() const { return LocalArray(problem.points * problem.dimension); }
    Float dot(const LocalArray& a, const LocalArray& b) const;
    Float largest(const LocalArray& a) const;
    Int point_of(const Int& unknown) const;
    // Ends the launch with an error at a point, for which % stands in the text.
    void raise(const std::string& text, const Int& point) const;
    Int worst_point(const LocalArray& a) const;  // of the largest magnitude, or not finite

    // ---- energies, at x
    void energy(const LocalArray& x, Float& sum, Float& magnitude);
    void gradient(const LocalArray& x, const LocalArray& g);  // is set
    void hessian(const LocalArray& x, const DenseMatrix& h);  // is set
    Float step_limit(const LocalArray& x, const LocalArray& direction);

    // The items of a kernel that was derived from a term's gradient. Positions and gradients, and
    // their derivatives, are found by the derivative's suffix; "" means the values themselves.
    struct PointAccess {
        using Read = std::function<Float(const std::string& suffix, int component, Int point)>;
        using Add = std::function<void(const std::string& suffix, int component, Int point,
                                       const Float& value)>;
        Read position, gradient;
        Add add_position, add_gradient;
    };
    void each_item(const DenseTerm& term, const ir::Kernel& kernel, const PointAccess& with);
    // Before and after the loops in which each_item() adds to the derivatives of values.
    void start_sums(const DenseTerm& term, const ir::Kernel& kernel);
    void finish_sums();

    const DenseProblem& problem;
    ir::Builder& builder;
    int positions = -1, outcomes = -1, removes = -1;

private:
    // One item of one of a term's own kernels, at x; what they write goes to `write`.
    void record(const TermKernel& of, const Int& item, const LocalArray& x,
                const ItemClone::Write& write, const LocalArray* direction = nullptr);
    void read_given(ItemClone& item, int parameter, const Role& role);
    void give_derivative(ItemClone& item, int parameter, ir::Access access, int input,
                         const std::string& suffix);
    ir::Value at(const LocalArray& array, int component, ir::Value point) const;

    std::vector<int> inputs_;
    int free_ = -1, unknown_of_ = -1;
    std::map<std::string, int> symbols_;
    std::map<std::pair<int, int>, ir::Slot> sums_;  // of Reduce parameters, by component
};

}  // namespace hindcast::dense
