// The limits of programs that can be one function, and the reasons why others cannot.
#include <set>

#include "engine/backend/cpu/program/program.hpp"
#include "engine/backend/executable.hpp"
#include "engine/backend/plan/inverse_index.hpp"
#include "engine/backend/plan/plan.hpp"
#include "engine/lang/lowering.hpp"

namespace hindcast::backend {

using ir::Access;
using ir::Parameter;

namespace {

constexpr std::int64_t most_items = 512;    // of a launch
constexpr std::int64_t most_bytes = 16384;  // copied or cleared at once
// Limits for all kernels together. Compiling takes about a second per 10000 ops. A batch saves
// more, so it may take longer: a humanoid on eight contacts has 77000 ops with its gradient.
constexpr int most_ops = 20000, most_ops_of_batch = 200000;

std::string why_not(const ProgramCall& call) {
    const std::string name = "'" + call.description + "' ";
    if (call.items > most_items)
        return name + "has " + std::to_string(call.items) + " items, the limit is " +
               std::to_string(most_items);
    for (const FixedPoint& f : fixed_point_parameters(*call.kernel))
        if (f.used) return name + "sums in fixed point";
    const std::vector<Parameter>& parameters = call.kernel->parameters;
    for (std::size_t p = 0; p < parameters.size(); ++p) {
        const Access access = parameters[p].access;
        if (access == Access::atomic) return name + "has atomic operations";
        if (access == Access::sum && call.bindings[p].count > most_items)
            return name + "clears a large array";
    }
    return "";
}

// Addresses of integers that change while the program runs.
std::set<const void*> changing_integers(const ProgramText& text) {
    std::set<const void*> found;
    for (const ProgramPart& part : text.parts)
        for (const ProgramItem& item : part.items) {
            if (const auto* counter = std::get_if<ProgramCounter>(&item)) found.insert(counter->at);
            const auto* call = std::get_if<ProgramCall>(&item);
            if (call == nullptr) continue;
            const std::vector<Parameter>& parameters = call->kernel->parameters;
            for (std::size_t p = 0; p < parameters.size(); ++p)
                if (ir::is_integer(parameters[p].type) && parameters[p].access != Access::read &&
                    parameters[p].access != Access::value)
                    found.insert(call->bindings[p].data);
        }
    return found;
}

bool indices_change(const ProgramCall& call, const std::set<const void*>& changing) {
    const std::vector<Parameter>& parameters = call.kernel->parameters;
    std::vector<int> suspects;
    for (std::size_t p = 0; p < parameters.size(); ++p)
        if (ir::is_integer(parameters[p].type) && changing.contains(call.bindings[p].data))
            suspects.push_back(static_cast<int>(p));
    return gathers_by(call, suspects);
}

}  // namespace

bool gathers_by(const ProgramCall& call, const std::vector<int>& suspects) {
    if (suspects.empty() || call.items == 0) return false;
    const ir::Kernel lowered = lang::lower(*call.kernel, lang::Lowering::all);
    CompileOptions options;
    options.width = 1;
    const Plan plan = make_plan(lowered, form_of(lowered, call.bindings.data()), options,
                                {fixed_point_parameters(*call.kernel)});
    for (std::size_t p = 0; p < plan.rows.size(); ++p) {
        if (plan.rows[p].empty()) continue;
        const InverseIndex gather(plan, static_cast<int>(p));
        for (const int suspect : suspects)
            if (gather.depends_on(suspect)) return true;
    }
    return false;
}

std::string cannot_compile(const ProgramText& text) {
    const std::set<const void*> changing = changing_integers(text);
    int ops = 0;
    for (const ProgramPart& part : text.parts)
        for (const ProgramItem& item : part.items) {
            if (const auto* call = std::get_if<ProgramCall>(&item)) {
                ops += ir::count_ops(*call->kernel);
                if (const std::string why = why_not(*call); !why.empty()) return why;
                if (indices_change(*call, changing))
                    return "'" + call->description + "' adds at indices that change while it runs";
            } else if (const auto* copy = std::get_if<ProgramCopy>(&item)) {
                if (copy->bytes > most_bytes * text.lanes) return "an array that is kept is large";
            } else if (const auto* clear = std::get_if<ProgramClear>(&item)) {
                if (clear->bytes > most_bytes * text.lanes)
                    return "an array that is cleared is large";
            } else if (const auto* check = std::get_if<ProgramCheck>(&item)) {
                if (check->scalars > 4 * most_items * text.lanes)
                    return "an array that is checked is large";
            }
        }
    const int most = text.lanes > 1 ? most_ops_of_batch : most_ops;
    if (ops > most)
        return "its kernels have " + std::to_string(ops) + " ops, the limit is " +
               std::to_string(most);
    return "";
}

}  // namespace hindcast::backend
