#include "engine/backend/cpu/emit/kernel_writer.hpp"

#include <cctype>
#include <cmath>
#include <cstddef>

#include "engine/ir/evaluate.hpp"

namespace hindcast::backend::cpu {

namespace {

// The attributes behind the arguments of a function, which depend on whether it is inlined.
const char* attributes_of_function(bool inlined) {
    return inlined ? "alwaysinline nounwind"
                   : "noinline nounwind \"prefer-vector-width\"=\"512\" \"no-builtins\"";
}

}  // namespace

std::string emit(const Plan& plan) { return KernelWriter(plan).module(); }

EmbeddedFunction emit_embedded(const Plan& plan, const Embedding& embedding) {
    return KernelWriter(plan, &embedding).function();
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

const char* const module_end = R"(!0 = !{}
!1 = !{!"branch_weights", i32 1, i32 100000}
)";

// Leaves in body_ all that stands between the function's braces.
void KernelWriter::record() {
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

std::string KernelWriter::module() {
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
                       uses_blocks() ? width_ : 0, width_) +
           module_end;
}

EmbeddedFunction KernelWriter::function() {
    record();
    std::string text = "(ptr noalias %context, i64 %begin, i64 %end";
    for (std::size_t p = 0; p < kernel_.parameters.size(); ++p) {
        const Access access = kernel_.parameters[p].access;
        const bool read_only = access == Access::read || access == Access::value;
        text += fmt::format(", ptr {}%d{}", read_only ? "readonly " : "noalias ", p);
    }
    text += std::string(") ") + attributes_of_function(embedding_->inlined) + " {\n" + body_;
    return {text, declarations_, uses_fault_};
}

// ---------------------------------------------------------------- ops

void KernelWriter::op(Value v, const Op& op) {
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
        case OpCode::raise: fault(mask_, v, wide_index(op.operand[0])); break;
        default: pure_op(v, op);
    }
}

// item + something uniform stays known as such: its lanes are consecutive.
bool KernelWriter::keeps_consecutive(Value v, const Op& op) {
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

void KernelWriter::pure_op(Value v, const Op& op) {
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
std::string KernelWriter::from_table(const char* row, const Op& op, bool s) {
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

std::string KernelWriter::convert(const Op& op, bool s) {
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
std::string KernelWriter::divide(const Op& op, bool s) {
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
