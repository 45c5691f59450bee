// Kernel: names, constants, counting, and the printer.
#include "engine/ir/kernel.hpp"

#include <bit>
#include <functional>

#include "engine/ir/evaluate.hpp"

namespace hindcast::ir {

std::pair<std::string, std::string> Nest::over_limit() const {
    if (too_many.empty())
        return {"a loop makes more than its max_trips of " + std::to_string(max_trips) + " trips",
                "raise max_trips, or check the condition or bounds"};
    return error_and_remedy(too_many);
}

std::pair<std::string, std::string> error_and_remedy(const std::string& text) {
    const std::size_t cut = text.find("; ");
    return {text.substr(0, cut), cut == std::string::npos ? "" : text.substr(cut + 2)};
}

bool Kernel::has_exclusive() const {
    for (const Parameter& p : parameters)
        if (p.access == Access::exclusive) return true;
    return false;
}

std::pair<std::string, std::string> Kernel::raised(const Op& of, std::int64_t number) const {
    std::string text = names[static_cast<std::size_t>(of.name)];
    if (const std::size_t at = text.find('%'); at != std::string::npos)
        text.replace(at, 1, std::to_string(number));
    return error_and_remedy(text);
}

const char* name_of(Access access) {
    switch (access) {
        case Access::read: return "Read";
        case Access::write: return "Write";
        case Access::read_write: return "ReadWrite";
        case Access::accumulate: return "Accumulate";
        case Access::sum: return "Sum";
        case Access::slice: return "WriteSlice";
        case Access::exclusive: return "Exclusive";
        case Access::reduce: return "Reduce";
        case Access::atomic: return "Atomic";
        case Access::value: return "Param";
    }
    return "?";
}

SourcePlace Kernel::place_of(Value value) const {
    const int place = value < 0 ? -1 : op(value).place;
    return place < 0 ? SourcePlace{} : places[static_cast<std::size_t>(place)];
}

int Kernel::find_parameter(const std::string& parameter_name) const {
    for (std::size_t p = 0; p < parameters.size(); ++p)
        if (parameters[p].name == parameter_name) return static_cast<int>(p);
    return -1;
}

std::uint64_t bits_of(double number, Type type) {
    return type == Type::f32 ? to_bits(static_cast<float>(number)) : to_bits(number);
}

double real_of(std::uint64_t bits, Type type) {
    return type == Type::f32 ? static_cast<double>(from_bits<float>(bits))
                             : from_bits<double>(bits);
}

std::int64_t integer_of(std::uint64_t bits, Type type) {
    return type == Type::i32 ? static_cast<std::int32_t>(bits) : static_cast<std::int64_t>(bits);
}

namespace {

void each_op(const Kernel& kernel, int region, const std::function<void(const Op&)>& visit) {
    for (const Value value : kernel.region(region).ops) {
        const Op& op = kernel.op(value);
        visit(op);
        if (op.nest < 0) continue;
        for (const int inner : kernel.nest(op).region)
            if (inner >= 0) each_op(kernel, inner, visit);
    }
}

class Printer {
public:
    explicit Printer(const Kernel& kernel) : kernel_(kernel) {}

    std::string text() {
        out_ = "kernel " + kernel_.name + " " + name_of(real_type(kernel_.precision)) + "\n";
        for (const Parameter& p : kernel_.parameters) {
            out_ += std::string("  ") + name_of(p.access) + "<" + name_of(p.type);
            if (p.components > 1) out_ += " x " + std::to_string(p.components);
            out_ += "> " + p.name + "\n";
        }
        region(0, 1);
        return std::move(out_);
    }

private:
    std::string value(Value v) const {
        if (v < 0 || static_cast<std::size_t>(v) >= kernel_.ops.size())
            return "absent";  // the verifier prints broken kernels
        const Op& op = kernel_.op(v);
        switch (op.code) {
            case OpCode::constant: return constant(op);
            case OpCode::item: return "item";
            case OpCode::parameter: return element(op);
            default: return "%" + std::to_string(v);
        }
    }

    static std::string constant(const Op& op) {
        if (op.type == Type::boolean) return op.bits ? "true" : "false";
        if (op.type == Type::u64) return std::to_string(op.bits);
        if (!is_real(op.type)) return std::to_string(integer_of(op.bits, op.type));
        char buffer[32];
        std::snprintf(buffer, sizeof buffer, op.type == Type::f32 ? "%.9g" : "%.17g",
                      real_of(op.bits, op.type));
        return buffer;
    }

    std::string element(const Op& op) const {
        if (op.symbol < 0 || static_cast<std::size_t>(op.symbol) >= kernel_.parameters.size())
            return "@absent";
        const Parameter& p = kernel_.parameter(op.symbol);
        return "@" + p.name + (p.components > 1 ? "." + std::to_string(op.component) : "");
    }

    std::string list(const std::vector<Value>& values) const {
        std::string text;
        for (const Value v : values) text += (text.empty() ? "" : ", ") + value(v);
        return text;
    }

    void region(int r, int indent) {
        const std::string pad(static_cast<std::size_t>(indent) * 2, ' ');
        for (const Value v : kernel_.region(r).ops) {
            const Op& op = kernel_.op(v);
            out_ += pad;
            if (op.nest >= 0) {
                const Nest& nest = kernel_.nest(op);
                if (!nest.results.empty()) out_ += list(nest.results) + " = ";
            } else if (!(is_effect(op.code) && op.code != OpCode::take)) {
                out_ += "%" + std::to_string(v) + ": " + name_of(op.type) + " = ";
            }
            out_ += info(op.code).name;
            for (const Value operand : op.operand)
                if (operand >= 0) out_ += " " + value(operand);
            if (op.symbol >= 0) out_ += " " + element(op);
            if (op.name >= 0)
                out_ += "  \"" + kernel_.names[static_cast<std::size_t>(op.name)] + "\"";
            if (op.place >= 0) out_ += "  ; " + to_string(kernel_.place_of(v));
            out_ += "\n";
            if (op.nest >= 0) nested(op, indent, pad);
        }
    }

    void nested(const Op& op, int indent, const std::string& pad) {
        const Nest& nest = kernel_.nest(op);
        for (const int inner : nest.region) {
            if (inner < 0) continue;
            const Region& body = kernel_.region(inner);
            out_ += pad + "{ (" + list(body.arguments) + ")";
            if (!nest.inits.empty()) out_ += " from (" + list(nest.inits) + ")";
            if (nest.max_trips > 0) out_ += " at most " + std::to_string(nest.max_trips) + " trips";
            out_ += "\n";
            region(inner, indent + 1);
            out_ += pad + "} yield (" + list(body.yields) + ")\n";
        }
    }

    const Kernel& kernel_;
    std::string out_;
};

}  // namespace

int count_ops(const Kernel& kernel) {
    int n = 0;
    each_op(kernel, 0, [&](const Op&) { ++n; });
    return n;
}

int count_ops(const Kernel& kernel, OpCode code) {
    int n = 0;
    each_op(kernel, 0, [&](const Op& op) { n += op.code == code; });
    return n;
}

std::string print(const Kernel& kernel) { return Printer(kernel).text(); }

}  // namespace hindcast::ir
