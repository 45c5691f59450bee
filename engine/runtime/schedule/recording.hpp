// Recording: what a forward run keeps for backward by its checkpoint plan, and how backward gets
// back at steps whose histories are not kept.
//
//     recording.begin();                      // forward
//     for (t = 0; t < steps; ++t) run step t, and fill its histories if recording.arrive(t)
//     recording.finish(steps);
//
//     recording.begin_backward();
//     for (end = steps; end > cut; end = begin) {
//         begin = recording.load(end, run);   // now the histories hold steps begin .. end-1
//         adjoints of the steps end-1 .. begin
//     }
//     recording.end_backward();               // arrays hold what they held before
#pragma once

#include <filesystem>
#include <functional>

#include "engine/runtime/history/checkpoint_store.hpp"
#include "engine/runtime/schedule/schedule.hpp"

namespace hindcast {

class Recording {
public:
    // Runs the recomputed calls of steps from .. to-1 and of the events after them.
    using Run = std::function<void(std::int64_t from, std::int64_t to, bool record)>;

    Recording(Schedule& schedule, const Device& device) : s_(schedule), device_(device) {}

    // Takes up the plan (s.plan from now on), with all memory that it needs. Throws Error.
    void allocate(const CheckpointPlan& plan, const std::filesystem::path& spill);
    void release();
    bool allocated() const { return allocated_; }
    // Histories, checkpoints and the copy of the final state; files not counted.
    std::int64_t bytes() const;

    void begin();
    // Before step t of a forward run: stores the checkpoint that is due. True if the step's
    // histories are to be filled.
    bool arrive(std::int64_t t);
    void finish(std::int64_t steps_done);
    void forget() { complete_ = false; }
    bool complete() const { return complete_; }
    std::int64_t steps_done() const { return steps_done_; }

    // Slots of the histories of step t, or of the event before it.
    SlotIndex moment(std::int64_t t, const Schedule::Event* event = nullptr) const {
        return {t - begin_, event != nullptr ? event->in_window() : 0};
    }

    std::int64_t window() const { return begin_; }  // the step that histories begin with

    void begin_backward();
    std::int64_t load(std::int64_t end, const Run& run);
    void end_backward();

    // The checkpoints and histories that are held. A run that was noted as a graph does its copies
    // again when the graph runs, from the state that it was noted in; go_to() sets the state it
    // ends in.
    struct State {
        CheckpointStack stack;
        bool final_saved = false, complete = false;
        std::int64_t next_stored = -1, begin = 0, end = -1;
        bool operator==(const State&) const = default;
    };
    State state() const { return {stack_, final_saved_, complete_, next_stored_, begin_, end_}; }
    void go_to(const State& state);

private:
    std::int64_t start_of(std::int64_t segment) const { return s_.cut + segment * s_.plan.segment; }
    void open_window(std::int64_t begin);
    void close_window(std::int64_t end);

    Schedule& s_;
    const Device& device_;
    bool allocated_ = false;
    CheckpointStore store_;
    CheckpointStack stack_;
    DeviceMemory final_;  // s.recomputed while backward runs
    bool final_saved_ = false;
    std::int64_t next_stored_ = -1;      // forward: the segment whose start is stored next
    std::int64_t begin_ = 0, end_ = -1;  // the window; end < begin: it holds nothing
    bool complete_ = false;
    std::int64_t steps_done_ = 0;
};

}  // namespace hindcast
