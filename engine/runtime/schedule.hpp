// Schedule: what a roll-out does, written out. The calls of prologue, step and events in both
// directions, and the histories: which old version of which array is saved before which call, and
// where an adjoint finds it.
//
//   forward    before a call, each of call.saves is copied into its slot; then call.forward runs.
//              After the last step the saves of the step's first call are made once more.
//   backward   each of call.restores binds its parameter to a slot; then call.backward runs.
//              Calls that are not differentiable are passed over.
//
// Whoever runs a roll-out (rollout.cpp, or an executor that compiles a small program as a whole)
// reads it from here; the plan is made by make_schedule().
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/aligned.hpp"
#include "engine/runtime/program.hpp"

namespace hindcast {

enum class RolloutMode : std::uint8_t { first, tangent, second };

// One version of one array: kept in every step, or once.
struct History {
    Array array;
    bool per_step = false;
    AlignedBuffer<std::byte> memory;

    // Throws Error if there is not that much memory; `name` is said in it.
    History(const Array& a, const std::string& name, std::int64_t slots);
    std::byte* slot(std::int64_t t) {
        return memory.data() + (per_step ? static_cast<std::size_t>(t) * array.bytes() : 0);
    }
};

// Where one parameter of an adjoint finds the old value.
struct Restore {
    int parameter = 0;
    History* history = nullptr;
    std::int64_t offset = 0;  // slot = step + offset
};

struct Call {
    Launch::Replay forward, backward;
    bool differentiable = true;  // false: nothing that varies is involved, backward passes over it
    std::uint64_t bindings_version = 0;
    std::vector<Array> writes;
    std::vector<History*> saves;  // to be filled just before the launch
    std::vector<Restore> restores;
    std::vector<std::pair<Need, std::uint64_t>>
        constants;  // never written by the program, with their versions
    double forward_seconds = 0, backward_seconds = 0;
    std::int64_t forward_runs = 0, backward_runs = 0;

    const std::string& name_of(const Need& need) const {
        return backward.kernel().parameter(need.parameter).name;
    }
};
using Calls = std::vector<Call>;

struct Schedule {
    Calls prologue, step;
    std::map<std::int64_t, Calls> events;
    std::deque<History> histories;
    std::vector<Array> gradients;  // zeroed before backward
    std::vector<Array> reduced;    // targets of Reduce, zeroed before forward
    std::vector<std::pair<Array, std::string>>
        written;  // by the program, with a parameter bound to it
    std::int64_t steps = 0;
    bool has_backward = false;
    bool kept = false;  // the last forward run stored what backward needs
    std::int64_t kept_steps = 0;

    template <class F>
    void each_call(F f) {
        for (Call& c : prologue) f(c);
        for (Call& c : step) f(c);
        for (auto& [t, calls] : events)
            for (Call& c : calls) f(c);
    }

    // A launch was bound to another array since.
    bool out_of_date();
    // Changes whenever something that the program writes does.
    std::uint64_t stamp() const;
    // Copies what a call must save before it runs, after t steps.
    void save(Call& call, std::int64_t t, ThreadPool* pool);
    // The versions of what adjoints read and nothing overwrites: noted after the prologue, and held
    // against what they are later. check_constants throws Error, except for the step counter.
    void note_constants();
    void check_constants(const Array& counter, const char* when);
};

// The schedule of a program in a mode. Without `backward` it has no adjoints, keeps nothing and
// allocates no gradient.
std::unique_ptr<Schedule> make_schedule(const Program& prologue, const Program& step,
                                        std::int64_t steps,
                                        const std::map<std::int64_t, Program>& events,
                                        RolloutMode mode, bool backward);

}  // namespace hindcast
