#include "app/python/src/kernels/tracing.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <span>

#include "engine/ad/grad.hpp"
#include "engine/lang/kernel.hpp"

namespace hindcast::python {

using ir::no_value;
using ir::OpCode;
using ir::Value;
using lang::Float;

// The registers of one recording. A register is a variable of the builder.
class Recording {
    template <class V>
    static auto& at(V& list, int k) {
        return list.at(static_cast<std::size_t>(k));
    }

public:
    Recording(const Program& program, const std::vector<int>& of_parameters, std::uint64_t single)
        : symbols(of_parameters),
          shared(single),
          slots_(static_cast<std::size_t>(program.registers), -1),
          why_(slots_.size()) {
        for (const SourcePlace& place : program.places)
            places_.push_back(lang::builder().intern_place(place));
    }

    void run(const Block& block) {
        for (const Step& step : block) {
            if (step.place >= 0) lang::builder().set_place(at(places_, step.place));
            step.record(*this);
        }
    }
    Value get(int number) const {
        const ir::Slot slot = at(slots_, number);
        if (slot < 0 && at(why_, number)) throw *at(why_, number);
        if (slot < 0) throw lang::builder().error("internal: a register has no value");
        return lang::builder().read(slot);
    }
    template <class T>
    T as(int number) const {
        return T::from(get(number));
    }
    void set(int number, Value value) {
        ir::Builder& b = lang::builder();
        const ir::Slot slot = b.declare(b.type_of(value));
        b.write(slot, value);
        at(slots_, number) = slot;
    }
    // The error is raised where the register is used.
    void leave_out(int number, Error why) {
        at(slots_, number) = -1;
        at(why_, number) = std::make_shared<Error>(std::move(why));
    }
    void assign(int number, Value value) { lang::builder().write(at(slots_, number), value); }

    const std::vector<int>& symbols;
    std::uint64_t shared;

private:
    std::vector<ir::Slot> slots_;
    std::vector<std::shared_ptr<Error>> why_;
    std::vector<int> places_;
};

namespace {

using Numbers = std::vector<int>;
using Record = std::function<void(Recording&)>;

const std::map<std::string, ir::Type>& types() {
    static const std::map<std::string, ir::Type> all = [] {
        std::map<std::string, ir::Type> list{{"real", ir::Type::none}};
        for (const ir::Type t : {ir::Type::boolean, ir::Type::i32, ir::Type::u32, ir::Type::i64,
                                 ir::Type::u64, ir::Type::f32})
            list[ir::name_of(t)] = t;
        return list;
    }();
    return all;
}
ir::Type type_now(ir::Type type) { return type == ir::Type::none ? lang::current_real() : type; }

// ---- vectors and matrices of reals: what engine/lang has for them ----------------------------

using Reals = std::vector<Float>;
using Function = Reals (*)(std::span<const Float>);

template <class T>
T unpack(std::span<const Float> from, std::size_t first = 0) {
    T value;
    for (int k = 0; k < lang::Shape<T>::components; ++k)
        lang::Shape<T>::component(value, k) = from[first + static_cast<std::size_t>(k)];
    return value;
}
template <class T>
Reals pack(const T& value) {
    Reals list;
    for (int k = 0; k < lang::Shape<T>::components; ++k)
        list.push_back(lang::Shape<T>::component(value, k));
    return list;
}

template <int N>
void add_functions(std::map<std::string, Function>& table) {
    using V = lang::Vec<Float, N>;
    using M = lang::Mat<Float, N, N>;
    using Span = std::span<const Float>;
    const auto add = [&](const char* name, Function f) { table[name + std::to_string(N)] = f; };
    add("dot", [](Span a) { return pack(dot(unpack<V>(a), unpack<V>(a, N))); });
    add("norm", [](Span a) { return pack(norm(unpack<V>(a))); });
    add("normalize", [](Span a) { return pack(normalize(unpack<V>(a))); });
    add("matrix_vector", [](Span a) { return pack(unpack<M>(a) * unpack<V>(a, N * N)); });
    add("matrix_matrix", [](Span a) { return pack(unpack<M>(a) * unpack<M>(a, N * N)); });
    if constexpr (N < 4) {
        add("cross", [](Span a) { return pack(cross(unpack<V>(a), unpack<V>(a, N))); });
        add("determinant", [](Span a) { return pack(determinant(unpack<M>(a))); });
        add("inverse", [](Span a) { return pack(inverse(unpack<M>(a))); });
    }
}
Function function(const std::string& name) {
    static const std::map<std::string, Function> all = [] {
        std::map<std::string, Function> table;
        add_functions<2>(table), add_functions<3>(table), add_functions<4>(table);
        table["sign"] = [](std::span<const Float> a) { return Reals{sign(a[0])}; };
        return table;
    }();
    const auto found = all.find(name);
    if (found == all.end()) throw Error("internal: there is no function '" + name + "'");
    return found->second;
}

// ---- steps -----------------------------------------------------------------------------------

const std::map<std::string, OpCode>& operations() {
    static const std::map<std::string, OpCode> all = [] {
        std::map<std::string, OpCode> list;
        for (int k = 0; k < ir::op_count; ++k)
            if (ir::is_pure(static_cast<OpCode>(k)))
                list[ir::op_table[k].name] = static_cast<OpCode>(k);
        return list;
    }();
    return all;
}

// Data: the name of the result's type for conversions.
Record operation(OpCode code, const Numbers& out, const Numbers& in, nb::handle data) {
    const ir::OpClass of = ir::info(code).op_class;
    const ir::Type converted =
        of == ir::OpClass::conversion ? types().at(nb::cast<std::string>(data)) : ir::Type::none;
    return [=](Recording& r) {
        Value v[3] = {no_value, no_value, no_value};
        for (std::size_t k = 0; k < in.size(); ++k) v[k] = r.get(in[k]);
        ir::Builder& b = lang::builder();
        const ir::Type type = of == ir::OpClass::comparison   ? ir::Type::boolean
                              : of == ir::OpClass::conversion ? type_now(converted)
                              : of == ir::OpClass::selection  ? b.type_of(v[1])
                                                              : b.type_of(v[0]);
        if (of == ir::OpClass::conversion && b.type_of(v[0]) == type) return r.set(out[0], v[0]);
        r.set(out[0], b.emit(code, type, v[0], v[1], v[2]));
    };
}

// Data: (type, number).
Record literal(const Numbers& out, nb::handle data) {
    const ir::Type type = types().at(nb::cast<std::string>(data[0]));
    if (type == ir::Type::none || ir::is_real(type)) {
        const auto number = nb::cast<double>(data[1]);
        return [=](Recording& r) {
            r.set(out[0], lang::builder().real_constant(number, type_now(type)));
        };
    }
    const auto number = nb::cast<std::int64_t>(data[1]);
    return [=](Recording& r) {
        ir::Builder& b = lang::builder();
        r.set(out[0], type == ir::Type::boolean ? b.boolean(number != 0) : b.integer(number, type));
    };
}

// Records an access to a parameter. `data`: (parameter, component).
Record access(const std::string& code, const Numbers& out, const Numbers& in, nb::handle data) {
    const auto p = nb::cast<std::size_t>(data[0]);
    const int c = nb::cast<int>(data[1]);
    if (code == "value")
        return [=](Recording& r) { r.set(out[0], lang::builder().parameter(r.symbols[p], c)); };
    if (code == "load")
        return [=](Recording& r) {
            ir::Builder& b = lang::builder();
            const bool one = ((r.shared >> p) & 1) != 0;
            r.set(out[0],
                  one ? b.parameter(r.symbols[p], c) : b.load(r.symbols[p], c, r.get(in[0])));
        };
    if (code == "own_read" || code == "own_write") {
        const bool read = code == "own_read";
        return [=](Recording& r) {
            ir::Builder& b = lang::builder();
            const int symbol = r.symbols[p];
            const ir::Slot slot = b.own(symbol, lang::own_index(symbol, r.get(in[0])), c);
            if (!read) return b.write(slot, r.get(in[1]));
            const Value v = b.read(slot);
            if (v != no_value) return r.set(out[0], v);
            r.leave_out(out[0], b.error("'" + b.kernel().parameter(symbol).name +
                                        "' is declared Write, but is read before it is stored")
                                    .remedy("declare it ReadWrite to use the old value"));
        };
    }
    static const std::map<std::string, OpCode> effects{
        {"accumulate", OpCode::accumulate}, {"store_once", OpCode::store_once},
        {"reduce", OpCode::reduce},         {"atomic_add", OpCode::atomic_add},
        {"atomic_min", OpCode::atomic_min}, {"atomic_max", OpCode::atomic_max}};
    const OpCode effect = effects.at(code);
    return [=](Recording& r) {
        lang::builder().effect(effect, r.symbols[p], c, r.get(in[0]),
                               in.size() > 1 ? r.get(in[1]) : no_value);
    };
}

Block parse_block(nb::handle steps);

// Data of if: (then, otherwise); for: (body, max_trips); while: (condition, holds, body,
// max_trips).
Record region(const std::string& code, const Numbers& out, const Numbers& in, nb::handle data) {
    if (code == "if") {
        const auto then = std::make_shared<Block>(parse_block(data[0]));
        const auto otherwise = std::make_shared<Block>(parse_block(data[1]));
        return [=](Recording& r) {
            lang::if_(
                r.as<lang::Bool>(in[0]), [&] { r.run(*then); }, [&] { r.run(*otherwise); });
        };
    }
    if (code == "for") {
        const auto body = std::make_shared<Block>(parse_block(data[0]));
        const auto max_trips = nb::cast<std::int64_t>(data[1]);
        return [=](Recording& r) {
            lang::for_(
                r.as<lang::Int>(in[0]), r.as<lang::Int>(in[1]), r.as<lang::Int>(in[2]),
                [&](const lang::Int& k) {
                    r.set(out[0], k.value());
                    r.run(*body);
                },
                max_trips);
        };
    }
    const auto condition = std::make_shared<Block>(parse_block(data[0]));
    const int holds = nb::cast<int>(data[1]);
    const auto body = std::make_shared<Block>(parse_block(data[2]));
    const auto max_trips = nb::cast<std::int64_t>(data[3]);
    return [=](Recording& r) {
        lang::while_(
            [&] {
                r.run(*condition);
                return r.as<lang::Bool>(holds);
            },
            [&] { r.run(*body); }, max_trips);
    };
}

Record record_of(const std::string& code, const Numbers& out, const Numbers& in, nb::handle data) {
    if (const auto found = operations().find(code); found != operations().end())
        return operation(found->second, out, in, data);
    if (code == "literal") return literal(out, data);
    if (code == "item") return [=](Recording& r) { r.set(out[0], lang::builder().item()); };
    if (code == "injective")
        return [=](Recording& r) { lang::builder().declare_injective(r.get(in[0])); };
    if (code == "if" || code == "for" || code == "while") return region(code, out, in, data);
    if (code == "copy" || code == "assign") {
        const bool fresh = code == "copy";
        return [=](Recording& r) {
            std::vector<Value> values;
            for (const int k : in) values.push_back(r.get(k));
            for (std::size_t k = 0; k < in.size(); ++k)
                fresh ? r.set(out[k], values[k]) : r.assign(out[k], values[k]);
        };
    }
    if (code == "gradient")
        return [=](Recording& r) {
            Reals variables;
            for (std::size_t k = 1; k < in.size(); ++k) variables.push_back(r.as<Float>(in[k]));
            const Reals g = ad::gradient(r.as<Float>(in[0]), variables);
            for (std::size_t k = 0; k < g.size(); ++k) r.set(out[k], g[k].value());
        };
    if (code == "call") {
        const Function f = function(nb::cast<std::string>(data));
        return [=](Recording& r) {
            Reals values;
            for (const int k : in) values.push_back(r.as<Float>(k));
            const Reals result = f(values);
            for (std::size_t k = 0; k < out.size(); ++k) r.set(out[k], result[k].value());
        };
    }
    return access(code, out, in, data);
}

Block parse_block(nb::handle steps) {
    Block block;
    for (const nb::handle step : steps)
        block.push_back({nb::cast<int>(step[4]),
                         record_of(nb::cast<std::string>(step[0]), nb::cast<Numbers>(step[1]),
                                   nb::cast<Numbers>(step[2]), step[3])});
    return block;
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): of a text of nanobind's, which frees it

}  // namespace

Program parse_program(nb::handle description) {
    Program program;
    program.body = parse_block(description[0]);
    program.registers = nb::cast<int>(description[1]);
    for (const nb::handle place : description[2])
        program.places.push_back(
            {.file = nb::cast<std::string>(place[0]), .line = nb::cast<int>(place[1])});
    return program;
}

ir::Type declared_type(const std::string& kind) {
    const ir::Type type = types().at(kind);
    return type == ir::Type::none ? ir::Type::f64 : type;
}

void record_program(const Program& program, const std::vector<int>& symbols, std::uint64_t shared) {
    const lang::PlaceScope held(lang::Location::current());  // places are those of the steps
    Recording(program, symbols, shared).run(program.body);
}

}  // namespace hindcast::python
