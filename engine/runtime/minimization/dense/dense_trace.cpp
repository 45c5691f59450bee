#include "engine/runtime/minimization/dense/dense_trace.hpp"

#include <utility>

#include "engine/ir/memory_type.hpp"

namespace hindcast::dense {

using ir::Access;
using ir::no_value;
using ir::Parameter;
using ir::Type;
using ir::Value;
using lang::if_;
using lang::repeat;

namespace {
Value as(ir::Builder& b, Type type, Value v) {
    return b.type_of(v) == type ? v : b.emit(ir::OpCode::convert, type, v);
}
}  // namespace

DenseTrace::DenseTrace(const DenseProblem& of, ir::Builder& b, bool going_back)
    : problem(of), builder(b) {
    const Type real = ir::real_type(of.precision);
    const auto add = [&](Parameter parameter) {
        symbols_[parameter.name] = b.add_parameter(parameter);
        return symbols_[parameter.name];
    };
    positions = add({.name = "positions",
                     .access = going_back ? Access::read : Access::exclusive,
                     .type = real,
                     .components = of.dimension,
                     .holds_result = going_back});
    for (const DenseInput& input : of.inputs) inputs_.push_back(add(input.parameter));
    free_ = add({.name = "free points", .type = Type::i32});
    unknown_of_ = add({.name = "unknown of", .type = Type::i32});
    if (!going_back)
        outcomes = add({.name = "outcomes", .access = Access::exclusive, .type = Type::f64});
    removes = add({.name = removes_residuals, .access = Access::value, .type = Type::f64});
}

// ---------------------------------------------------------------- parameters

int DenseTrace::symbol(const std::string& name, const std::function<Parameter()>& make) {
    const auto [entry, fresh] = symbols_.try_emplace(name, -1);
    if (fresh) entry->second = builder.add_parameter(make());
    return entry->second;
}

std::string name_of(const DenseProblem& problem, int input) {
    return input < 0 ? "positions" : problem.inputs[static_cast<std::size_t>(input)].parameter.name;
}

int DenseTrace::derivative(int input, const std::string& suffix, bool adds) {
    const std::string name = name_of(problem, input) + suffix;
    return symbol(name, [&] {
        Parameter p = input < 0 ? builder.kernel().parameter(positions)
                                : problem.inputs[static_cast<std::size_t>(input)].parameter;
        p.name = name;
        p.holds_result = input < 0 && !adds;
        if (p.access == Access::value)
            p.access = adds ? Access::reduce : Access::value;
        else
            p.access = adds ? Access::exclusive : Access::read;
        return p;
    });
}

Float DenseTrace::number(int symbol) const { return Float::from(builder.parameter(symbol, 0)); }
Float DenseTrace::load(int symbol, int component, const Int& index) const {
    return Float::from(as(builder, Type::f64, builder.load(symbol, component, index.value())));
}
Int DenseTrace::load_integer(int symbol, const Int& index) const {
    return Int::from(builder.load(symbol, 0, index.value()));
}
Float DenseTrace::fetch(int symbol, int component, const Int& index) const {
    return Float::from(as(builder, Type::f64, builder.fetch(symbol, component, index.value())));
}
void DenseTrace::put(int symbol, int component, const Int& index, const Float& value) const {
    builder.effect(ir::OpCode::put, symbol, component, index.value(),
                   as(builder, builder.kernel().parameter(symbol).type, value.value()));
}

// ---------------------------------------------------------------- points and unknowns

void DenseTrace::each_point(const std::function<void(Int)>& body) const {
    repeat(problem.points, body);
}
void DenseTrace::each_free(const std::function<void(Int, Int)>& body) const {
    repeat(problem.unknowns / problem.dimension,
           [&](Int k) { body(load_integer(free_, k), k * problem.dimension); });
}
void DenseTrace::each_unknown(const std::function<void(Int)>& body) const {
    repeat(problem.unknowns, body);
}
Int DenseTrace::point_of(const Int& unknown) const {
    // -1 where nothing was found: any number will do.
    return load_integer(free_, max(unknown, Int(0)) / problem.dimension);
}

void DenseTrace::raise(const std::string& text, const Int& point) const {
    builder.set_place(-1);  // of the search, which is not to blame
    builder.raise(text, point.value());
}

Float DenseTrace::dot(const LocalArray& a, const LocalArray& b) const {
    Float sum = 0;
    repeat(problem.unknowns, [&](Int u) { sum += a[u] * b[u]; });
    return sum;
}
Float DenseTrace::largest(const LocalArray& a) const {
    Float most = 0;
    // The result is not finite if a value is not finite.
    repeat(problem.unknowns, [&](Int u) {
        const Float magnitude = abs(a[u]);
        most = select(magnitude <= most, most, magnitude);
    });
    return most;
}
Int DenseTrace::worst_point(const LocalArray& a) const {
    Float most = -1.0;
    Int worst = 0;
    each_free([&](Int point, Int unknown) {
        for (int c = 0; c < problem.dimension; ++c) {
            const Float magnitude = abs(a[unknown + c]);
            if_(!(magnitude <= most), [&] {
                most = magnitude;
                worst = point;
            });
        }
    });
    return worst;
}

// ---------------------------------------------------------------- energies

Value DenseTrace::at(const LocalArray& array, int component, Value point) const {
    return array[Int::from(point) * problem.dimension + component].value();
}

void DenseTrace::read_given(ItemClone& item, int parameter, const Role& role) {
    if (role.kind == Role::constant)
        item.reads(parameter, [this, &role](int c, Value) {
            const double number = role.numbers[static_cast<std::size_t>(c)];
            return ir::is_real(role.type)
                       ? builder.real_constant(number, Type::f64)
                       : builder.integer(static_cast<std::int64_t>(number), role.type);
        });
    if (role.kind == Role::input)
        item.reads(parameter, [this, s = inputs_[static_cast<std::size_t>(role.input_number)]](
                                  int c, Value index) {
            const Value v = index == no_value ? builder.parameter(s, c) : builder.load(s, c, index);
            return ir::is_real(builder.type_of(v)) ? as(builder, Type::f64, v) : v;
        });
}

void DenseTrace::record(const TermKernel& of, const Int& number, const LocalArray& x,
                        const ItemClone::Write& write, const LocalArray* direction) {
    ItemClone item(of.kernel, builder);
    for (std::size_t p = 0; p < of.roles.size(); ++p) {
        const int parameter = static_cast<int>(p);
        switch (of.roles[p].kind) {
            case Role::positions:
                item.reads(parameter, [&](int c, Value point) { return at(x, c, point); });
                break;
            case Role::direction:
                item.reads(parameter, [&](int c, Value point) {
                    return (*direction)[unknown_of(Int::from(point)) + c].value();
                });
                break;
            case Role::output: item.writes(parameter, write); break;
            default: read_given(item, parameter, of.roles[p]);
        }
    }
    item.record_item(number.value());
}

void DenseTrace::energy(const LocalArray& x, Float& sum, Float& magnitude) {
    for (const DenseTerm& term : problem.terms) {
        Float of_term = 0;
        repeat(term.items, [&](Int e) {
            record(term.value, e, x,
                   [&](int, Value, Value value) { of_term += Float::from(value); });
        });
        sum += of_term;
        magnitude += abs(of_term);
    }
}

void DenseTrace::gradient(const LocalArray& x, const LocalArray& g) {
    repeat(problem.rows(), [&](Int u) { g.put(u, 0.0); });
    for (const DenseTerm& term : problem.terms)
        repeat(term.items, [&](Int e) {
            record(term.gradient, e, x, [&](int c, Value point, Value value) {
                g.add(unknown_of(Int::from(point)) + c, Float::from(value));
            });
        });
}

void DenseTrace::hessian(const LocalArray& x, const DenseMatrix& h) {
    h.clear();
    const int D = problem.dimension;
    for (const DenseTerm& term : problem.terms)
        repeat(term.items, [&](Int e) {
            const int size = term.points * D;
            std::vector<Int> first;  // unknowns of the item's points
            for (int k = 0; k < term.points; ++k) {
                const int numbers = inputs_[static_cast<std::size_t>(term.numbers)];
                first.push_back(unknown_of(Int::from(builder.load(numbers, k, e.value()))));
            }
            repeat(size, [&](Int j) {
                const Int k = j / D;
                Int column = first[0];
                for (int l = 1; l < term.points; ++l)
                    column = select(k == l, first[static_cast<std::size_t>(l)], column);
                column += j - k * D;
                record(term.hessian, e * size + j, x, [&](int row, Value, Value value) {
                    h.add(first[static_cast<std::size_t>(row / D)] + row % D, column,
                          Float::from(value));
                });
            });
        });
}

Float DenseTrace::step_limit(const LocalArray& x, const LocalArray& direction) {
    Float fraction = 1.0;
    for (const DenseTerm& term : problem.terms)
        if (term.limit)
            repeat(term.items, [&](Int e) {
                record(
                    *term.limit, e, x,
                    [&](int, Value, Value value) { fraction = min(fraction, Float::from(value)); },
                    &direction);
            });
    return fraction;
}

// ---------------------------------------------------------------- derivatives of energies

namespace {
// "x.a1.t1" is "x" with the suffix ".a1.t1".
struct Named {
    int parameter;  // of the kernel that was differentiated
    std::string suffix;
};
Named named(const ir::Kernel& base, const std::string& derived) {
    std::string name = derived;
    while (base.find_parameter(name) < 0) name.resize(name.size() - 3);
    return {base.find_parameter(name), derived.substr(name.size())};
}
}  // namespace

void DenseTrace::start_sums(const DenseTerm& term, const ir::Kernel& kernel) {
    for (const Parameter& parameter : kernel.parameters) {
        if (parameter.access != Access::reduce) continue;
        const auto [base, suffix] = named(term.gradient.kernel, parameter.name);
        const Role& role = term.gradient.roles[static_cast<std::size_t>(base)];
        const int s = derivative(role.input_number, suffix, true);
        for (int c = 0; c < parameter.components; ++c) {
            const auto [entry, fresh] = sums_.try_emplace({s, c}, -1);
            if (!fresh) continue;
            entry->second = builder.declare(Type::f64, 0);
            builder.write(entry->second, builder.zero(Type::f64));
        }
    }
}

void DenseTrace::finish_sums() {
    for (const auto& [where, slot] : sums_)
        builder.effect(ir::OpCode::reduce, where.first, where.second, builder.read(slot));
}

void DenseTrace::give_derivative(ItemClone& item, int parameter, Access access, int input,
                                 const std::string& suffix) {
    const int s = derivative(input, suffix, !ir::only_reads(access));
    if (ir::only_reads(access))
        item.reads(parameter, [this, s](int c, Value index) {
            const Value v = index == no_value ? builder.parameter(s, c) : builder.load(s, c, index);
            return as(builder, Type::f64, v);
        });
    else if (access == Access::reduce)
        item.writes(parameter, [this, s](int c, Value, Value value) {
            const ir::Slot sum = sums_.at({s, c});
            builder.write(sum, builder.binary(ir::OpCode::add, builder.read(sum), value));
        });
    else
        item.writes(parameter, [this, s](int c, Value index, Value value) {
            const Int i = Int::from(index);
            put(s, c, i, fetch(s, c, i) + Float::from(value));
        });
}

void DenseTrace::each_item(const DenseTerm& term, const ir::Kernel& kernel,
                           const PointAccess& with) {
    repeat(term.items, [&](Int e) {
        ItemClone item(kernel, builder);
        for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
            const Parameter& parameter = kernel.parameters[p];
            const auto [base, suffix] = named(term.gradient.kernel, parameter.name);
            const Role& role = term.gradient.roles[static_cast<std::size_t>(base)];
            const int number = static_cast<int>(p);
            if (role.kind == Role::constant || (role.kind == Role::input && suffix.empty())) {
                read_given(item, number, role);
            } else if (role.kind == Role::input) {
                give_derivative(item, number, parameter.access, role.input_number, suffix);
            } else {
                const bool is_position = role.kind == Role::positions;
                const auto& read = is_position ? with.position : with.gradient;
                const auto& add = is_position ? with.add_position : with.add_gradient;
                if (ir::only_reads(parameter.access))
                    item.reads(number, [&read, suffix](int c, Value point) {
                        return read(suffix, c, Int::from(point)).value();
                    });
                else
                    item.writes(number, [&add, suffix](int c, Value point, Value value) {
                        add(suffix, c, Int::from(point), Float::from(value));
                    });
            }
        }
        item.record_item(e.value());
    });
}

}  // namespace hindcast::dense
