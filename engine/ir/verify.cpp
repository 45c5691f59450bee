// The verifier: every rule of kernel.hpp, checked after tracing, simplification and
// differentiation.
#include "engine/ir/kernel.hpp"

namespace hindcast::ir {

namespace {

class Verifier {
public:
    Verifier(const Kernel& kernel, const char* stage)
        : kernel_(kernel), stage_(stage), visible_(kernel.ops.size(), 0) {}

    void run() {
        for (std::size_t v = 0; v < kernel_.ops.size(); ++v) {
            if (info(kernel_.ops[v].code).op_class != OpClass::leaf) continue;
            visible_[v] = 1;
            if (kernel_.ops[v].code == OpCode::parameter)
                symbol(static_cast<Value>(v), kernel_.ops[v]);
        }
        exclusive();
        region(0, no_value);
    }

private:
    [[noreturn]] void fail(Value v, const std::string& why) const {
        throw Error("internal: after " + std::string(stage_) + ", op " + std::to_string(v) + " (" +
                    (v >= 0 ? info(kernel_.op(v).code).name : "none") + ") " + why)
            .in_kernel(kernel_.name)
            .at(kernel_.place_of(v))
            .note(print(kernel_));
    }

    // Sums may run their kernel twice; what fetch and put do cannot be done twice.
    void exclusive() const {
        bool sums = false;
        for (const Parameter& p : kernel_.parameters)
            sums |= p.access == Access::accumulate || p.access == Access::sum;
        if (sums && kernel_.has_exclusive()) fail(no_value, "has sums beside exclusive buffers");
    }

    void use(Value user, Value v, Type type = Type::none) const {
        if (v < 0 || static_cast<std::size_t>(v) >= kernel_.ops.size())
            fail(user, "uses an absent value");
        if (!visible_[static_cast<std::size_t>(v)])
            fail(user, "uses %" + std::to_string(v) + ", which is not visible here");
        if (type != Type::none && kernel_.op(v).type != type)
            fail(user, "uses a value of the wrong type");
    }

    void define(std::vector<Value>& scope, Value v) {
        if (visible_[static_cast<std::size_t>(v)]) fail(v, "is defined twice");
        visible_[static_cast<std::size_t>(v)] = 1;
        scope.push_back(v);
    }

    void region(int r, Value owner) {
        const Region& body = kernel_.region(r);
        if (body.owner != owner) fail(owner, "does not own its region");
        std::vector<Value> scope;
        for (const Value a : body.arguments) {
            if (kernel_.op(a).code != OpCode::argument || kernel_.op(a).region != r)
                fail(a, "is not an argument of this region");
            define(scope, a);
        }
        for (const Value v : body.ops) {
            const Op& op = kernel_.op(v);
            if (op.region != r) fail(v, "is listed in another region than it says");
            if (info(op.code).op_class == OpClass::leaf || op.code == OpCode::argument ||
                op.code == OpCode::result)
                fail(v, "must not be listed");
            operands(v, op);
            if (op.code == OpCode::own_load && r != 0) fail(v, "is not at top level");
            if (op.code == OpCode::own_store && r != 0) fail(v, "is not at top level");
            if (op.symbol >= 0 || names_parameter(op.code)) symbol(v, op);
            if (has_regions(op.code))
                nest(v, op, scope);
            else if (op.nest >= 0)
                fail(v, "has regions");
            define(scope, v);
        }
        for (const Value y : body.yields) use(owner, y);
        for (const Value v : scope) visible_[static_cast<std::size_t>(v)] = 0;
    }

    void operands(Value v, const Op& op) const {
        const OpInfo& row = info(op.code);
        for (int k = 0; k < 3; ++k) {
            if (k >= row.operands) {
                if (op.operand[k] != no_value) fail(v, "has too many operands");
                continue;
            }
            use(v, op.operand[k]);
            const Type found = kernel_.op(op.operand[k]).type;
            const OpClass c = row.op_class;
            if ((c == OpClass::arithmetic || c == OpClass::elementary) && found != op.type)
                fail(v, "mixes types");
            if (c == OpClass::elementary && !is_real(found)) fail(v, "is not real");
            if (c == OpClass::comparison && found != kernel_.op(op.operand[0]).type)
                fail(v, "compares different types");
            if (c == OpClass::selection && found != (k == 0 ? Type::boolean : op.type))
                fail(v, "selects different types");
        }
        memory(v, op);
    }

    // Indices are integers, a stored value has the element's type, local arrays are named by their
    // `local`.
    void memory(Value v, const Op& op) const {
        const auto type = [&](int k) { return kernel_.op(op.operand[k]).type; };
        const bool local = op.code == OpCode::local_load || op.code == OpCode::local_accumulate ||
                           op.code == OpCode::local_put;
        if (local && kernel_.op(op.operand[0]).code != OpCode::local)
            fail(v, "does not name a local array");
        if (local && type(0) != op.type) fail(v, "has not the type of its local array");
        if (op.code == OpCode::break_unless && type(0) != Type::boolean)
            fail(v, "has no boolean condition");
        if (op.code == OpCode::raise && (type(0) != Type::i32 || op.name < 0))
            fail(v, "needs a number and a text");
        if (info(op.code).op_class != OpClass::memory && !is_effect(op.code)) return;
        const bool no_index = op.code == OpCode::reduce || op.code == OpCode::break_unless ||
                              op.code == OpCode::raise;
        const int index = no_index ? -1 : local ? 1 : 0;
        if (index >= 0 && !is_integer(type(index))) fail(v, "has an index that is not an integer");
        const int value = info(op.code).operands - 1;
        if (is_effect(op.code) && value > index && op.code != OpCode::break_unless &&
            type(value) != op.type)
            fail(v, "stores a value of the wrong type");
    }

    static bool names_parameter(OpCode code) {
        switch (code) {
            case OpCode::local:
            case OpCode::local_load:
            case OpCode::local_accumulate:
            case OpCode::local_put:
            case OpCode::raise:
            case OpCode::break_unless: return false;
            default: return info(code).op_class == OpClass::memory || is_effect(code);
        }
    }

    void symbol(Value v, const Op& op) const {
        if (op.symbol < 0 || op.symbol >= static_cast<int>(kernel_.parameters.size()))
            fail(v, "names no parameter");
        const Parameter& p = kernel_.parameter(op.symbol);
        if (op.component < 0 || op.component >= p.components)
            fail(v, "names no component of '" + p.name + "'");
        if (op.type != p.type) fail(v, "has not the type of '" + p.name + "'");
        const Access a = p.access;
        bool legal = false;
        switch (op.code) {
            case OpCode::parameter: legal = a == Access::value; break;
            case OpCode::load: legal = a == Access::read; break;
            case OpCode::own_load: legal = a == Access::read_write; break;
            case OpCode::own_store: legal = a == Access::read_write || a == Access::write; break;
            case OpCode::accumulate: legal = a == Access::accumulate || a == Access::sum; break;
            case OpCode::reduce: legal = a == Access::reduce; break;
            case OpCode::store_once:
            case OpCode::take: legal = a == Access::slice; break;
            case OpCode::fetch:
            case OpCode::put: legal = a == Access::exclusive; break;
            case OpCode::atomic_add:
            case OpCode::atomic_min:
            case OpCode::atomic_max: legal = a == Access::atomic && !is_real(p.type); break;
            default: break;
        }
        if (!legal)
            fail(v, "does not agree with the access " + std::string(name_of(a)) + " of '" + p.name +
                        "'");
    }

    void nest(Value v, const Op& op, std::vector<Value>& scope) {
        const Nest& nest = kernel_.nest(op);
        const bool loop = op.code != OpCode::if_;
        if (op.code == OpCode::if_ && kernel_.op(op.operand[0]).type != Type::boolean)
            fail(v, "has no boolean condition");
        if (op.code == OpCode::for_ && kernel_.op(op.operand[0]).type != Type::i32)
            fail(v, "has no i32 trip count");
        if (op.code == OpCode::while_ && nest.max_trips <= 0) fail(v, "has no max_trips");
        if (loop && nest.inits.size() != nest.results.size())
            fail(v, "has not one init per result");
        for (const Value init : nest.inits) use(v, init);
        int breaks = 0;
        for (const int inner : nest.region) {
            if (inner < 0) continue;
            const Region& body = kernel_.region(inner);
            if (body.yields.size() != nest.results.size()) fail(v, "has not one yield per result");
            const std::size_t first = op.code == OpCode::for_ ? 1 : 0;
            if (loop && body.arguments.size() != nest.results.size() + first)
                fail(v, "has not one argument per result");
            region(inner, v);
            for (std::size_t k = 0; k < nest.results.size(); ++k) {
                const Type type = kernel_.op(nest.results[k]).type;
                if (kernel_.op(body.yields[k]).type != type)
                    fail(v, "yields another type than its result");
                if (loop && (kernel_.op(nest.inits[k]).type != type ||
                             kernel_.op(body.arguments[k + first]).type != type))
                    fail(v, "carries values of different types");
            }
            for (const Value x : body.ops) breaks += kernel_.op(x).code == OpCode::break_unless;
        }
        if (breaks != (op.code == OpCode::while_ ? 1 : 0))
            fail(v, "needs exactly one break_unless");
        for (std::size_t k = 0; k < nest.results.size(); ++k) {
            const Op& result = kernel_.op(nest.results[k]);
            if (result.code != OpCode::result || result.operand[0] != v ||
                result.symbol != static_cast<int>(k))
                fail(nest.results[k], "is not result " + std::to_string(k) + " of its op");
            define(scope, nest.results[k]);
        }
    }

    const Kernel& kernel_;
    const char* stage_;
    std::vector<char> visible_;
};

}  // namespace

void verify(const Kernel& kernel, const char* stage) { Verifier(kernel, stage).run(); }

}  // namespace hindcast::ir
