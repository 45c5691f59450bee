#include "engine/backend/cpu/program/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/backend/cpu/emit/emitter.hpp"
#include "engine/backend/executable.hpp"
#include "engine/backend/jit/machine_code.hpp"
#include "engine/backend/plan/inverse_index.hpp"
#include "engine/backend/plan/plan.hpp"
#include "engine/base/float_environment.hpp"
#include "engine/lang/lowering.hpp"

namespace hindcast::backend {

using namespace cpu;
using ir::Access;
using ir::Parameter;

namespace {

constexpr std::int64_t most_straight = 4096;       // bytes handled without a loop
constexpr std::int64_t piece_bytes = 512;          // in a loop
constexpr std::uint32_t most_unrolled = 64;        // entries, and targets, of a gather
constexpr std::uint64_t program_format = 0x10001;  // apart from those of single kernels
// A limit for all kernels together. The time to compile a function grows faster than its length:
// beyond this each kernel is a function of its own, and kernels with the same text share one.
constexpr int most_inlined_ops = 4096;

int ops_of(const ProgramText& text) {
    int ops = 0;
    for (const ProgramPart& part : text.parts)
        for (const ProgramItem& item : part.items)
            if (const auto* call = std::get_if<ProgramCall>(&item))
                ops += ir::count_ops(*call->kernel);
    return ops;
}

}  // namespace

// The working memory of one call, besides its arrays; never moves.
struct CpuProgram::State {
    struct Called {
        ProgramCall call;
        Plan plan;
        Context context;
        AlignedBuffer<double> totals;
        AlignedBuffer<char> arena, scratch_memory;
        std::vector<char*> scratch;
        std::vector<std::unique_ptr<InverseIndex>> gathers;

        Called(ProgramCall what, int width);
        std::int64_t bytes() const;
    };
    std::vector<std::unique_ptr<Called>> calls;
    std::vector<void*> frame;  // every address that the code uses
    std::shared_ptr<CodeRequest> code;
    bool ranged = false;
    void (*entry)(void**, std::int64_t begin, std::int64_t end, std::int64_t shift) = nullptr;
};

// Plans the kernel and allocates what it works with.
CpuProgram::State::Called::Called(ProgramCall what, int widest) : call(std::move(what)) {
    if (call.items == 0) return;
    const ir::Kernel lowered = lang::lower(*call.kernel, lang::Lowering::all);
    CompileOptions options;
    options.width = lanes_for(lowered.precision, widest, call.items);
    plan = make_plan(lowered, form_of(lowered, call.bindings.data()), options,
                     {fixed_point_parameters(*call.kernel)});
    totals = AlignedBuffer<double>(static_cast<std::size_t>(plan.total_count) * reduce_lanes);
    arena = AlignedBuffer<char>(plan.arena_bytes);
    const std::int64_t row = scratch_items(call.items);
    scratch.resize(plan.scratch_offset.size());
    scratch_memory = AlignedBuffer<char>(plan.scratch_offset.back() * row);
    for (std::size_t k = 0; k < scratch.size(); ++k)
        scratch[k] = scratch_memory.data() + plan.scratch_offset[k] * row;
    context.totals = totals.data();
    context.arena = arena.data();
    context.scratch = scratch.data();
    for (std::size_t p = 0; p < plan.rows.size(); ++p)
        if (!plan.rows[p].empty()) {
            gathers.push_back(std::make_unique<InverseIndex>(plan, static_cast<int>(p)));
            gathers.back()->prepare(call.bindings.data(), call.items);
        }
}

std::int64_t CpuProgram::State::Called::bytes() const {
    std::size_t sum = totals.size() * sizeof(double) + arena.size() + scratch_memory.size();
    for (const auto& gather : gathers) sum += gather->bytes();
    return static_cast<std::int64_t>(sum);
}

std::int64_t working_bytes(const ProgramText& text, int width) {
    std::int64_t sum = 0;
    for (const ProgramPart& part : text.parts)
        for (const ProgramItem& item : part.items)
            if (const auto* call = std::get_if<ProgramCall>(&item))
                sum += CpuProgram::State::Called(*call, width).bytes();
    return sum;
}

// Writes the function: void program(ptr %frame, i64 %begin, i64 %end, i64 %shift), where frame
// holds every address once; the numbers are those of a ranged text.
class CpuProgram::Writer {
public:
    Writer(State& state, int width) : state_(state), width_(width) {}

    std::string write(const ProgramText& text) {
        put("br label %b0");
        body_ += "b0:\n";
        block_ = "b0";
        ranged_ = text.ranged;
        inlined_ = ops_of(text) <= most_inlined_ops;
        for (const ProgramPart& part : text.parts) write(part);
        put("ret void");
        std::string front;
        for (std::size_t k = 0; inlined_ && k < state_.frame.size(); ++k)
            front += fmt::format(
                "  %g{0} = getelementptr ptr, ptr %frame, i64 {0}\n"
                "  %p{0} = load ptr, ptr %g{0}, !invariant.load !0\n",
                k);
        std::string text_of_all;
        for (const std::string& d : declarations_) text_of_all += d + "\n";
        if (uses_fault_) text_of_all += fault_function();
        return text_of_all + functions_ +
               "define void @program(ptr noalias readonly %frame, i64 %begin, i64 %end, i64 "
               "%shift) nounwind "
               "\"prefer-vector-width\"=\"512\" \"no-builtins\" {\n" +
               front + body_ + "}\n" + module_end;
    }

private:
    template <class... A>
    void put(fmt::format_string<A...> format, A&&... arguments) {
        body_ += "  " + fmt::format(format, std::forward<A>(arguments)...) + "\n";
    }
    template <class... A>
    std::string let(fmt::format_string<A...> format, A&&... arguments) {
        const std::string name = "%v" + std::to_string(next_++);
        body_ += "  " + name + " = " + fmt::format(format, std::forward<A>(arguments)...) + "\n";
        return name;
    }
    void declare(const std::string& d) { declarations_.insert("declare " + d); }

    std::string address(const void* memory) {
        const auto [at, fresh] = addresses_.try_emplace(memory, state_.frame.size());
        if (fresh) state_.frame.push_back(const_cast<void*>(memory));
        if (inlined_) return "%p" + std::to_string(at->second);
        // If there are many, each is loaded at its use.
        return let("load ptr, ptr {}, !invariant.load !0",
                   let("getelementptr ptr, ptr %frame, i64 {}", at->second));
    }
    std::string address(const MovingMemory& memory) {
        std::string base = address(memory.base);
        if (memory.bytes == 0) return base;
        std::string t = let("add i64 {}, {}", step_, memory.offset);
        if (ranged_) t = let("sub i64 {}, %shift", t);
        return let("getelementptr i8, ptr {}, i64 {}", base,
                   let("mul i64 {}, {}", t, memory.bytes));
    }

    void write(const ProgramPart& part) {
        const bool down = part.end < part.begin;
        const std::int64_t trips = down ? part.begin - part.end : part.end - part.begin;
        if (part.items.empty()) return;
        if (trips == 0 && !ranged_) return;
        if (trips == 1 && !ranged_) {
            step_ = std::to_string(down ? part.end : part.begin);
            for (const ProgramItem& item : part.items) write(item);
            return;
        }
        const int n = next_++;
        std::string first = std::to_string(down ? part.begin - 1 : part.begin),
                    last = std::to_string(part.end);
        if (ranged_) {
            first = down ? let("sub i64 %end, 1") : "%begin";
            last = down ? "%begin" : "%end";
        }
        step_ = fmt::format("%t{}", n);
        put("br label %l{}", n);
        body_ += fmt::format("l{}:\n", n);
        const std::string before = std::exchange(block_, fmt::format("l{}", n));
        put("{} = phi i64 [ {}, %{} ], [ %n{}, %e{} ]", step_, first, before, n, n);
        for (const ProgramItem& item : part.items) write(item);
        put("br label %e{}", n);
        body_ += fmt::format("e{}:\n", n);
        put("%n{} = add i64 {}, {}", n, step_, down ? -1 : 1);
        const std::string more = let("icmp {} i64 %n{}, {}", down ? "sge" : "slt", n, last);
        put("br i1 {}, label %l{}, label %x{}", more, n, n);
        body_ += fmt::format("x{}:\n", n);
        block_ = fmt::format("x{}", n);
    }

    void write(const ProgramItem& item) {
        if (const auto* call = std::get_if<ProgramCall>(&item)) return write(*call);
        if (const auto* copy = std::get_if<ProgramCopy>(&item)) {
            copy_bytes(address(copy->to), address(copy->from), copy->bytes);
        } else if (const auto* clear = std::get_if<ProgramClear>(&item)) {
            fill_zero(address(clear->at), clear->bytes);
        } else if (const auto* check = std::get_if<ProgramCheck>(&item)) {
            write(*check);
        } else {
            const auto& counter = std::get<ProgramCounter>(item);
            const std::string t = let("add i64 {}, {}", step_, counter.offset);
            put("store i32 {}, ptr {}", let("trunc i64 {} to i32", t), address(counter.at));
        }
    }

    void write(const ProgramCheck& check) {
        const int n = next_++;
        const std::string t = let("add i64 {}, {}", step_, check.offset);
        const std::string due = let("icmp eq i64 {}, 0", let("urem i64 {}, {}", t, check.every));
        put("br i1 {}, label %c{}, label %d{}", due, n, n);
        body_ += fmt::format("c{}:\n", n);
        block_ = fmt::format("c{}", n);
        const std::string data = address(check.data), flag = address(check.flag);
        const auto size = static_cast<std::int64_t>(ir::size_of(check.type));
        in_pieces(check.scalars * size, [&](const std::string& offset, std::int64_t bytes) {
            const std::string wrong = not_finite(
                check.type, let("getelementptr i8, ptr {}, i64 {}", data, offset), bytes / size);
            put("store i32 {}, ptr {}",
                let("or i32 {}, {}", let("load i32, ptr {}", flag),
                    let("zext i1 {} to i32", wrong)),
                flag);
        });
        put("br label %d{}", n);
        body_ += fmt::format("d{}:\n", n);
        block_ = fmt::format("d{}", n);
    }

    // True if one of these numbers is not finite.
    std::string not_finite(ir::Type type, const std::string& data, std::int64_t scalars) {
        const char* const element = type == ir::Type::f32 ? "float" : "double";
        std::string wrong = "false";
        for (std::int64_t at = 0; at < scalars;) {
            const std::int64_t lanes = scalars - at >= 8 ? 8 : 1;
            const std::string v = lanes == 1 ? element : fmt::format("<8 x {}>", element);
            const std::string from = let("getelementptr {}, ptr {}, i64 {}", element, data, at);
            const std::string x = let("load {}, ptr {}, align 4", v, from);
            // x - x is zero, or NaN where x is not finite.
            const std::string bad = let("fcmp uno {} {}, {}", v, let("fsub {} {}, {}", v, x, x),
                                        lanes == 1 ? "0.0" : "zeroinitializer");
            const std::string any =
                lanes == 1 ? bad : let("icmp ne i8 {}, 0", let("bitcast <8 x i1> {} to i8", bad));
            wrong = let("or i1 {}, {}", wrong, any);
            at += lanes;
        }
        return wrong;
    }

    // piece(offset, bytes) for all bytes: once, or in a loop and for the remainder.
    template <class F>
    void in_pieces(std::int64_t bytes, F piece) {
        if (bytes <= 0) return;
        if (bytes <= most_straight) return piece("0", bytes);
        const std::int64_t whole = bytes / piece_bytes * piece_bytes;
        const int n = next_++;
        put("br label %m{}", n);
        body_ += fmt::format("m{}:\n", n);
        put("%o{} = phi i64 [ 0, %{} ], [ %w{}, %m{} ]", n, block_, n, n);
        piece(fmt::format("%o{}", n), piece_bytes);
        put("%w{} = add i64 %o{}, {}", n, n, piece_bytes);
        put("br i1 {}, label %m{}, label %y{}", let("icmp slt i64 %w{}, {}", n, whole), n, n);
        body_ += fmt::format("y{}:\n", n);
        block_ = fmt::format("y{}", n);
        if (bytes > whole) piece(std::to_string(whole), bytes - whole);
    }

    void copy_bytes(const std::string& to, const std::string& from, std::int64_t bytes) {
        declare("void @llvm.memcpy.inline.p0.p0.i64(ptr, ptr, i64, i1)");
        in_pieces(bytes, [&](const std::string& offset, std::int64_t size) {
            put("call void @llvm.memcpy.inline.p0.p0.i64(ptr align 4 {}, ptr align 4 {}, i64 {}, "
                "i1 false)",
                let("getelementptr i8, ptr {}, i64 {}", to, offset),
                let("getelementptr i8, ptr {}, i64 {}", from, offset), size);
        });
    }

    void fill_zero(const std::string& to, std::int64_t bytes) {
        declare("void @llvm.memset.inline.p0.i64(ptr, i8, i64, i1)");
        in_pieces(bytes, [&](const std::string& offset, std::int64_t size) {
            put("call void @llvm.memset.inline.p0.i64(ptr align 4 {}, i8 0, i64 {}, i1 false)",
                let("getelementptr i8, ptr {}, i64 {}", to, offset), size);
        });
    }

    void write(const ProgramCall& call) {
        state_.calls.push_back(std::make_unique<State::Called>(call, width_));
        State::Called& c = *state_.calls.back();
        clear_sums(c);
        if (call.items == 0) return;
        EmbeddedFunction function = emit_embedded(c.plan, {c.call.bindings.data(), inlined_});
        const std::string number = "k" + std::to_string(state_.calls.size()),
                          name = define(number, function.text, "; " + call.kernel->name + "\n");
        declarations_.merge(function.declarations);
        uses_fault_ |= function.uses_fault;

        std::vector<std::string> data;
        for (std::size_t p = 0; p < call.bindings.size(); ++p) {
            std::string at = address(call.bindings[p].data);
            for (const auto& [parameter, memory] : call.moving)
                if (parameter == static_cast<int>(p)) at = address(memory);
            data.push_back(at);
        }
        for (std::int64_t begin = 0; begin < call.items; begin += reduce_chunk) {
            if (c.plan.total_count > 0)
                fill_zero(address(c.totals.data()),
                          static_cast<std::int64_t>(c.totals.size() * sizeof(double)));
            std::string arguments = "ptr " + address(&c.context) + ", i64 " +
                                    std::to_string(begin) + ", i64 " + std::to_string(call.items);
            for (const std::string& d : data) arguments += ", ptr " + d;
            put("call void @{}({})", name, arguments);
        }
        for (std::size_t g = 0; g < c.gathers.size(); ++g) gather(c, *c.gathers[g], number, data);
        for (std::size_t p = 0; p < data.size(); ++p)
            if (c.plan.kernel.parameters[p].access == Access::reduce &&
                call.bindings[p].data != nullptr)
                add_totals(c, static_cast<int>(p), data[p]);
    }

    // The name under which the function with this text, which lacks one, can be called.
    std::string define(const std::string& name, const std::string& text,
                       const std::string& comment = "") {
        if (!inlined_)
            if (const auto [entry, fresh] = defined_.try_emplace(text, name); !fresh)
                return entry->second;
        functions_ += comment + "define internal void @" + name + text;
        return name;
    }

    // Sum parameters whose elements the launch does not define.
    void clear_sums(const State::Called& c) {
        const ProgramCall& call = c.call;
        const std::vector<Parameter>& parameters = call.kernel->parameters;
        for (std::size_t p = 0; p < parameters.size(); ++p) {
            if (parameters[p].access != Access::sum || call.bindings[p].data == nullptr) continue;
            const Binding& b = call.bindings[p];
            if (call.items > 0 && c.plan.summation[p] == Summation::gathered) continue;
            if (call.items >= b.count && c.plan.summation[p] == Summation::own) continue;
            const auto size = static_cast<std::int64_t>(ir::size_of(parameters[p].type));
            // Both layouts of an array lie within one block of memory.
            const std::int64_t last = (b.count - 1) * b.element_stride +
                                      (parameters[p].components - 1) * b.component_stride;
            if (b.count > 0) fill_zero(address(b.data), (last + 1) * size);
        }
    }

    // The pass over the targets, as InverseIndex::run does it.
    void gather(const State::Called& c, const InverseIndex& gather, const std::string& number,
                const std::vector<std::string>& data) {
        const int symbol = gather.symbol();
        const Parameter& p = c.plan.kernel.parameter(symbol);
        const Binding& b = c.call.bindings[symbol];
        const std::string t = p.type == ir::Type::f64 ? "double" : "float";
        const bool few = gather.first()[b.count] <= most_unrolled && b.count <= most_unrolled;
        for (int group = 0; group < group_count(p.components); ++group) {
            const int n = group_size(p.components, group), lanes = padded(n);
            const std::size_t which = c.plan.scratch[symbol] + group * c.plan.rows[symbol].size();
            const std::string target = group == 0
                                           ? data[symbol]
                                           : let("getelementptr {}, ptr {}, i64 {}", t,
                                                 data[symbol], 4 * b.component_stride * group);
            if (few) {
                unroll_gather(gather, t, n, lanes, p.access == Access::sum, b,
                              address(c.scratch[which]), target);
                continue;
            }
            const std::string f = define(fmt::format("{}.gather{}.{}", number, symbol, group),
                                         gather_function(t, n, lanes, p.access == Access::sum, b));
            put("call void @{}(ptr {}, ptr {}, ptr {}, ptr {})", f, address(gather.first()),
                address(gather.entries()), address(c.scratch[which]), target);
        }
    }

    // The same, written out for entries that are known: no index is read, no branch taken.
    void unroll_gather(const InverseIndex& gather, const std::string& t, int n, int lanes,
                       bool clears, const Binding& b, const std::string& terms,
                       const std::string& target) {
        const std::string v = fmt::format("<{} x {}>", lanes, t);
        for (std::int64_t i = 0; i < b.count; ++i) {
            const std::uint32_t first = gather.first()[i], last = gather.first()[i + 1];
            if (first == last && !clears) continue;
            std::vector<std::string> at;
            for (int k = 0; k < n; ++k)
                at.push_back(let("getelementptr {}, ptr {}, i64 {}", t, target,
                                 i * b.element_stride + k * b.component_stride));
            std::string sum = "zeroinitializer";
            for (int k = 0; k < n && !clears; ++k)
                sum = let("insertelement {} {}, {} {}, i64 {}", v, k == 0 ? "poison" : sum, t,
                          let("load {}, ptr {}", t, at[static_cast<std::size_t>(k)]), k);
            for (std::uint32_t e = first; e < last; ++e) {
                const std::string from =
                    let("getelementptr {}, ptr {}, i64 {}", v, terms, gather.entries()[e]);
                sum = let("fadd {} {}, {}", v, sum, let("load {}, ptr {}, align 4", v, from));
            }
            for (int k = 0; k < n; ++k)
                put("store {} {}, ptr {}", t, let("extractelement {} {}, i64 {}", v, sum, k),
                    at[static_cast<std::size_t>(k)]);
        }
    }

    std::string gather_function(const std::string& t, int n, int lanes, bool clears,
                                const Binding& b) const {
        const std::string v = fmt::format("<{} x {}>", lanes, t);
        std::string start = "zeroinitializer", load, store;
        const auto at = [&](const char* kind, int c) {
            return fmt::format(
                "  %{0}o{1} = add i64 %at, {2}\n"
                "  %{0}p{1} = getelementptr {3}, ptr %target, i64 %{0}o{1}\n",
                kind, c, c * b.component_stride, t);
        };
        for (int c = 0; c < n; ++c) {
            if (!clears) {
                load += at("i", c) + fmt::format(
                                         "  %x{0} = load {1}, ptr %ip{0}\n"
                                         "  %s{0} = insertelement {2} {3}, {1} %x{0}, i64 "
                                         "{0}\n",
                                         c, t, v, start);
                start = "%s" + std::to_string(c);
            }
            store += at("o", c) + fmt::format(
                                      "  %y{0} = extractelement {1} %sum, i64 {0}\n"
                                      "  store {2} %y{0}, ptr %op{0}\n",
                                      c, v, t);
        }
        return fmt::format(
            R"((ptr noalias readonly %first, ptr noalias readonly %entries, ptr noalias readonly %terms, ptr noalias %target) {0} {{
entry:
  br label %targets
targets:
  %i = phi i64 [ 0, %entry ], [ %next, %stored ]
  %fp = getelementptr i32, ptr %first, i64 %i
  %e0 = load i32, ptr %fp
  %next = add i64 %i, 1
  %lp = getelementptr i32, ptr %first, i64 %next
  %e1 = load i32, ptr %lp
  %at = mul i64 %i, {1}
{2}  br label %entries_head
entries_head:
  %e = phi i32 [ %e0, %targets ], [ %e2, %add ]
  %sum = phi {3} [ {4}, %targets ], [ %sum2, %add ]
  %some = icmp ult i32 %e, %e1
  br i1 %some, label %add, label %stored
add:
  %ez = zext i32 %e to i64
  %ep = getelementptr i32, ptr %entries, i64 %ez
  %which = load i32, ptr %ep
  %wz = zext i32 %which to i64
  %tp = getelementptr {3}, ptr %terms, i64 %wz
  %term = load {3}, ptr %tp, align 4
  %sum2 = fadd {3} %sum, %term
  %e2 = add i32 %e, 1
  br label %entries_head
stored:
{5}  %more = icmp slt i64 %next, {6}
  br i1 %more, label %targets, label %done
done:
  ret void
}}
)",
            attributes_of_function(inlined_), b.element_stride, load, v, start, store, b.count);
    }

    // Adds the lanes of a chunk pairwise, and the sum to the target.
    void add_totals(State::Called& c, int symbol, const std::string& target) {
        for (int k = 0; k < c.plan.kernel.parameter(symbol).components; ++k) {
            std::string lanes = let(
                "load <16 x double>, ptr {}, align 8",
                address(
                    &c.totals[static_cast<std::size_t>(c.plan.totals[symbol] + k) * reduce_lanes]));
            for (int half = reduce_lanes / 2; half > 0; half /= 2) {
                const std::string v = fmt::format("<{} x double>", 2 * half);
                std::vector<int> low, high;
                for (int l = 0; l < half; ++l) low.push_back(l), high.push_back(l + half);
                const auto part = [&](const std::vector<int>& from) {
                    return let("shufflevector {} {}, {} poison, <{} x i32> {}", v, lanes, v, half,
                               list_of("i32", from));
                };
                const std::string a = part(low), b = part(high);
                lanes = let("fadd <{} x double> {}, {}", half, a, b);
            }
            const std::string total = let("extractelement <1 x double> {}, i64 0", lanes);
            const std::string at = let("getelementptr double, ptr {}, i64 {}", target, k);
            const std::string old = let("load double, ptr {}, align 8", at);
            put("store double {}, ptr {}, align 8",
                let("fadd double {}, {}", old, let("fadd double 0.0, {}", total)), at);
        }
    }

    State& state_;
    int width_;
    std::string functions_, body_, block_, step_ = "0";
    std::set<std::string> declarations_;
    std::map<std::string, std::string> defined_;  // functions: text -> name
    std::map<const void*, std::size_t> addresses_;
    bool uses_fault_ = false, ranged_ = false, inlined_ = true;
    int next_ = 0;
};

CpuProgram::CpuProgram(const ProgramText& text, int width) : state_(std::make_unique<State>()) {
    if (const std::string why = cannot_compile(text); !why.empty())
        throw Error("a program cannot be one function: " + why);
    if (text.ranged && text.parts.size() != 1)
        throw Error("internal: a text over a range has one part");
    const CodeTimer timer;
    state_->ranged = text.ranged;
    state_->code = request_machine_code(Writer(*state_, width).write(text), "program",
                                        "whole program", program_format, Haste::patient);
    state_->entry = reinterpret_cast<decltype(state_->entry)>(state_->code->get().entry());
}

CpuProgram::~CpuProgram() = default;

std::int64_t CpuProgram::working_bytes() const {
    std::int64_t sum = 0;
    for (const auto& called : state_->calls) sum += called->bytes();
    return sum;
}

namespace {

// The fault that a call has reported, if any.
template <class Called>
void raise_if_any(Context& context, const Called& c) {
    if (!context.fault.is_there()) return;
    const KernelFault fault = context.fault;
    context.fault.item = INT64_MAX;
    raise_fault(c.plan.kernel, fault, c.call.bindings.data());
}

}  // namespace

void CpuProgram::run() {
    if (state_->ranged) throw Error("internal: a text over a range runs without one");
    const FloatEnvironment environment;
    state_->entry(state_->frame.data(), 0, 0, 0);
    for (const auto& c : state_->calls) raise_if_any(c->context, *c);
}

void CpuProgram::run(std::int64_t begin, std::int64_t end, std::int64_t shift) {
    if (!state_->ranged || begin >= end) throw Error("internal: a program runs over no range");
    const FloatEnvironment environment;
    state_->entry(state_->frame.data(), begin, end, shift);
    for (const auto& c : state_->calls) raise_if_any(c->context, *c);
}

// Addresses of its own, and what calls work with.
class CpuProgram::Frame {
public:
    std::vector<void*> addresses;
    std::vector<std::unique_ptr<Context>> contexts;  // one per call
    std::vector<AlignedBuffer<char>> arenas;
};

std::shared_ptr<CpuProgram::Frame> CpuProgram::frame(const void* begin, std::int64_t bytes,
                                                     std::int64_t shift) const {
    auto made = std::make_shared<Frame>();
    std::map<const void*, void*> own;
    for (const auto& c : state_->calls) {
        if (c->plan.total_count > 0 || !c->gathers.empty())
            throw Error("internal: a program with sums has one frame");
        made->arenas.emplace_back(c->plan.arena_bytes);
        made->contexts.push_back(std::make_unique<Context>());
        made->contexts.back()->arena = made->arenas.back().data();
        own[&c->context] = made->contexts.back().get();
    }
    const auto from = reinterpret_cast<std::uintptr_t>(begin);
    for (void* const address : state_->frame) {
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        const auto found = own.find(address);
        const bool moves = at >= from && at - from < static_cast<std::uintptr_t>(bytes);
        made->addresses.push_back(found != own.end() ? found->second
                                  : moves            ? static_cast<char*>(address) + shift
                                                     : address);
    }
    return made;
}

void CpuProgram::run(Frame& frame) const {
    const FloatEnvironment environment;
    state_->entry(frame.addresses.data(), 0, 0, 0);
    for (std::size_t k = 0; k < frame.contexts.size(); ++k)
        raise_if_any(*frame.contexts[k], *state_->calls[k]);
}

}  // namespace hindcast::backend
