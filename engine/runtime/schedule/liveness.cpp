// The calls and arrays to recompute steps: backwards liveness over the step and the events.
//
// An array is live at a point of the program if what is computed later, or saved for an adjoint
// later, depends on what it holds there. A call runs again when steps are recomputed if it writes
// something live. A checkpoint holds the arrays that are live at the start of a step; a step
// follows every step here (also the last: its end is what the next one would find), and at each
// boundary any of the events may run, or none. Sums that are never read, such as an objective's,
// are not live, so that recomputing adds nothing to them.
//
// A write ends an array's life upwards only if it surely defines the whole array: a Sum, which
// begins by clearing it, or a Write with one item per element (all of its components are stored on
// every path, or the kernel does not build).
#include <algorithm>

#include "engine/runtime/array/array_set.hpp"
#include "engine/runtime/schedule/schedule.hpp"

namespace hindcast {

namespace {

using ir::Access;

bool is_read(Access access) {
    return access == Access::read || access == Access::value || access == Access::read_write ||
           access == Access::exclusive;
}

bool defines_all(const Call& call, std::size_t p) {
    const Access access = call.forward.kernel().parameters[p].access;
    return access == Access::sum ||
           (access == Access::write &&
            call.forward.arrays()[p].elements() == call.forward.launch().items());
}

// From what is live after the calls to what is live before them.
void go_up(Calls& calls, ArraySet& live) {
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
        const std::vector<Array>& arrays = call->forward.arrays();
        const bool needed = std::any_of(call->writes.begin(), call->writes.end(),
                                        [&](const Array& a) { return live.contains(a); });
        if (needed) {
            call->recomputed = true;
            for (std::size_t p = 0; p < arrays.size(); ++p)
                if (arrays[p] && defines_all(*call, p)) live.erase(arrays[p]);
            for (std::size_t p = 0; p < arrays.size(); ++p)
                if (arrays[p] && is_read(call->forward.kernel().parameters[p].access))
                    live.insert(arrays[p]);
        }
        for (const History* h : call->saves) live.insert(h->array);
    }
}

}  // namespace

void find_what_is_recomputed(Schedule& s) {
    ArraySet start, end;  // of a step: after and before the events of a boundary
    for (bool changed = true; changed;) {
        ArraySet live = end;
        go_up(s.step, live);
        changed = start.insert(live);
        changed |= end.insert(start);
        for (EventProgram& program : s.event_programs) {
            if (program.times.front() == 0) continue;  // before the first step
            live = start;
            go_up(program.calls, live);
            changed |= end.insert(live);
        }
    }
    ArraySet written, changing;  // by recomputed calls; by any call of the step or an event
    const auto each = [&](auto f) {
        for (Call& call : s.step) f(call);
        for (EventProgram& program : s.event_programs)
            if (program.times.front() > 0)
                for (Call& call : program.calls) f(call);
    };
    each([&](const Call& call) {
        for (const Array& a : call.writes) {
            changing.insert(a);
            if (call.recomputed) written.insert(a);
        }
    });
    // In the order of the program, so that nothing depends on addresses.
    ArraySet listed, read;
    each([&](const Call& call) {
        const std::vector<Array>& arrays = call.forward.arrays();
        for (std::size_t p = 0; p < arrays.size(); ++p) {
            const Array& array = arrays[p];
            if (!array) continue;
            if (changing.contains(array)) {
                if (!listed.insert(array)) continue;
                if (start.contains(array)) s.state.push_back(array);
                if (written.contains(array)) s.recomputed.push_back(array);
            } else if (call.recomputed && read.insert(array)) {
                s.inputs.push_back({array, call.forward.kernel().parameters[p].name,
                                    call.forward.launch().description(), 0});
            }
        }
    });
}

}  // namespace hindcast
