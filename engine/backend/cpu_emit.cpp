#include "engine/backend/cpu_emit.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace hindcast::backend::cpu {

using ir::Op;
using ir::OpClass;
using ir::OpCode;
using ir::Type;
using ir::Value;

namespace {

struct Scope {
    std::vector<std::unordered_map<std::string, std::string>>& scopes;
    explicit Scope(std::vector<std::unordered_map<std::string, std::string>>& s) : scopes(s) { scopes.emplace_back(); }
    ~Scope() { scopes.pop_back(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
};

}  // namespace

Emitter::Emitter(const Plan& plan)
    : plan_(plan), kernel_(plan.kernel), width_(plan.width), names_(plan.kernel.ops.size()), bases_(plan.kernel.ops.size()) {}

// "v16f32" for <16 x float>, "f32" for float.
std::string suffix(const std::string& type) {
    std::string element = type, lanes;
    if (type[0] == '<') {
        const std::size_t x = type.find(" x ");
        lanes = "v" + type.substr(1, x - 1);
        element = type.substr(x + 3, type.size() - x - 4);
    }
    if (element == "float") element = "f32";
    if (element == "double") element = "f64";
    if (element == "ptr") element = "p0";
    return lanes + element;
}

std::string emit(const Plan& plan) { return Emitter(plan).module(); }

std::string Emitter::module() {
    {
        const Scope scope(scopes_);
        start("loop");
        begin_item();
        region(0);
        end_item();
        put("%tnext = add i64 %titem, {}", width_);
        put("store i64 %tnext, ptr %aitem");
        put("%tmore = icmp slt i64 %tnext, %end");
        put("br i1 %tmore, label %loop, label %exit");
    }
    std::string text = "; " + kernel_.name + "\n";
    for (const std::string& d : declarations_) text += d + "\n";
    if (plan_.checked) text += "@zeros = internal constant [8 x i8] zeroinitializer, align 8\n";
    if (uses_fault_)
        text += fmt::format(
            "define internal void @fault(ptr %context, i64 %item, i32 %op, i64 %index) noinline cold nounwind {{\n"
            "  %at = getelementptr i8, ptr %context, i64 {}\n"
            "  %old = load i64, ptr %at\n"
            "  %less = icmp slt i64 %item, %old\n"
            "  br i1 %less, label %yes, label %no\n"
            "yes:\n"
            "  store i64 %item, ptr %at\n"
            "  %index_at = getelementptr i8, ptr %context, i64 {}\n"
            "  store i64 %index, ptr %index_at\n"
            "  %op_at = getelementptr i8, ptr %context, i64 {}\n"
            "  store i32 %op, ptr %op_at\n"
            "  br label %no\n"
            "no:\n"
            "  ret void\n"
            "}}\n",
            offsetof(Context, fault_item), offsetof(Context, fault_index), offsetof(Context, fault_op));
    text += "define void @kernel(ptr noalias readonly %bindings, i64 %begin, i64 %end, ptr noalias %context) "
            "nounwind \"prefer-vector-width\"=\"512\" {\n  %aitem = alloca i64\n" +
            variables_ + front_ + "  store i64 %begin, ptr %aitem\n  br label %loop\n" + body_ + "exit:\n  ret void\n}\n" +
            "!0 = !{}\n!1 = !{!\"branch_weights\", i32 1, i32 100000}\n";
    return text;
}

// ---------------------------------------------------------------- lines

std::string Emitter::name_line(const std::string& text) {
    std::string name = "%t" + std::to_string(next_++);
    put("{} = {}", name, text);
    return name;
}

std::string Emitter::pure_line(const std::string& text) {
    if (text.find("%t") == std::string::npos) {
        std::string& name = front_shared_[text];
        if (name.empty()) {
            name = "%u" + std::to_string(next_++);
            front_ += "  " + name + " = " + text + "\n";
        }
        return name;
    }
    for (std::size_t s = scopes_.size(); s-- > 0;)
        if (const auto found = scopes_[s].find(text); found != scopes_[s].end()) return found->second;
    return scopes_.back()[text] = name_line(text);
}

void Emitter::branch(const std::string& condition, const std::string& yes, const std::string& no, bool unlikely) {
    put("br i1 {}, label %{}, label %{}{}", condition, yes, no, unlikely ? ", !prof !1" : "");
}

void Emitter::when(const std::string& condition, const std::function<void()>& then, bool unlikely) {
    const std::string yes = label(), after = label();
    branch(condition, yes, after, unlikely);
    start(yes);
    {
        const Scope scope(scopes_);
        then();
    }
    jump(after);
    start(after);
}

Emitter::Variable Emitter::variable(std::string type) {
    Variable v{"%a" + std::to_string(next_++), std::move(type)};
    variables_ += "  " + v.name + " = alloca " + v.type + "\n";
    return v;
}

std::string Emitter::intrinsic(const std::string& result, const std::string& name, const std::string& types, const std::string& arguments) {
    declarations_.insert(fmt::format("declare {} @llvm.{}({})", result, name, types));
    // "T, U" and "a, b" to "T a, U b"; types hold commas only between arguments
    std::string call;
    std::size_t t = 0, a = 0;
    while (t < types.size()) {
        const std::size_t type_end = std::min(types.find(", ", t), types.size());
        std::size_t end = a;
        for (int depth = 0; end < arguments.size() && !(depth == 0 && arguments[end] == ','); ++end)
            depth += arguments[end] == '(' || arguments[end] == '<' ? 1 : arguments[end] == ')' || arguments[end] == '>' ? -1 : 0;
        call += (call.empty() ? "" : ", ") + types.substr(t, type_end - t) + " " + arguments.substr(a, end - a);
        t = type_end + 2;
        a = end + 2;
    }
    return fmt::format("call {} @llvm.{}({})", result, name, call);
}

// ---------------------------------------------------------------- types and values

std::string Emitter::scalar_type(Type type) const {
    switch (type) {
        case Type::boolean: return "i1";
        case Type::i32:
        case Type::u32: return "i32";
        case Type::i64:
        case Type::u64: return "i64";
        case Type::f32: return "float";
        default: return "double";
    }
}

std::string Emitter::lanes_of(const std::string& scalar) const {
    return width_ == 1 ? scalar : fmt::format("<{} x {}>", width_, scalar);
}
std::string Emitter::vector_type(Type type) const { return lanes_of(scalar_type(type)); }
std::string Emitter::type(Value v) const {
    const Type t = kernel_.op(v).type;
    return is_scalar(v) ? scalar_type(t) : vector_type(t);
}

std::string Emitter::constant(const Op& op) const {
    if (op.type == Type::boolean) return op.bits ? "true" : "false";
    if (!ir::is_real(op.type)) return std::to_string(ir::integer_of(op.bits, op.type));
    return fmt::format("0x{:016X}", ir::bits_of(ir::real_of(op.bits, op.type), Type::f64));
}

std::string Emitter::scalar(Value v) {
    const Op& op = kernel_.op(v);
    if (op.code == OpCode::constant) return constant(op);
    if (op.code == OpCode::item) return bases_[static_cast<std::size_t>(v)];
    if (op.code == OpCode::parameter) {
        const bool real = ir::is_real(op.type);
        const std::string in_memory = real ? "double" : scalar_type(op.type);
        const std::string at = pure("getelementptr {}, ptr {}, i64 {}", in_memory, data(op.symbol), op.component);
        const std::string number = pure("load {}, ptr {}, !invariant.load !0", in_memory, at);
        return op.type == Type::f32 ? pure("fptrunc double {} to float", number) : number;
    }
    return names_[static_cast<std::size_t>(v)];
}

std::string Emitter::splat(const std::string& element, const std::string& s) {
    if (width_ == 1) return s;
    if (s[0] != '%') return fmt::format("splat ({} {})", element, s);
    const std::string v = lanes_of(element);
    const std::string first = pure("insertelement {} poison, {} {}, i64 0", v, element, s);
    return pure("shufflevector {} {}, {} poison, {} zeroinitializer", v, first, v, lanes_of("i32"));
}

std::string Emitter::vector(Value v) {
    if (width_ == 1) return scalar(v);
    const std::string& base = bases_[static_cast<std::size_t>(v)];
    if (!base.empty()) {
        std::string counting;
        for (int l = 0; l < width_; ++l) counting += fmt::format("{}i32 {}", l == 0 ? "" : ", ", l);
        return pure("add {} {}, <{}>", lanes_of("i32"), splat("i32", base), counting);
    }
    if (is_scalar(v)) return splat(scalar_type(kernel_.op(v).type), scalar(v));
    return names_[static_cast<std::size_t>(v)];
}

std::string Emitter::value(Value v) { return is_scalar(v) ? scalar(v) : vector(v); }

// ---------------------------------------------------------------- masks

std::string Emitter::any(const std::string& mask) {
    if (width_ == 1) return mask;
    const std::string bits = pure("bitcast {} {} to i{}", mask_type(), mask, width_);
    return pure("icmp ne i{} {}, 0", width_, bits);
}

std::string Emitter::both(const std::string& mask, const std::string& condition) {
    return mask == "true" ? condition : pure("and {} {}, {}", mask_type(), mask, condition);
}

std::string Emitter::choose(const std::string& mask, const std::string& value_type, const std::string& yes, const std::string& no) {
    return mask == "true" ? yes : pure("select {} {}, {} {}, {} {}", mask_type(), mask, value_type, yes, value_type, no);
}

void Emitter::blend(const Variable& variable, const std::string& value) {
    // Lanes beyond the last item are never stored: what they hold is of no account.
    store(variable, mask_ == item_mask_ ? value : choose(mask_, variable.type, value, load(variable)));
}

void Emitter::fault(const std::string& mask, Value op, const std::string& index) {
    uses_fault_ = true;
    when(any(mask), [&] {
        std::string lane = "0", which = index.empty() ? "0" : index;
        if (width_ > 1) {
            const std::string bits = let("bitcast {} {} to i{}", mask_type(), mask, width_);
            const std::string wide = let("zext i{} {} to i64", width_, bits);
            lane = let("{}", intrinsic("i64", "cttz.i64", "i64, i1", wide + ", true"));
            if (!index.empty()) which = let("extractelement {} {}, i64 {}", lanes_of("i64"), index, lane);
        }
        const std::string item = let("add i64 %titem, {}", lane);
        put("call void @fault(ptr %context, i64 {}, i32 {}, i64 {})", item, op, which);
    }, true);
}

// ---------------------------------------------------------------- ops

void Emitter::region(int r, std::size_t from, std::size_t to) {
    const std::vector<Value>& ops = kernel_.region(r).ops;
    if (from == 0) group_ops(r);
    for (std::size_t k = from; k < std::min(to, ops.size()); ++k) op(ops[k], kernel_.op(ops[k]));
}

void Emitter::op(Value v, const Op& op) {
    switch (op.code) {
        case OpCode::if_:
        case OpCode::for_:
        case OpCode::while_: nest(v, op); break;
        case OpCode::load:
        case OpCode::own_load: load_group(v, op); break;
        case OpCode::own_store: store_group(v, op); break;
        case OpCode::store_once: store_element(v, op.symbol, op.operand[0], {op.component}, {vector(op.operand[1])}); break;
        case OpCode::take:
            define(v, load_element(v, op.symbol, op.operand[0], {op.component})[0]);
            store_element(v, op.symbol, op.operand[0], {op.component}, {width_ == 1 ? (ir::is_real(op.type) ? "0.0" : "0") : "zeroinitializer"});
            break;
        case OpCode::accumulate: accumulate(v, op); break;
        case OpCode::reduce: {
            std::string term = vector(op.operand[0]);
            if (kernel_.op(op.operand[0]).type == Type::f32) term = pure("fpext {} {} to {}", lanes_of("float"), term, lanes_of("double"));
            const Variable& sum = sums_.at({op.symbol, op.component});
            blend(sum, let("fadd {} {}, {}", sum.type, load(sum), term));
            break;
        }
        case OpCode::atomic_add:
        case OpCode::atomic_min:
        case OpCode::atomic_max: atomic(v, op); break;
        case OpCode::local: local_array(v, op); break;
        case OpCode::local_load:
        case OpCode::local_accumulate: local_access(v, op); break;
        default: pure_op(v, op);
    }
}

void Emitter::pure_op(Value v, const Op& op) {
    const bool s = is_scalar(v);
    const auto base = [&](int k) -> const std::string& { return bases_[static_cast<std::size_t>(op.operand[k])]; };
    // item + something uniform stays known as such: its lanes are consecutive
    if (!s && op.type == Type::i32 && (op.code == OpCode::add || op.code == OpCode::sub)) {
        std::string& mine = bases_[static_cast<std::size_t>(v)];
        const char* code = op.code == OpCode::add ? "add" : "sub";
        if (!base(0).empty() && is_scalar(op.operand[1])) mine = pure("{} i32 {}, {}", code, base(0), scalar(op.operand[1]));
        else if (op.code == OpCode::add && !base(1).empty() && is_scalar(op.operand[0])) mine = pure("add i32 {}, {}", base(1), scalar(op.operand[0]));
        if (!mine.empty()) return;
    }
    switch (op.code) {
        case OpCode::variable:
        case OpCode::stop_gradient:
        case OpCode::attach_slope:
            define(v, as(op.operand[0], s));
            bases_[static_cast<std::size_t>(v)] = base(0);
            return;
        case OpCode::select: {
            const Value c = op.operand[0];
            define(v, pure("select {} {}, {} {}, {} {}", type(c), value(c), type(v), as(op.operand[1], s), type(v), as(op.operand[2], s)));
            return;
        }
        case OpCode::convert: define(v, convert(op, s)); return;
        case OpCode::bitcast: {
            const std::string from = s ? scalar_type(kernel_.op(op.operand[0]).type) : vector_type(kernel_.op(op.operand[0]).type);
            define(v, from == type(v) ? as(op.operand[0], s) : pure("bitcast {} {} to {}", from, as(op.operand[0], s), type(v)));
            return;
        }
        case OpCode::div:
        case OpCode::rem:
            if (ir::is_real(op.type)) break;
            define(v, divide(op, s));
            return;
        case OpCode::shift_left:
        case OpCode::shift_right: {
            const char* code = op.code == OpCode::shift_left ? "shl" : ir::is_signed(op.type) ? "ashr" : "lshr";
            define(v, pure("{} {} {}, {}", code, type(v), as(op.operand[0], s), as(op.operand[1], s)));
            return;
        }
        default: break;
    }
    const ir::OpInfo& row = ir::info(op.code);
    const char* text = ir::is_real(kernel_.op(op.operand[0]).type) ? row.llvm_real : row.llvm_integer;
    if (*text == 0)
        throw Error(std::string("internal: the CPU back end has no ") + row.name + " of " + name_of(op.type)).in_kernel(kernel_.name).at(kernel_.place_of(v));
    define(v, from_table(text, op, s));
}

// Fills in a text of the op table: T is the type of the operands, 0 1 2 are the operands.
std::string Emitter::from_table(const char* row, const Op& op, bool s) {
    const Type operand_type = kernel_.op(op.operand[0]).type;
    const std::string t = s ? scalar_type(operand_type) : vector_type(operand_type);
    const std::string text = row;
    if (const std::size_t at = text.find("@llvm."); at != std::string::npos) {
        const std::string name = text.substr(at + 6, text.find('(') - at - 6) + "." + suffix(t);
        std::string types, arguments;
        for (int k = 0; k < ir::info(op.code).operands; ++k) {
            types += (k > 0 ? ", " : "") + t;
            arguments += (k > 0 ? ", " : "") + as(op.operand[k], s);
        }
        return pure("{}", intrinsic(t, name, types, arguments));
    }
    std::string out;
    const auto alone = [&](std::size_t k) {
        const auto other = [&](std::size_t at) { return at >= text.size() || std::isalnum(static_cast<unsigned char>(text[at])) == 0; };
        return other(k + 1) && (k == 0 || other(k - 1));
    };
    for (std::size_t k = 0; k < text.size(); ++k) {
        if (text.compare(k, 15, "splat (i1 true)") == 0) {
            out += splat("i1", "true");
            k += 14;
        } else if (text[k] == 'T' && alone(k)) {
            out += t;
        } else if (text[k] >= '0' && text[k] <= '2' && alone(k)) {
            out += as(op.operand[text[k] - '0'], s);
        } else {
            out += text[k];
        }
    }
    if (out.compare(0, 5, "icmp ") == 0 && out.compare(5, 2, "eq") != 0) out.insert(5, ir::is_signed(operand_type) ? "s" : "u");
    return pure("{}", out);
}

std::string Emitter::convert(const Op& op, bool s) {
    const Type from = kernel_.op(op.operand[0]).type, to = op.type;
    const std::string x = as(op.operand[0], s), ft = s ? scalar_type(from) : vector_type(from), tt = s ? scalar_type(to) : vector_type(to);
    const auto plain = [&](const char* code) { return pure("{} {} {} to {}", code, ft, x, tt); };
    const auto literal = [&](Type t, std::uint64_t bits) {
        const std::string text = constant({.code = OpCode::constant, .type = t, .bits = bits});
        return s ? text : splat(scalar_type(t), text);
    };
    if (ft == tt) return x;
    if (to == Type::boolean) return pure("{} {} {}, zeroinitializer", ir::is_real(from) ? "fcmp une" : "icmp ne", ft, x);
    if (ir::is_real(from) && ir::is_real(to)) return plain(to == Type::f64 ? "fpext" : "fptrunc");
    if (ir::is_real(to)) return plain(ir::is_signed(from) ? "sitofp" : "uitofp");
    if (!ir::is_real(from)) {
        if (ir::size_of(to) < ir::size_of(from)) return plain("trunc");
        return plain(ir::is_signed(from) ? "sext" : "zext");
    }
    // Real to integer saturates; what fptosi leaves open is never chosen.
    const int bits = static_cast<int>(ir::size_of(to)) * 8, magnitude = ir::is_signed(to) ? bits - 1 : bits;
    const double limit = magnitude == 31 ? 0x1p31 : magnitude == 32 ? 0x1p32 : magnitude == 63 ? 0x1p63 : 0x1p64;
    const double lowest = ir::is_signed(to) ? -limit : 0.0;
    const std::uint64_t top = magnitude == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << magnitude) - 1;
    const std::uint64_t bottom = ir::is_signed(to) ? std::uint64_t{1} << magnitude : 0;
    const std::string bt = s ? "i1" : mask_type();
    const auto pick = [&](const char* test, double edge, std::uint64_t result, const std::string& otherwise) {
        const std::string c = pure("fcmp {} {} {}, {}", test, ft, x, literal(from, ir::bits_of(edge, from)));
        return pure("select {} {}, {} {}, {} {}", bt, c, tt, literal(to, result), tt, otherwise);
    };
    std::string r = plain(ir::is_signed(to) ? "fptosi" : "fptoui");
    r = pick("olt", lowest, bottom, r);
    r = pick("oge", limit, top, r);
    return pick("uno", 0.0, 0, r);
}

// The divisor is neither 0 nor, for the lowest number, -1: the lowering saw to that.
std::string Emitter::divide(const Op& op, bool s) {
    const bool sign = ir::is_signed(op.type), quotient = op.code == OpCode::div;
    const std::string t = s ? scalar_type(op.type) : vector_type(op.type), a = as(op.operand[0], s), b = as(op.operand[1], s);
    if (s || ir::size_of(op.type) == 8 || kernel_.op(op.operand[1]).code == OpCode::constant)
        return pure("{}{} {} {}, {}", sign ? "s" : "u", quotient ? "div" : "rem", t, a, b);
    // Processors divide no integer vectors. In f64 the truncated quotient of 32-bit integers is exact.
    const std::string d = lanes_of("double");
    const auto wide = [&](const std::string& x) { return pure("{} {} {} to {}", sign ? "sitofp" : "uitofp", t, x, d); };
    const std::string real = pure("fdiv {} {}, {}", d, wide(a), wide(b));
    const std::string q = pure("{} {} {} to {}", sign ? "fptosi" : "fptoui", d, real, t);
    return quotient ? q : pure("sub {} {}, {}", t, a, pure("mul {} {}, {}", t, q, b));
}

// ---------------------------------------------------------------- regions

void Emitter::nest(Value v, const Op& op) {
    if (op.code == OpCode::for_) for_loop(v, op);
    else if (op.code == OpCode::while_) while_loop(v, op);
    else if (is_scalar(op.operand[0])) if_uniform(op);
    else if_varying(op);
}

void Emitter::if_uniform(const Op& op) {
    const ir::Nest& nest = kernel_.nest(op);
    std::vector<Variable> results;
    for (const Value r : nest.results) results.push_back(variable(type(r)));
    const std::string yes = label(), no = label(), after = label();
    branch(scalar(op.operand[0]), yes, no);
    for (int side = 0; side < 2; ++side) {
        start(side == 0 ? yes : no);
        const Scope scope(scopes_);
        region(nest.region[side]);
        for (std::size_t k = 0; k < results.size(); ++k)
            store(results[k], as(kernel_.region(nest.region[side]).yields[k], is_scalar(nest.results[k])));
        jump(after);
    }
    start(after);
    for (std::size_t k = 0; k < results.size(); ++k) define(nest.results[k], load(results[k]));
}

// Few pure ops, which cost less than a branch around them.
bool Emitter::is_cheap(int r) const {
    int cost = 0;
    for (const Value v : kernel_.region(r).ops) {
        const Op& op = kernel_.op(v);
        if (!ir::is_pure(op.code)) return false;
        cost += op.code == OpCode::div || op.code == OpCode::rem || op.code == OpCode::sqrt ? 8 : 1;
    }
    return cost <= 16;
}

void Emitter::if_varying(const Op& op) {
    const ir::Nest& nest = kernel_.nest(op);
    const std::string condition = vector(op.operand[0]), outer = mask_;
    std::vector<Names> yields(2);
    for (int side = 0; side < 2; ++side) {
        const ir::Region& body = kernel_.region(nest.region[side]);
        mask_ = both(outer, side == 0 ? condition : pure("xor {} {}, {}", mask_type(), condition, splat("i1", "true")));
        if (is_cheap(nest.region[side])) {
            region(nest.region[side]);
            for (const Value y : body.yields) yields[static_cast<std::size_t>(side)].push_back(vector(y));
            continue;
        }
        std::vector<Variable> made;
        for (const Value y : body.yields) {
            made.push_back(variable(vector_type(kernel_.op(y).type)));
            store(made.back(), "zeroinitializer");
        }
        when(any(mask_), [&] {
            region(nest.region[side]);
            for (std::size_t k = 0; k < made.size(); ++k) store(made[k], vector(body.yields[k]));
        });
        for (const Variable& m : made) yields[static_cast<std::size_t>(side)].push_back(load(m));
    }
    mask_ = outer;
    for (std::size_t k = 0; k < nest.results.size(); ++k)
        define(nest.results[k], choose(condition, type(nest.results[k]), yields[0][k], yields[1][k]));
}

// Variables of what a loop carries, holding the first values.
std::vector<Emitter::Variable> Emitter::carried(const Op& op) {
    const ir::Nest& nest = kernel_.nest(op);
    std::vector<Variable> variables;
    for (std::size_t k = 0; k < nest.results.size(); ++k) {
        variables.push_back(variable(type(nest.results[k])));
        store(variables[k], as(nest.inits[k], is_scalar(nest.results[k])));
    }
    return variables;
}

void Emitter::read_arguments(const Op& op, const std::vector<Variable>& variables) {
    const ir::Region& body = kernel_.region(kernel_.nest(op).region[0]);
    const std::size_t first = op.code == OpCode::for_ ? 1 : 0;
    for (std::size_t k = 0; k < variables.size(); ++k) define(body.arguments[k + first], load(variables[k]));
}

void Emitter::write_yields(const Op& op, const std::vector<Variable>& variables, bool masked) {
    const ir::Nest& nest = kernel_.nest(op);
    const ir::Region& body = kernel_.region(nest.region[0]);
    const std::size_t first = op.code == OpCode::for_ ? 1 : 0;
    for (std::size_t k = 0; k < variables.size(); ++k) {
        const std::string next = as(body.yields[k], is_scalar(nest.results[k]));
        store(variables[k], masked ? choose(mask_, variables[k].type, next, vector(body.arguments[k + first])) : next);
    }
}

void Emitter::for_loop(Value v, const Op& op) {
    const ir::Nest& nest = kernel_.nest(op);
    const ir::Region& body = kernel_.region(nest.region[0]);
    const bool uniform = is_scalar(op.operand[0]);
    const std::string outer = mask_, t = uniform ? "i32" : lanes_of("i32");
    std::string trips = value(op.operand[0]);
    if (nest.max_trips > 0 && kernel_.op(op.operand[0]).code != OpCode::constant) {
        const std::string most = std::to_string(nest.max_trips), limit = uniform ? most : splat("i32", most);
        const std::string over = pure("icmp sgt {} {}, {}", t, trips, limit);
        fault(both(outer, uniform ? splat("i1", over) : over), v, "");
        trips = pure("select {} {}, {} {}, {} {}", uniform ? "i1" : mask_type(), over, t, limit, t, trips);
    }
    const std::vector<Variable> variables = carried(op);
    const Variable trip = variable("i32");
    store(trip, "0");
    const std::string head = label(), inside = label(), after = label();
    jump(head);
    start(head);
    {
        const Scope scope(scopes_);
        const std::string now = load(trip);
        define(body.arguments[0], now);
        if (uniform) {
            branch(pure("icmp slt i32 {}, {}", now, trips), inside, after);
        } else {
            mask_ = both(outer, pure("icmp slt {} {}, {}", t, splat("i32", now), trips));
            branch(any(mask_), inside, after);
        }
        start(inside);
        read_arguments(op, variables);
        region(nest.region[0]);
        write_yields(op, variables, !uniform);
        store(trip, let("add i32 {}, 1", now));
        jump(head);
    }
    mask_ = outer;
    start(after);
    for (std::size_t k = 0; k < variables.size(); ++k) define(nest.results[k], load(variables[k]));
}

void Emitter::while_loop(Value v, const Op& op) {
    const ir::Nest& nest = kernel_.nest(op);
    const std::vector<Value>& ops = kernel_.region(nest.region[0]).ops;
    std::size_t at = 0;
    while (kernel_.op(ops[at]).code != OpCode::break_unless) ++at;
    const Value condition = kernel_.op(ops[at]).operand[0];
    const bool uniform = is_scalar(condition);
    const std::string outer = mask_;
    const std::vector<Variable> variables = carried(op);
    const Variable trip = variable("i32"), active = variable(mask_type());
    store(trip, "0");
    if (!uniform) store(active, outer);
    const std::string head = label(), check = label(), inside = label(), over = label(), after = label();
    jump(head);
    start(head);
    {
        const Scope scope(scopes_);
        const std::string now = load(trip);
        if (!uniform) mask_ = load(active);
        read_arguments(op, variables);
        region(nest.region[0], 0, at);
        if (!uniform) mask_ = both(mask_, vector(condition));
        branch(uniform ? scalar(condition) : any(mask_), check, after);
        start(check);
        branch(pure("icmp slt i32 {}, {}", now, nest.max_trips), inside, over);
        start(over);
        fault(mask_, v, "");
        jump(after);
        start(inside);
        region(nest.region[0], at + 1);
        write_yields(op, variables, !uniform);
        if (!uniform) store(active, mask_);
        store(trip, let("add i32 {}, 1", now));
        jump(head);
    }
    mask_ = outer;
    start(after);
    for (std::size_t k = 0; k < variables.size(); ++k) define(nest.results[k], load(variables[k]));
}

}  // namespace hindcast::backend::cpu
