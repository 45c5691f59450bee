#include "engine/backend/cuda/emit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/backend/cuda/scalars.hpp"
#include "engine/backend/executable.hpp"
#include "engine/backend/plan/index_check.hpp"
#include "engine/ir/evaluate.hpp"
#include "engine/ir/memory_type.hpp"
#include "engine/lang/lowering.hpp"

namespace hindcast::backend::cuda {

using ir::Access;
using ir::Op;
using ir::OpCode;
using ir::Parameter;
using ir::Type;
using ir::Value;

Plan plan_for(const ir::Kernel& kernel, const Form& form, Sums sums, bool checked) {
    const ir::Kernel lowered = lang::lower(kernel, lang::Lowering::all);
    return make_plan(lowered, form, {.width = 1, .checked = checked},
                     {fixed_point_parameters(kernel), sums == Sums::measured});
}

Plan plan_for(const ir::Kernel& kernel) {
    return plan_for(kernel, usual_form(lang::lower(kernel, lang::Lowering::all)));
}

std::string identifier(const std::string& name) {
    std::string text;
    for (const char c : name)
        text +=
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
    return text;
}

namespace {

std::string sum(int symbol, int component) { return fmt::format("sum_{}_{}", symbol, component); }

std::string report_of(Value v, const std::string& number) {
    return fmt::format("{{ report(fault, item, {}, {}); return; }}", v, number);
}

std::string convert(Type from, Type to, const std::string& x) {
    if (to == Type::boolean) return fmt::format("{} != 0", x);
    if (!ir::is_real(from) || ir::is_real(to)) return fmt::format("({}){}", type_name(to), x);
    return fmt::format("to_{}({})", ir::name_of(to), x);
}
std::string bitcast(Type from, Type to, const std::string& x) {
    if (ir::is_real(from) == ir::is_real(to)) return fmt::format("({}){}", type_name(to), x);
    const bool wide = ir::size_of(from) == 8;
    if (ir::is_real(to))
        return wide ? fmt::format("__longlong_as_double((long long){})", x)
                    : fmt::format("__int_as_float((int){})", x);
    return fmt::format("({}){}({})", type_name(to),
                       wide ? "__double_as_longlong" : "__float_as_int", x);
}

// The parameters of a kernel as the arguments of its function, and how its text reaches them.
class Signature {
public:
    Signature(const Plan& plan, bool any_order)
        : plan_(plan), kernel_(plan.kernel), any_order_(any_order) {}

    // Adds the arguments to `out`; names() are theirs.
    void declare(KernelText& out) {
        using Kind = Argument::Kind;
        const std::vector<char> used = used_symbols();
        out.first_term.assign(kernel_.parameters.size(), -1);
        for (std::size_t k = 0; k < used.size(); ++k) {
            const int p = static_cast<int>(k);
            const Parameter& parameter = kernel_.parameters[k];
            if (!used[k] || parameter.access == Access::reduce) continue;
            const std::string name = buffer(p);
            if (parameter.access == Access::value) {
                add(out, Kind::data, p,
                    fmt::format("const {}*", type_name(ir::memory_type(parameter))), name);
                continue;
            }
            if (is_fixed(p)) {
                if (!any_order_) add(out, Kind::fixed, p, "Fixed*", name + "_fixed");
                add(out, Kind::count, p, "const long long", name + "_count");
                if (!any_order_) continue;
            }
            if (!is_fixed(p) && is_guarded(p))
                add(out, Kind::count, p, "const unsigned long long", name + "_count");
            if (!plan_.rows[k].empty()) {
                out.first_term[k] = out.term_rows;
                out.term_rows += static_cast<int>(plan_.rows[k].size()) * parameter.components;
                continue;
            }
            const char* const constant = parameter.access == Access::read ? "const " : "";
            add(out, Kind::data, p, fmt::format("{}{}*", constant, type_name(parameter.type)),
                name);
            const char* const stride = plan_.form[k].wide ? "const long long" : "const int";
            const Layout layout = plan_.form[k].layout;
            if (layout == Layout::strided)
                add(out, Kind::element_stride, p, stride, name + "_stride");
            if (layout != Layout::elements && parameter.components > 1)
                add(out, Kind::component_stride, p, stride, name + "_plane");
        }
        if (out.term_rows > 0)
            add(out, Kind::terms, -1,
                fmt::format("{}*", type_name(ir::real_type(kernel_.precision))), "terms");
        if (plan_.total_count > 0) add(out, Kind::reduced, -1, "double*", "reduced");
        add(out, Kind::fault, -1, "Fault*", "fault");
        add(out, Kind::items, -1, "const int", "items");
    }
    const std::vector<std::string>& names() const { return names_; }

    std::string buffer(int p) const {
        return fmt::format("{}_{}", identifier(kernel_.parameter(p).name), p);
    }
    bool is_fixed(int p) const { return plan_.fixed[static_cast<std::size_t>(p)].used; }

    std::string element(int symbol, int component, const std::string& index) const {
        const Parameter& p = kernel_.parameter(symbol);
        const ParameterForm& form = plan_.form[static_cast<std::size_t>(symbol)];
        const std::string name = buffer(symbol);
        const std::string i = form.wide ? fmt::format("(long long){}", index) : index;
        std::string offset;
        switch (form.layout) {
            case Layout::elements:
                offset = p.components == 1 ? i : fmt::format("{} * {}", i, p.components);
                if (component > 0) offset += fmt::format(" + {}", component);
                return fmt::format("{}[{}]", name, offset);
            case Layout::strided: offset = fmt::format("{} * {}_stride", i, name); break;
            case Layout::shared: offset = "0"; break;
            default: offset = i;
        }
        if (component > 0) offset += fmt::format(" + {} * {}_plane", component, name);
        return fmt::format("{}[{}]", name, offset);
    }

    // Launches that follow one with a fault run before the host knows of it, and may load at the
    // same wrong index: an index that comes of state loads 0 there, or the device would be lost.
    bool is_guarded(const Op& op) const {
        if (plan_.checked)
            return reaches_an_element(op.code) && !is_fixed(op.symbol) &&
                   kernel_.op(op.operand[0]).code != OpCode::item;
        return op.code == OpCode::load && !is_static_value(kernel_, op.operand[0]) &&
               plan_.form[static_cast<std::size_t>(op.symbol)].layout != Layout::shared;
    }
    bool is_guarded(int p) const {
        return std::any_of(kernel_.ops.begin(), kernel_.ops.end(),
                           [&](const Op& op) { return op.symbol == p && is_guarded(op); });
    }

private:
    void add(KernelText& out, Argument::Kind kind, int parameter, const std::string& type,
             const std::string& name) {
        out.arguments.push_back({kind, parameter, type});
        names_.push_back(name);
    }
    std::vector<char> used_symbols() const {
        std::vector<char> used(kernel_.parameters.size(), 0);
        for (const Op& op : kernel_.ops)
            if (op.symbol >= 0 && op.code != OpCode::argument && op.code != OpCode::result)
                used[static_cast<std::size_t>(op.symbol)] = 1;
        return used;
    }

    const Plan& plan_;
    const ir::Kernel& kernel_;
    bool any_order_;
    std::vector<std::string> names_;
};

class Writer {
public:
    Writer(const Plan& plan, const std::string& name, bool any_order)
        : plan_(plan), kernel_(plan.kernel), any_order_(any_order), signature_(plan, any_order) {
        out_.name = name;
        names_.resize(kernel_.ops.size());
    }

    KernelText write() {
        signature_.declare(out_);
        for (std::size_t v = 0; v < kernel_.ops.size(); ++v) leaf(static_cast<Value>(v));
        begin_sums(0);
        region(0);
        depth_ = 1;
        end_sums();
        std::string arguments;
        for (std::size_t k = 0; k < signature_.names().size(); ++k) {
            const auto& [kind, parameter, type] = out_.arguments[k];
            const bool alone = type.back() == '*' && kind != Argument::Kind::fault &&
                               kind != Argument::Kind::fixed;
            arguments += fmt::format("{}\n        {}{} {}", k == 0 ? "" : ",", type,
                                     alone ? " __restrict__" : "", signature_.names()[k]);
        }
        const char* const rows =
            out_.term_rows > 0 ? "    const int row_length = (items + 63) & ~63;\n" : "";
        out_.text = fmt::format("extern \"C\" __global__ void {}({}) {{\n{}{}{}{}}}\n", out_.name,
                                arguments, item_per_thread, rows, leaves_, body_);
        return std::move(out_);
    }

private:
    // --- lines ---

    void line(const std::string& text) {
        body_ += std::string(static_cast<std::size_t>(4 * depth_), ' ') + text + "\n";
    }
    void place(Value v) {
        const int place = kernel_.op(v).place;
        if (place < 0 || place == place_) return;
        place_ = place;
        const SourcePlace at = kernel_.place_of(v);
        body_ += fmt::format("#line {} \"{}\"\n", at.line, at.file);
    }
    std::string name_for(Value v) const {
        const Op& op = kernel_.op(v);
        const std::string prefix =
            op.name >= 0 ? identifier(kernel_.names[static_cast<std::size_t>(op.name)]) + "_" : "v";
        return prefix + std::to_string(v);
    }
    void define(Value v, const std::string& expression) {
        const std::string name = name_for(v);
        line(fmt::format("const {} {} = {};", type_name(kernel_.op(v).type), name, expression));
        names_[static_cast<std::size_t>(v)] = name;
    }
    const std::string& at(Value v) const { return names_[static_cast<std::size_t>(v)]; }
    Type type_of(Value v) const { return kernel_.op(v).type; }

    // --- leaves ---

    void leaf(Value v) {
        const Op& op = kernel_.op(v);
        std::string& name = names_[static_cast<std::size_t>(v)];
        if (op.code == OpCode::constant) {
            name = constant(op.type, op.bits);
        } else if (op.code == OpCode::item) {
            name = "item";
        } else if (op.code == OpCode::parameter) {
            name = fmt::format("{}_{}", signature_.buffer(op.symbol), op.component);
            leaves_ += fmt::format("    const {} {} = ({}){}[{}];\n", type_name(op.type), name,
                                   type_name(op.type), signature_.buffer(op.symbol), op.component);
        }
    }

    // --- memory ---

    std::string element(const Op& op) const {
        return signature_.element(op.symbol, op.component, at(op.operand[0]));
    }

    std::string load(const Op& op) const {
        const std::string value = element(op);
        if (plan_.checked || !signature_.is_guarded(op)) return value;
        return fmt::format("(unsigned long long){} < {}_count ? {} : 0", at(op.operand[0]),
                           signature_.buffer(op.symbol), value);
    }

    // --- sums: what an item adds, in variables ---

    void begin_sums(int r) {
        for (const Value v : kernel_.region(r).ops) {
            const Op& op = kernel_.op(v);
            if (op.nest >= 0)
                for (const int inner : kernel_.nest(op).region)
                    if (inner >= 0) begin_sums(inner);
            if (op.code != OpCode::accumulate && op.code != OpCode::reduce) continue;
            const Parameter& p = kernel_.parameter(op.symbol);
            const Summation how = plan_.summation[static_cast<std::size_t>(op.symbol)];
            if (op.code == OpCode::accumulate && how == Summation::fixed) continue;
            if (op.code == OpCode::accumulate && how == Summation::gathered) {
                leaves_ += fmt::format("    {} term_{} = {};\n", type_name(op.type), v,
                                       constant(op.type, ir::bits_of(-0.0, op.type)));
            } else if (op.code == OpCode::reduce || how == Summation::own) {
                const auto [entry, fresh] = sums_.try_emplace({op.symbol, op.component}, op.type);
                if (!fresh) continue;
                const bool reads = p.access == Access::accumulate;
                leaves_ += fmt::format(
                    "    {} {} = {};\n", op.code == OpCode::reduce ? "double" : type_name(op.type),
                    sum(op.symbol, op.component),
                    reads ? signature_.element(op.symbol, op.component, "item") : "0");
            }
        }
    }
    void end_sums() {
        for (const auto& [key, type] : sums_) {
            const auto& [symbol, component] = key;
            if (kernel_.parameter(symbol).access == Access::reduce)
                line(fmt::format("reduced[(long long){} * items + item] = {};",
                                 plan_.totals[static_cast<std::size_t>(symbol)] + component,
                                 sum(symbol, component)));
            else
                line(fmt::format("{} = {};", signature_.element(symbol, component, "item"),
                                 sum(symbol, component)));
        }
        for (std::size_t p = 0; p < plan_.totals.size(); ++p)  // targets that nothing is added to
            for (int c = 0; plan_.totals[p] >= 0 && c < kernel_.parameters[p].components; ++c)
                if (!sums_.contains({static_cast<int>(p), c}))
                    line(fmt::format("reduced[(long long){} * items + item] = 0;",
                                     plan_.totals[p] + c));
        for (std::size_t p = 0; p < plan_.rows.size(); ++p) {
            const int components = kernel_.parameters[p].components;
            for (std::size_t r = 0; r < plan_.rows[p].size(); ++r)
                for (int c = 0; c < components; ++c) {
                    const Value site = plan_.rows[p][r].sites[static_cast<std::size_t>(c)];
                    const Type type = kernel_.parameters[p].type;
                    line(fmt::format("terms[(long long){} * row_length + item] = {};",
                                     out_.first_term[p] +
                                         c * static_cast<int>(plan_.rows[p].size()) +
                                         static_cast<int>(r),
                                     site >= 0 ? "term_" + std::to_string(site)
                                               : constant(type, ir::bits_of(-0.0, type))));
                }
        }
    }

    // --- ops ---

    void region(int r) {
        ++depth_;
        for (const Value v : kernel_.region(r).ops) {
            const Op& op = kernel_.op(v);
            place(v);
            if (op.nest >= 0)
                nested(v, op);
            else
                execute(v, op);
        }
        --depth_;
    }

    void execute(Value v, const Op& op) {
        const auto operand = [&](int k) -> const std::string& { return at(op.operand[k]); };
        const auto slot = [&] { return operand(0) + "[" + operand(1) + "]"; };
        if (plan_.checked && signature_.is_guarded(op)) check_index(v, op);
        switch (op.code) {
            case OpCode::load: define(v, load(op)); break;
            case OpCode::own_load:
            case OpCode::fetch: define(v, element(op)); break;
            case OpCode::own_store:
            case OpCode::store_once:
            case OpCode::put: line(element(op) + " = " + operand(1) + ";"); break;
            case OpCode::take:
                define(v, element(op));
                line(element(op) + " = 0;");
                break;
            case OpCode::accumulate: accumulate(v, op); break;
            case OpCode::reduce:
                line(fmt::format("{0} = {0} + (double){1};", sum(op.symbol, op.component),
                                 operand(0)));
                break;
            case OpCode::atomic_add:
            case OpCode::atomic_min:
            case OpCode::atomic_max: atomic(op); break;
            case OpCode::local: local(v, op); break;
            case OpCode::local_load: define(v, slot()); break;
            case OpCode::local_put: line(slot() + " = " + operand(2) + ";"); break;
            case OpCode::raise: line(report_of(v, operand(0))); break;
            case OpCode::local_accumulate:
                line(slot() + " = " + slot() + (op.type == Type::boolean ? " || " : " + ") +
                     operand(2) + ";");
                break;
            default: define(v, pure(v, op));
        }
    }

    void accumulate(Value v, const Op& op) {
        const Summation how = plan_.summation[static_cast<std::size_t>(op.symbol)];
        if (how == Summation::fixed)
            fixed(v, op);
        else if (how == Summation::atomic)
            atomic(op);
        else if (how == Summation::gathered)
            line(fmt::format("term_{} = {};", v, at(op.operand[1])));
        else
            line(fmt::format("{0} = {0} + {1};", sum(op.symbol, op.component), at(op.operand[1])));
    }

    void check_index(Value v, const Op& op) {
        const std::string& index = at(op.operand[0]);
        line("if ((unsigned long long)(long long)" + index + " >= (unsigned long long)" +
             signature_.buffer(op.symbol) + "_count) " + report_of(v, index));
    }

    // An index out of range is a fault, always.
    void fixed(Value v, const Op& op) {
        const std::string name = signature_.buffer(op.symbol), &index = at(op.operand[0]);
        const int components = kernel_.parameter(op.symbol).components;
        check_index(v, op);
        if (any_order_) return atomic(op);
        if (plan_.fixed[static_cast<std::size_t>(op.symbol)].counted)
            line(fmt::format("atomicAdd(&{}_fixed->terms, 1ull);", name));
        if (plan_.measure) {
            line(fmt::format("note_fixed({}_fixed, {});", name, at(op.operand[1])));
            return;
        }
        const std::string size =
            op.type == Type::f64 ? fmt::format("{}_count * {}", name, components) : "0";
        line(fmt::format("add_fixed({}_fixed, (long long){} * {} + {}, {}, {});", name, index,
                         components, op.component, size, at(op.operand[1])));
    }

    void atomic(const Op& op) {
        const bool adds = op.code == OpCode::atomic_add || op.code == OpCode::accumulate;
        const char* const how = adds ? "Add" : op.code == OpCode::atomic_min ? "Min" : "Max";
        // CUDA's atomicAdd of 64 bits is unsigned; in two's complement the bits are the same.
        const bool cast = adds && op.type == Type::i64;
        const char* const as = cast ? "(unsigned long long*)" : "";
        line(fmt::format("atomic{}({}&{}, {}{});", how, as, element(op),
                         cast ? "(unsigned long long)" : "", at(op.operand[1])));
    }

    // [index], cleared up to its size.
    void local(Value v, const Op& op) {
        const std::string name = "local" + std::to_string(v), &size = at(op.operand[0]);
        line(fmt::format("{} {}[{}];", type_name(op.type), name, op.bits));
        line(fmt::format("for (int k = 0; k < {0} && k < {1}; ++k) {2}[k] = {3};", size, op.bits,
                         name, constant(op.type, ir::local_start(op.type))));
        names_[static_cast<std::size_t>(v)] = name;
    }

    std::string pure(Value v, const Op& op) const {
        const Value a = op.operand[0], b = op.operand[1];
        const Type from = type_of(a);
        switch (op.code) {
            case OpCode::variable:
            case OpCode::stop_gradient:
            case OpCode::attach_slope: return at(a);
            case OpCode::select:
                return fmt::format("{} ? {} : {}", at(a), at(b), at(op.operand[2]));
            case OpCode::convert: return convert(from, op.type, at(a));
            case OpCode::bitcast: return bitcast(from, op.type, at(a));
            default: break;
        }
        std::string text = from_table(ir::info(op.code).cuda, op);
        if (ir::is_integer(op.type)) return integer(v, op, text);
        return text;
    }

    // Signed numbers wrap around: the unsigned operation is meant.
    std::string integer(Value v, const Op& op, const std::string& text) const {
        const std::string &a = at(op.operand[0]), &b = op.operand[1] >= 0 ? at(op.operand[1]) : a;
        const char* const u = ir::size_of(op.type) == 4 ? "unsigned" : "unsigned long long";
        const char* sign = nullptr;
        switch (op.code) {
            case OpCode::add: sign = "+"; break;
            case OpCode::sub: sign = "-"; break;
            case OpCode::mul: sign = "*"; break;
            case OpCode::shift_left: sign = "<<"; break;
            case OpCode::shift_right: return fmt::format("{} >> {}", a, b);
            case OpCode::div: return fmt::format("{} / {}", a, b);
            case OpCode::rem: return fmt::format("{} % {}", a, b);
            case OpCode::neg: return fmt::format("({})(0 - ({}){})", type_name(op.type), u, a);
            default: break;
        }
        if (sign == nullptr) {
            if (text.empty())
                throw Error(fmt::format("internal: the CUDA back end has no {} of {}",
                                        ir::info(op.code).name, name_of(op.type)))
                    .in_kernel(kernel_.name)
                    .at(kernel_.place_of(v));
            return text;
        }
        if (!ir::is_signed(op.type)) return fmt::format("{} {} {}", a, sign, b);
        return fmt::format("({})(({}){} {} ({}){})", type_name(op.type), u, a, sign, u, b);
    }

    // Fills in a text of the op table: 0 1 2 are the operands.
    std::string from_table(const std::string& row, const Op& op) const {
        std::string text;
        for (const char c : row)
            if (c >= '0' && c <= '2')
                text += at(op.operand[c - '0']);
            else
                text += c;
        return text;
    }

    // --- branches and loops ---

    void nested(Value v, const Op& op) {
        const ir::Nest& nest = kernel_.nest(op);
        if (op.code != OpCode::if_) return loop(v, op, nest);
        for (const Value result : nest.results) declare(result, name_for(result), "");
        line(fmt::format("if ({}) {{", at(op.operand[0])));
        const auto branch = [&](int r) {
            region(r);
            ++depth_;
            for (std::size_t k = 0; k < nest.results.size(); ++k)
                line(at(nest.results[k]) + " = " + at(kernel_.region(r).yields[k]) + ";");
            --depth_;
        };
        branch(nest.region[0]);
        const ir::Region& otherwise = kernel_.region(nest.region[1]);
        if (!otherwise.ops.empty() || !otherwise.yields.empty()) {
            line("} else {");
            branch(nest.region[1]);
        }
        line("}");
    }

    void declare(Value v, const std::string& name, const std::string& first) {
        line(fmt::format("{} {}{};", type_name(type_of(v)), name,
                         first.empty() ? "" : " = " + first));
        names_[static_cast<std::size_t>(v)] = name;
    }

    void loop(Value v, const Op& op, const ir::Nest& nest) {
        const ir::Region& body = kernel_.region(nest.region[0]);
        const bool counted = op.code == OpCode::for_;
        const std::size_t first = counted ? 1 : 0;
        for (std::size_t k = 0; k < nest.results.size(); ++k) {
            const Value argument = body.arguments[k + first];
            declare(argument, name_for(argument), at(nest.inits[k]));
        }
        const std::string trip = "t" + std::to_string(v);
        const std::string over = report_of(v, "0");
        if (counted) {
            names_[static_cast<std::size_t>(body.arguments[0])] = trip;
            if (nest.max_trips > 0)
                line(fmt::format("if ({} > {}) {}", at(op.operand[0]), nest.max_trips, over));
            line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", trip, at(op.operand[0])));
        } else {
            line(fmt::format("for (int {0} = 0;; ++{0}) {{", trip));
        }
        ++depth_;
        for (const Value w : body.ops) {
            const Op& inner = kernel_.op(w);
            place(w);
            if (inner.code == OpCode::break_unless) {
                line(fmt::format("if (!{}) break;", at(inner.operand[0])));
                line(fmt::format("if ({} >= {}) {}", trip, nest.max_trips, over));
            } else if (inner.nest >= 0) {
                nested(w, inner);
            } else {
                execute(w, inner);
            }
        }
        // All new values are read before any is written: carried values may swap.
        std::vector<std::string> next;
        for (std::size_t k = 0; k < nest.results.size(); ++k) {
            const std::string& yield = at(body.yields[k]);
            next.push_back(fmt::format("next{}_{}", v, k));
            if (yield == at(body.arguments[k + first])) continue;
            line(fmt::format("const {} {} = {};", type_name(type_of(body.yields[k])), next[k],
                             yield));
        }
        for (std::size_t k = 0; k < nest.results.size(); ++k)
            if (const std::string& argument = at(body.arguments[k + first]);
                argument != at(body.yields[k]))
                line(argument + " = " + next[k] + ";");
        --depth_;
        line("}");
        for (std::size_t k = 0; k < nest.results.size(); ++k)
            names_[static_cast<std::size_t>(nest.results[k])] = at(body.arguments[k + first]);
    }

    const Plan& plan_;
    const ir::Kernel& kernel_;
    bool any_order_;
    KernelText out_;
    Signature signature_;
    std::vector<std::string> names_;
    std::map<std::pair<int, int>, Type> sums_;  // own and reduce: (symbol, component)
    std::string leaves_, body_;
    int depth_ = 0, place_ = -1;
};

}  // namespace

KernelText emit(const Plan& plan, const std::string& name, bool any_order) {
    return Writer(plan, name, any_order).write();
}

}  // namespace hindcast::backend::cuda
