#include "engine/backend/cpu/emit/emitter.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>

#include "engine/backend/binding.hpp"
#include "engine/ir/evaluate.hpp"

namespace hindcast::backend::cpu {

using ir::Op;
using ir::OpCode;
using ir::Type;
using ir::Value;

std::string emit(const Plan& plan) { return Emitter(plan).module(); }

EmbeddedFunction emit_embedded(const Plan& plan, const Embedding& embedding) {
    return Emitter(plan, &embedding).function();
}

std::string fault_function() {
    return fmt::format(
        R"(define internal void @fault(ptr %context, i64 %item, i32 %op, i64 %index) noinline cold nounwind {{
  %at = getelementptr i8, ptr %context, i64 {}
  %old = load i64, ptr %at
  %less = icmp slt i64 %item, %old
  br i1 %less, label %yes, label %no
yes:
  store i64 %item, ptr %at
  %index_at = getelementptr i8, ptr %context, i64 {}
  store i64 %index, ptr %index_at
  %op_at = getelementptr i8, ptr %context, i64 {}
  store i32 %op, ptr %op_at
  br label %no
no:
  ret void
}}
)",
        offsetof(Context, fault) + offsetof(KernelFault, item),
        offsetof(Context, fault) + offsetof(KernelFault, index),
        offsetof(Context, fault) + offsetof(KernelFault, op));
}

const char* attributes_of_function(bool inlined) {
    return inlined ? "alwaysinline nounwind"
                   : "noinline nounwind \"prefer-vector-width\"=\"512\" \"no-builtins\"";
}

const char* const module_end = R"(!0 = !{}
!1 = !{!"branch_weights", i32 1, i32 100000}
)";

std::string suffix(const std::string& type) {
    if (type[0] == '<') {
        const std::size_t x = type.find(" x ");
        return "v" + type.substr(1, x - 1) + suffix(type.substr(x + 3, type.size() - x - 4));
    }
    return type == "float" ? "f32" : type == "double" ? "f64" : type == "ptr" ? "p0" : type;
}

std::string list_of(const char* type, const std::vector<int>& numbers) {
    std::string text;
    for (const int n : numbers) text += fmt::format("{}{} {}", text.empty() ? "<" : ", ", type, n);
    return text + ">";
}

std::vector<int> up_to(int n) {
    std::vector<int> numbers;
    for (int k = 0; k < n; ++k) numbers.push_back(k);
    return numbers;
}

std::size_t align_of(const std::string& t) {
    return t == "i8" ? 1 : t == "i32" || t == "float" ? 4 : 8;
}

namespace {
constexpr double short_work = 64;  // ops per item: where masks cost a good part of the time
}

Emitter::Emitter(const Plan& plan, const Embedding* embedding)
    : plan_(plan),
      embedding_(embedding),
      kernel_(plan.kernel),
      width_(plan.width),
      splits_(embedding == nullptr && plan.width > 1 && plan.work <= short_work &&
              plan.fixed_symbols.empty()),
      names_(plan.kernel.ops.size()),
      bases_(plan.kernel.ops.size()) {}

// Leaves in body_ all that stands between the function's braces.
void Emitter::record() {
    {
        const Scope scope(*this);
        begin_item();
        region(0);
        end_item();
    }
    const std::string items = std::move(body_);
    body_.clear();
    {
        const Scope scope(*this);
        finish_fixed();
        finish_totals();
    }
    const std::string end = std::move(body_);
    body_ = fmt::format(R"({}{}  br label %loop
loop:
  %titem = phi i64 [ %begin, %0 ], [ %tnext, %next ]
{}  br label %next
next:
  %tnext = add i64 %titem, {}
  %tmore = icmp slt i64 %tnext, %end
  br i1 %tmore, label %loop, label %exit
exit:
{}  ret void
}}
)",
                        variables_, preheader_, items, width_, end);
}

std::string Emitter::module() {
    record();
    std::string text = "; " + kernel_.name + "\n";
    for (const std::string& d : declarations_) text += d + "\n";
    if (plan_.checked) text += "@zeros = internal constant [8 x i8] zeroinitializer, align 8\n";
    if (uses_fault_) text += fault_function();
    const char* const arguments =
        "(ptr noalias readonly %bindings, i64 %begin, i64 %end, ptr noalias %context";
    const std::string entry = fmt::format(
        "define void @kernel{}) nounwind \"prefer-vector-width\"=\"512\" {{\n", arguments);
    if (!splits_) return text + entry + body_ + module_end;
    return text +
           fmt::format("define internal void @items{}, i1 %full) alwaysinline nounwind {{\n{}",
                       arguments, body_) +
           entry +
           fmt::format(R"(  %count = sub i64 %end, %begin
  %ahead = sub i64 %count, {}
  %blocked = and i64 %ahead, -{}
  %some = icmp sgt i64 %blocked, 0
  %whole = select i1 %some, i64 %blocked, i64 0
  %middle = add i64 %begin, %whole
  br i1 %some, label %blocks, label %remainder
blocks:
  call void @items(ptr %bindings, i64 %begin, i64 %middle, ptr %context, i1 true)
  br label %remainder
remainder:
  %more = icmp slt i64 %middle, %end
  br i1 %more, label %last, label %done
last:
  call void @items(ptr %bindings, i64 %middle, i64 %end, ptr %context, i1 false)
  br label %done
done:
  ret void
}}
)",
                       blocks_.empty() ? 0 : width_, width_) +
           module_end;
}

EmbeddedFunction Emitter::function() {
    record();
    std::string text = "(ptr noalias %context, i64 %begin, i64 %end";
    for (std::size_t p = 0; p < kernel_.parameters.size(); ++p) {
        const ir::Access access = kernel_.parameters[p].access;
        const bool read_only = access == ir::Access::read || access == ir::Access::value;
        text += fmt::format(", ptr {}%d{}", read_only ? "readonly " : "noalias ", p);
    }
    text += std::string(") ") + attributes_of_function(embedding_->inlined) + " {\n" + body_;
    return {text, declarations_, uses_fault_};
}

// ---------------------------------------------------------------- lines

std::string Emitter::let_line(const std::string& text) {
    std::string name = "%t" + std::to_string(next_++);
    put("{} = {}", name, text);
    return name;
}

std::string Emitter::pure_line(const std::string& text) {
    if (text.find("%t") == std::string::npos) {
        std::string& name = front_shared_[text];
        if (name.empty()) {
            name = "%u" + std::to_string(next_++);
            preheader_ += "  " + name + " = " + text + "\n";
        }
        return name;
    }
    for (std::size_t s = scopes_.size(); s-- > 0;)
        if (const auto found = scopes_[s].find(text); found != scopes_[s].end())
            return found->second;
    return scopes_.back()[text] = let_line(text);
}

std::string Emitter::call(const std::string& result, const std::string& name,
                          std::initializer_list<Argument> arguments) {
    std::string types, values;
    for (const auto& [type, value] : arguments) {
        types += (types.empty() ? "" : ", ") + type;
        values += fmt::format("{}{} {}", values.empty() ? "" : ", ", type, value);
    }
    declarations_.insert(fmt::format("declare {} @llvm.{}({})", result, name, types));
    return fmt::format("call {} @llvm.{}({})", result, name, values);
}

std::string Emitter::cast(const char* code, const std::string& from, const std::string& x,
                          const std::string& to) {
    return from == to ? x : pure("{} {} {} to {}", code, from, x, to);
}

std::string Emitter::pointer(const std::string& element, const std::string& base,
                             const std::string& index) {
    return pure("getelementptr {}, ptr {}, i64 {}", element, base, index);
}

std::string Emitter::invariant_load(const std::string& type, const std::string& at) {
    return pure("load {}, ptr {}, !invariant.load !0", type, at);
}

std::string Emitter::context_field(std::size_t offset) {
    return invariant_load("ptr", pointer("i8", "%context", std::to_string(offset)));
}

void Emitter::branch(const std::string& condition, const std::string& yes, const std::string& no) {
    put("br i1 {}, label %{}, label %{}", condition, yes, no);
}

void Emitter::when(const std::string& condition, const Block& then, bool unlikely) {
    const std::string yes = label(), after = label();
    put("br i1 {}, label %{}, label %{}{}", condition, yes, after, unlikely ? ", !prof !1" : "");
    start(yes);
    {
        const Scope scope(*this);
        then();
    }
    jump(after);
    start(after);
}

void Emitter::loop(const std::function<std::string()>& condition, const Block& body) {
    const std::string head = label(), inside = label(), after = label();
    jump(head);
    start(head);
    {
        const Scope scope(*this);
        branch(condition(), inside, after);
        start(inside);
        body();
        jump(head);
    }
    start(after);
}

Emitter::Variable Emitter::variable(std::string type, const std::string& first) {
    const Variable v{"%a" + std::to_string(next_++), std::move(type)};
    variables_ += "  " + v.name + " = alloca " + v.type + "\n";
    if (!first.empty()) store(v, first);
    return v;
}

// ---------------------------------------------------------------- types and values

std::string Emitter::scalar_type(Type type) {
    switch (type) {
        case Type::boolean: return "i1";
        case Type::f32: return "float";
        case Type::f64: return "double";
        default: return ir::size_of(type) == 4 ? "i32" : "i64";
    }
}
std::string Emitter::lanes_of(const std::string& scalar) const {
    return width_ == 1 ? scalar : fmt::format("<{} x {}>", width_, scalar);
}
std::string Emitter::type_as(Type type, bool as_scalar) const {
    return as_scalar ? scalar_type(type) : vector_type(type);
}
std::string Emitter::zero(const std::string& t) const {
    return width_ > 1 ? "zeroinitializer" : t == "float" || t == "double" ? "0.0" : "0";
}

std::string Emitter::constant(Type type, ir::Bits bits) {
    if (type == Type::boolean) return bits != 0 ? "true" : "false";
    if (!ir::is_real(type)) return std::to_string(ir::integer_of(bits, type));
    return fmt::format("0x{:016X}", ir::bits_of(ir::real_of(bits, type), Type::f64));
}

std::string Emitter::scalar(Value v) {
    const Op& op = kernel_.op(v);
    if (op.code == OpCode::constant) return constant(op.type, op.bits);
    if (op.code == OpCode::item) return bases_[v];
    if (op.code != OpCode::parameter) return names_[v];
    const std::string in_memory = ir::is_real(op.type) ? "double" : scalar_type(op.type);
    const std::string data = binding_field(op.symbol, offsetof(Binding, data));
    const std::string at = pointer(in_memory, data, std::to_string(op.component));
    const std::string x = embedding_ != nullptr ? pure("load {}, ptr {}", in_memory, at)
                                                : invariant_load(in_memory, at);
    return cast("fptrunc", in_memory, x, scalar_type(op.type));
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
    if (!bases_[v].empty())
        return pure("add {} {}, {}", lanes_of("i32"), splat("i32", bases_[v]),
                    list_of("i32", up_to(width_)));
    return is_scalar(v) ? splat(scalar_type(kernel_.op(v).type), scalar(v)) : names_[v];
}

// ---------------------------------------------------------------- masks

std::string Emitter::none_of(const std::string& mask) {
    return pure("xor {} {}, {}", mask_type(), mask, all());
}

std::string Emitter::any(const std::string& mask) {
    if (width_ == 1) return mask;
    const std::string bits = fmt::format("i{}", width_);
    return pure("icmp ne {} {}, 0", bits, cast("bitcast", mask_type(), mask, bits));
}

std::string Emitter::both(const std::string& mask, const std::string& condition) {
    return mask == "true" ? condition : pure("and {} {}, {}", mask_type(), mask, condition);
}

std::string Emitter::choose(const std::string& mask, const std::string& t, const std::string& yes,
                            const std::string& no) {
    if (mask == "true") return yes;
    return pure("select {} {}, {} {}, {} {}", mask_type(), mask, t, yes, t, no);
}

void Emitter::blend(const Variable& v, const std::string& x) {
    // Lanes beyond the last item are never stored: what they hold is of no account.
    store(v, mask_ == item_mask_ ? x : choose(mask_, v.type, x, load(v)));
}

void Emitter::fault(const std::string& mask, Value op, const std::string& index) {
    uses_fault_ = true;
    const auto report = [&] {
        std::string lane = "0", which = index.empty() ? "0" : index;
        if (width_ > 1) {
            const std::string bits = fmt::format("i{}", width_);
            const std::string word =
                cast("zext", bits, cast("bitcast", mask_type(), mask, bits), "i64");
            lane = let("{}", call("i64", "cttz.i64", {{"i64", word}, {"i1", "true"}}));
            if (!index.empty())
                which = let("extractelement {} {}, i64 {}", lanes_of("i64"), index, lane);
        }
        const std::string item = let("add i64 %titem, {}", lane);
        put("call void @fault(ptr %context, i64 {}, i32 {}, i64 {})", item, op, which);
    };
    when(any(mask), report, true);
}

// ---------------------------------------------------------------- ops

void Emitter::op(Value v, const Op& op) {
    switch (op.code) {
        case OpCode::if_: is_scalar(op.operand[0]) ? if_uniform(op) : if_varying(op); break;
        case OpCode::for_: for_loop(v, op); break;
        case OpCode::while_: while_loop(v, op); break;
        case OpCode::load:
        case OpCode::own_load: load_group(v, op); break;
        case OpCode::own_store: store_group(v, op); break;
        case OpCode::fetch:
            define(v, load_element(v, op.symbol, op.operand[0], {op.component})[0]);
            break;
        case OpCode::store_once:
        case OpCode::put:
            store_element(v, op.symbol, op.operand[0], {op.component}, {vector(op.operand[1])});
            break;
        case OpCode::take:
            define(v, load_element(v, op.symbol, op.operand[0], {op.component})[0]);
            store_element(v, op.symbol, op.operand[0], {op.component},
                          {zero(scalar_type(op.type))});
            break;
        case OpCode::accumulate: accumulate(v, op); break;
        case OpCode::reduce: reduce(op); break;
        case OpCode::atomic_add:
        case OpCode::atomic_min:
        case OpCode::atomic_max: atomic(v, op); break;
        case OpCode::local: local_array(v, op); break;
        case OpCode::local_load:
        case OpCode::local_put:
        case OpCode::local_accumulate: local_access(v, op); break;
        case OpCode::raise:
            fault(mask_, v,
                  cast("sext", vector_type(op.type), vector(op.operand[0]), lanes_of("i64")));
            break;
        default: pure_op(v, op);
    }
}

// item + something uniform stays known as such: its lanes are consecutive.
bool Emitter::keeps_consecutive(Value v, const Op& op) {
    if (is_scalar(v) || op.type != Type::i32) return false;
    const Value a = op.operand[0], b = op.operand[1];
    if (op.code == OpCode::add || op.code == OpCode::sub) {
        const char* code = op.code == OpCode::add ? "add" : "sub";
        if (!bases_[a].empty() && is_scalar(b))
            bases_[v] = pure("{} i32 {}, {}", code, bases_[a], scalar(b));
        else if (op.code == OpCode::add && !bases_[b].empty() && is_scalar(a))
            bases_[v] = pure("add i32 {}, {}", bases_[b], scalar(a));
    }
    return !bases_[v].empty();
}

void Emitter::pure_op(Value v, const Op& op) {
    if (keeps_consecutive(v, op)) return;
    const bool s = is_scalar(v);
    const Value a = op.operand[0], b = op.operand[1];
    const Type from = kernel_.op(a).type;
    switch (op.code) {
        case OpCode::variable:
        case OpCode::stop_gradient:
        case OpCode::attach_slope: define(v, as(a, s)); return;
        case OpCode::select:
            define(v, pure("select {} {}, {} {}, {} {}", type(a), value(a), type(v), as(b, s),
                           type(v), as(op.operand[2], s)));
            return;
        case OpCode::convert: define(v, convert(op, s)); return;
        case OpCode::bitcast:
            define(v, cast("bitcast", type_as(from, s), as(a, s), type(v)));
            return;
        case OpCode::div:
        case OpCode::rem:
            if (ir::is_real(op.type)) break;
            define(v, divide(op, s));
            return;
        case OpCode::shift_left:
        case OpCode::shift_right: {
            const char* right = ir::is_signed(op.type) ? "ashr" : "lshr";
            const char* code = op.code == OpCode::shift_left ? "shl" : right;
            define(v, pure("{} {} {}, {}", code, type(v), as(a, s), as(b, s)));
            return;
        }
        default: break;
    }
    const ir::OpInfo& row = ir::info(op.code);
    const char* text = ir::is_real(from) ? row.llvm_real : row.llvm_integer;
    if (*text == 0)
        throw Error(
            fmt::format("internal: the CPU back end has no {} of {}", row.name, name_of(from)))
            .in_kernel(kernel_.name)
            .at(kernel_.place_of(v));
    define(v, from_table(text, op, s));
}

// Fills in a text of the op table: T is the type of the operands, 0 1 2 are the operands.
std::string Emitter::from_table(const char* row, const Op& op, bool s) {
    const Type operand_type = kernel_.op(op.operand[0]).type;
    const std::string text = row, t = type_as(operand_type, s);
    const auto operand = [&](int k) { return as(op.operand[k], s); };
    if (const std::size_t at = text.find("@llvm."); at != std::string::npos) {
        const std::string name = text.substr(at + 6, text.find('(') - at - 6) + "." + suffix(t);
        if (ir::info(op.code).operands == 1) return pure("{}", call(t, name, {{t, operand(0)}}));
        return pure("{}", call(t, name, {{t, operand(0)}, {t, operand(1)}, {t, operand(2)}}));
    }
    std::string out;
    const auto alone = [&](std::size_t k) {
        return (k == 0 || std::isalnum(text[k - 1]) == 0) &&
               (k + 1 == text.size() || std::isalnum(text[k + 1]) == 0);
    };
    for (std::size_t k = 0; k < text.size(); ++k) {
        if (text.compare(k, 15, "splat (i1 true)") == 0) {
            out += s ? "true" : all();
            k += 14;
        } else if (text[k] == 'T' && alone(k)) {
            out += t;
        } else if (text[k] >= '0' && text[k] <= '2' && alone(k)) {
            out += operand(text[k] - '0');
        } else {
            out += text[k];
        }
    }
    if (out.compare(0, 6, "icmp l") == 0) out.insert(5, ir::is_signed(operand_type) ? "s" : "u");
    return pure("{}", out);
}

std::string Emitter::convert(const Op& op, bool s) {
    const Type from = kernel_.op(op.operand[0]).type, to = op.type;
    const std::string ft = type_as(from, s), tt = type_as(to, s);
    std::string x = as(op.operand[0], s);
    const bool from_real = ir::is_real(from), to_real = ir::is_real(to);
    if (ft == tt) return x;
    if (to == Type::boolean)
        return pure("{} {} {}, zeroinitializer", from_real ? "fcmp une" : "icmp ne", ft, x);
    if (from_real && to_real) return cast(to == Type::f64 ? "fpext" : "fptrunc", ft, x, tt);
    if (to_real) return cast(ir::is_signed(from) ? "sitofp" : "uitofp", ft, x, tt);
    if (!from_real) {
        const bool narrows = ir::size_of(to) < ir::size_of(from);
        return cast(narrows ? "trunc" : ir::is_signed(from) ? "sext" : "zext", ft, x, tt);
    }
    // Real to integer saturates; what fptosi leaves open is never chosen.
    const bool sign = ir::is_signed(to);
    const int bits = static_cast<int>(ir::size_of(to)) * 8 - sign;
    const double limit = std::ldexp(1.0, bits);
    const ir::Bits bottom = sign ? ir::Bits{1} << bits : 0,
                   top = ~(~ir::Bits{0} << (bits - 1) << 1);
    const auto literal = [&](Type t, ir::Bits b) {
        return s ? constant(t, b) : splat(scalar_type(t), constant(t, b));
    };
    const auto pick = [&](const char* test, double edge, ir::Bits result,
                          const std::string& other) {
        const std::string c =
            pure("fcmp {} {} {}, {}", test, ft, x, literal(from, ir::bits_of(edge, from)));
        return pure("select {} {}, {} {}, {} {}", type_as(Type::boolean, s), c, tt,
                    literal(to, result), tt, other);
    };
    std::string r = cast(sign ? "fptosi" : "fptoui", ft, x, tt);
    r = pick("olt", sign ? -limit : 0.0, bottom, r);
    r = pick("oge", limit, top, r);
    return pick("uno", 0.0, 0, r);
}

// The divisor is neither 0 nor, for the lowest number, -1: the lowering saw to that.
std::string Emitter::divide(const Op& op, bool s) {
    const bool sign = ir::is_signed(op.type), quotient = op.code == OpCode::div;
    const std::string t = type_as(op.type, s), a = as(op.operand[0], s), b = as(op.operand[1], s);
    if (s || t.find("i64") != std::string::npos ||
        kernel_.op(op.operand[1]).code == OpCode::constant)
        return pure("{}{} {} {}, {}", sign ? "s" : "u", quotient ? "div" : "rem", t, a, b);
    // Processors divide no integer vectors. In f64 the truncated quotient of 32 bits is exact.
    const std::string d = lanes_of("double");
    const char* to_real = sign ? "sitofp" : "uitofp";
    const std::string real =
        pure("fdiv {} {}, {}", d, cast(to_real, t, a, d), cast(to_real, t, b, d));
    const std::string q = cast(sign ? "fptosi" : "fptoui", d, real, t);
    return quotient ? q : pure("sub {} {}, {}", t, a, pure("mul {} {}, {}", t, q, b));
}

}  // namespace hindcast::backend::cpu
