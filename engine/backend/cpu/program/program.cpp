#include "engine/backend/cpu/program/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/backend/cpu/emit/emitter.hpp"
#include "engine/backend/cpu/emit/text_writer.hpp"
#include "engine/backend/executable.hpp"
#include "engine/backend/jit/machine_code.hpp"
#include "engine/backend/plan/inverse_index.hpp"
#include "engine/backend/plan/plan.hpp"
#include "engine/backend/plan/reduction.hpp"
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
        AlignedBuffer<char> arena;
        std::vector<InverseIndex> inverses;  // one per gathered sum
        TermMemory terms;

        Called(ProgramCall what, int width);
        std::int64_t bytes() const;
        // Raises the fault that the call has reported, if any.
        void raise_if_any(Context& of) const;
        // Adds up the gathered sum number `which`.
        static void add_gathered(const Called* c, std::int64_t which, void* target);
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
    for (std::size_t p = 0; p < plan.rows.size(); ++p)
        if (!plan.rows[p].empty()) {
            inverses.emplace_back(plan, static_cast<int>(p));
            inverses.back().prepare(call.bindings.data(), call.items);
        }
    terms.lay_out(plan, inverses, call.items);
    context.totals = totals.data();
    context.arena = arena.data();
    context.scratch = terms.rows();
}

std::int64_t CpuProgram::State::Called::bytes() const {
    std::size_t sum = totals.size() * sizeof(double) + arena.size() + terms.bytes();
    for (const InverseIndex& inverse : inverses) sum += inverse.bytes();
    return static_cast<std::int64_t>(sum);
}

void CpuProgram::State::Called::add_gathered(const Called* c, std::int64_t which, void* target) {
    const InverseIndex& inverse = c->inverses[static_cast<std::size_t>(which)];
    Binding to = c->call.bindings[inverse.symbol()];
    to.data = target;
    inverse.run(to, c->terms.rows(), 0, to.count);
}

std::int64_t working_bytes(const ProgramText& text, int width) {
    std::int64_t sum = 0;
    for (const ProgramPart& part : text.parts)
        for (const ProgramItem& item : part.items)
            if (const auto* call = std::get_if<ProgramCall>(&item))
                sum += CpuProgram::State::Called(*call, width).bytes();
    return sum;
}

namespace {

// Called by the compiled code: what is too long to write out.

// Adds the total of a chunk.
void add_total(double* lanes, double* target) { *target += 0.0 + add_pairwise(lanes); }

template <class T>
void find_not_finite(const T* data, std::int64_t scalars, std::int32_t* flag) {
    bool wrong = false;  // x - x is zero, or NaN where x is not finite
    for (std::int64_t k = 0; k < scalars; ++k) wrong |= data[k] - data[k] != 0;
    if (wrong) *flag = 1;
}

}  // namespace

// Writes the function: void program(ptr %frame, i64 %begin, i64 %end, i64 %shift), where frame
// holds every address once; the numbers are those of a ranged text.
class CpuProgram::Writer : TextWriter {
public:
    Writer(State& state, int width) : state_(state), width_(width) {}

    std::string write(const ProgramText& text) {
        const std::string first = label();
        jump(first);
        start(first);
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
    std::string address(const void* memory) {
        const auto [at, fresh] = addresses_.try_emplace(memory, state_.frame.size());
        if (fresh) state_.frame.push_back(const_cast<void*>(memory));
        if (inlined_) return "%p" + std::to_string(at->second);
        // If there are many, each is loaded at its use.
        return let("load ptr, ptr {}, !invariant.load !0",
                   let("getelementptr ptr, ptr %frame, i64 {}", at->second));
    }
    template <class F>
    std::string entry_of(F* f) {
        return address(reinterpret_cast<const void*>(f));
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
        const std::string n = label();
        std::string first = std::to_string(down ? part.begin - 1 : part.begin),
                    last = std::to_string(part.end);
        if (ranged_) {
            first = down ? let("sub i64 %end, 1") : "%begin";
            last = down ? "%begin" : "%end";
        }
        jump(n);
        const std::string before = block_;
        start(n);
        step_ = let("phi i64 [ {}, %{} ], [ %n{}, %e{} ]", first, before, n, n);
        for (const ProgramItem& item : part.items) write(item);
        jump("e" + n);
        start("e" + n);
        put("%n{} = add i64 {}, {}", n, step_, down ? -1 : 1);
        branch(let("icmp {} i64 %n{}, {}", down ? "sge" : "slt", n, last), n, "x" + n);
        start("x" + n);
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
        const std::string t = let("add i64 {}, {}", step_, check.offset);
        when(let("icmp eq i64 {}, 0", let("urem i64 {}, {}", t, check.every)), [&] {
            const bool wide = check.type == ir::Type::f64;
            put("call void {}(ptr {}, i64 {}, ptr {})",
                wide ? entry_of(find_not_finite<double>) : entry_of(find_not_finite<float>),
                address(check.data), check.scalars, address(check.flag));
        });
    }

    // piece(offset, bytes) for all bytes: once, or in a loop and for the remainder.
    template <class F>
    void in_pieces(std::int64_t bytes, F piece) {
        if (bytes <= 0) return;
        if (bytes <= most_straight) return piece("0", bytes);
        const std::int64_t whole = bytes / piece_bytes * piece_bytes;
        const std::string n = label(), before = block_;
        jump(n);
        start(n);
        const std::string offset = let("phi i64 [ 0, %{} ], [ %w{}, %{} ]", before, n, n);
        piece(offset, piece_bytes);
        put("%w{} = add i64 {}, {}", n, offset, piece_bytes);
        branch(let("icmp slt i64 %w{}, {}", n, whole), n, "y" + n);
        start("y" + n);
        if (bytes > whole) piece(std::to_string(whole), bytes - whole);
    }

    void copy_bytes(const std::string& to, const std::string& from, std::int64_t bytes) {
        in_pieces(bytes, [&](const std::string& offset, std::int64_t size) {
            put("{}",
                call("void", "memcpy.inline.p0.p0.i64",
                     {{"ptr", "align 4 " + let("getelementptr i8, ptr {}, i64 {}", to, offset)},
                      {"ptr", "align 4 " + let("getelementptr i8, ptr {}, i64 {}", from, offset)},
                      {"i64", std::to_string(size)},
                      {"i1", "false"}}));
        });
    }

    void fill_zero(const std::string& to, std::int64_t bytes) {
        in_pieces(bytes, [&](const std::string& offset, std::int64_t size) {
            put("{}",
                call("void", "memset.inline.p0.i64",
                     {{"ptr", "align 4 " + let("getelementptr i8, ptr {}, i64 {}", to, offset)},
                      {"i8", "0"},
                      {"i64", std::to_string(size)},
                      {"i1", "false"}}));
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
        for (std::size_t k = 0; k < c.inverses.size(); ++k)
            gather(c, k, data[c.inverses[k].symbol()]);
        for (std::size_t p = 0; p < data.size(); ++p) {
            const Parameter& parameter = c.plan.kernel.parameters[p];
            if (parameter.access != Access::reduce || call.bindings[p].data == nullptr) continue;
            for (int k = 0; k < parameter.components; ++k)
                put("call void {}(ptr {}, ptr {})", entry_of(add_total),
                    address(&c.totals[(c.plan.totals[p] + k) * reduce_lanes]),
                    let("getelementptr double, ptr {}, i64 {}", data[p], k));
        }
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

    // The pass over the targets; written out if it is short.
    void gather(const State::Called& c, std::size_t which, const std::string& data) {
        const InverseIndex& inverse = c.inverses[which];
        const int symbol = inverse.symbol();
        const Parameter& p = c.plan.kernel.parameter(symbol);
        const Binding& b = c.call.bindings[symbol];
        if (inverse.first()[b.count] > most_unrolled || b.count > most_unrolled) {
            put("call void {}(ptr {}, i64 {}, ptr {})", entry_of(State::Called::add_gathered),
                address(&c), which, data);
            return;
        }
        // Entries that are known: no index is read, no branch taken.
        const std::string t = p.type == ir::Type::f64 ? "double" : "float";
        const bool clears = p.access == Access::sum;
        for (int group = 0; group < group_count(p.components); ++group) {
            const int n = group_size(p.components, group);
            const std::string v = fmt::format("<{} x {}>", padded(n), t);
            const std::size_t row = c.plan.scratch[symbol] + group * c.plan.rows[symbol].size();
            const std::string terms = address(c.terms.rows()[row]);
            for (std::int64_t i = 0; i < b.count; ++i) {
                const std::uint32_t first = inverse.first()[i], last = inverse.first()[i + 1];
                if (first == last && !clears) continue;
                std::vector<std::string> at;
                for (int k = 0; k < n; ++k)
                    at.push_back(let("getelementptr {}, ptr {}, i64 {}", t, data,
                                     i * b.element_stride + (4 * group + k) * b.component_stride));
                std::string sum = "zeroinitializer";
                for (int k = 0; k < n && !clears; ++k)
                    sum = let("insertelement {} {}, {} {}, i64 {}", v, k == 0 ? "poison" : sum, t,
                              let("load {}, ptr {}", t, at[static_cast<std::size_t>(k)]), k);
                for (std::uint32_t e = first; e < last; ++e) {
                    const std::string from =
                        let("getelementptr {}, ptr {}, i64 {}", v, terms, inverse.entries()[e]);
                    sum = let("fadd {} {}, {}", v, sum, let("load {}, ptr {}, align 4", v, from));
                }
                for (int k = 0; k < n; ++k)
                    put("store {} {}, ptr {}", t, let("extractelement {} {}, i64 {}", v, sum, k),
                        at[static_cast<std::size_t>(k)]);
            }
        }
    }

    State& state_;
    int width_;
    std::string functions_, step_ = "0";
    std::map<std::string, std::string> defined_;  // functions: text -> name
    std::map<const void*, std::size_t> addresses_;
    bool uses_fault_ = false, ranged_ = false, inlined_ = true;
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

void CpuProgram::State::Called::raise_if_any(Context& of) const {
    if (!of.fault.is_there()) return;
    const KernelFault fault = of.fault;
    of.fault.item = INT64_MAX;
    raise_fault(plan.kernel, fault, call.bindings.data());
}

void CpuProgram::run() {
    if (state_->ranged) throw Error("internal: a text over a range runs without one");
    const FloatEnvironment environment;
    state_->entry(state_->frame.data(), 0, 0, 0);
    for (const auto& c : state_->calls) c->raise_if_any(c->context);
}

void CpuProgram::run(std::int64_t begin, std::int64_t end, std::int64_t shift) {
    if (!state_->ranged || begin >= end) throw Error("internal: a program runs over no range");
    const FloatEnvironment environment;
    state_->entry(state_->frame.data(), begin, end, shift);
    for (const auto& c : state_->calls) c->raise_if_any(c->context);
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
        if (c->plan.total_count > 0 || !c->inverses.empty())
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
        state_->calls[k]->raise_if_any(*frame.contexts[k]);
}

}  // namespace hindcast::backend
