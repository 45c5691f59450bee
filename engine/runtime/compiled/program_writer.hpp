// What a schedule does as texts for backend/cpu/program/program.hpp: the items of calls in both
// directions, and what tells whether a function or its launches are faster.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/backend/cpu/program/program.hpp"
#include "engine/runtime/device/device.hpp"
#include "engine/runtime/schedule/schedule.hpp"

namespace hindcast {

class ProgramWriter {
public:
    using Items = std::vector<backend::ProgramItem>;

    ProgramWriter(Schedule& schedule, Array counter)
        : schedule_(schedule), counter_(std::move(counter)) {}

    static void clears(const std::vector<Array>& arrays, Items& items);
    // *counter = t + offset; nothing without a counter.
    void counter(std::int64_t offset, Items& items) const;
    // Copies into the slot of step t, or of the event, or the only one.
    static void save(History& history, const Schedule::Event* event, Items& items);
    static void forward(Call& call, const Schedule::Event* event, bool keep, Items& items);
    // Nothing for a call that is not differentiable.
    static void backward(Call& call, const Schedule::Event* event, Items& items);

    // Why the launches of these calls must run one by one; "" if they need not.
    std::string refuse(const DeviceOptions& device, bool backward) const;

private:
    Schedule& schedule_;
    Array counter_;
};

// One kind of work that can be done by launches or by a function: which of them it is.
struct ExecutionChoice {
    enum class Choice : std::uint8_t { open, function, launches };

    Choice choice = Choice::open;
    int launched = 0, called = 0;               // runs that were timed
    double launches = 1e300, function = 1e300;  // least seconds
    std::unique_ptr<backend::CpuProgram> program;
    Premises premises;
    std::string refusal;

    // Runs of either kind, before the other one is tried or the faster one is kept.
    static constexpr int trials = 3;
    static double now();  // seconds

    bool wants_time() const { return launched < trials; }
    // Runs as a function, or returns false: launch by launch, please. compile() calls make();
    // call() runs the program; launch_count() launches, which are `parts` equal parts, are timed
    // together. Throws Error under `always` if the program, called `what`, cannot be compiled.
    template <class Count, class Compile, class Call>
    bool run(WholeProgramUse use, Schedule& schedule, const char* what, std::int64_t parts,
             Count launch_count, Compile compile, Call call);
    // The program of this text, unless `why` says that it must not be one; or why it is not.
    template <class Text>
    void make(std::string why, Text text, int width, Schedule& schedule, const Array& counter);
    void took(double seconds);         // launch by launch
    void called_once(double seconds);  // as a function
    // Whether launches that take so long, this many of them, are too long to be worth compiling.
    bool is_long(std::int64_t launch_count) const;
    // "one function (1.2 us against 5.3 us launch by launch)", or why not.
    std::string report() const;
    static constexpr const char* too_long = "its launches are long";
};

template <class Count, class Compile, class Call>
bool ExecutionChoice::run(WholeProgramUse use, Schedule& schedule, const char* what,
                          std::int64_t parts, Count launch_count, Compile compile, Call call) {
    const auto once = [&] {
        schedule.bring_to_host();
        if (!premises.hold(schedule)) compile();
        if (program) return call();
        choice = Choice::launches;
        return false;
    };
    if (use == WholeProgramUse::never) return false;
    if (use == WholeProgramUse::always) {
        if (!program) compile();
        if (!refusal.empty())
            throw Error(std::string(what) + " cannot be one function: " + refusal)
                .remedy("let the program choose (automatic)");
        return once();
    }
    if (choice == Choice::function) return once();
    if (choice == Choice::launches || wants_time()) return false;
    if (!program) {
        if (is_long(launch_count()))
            refusal = too_long;
        else
            compile();
        if (!refusal.empty()) {
            choice = Choice::launches;
            return false;
        }
    }
    const double start = now();
    if (!once()) return false;
    called_once((now() - start) / static_cast<double>(parts));
    return true;
}

template <class Text>
void ExecutionChoice::make(std::string why, Text text, int width, Schedule& schedule,
                           const Array& counter) {
    program.reset();
    refusal = std::move(why);
    if (!refusal.empty()) return;
    const backend::ProgramText written = text();
    refusal = backend::cannot_compile(written);
    if (!refusal.empty()) return;
    program = std::make_unique<backend::CpuProgram>(written, width);
    premises.note(schedule, counter);
}

}  // namespace hindcast
