// Schedule: what a roll-out does, written out. The calls of prologue, step and events in both
// directions, and the histories: which old version of which array is saved before which call, and
// where an adjoint finds it.
//
//   forward    before a call, each of call.saves is copied into its slot; then call.forward runs.
//              After the last step the saves of the step's first call are made once more.
//   backward   each of call.restores binds its parameter to a slot; then call.backward runs.
//              Calls that are not differentiable are passed over. Before a step's adjoints the
//              calls whose results are made again run forwards, with what they read restored;
//              unless all call.results were kept after they ran, and are restored themselves.
//
// The histories of steps and events hold a window of steps at a time: one segment of the checkpoint
// plan (checkpoint_plan.hpp), which is all steps where everything is stored. Those of the prologue
// and of the event before the first step are there throughout.
//
// Whoever runs a roll-out (rollout.cpp, or an executor that compiles a small program as a whole)
// reads it from here; make_schedule() makes it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/backend/binding.hpp"
#include "engine/runtime/array/array_set.hpp"
#include "engine/runtime/array/device_memory.hpp"
#include "engine/runtime/array/index_versions.hpp"
#include "engine/runtime/history/checkpoint_plan.hpp"
#include "engine/runtime/history/sparse_history.hpp"
#include "engine/runtime/launch/launch_state.hpp"
#include "engine/runtime/program/program.hpp"
#include "engine/runtime/schedule/rollout_kinds.hpp"

namespace hindcast {

struct EventProgram;

// The slots that a call uses: `step` counts from the start of the window, `occurrence` from the
// event program's first in the window.
struct SlotIndex {
    std::int64_t step = 0, occurrence = 0;
};

// One version of one array: kept in every step, at every occurrence of an event, or once.
struct History {
    using Kept = KeptHow;
    Array array;
    std::string name;  // of a parameter that reads it
    Kept kept = Kept::once;
    const EventProgram* program = nullptr;  // if per_event
    DeviceMemory memory;
    bool mostly_empty = false;  // only some slots are ever filled (step_rotation.hpp)

    std::byte* slot(const SlotIndex& at, std::int64_t offset = 0) {
        const std::int64_t index = kept == Kept::per_step    ? at.step + offset
                                   : kept == Kept::per_event ? at.occurrence
                                                             : 0;
        return memory.data() + static_cast<std::size_t>(index) * array.bytes();
    }
    // The copy of the array's current values into its slot; in the memory of the host.
    backend::Copy copy(const SlotIndex& at);
    // Throws Error if there is not that much memory.
    void allocate(const Device& device, std::int64_t slots);
};

// The place where one parameter of an adjoint finds the old value.
struct Restore {
    int parameter = 0;
    History* history = nullptr;
    std::int64_t offset = 0;  // per_step: slot = step + offset
};

struct Call {
    Launch::Replay forward, backward;
    bool differentiable = true;  // false: nothing that varies is involved, backward passes over it
    bool recomputed = false;     // runs again when steps are recomputed; the others need not
    // In a step: what it writes is not kept, but made again before the step's adjoints run. It
    // defines its arrays from what it reads, and nothing else writes them.
    bool made_again = false;
    std::vector<Restore> restores_again;  // for that run
    std::vector<SparseHistory*> results;  // sums: what it wrote, kept where most of it is zero
    std::uint64_t bindings_version = 0;
    std::vector<Array> writes;
    std::vector<History*> saves;  // to be filled just before the launch
    std::vector<Restore> restores;
    std::vector<std::pair<Need, std::uint64_t>>
        constants;  // never written by the program, with their versions
    double forward_seconds = 0, backward_seconds = 0;
    std::int64_t forward_runs = 0, backward_runs = 0, copies = 0, copied_bytes = 0;

    // The replays that a backward pass runs, in their order.
    template <class F>
    void each_back(F f) const {
        if (made_again) f(forward);
        if (differentiable) f(backward);
    }

    bool has_backward() const { return differentiable && backward; }
    // True if the arrays that it would make again lie in its sparse histories.
    bool holds_results(std::int64_t slot) const {
        return !results.empty() &&
               std::all_of(results.begin(), results.end(),
                           [&](const SparseHistory* r) { return r->holds(slot); });
    }
    // Gives its replays the memory of their arrays back.
    void unbind() const {
        for (const Restore& r : restores) backward.bind_memory(r.parameter, nullptr);
        for (const Restore& r : restores_again) forward.bind_memory(r.parameter, nullptr);
    }

    const std::string& name_of(const Need& need) const {
        return backward.kernel().parameter(need.parameter).name;
    }
};
using Calls = std::vector<Call>;

// The launches of events; the same ones after different steps are one program.
struct EventProgram {
    Calls calls;
    std::vector<std::int64_t> times;  // ascending
    std::int64_t first = 0;           // the index in `times` of the first in the window
};

// An array that recomputing reads, with the name of a parameter and the version that it had.
struct Input {
    Array array;
    std::string name, launch;
    std::uint64_t version = 0;
};

struct Schedule {
    Calls prologue, step;
    std::deque<EventProgram> event_programs;
    struct Event {
        EventProgram* program = nullptr;
        std::int64_t occurrence = 0;  // the index in program->times

        std::int64_t in_window() const { return occurrence - program->first; }
    };
    std::map<std::int64_t, Event> events;
    std::deque<History> histories;
    std::deque<SparseHistory> results;
    std::vector<Array> gradients;  // zeroed before backward
    // There for backward only: the gradients; in second order the tangents of the primal as well.
    std::vector<Array> derivatives;
    std::vector<Array> reduced;  // targets of Reduce, zeroed before forward
    std::vector<std::pair<Array, std::string>>
        written;  // by the program, with a parameter bound to it

    // Calls and arrays for recomputing steps, by liveness (liveness.cpp).
    std::vector<Array> state;       // a checkpoint: restored at the start of a step
    std::vector<Array> recomputed;  // written by recomputed calls
    std::vector<Input> inputs;      // read by them, and left alone by steps and events

    std::int64_t steps = 0, cut = 0;  // backward goes back to the start of step `cut`
    bool has_backward = false;
    MemoryDemand demand;
    CheckpointPlan plan;
    std::int64_t history_bytes = 0;  // allocated

    template <class F>
    void each_call(F f) {
        for (Call& c : prologue) f(c);
        for (Call& c : step) f(c);
        for (EventProgram& program : event_programs)
            for (Call& c : program.calls) f(c);
    }
    // Every array that the launches work with, some more than once.
    template <class F>
    void each_array(F f) {
        each_call([&](const Call& c) {
            c.forward.bound().each_array(f);
            if (has_backward && c.differentiable) c.backward.bound().each_array(f);
        });
        for (const Array& a : reduced) f(a);
        for (const Array& a : gradients) f(a);
    }
    const Event* event(std::int64_t t) const {
        const auto found = events.find(t);
        return found == events.end() ? nullptr : &found->second;
    }

    // Before work in the memory of the host that does not run the launches.
    void bring_to_host();
    // A launch was bound to another array since.
    bool out_of_date();
    // Changes whenever something that the program writes does.
    std::uint64_t stamp() const;
    // Memory for the histories of segments of so many steps. Throws Error.
    void allocate(const Device& device, std::int64_t segment);
    void release();
    // The histories hold the steps from here on.
    void move_window(std::int64_t begin);
    // Copies what a call must save before it runs.
    static void save(const Call& call, const SlotIndex& at, const Device& device);
    // Versions of the arrays that adjoints and recomputed calls read and nothing overwrites: noted
    // after the prologue and, for recomputed calls, after the event before the first step; compared
    // with the versions later. check_constants throws Error, except for the step counter.
    void note_constants();
    void note_inputs();
    void check_constants(const Array& counter, const char* when);
};

// Premises of a run that was compiled or noted as a whole, besides the values of reals: the
// addresses of the histories, and the contents of index arrays.
class Premises {
public:
    void note(Schedule& schedule, const Array& counter);
    bool hold(Schedule& schedule) const;

private:
    std::vector<const std::byte*> histories_;
    IndexVersions indices_;
};

// The schedule of a program in a mode. Without `backward` it has no adjoints, keeps nothing and
// allocates no gradient. `horizon`: backward goes over so many last steps; 0: over all. `on`: of
// fusion, rematerialization and sparse histories those that may be used.
std::unique_ptr<Schedule> make_schedule(const Program& prologue, const Program& step,
                                        std::int64_t steps,
                                        const std::map<std::int64_t, Program>& events,
                                        RolloutMode mode, bool backward, std::int64_t horizon = 0,
                                        const PassSet& on = PassSet::none());

// By a call of any event.
ArraySet written_by_events(const Schedule& schedule);

// True if an array, or another that shares its memory, is among these; some may be empty.
bool contains(const std::vector<Array>& list, const Array& array);

// Fills state, recomputed, inputs, and recomputed of each call, from what the histories need.
void find_what_is_recomputed(Schedule& schedule);

}  // namespace hindcast
