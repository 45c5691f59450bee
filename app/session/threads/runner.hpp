// The half of a session that computes: builds simulations, runs them and keeps their frames, and
// optimises. It takes the runner's commands from the desk in order and, when there are none, does
// what is missing: the trajectory that is to be shown, the ghost's, gradients of what is shown.
//
// Between steps it looks at the desk: a command that makes the run obsolete stops it. While it
// optimises, edits wait for the end of the row, everything else acts at once.
//
//   runner.cpp            the loop, commands
//   runner_build.cpp      documents: built anew, or changed in place
//   runner_older.cpp      scenes before an edit, whose iterations are shown
//   runner_run.cpp        trajectories and gradients
//   runner_between.cpp    steps between the frames that are kept
//   runner_pull.cpp       a pull by hand, felt while it goes on
//   runner_optimise.cpp   rows, branches, accepting
//   runner_text.cpp       what launches become, as text
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/session/frames/frame_keeper.hpp"
#include "app/session/frames/frame_writer.hpp"
#include "app/session/session.hpp"
#include "app/session/threads/desk.hpp"
#include "app/session/threads/gradient_probe.hpp"
#include "app/session/threads/loss_scan.hpp"
#include "engine/sim/optimization/optimization.hpp"

namespace hindcast::session {

// A scene that was built.
struct Built {
    std::unique_ptr<Simulation> simulation;
    WorldPointer world;
    std::vector<Numbers> loaded;  // what the simulation's quantities hold
    bool gradients_planned = false, gradients_failed = false;
};

class Runner {
public:
    Runner(Desk& desk, const Registry& registry, SessionOptions options);
    ~Runner();

    void run();  // until Desk::ends

private:
    using Lock = std::unique_lock<std::mutex>;
    enum class Leave : std::uint8_t { stay, at_row, now };

    // ---- the loop (runner.cpp) ----
    void take(Command& command);
    bool take_commands();  // whether there were any
    void write_frame();
    void guarded(const std::function<void()>& work);
    bool do_missing();
    // What commands that wait ask of the run that goes on.
    Leave leave();
    bool leaves_now() { return leave() == Leave::now; }
    void set_activity(Activity activity, const std::string& text = "", double progress = -1);
    void check_gradient();
    void probe_gradients(const TrajectoryPointer& at);
    void set_profiling(bool on);
    void publish_launches();
    // ---- texts of launches (runner_text.cpp) ----
    void answer_texts();  // those that wait at the desk
    void answer(const LaunchText& command);

    // ---- documents (runner_build.cpp) ----
    void apply(const Apply& command);
    void take_over(std::unique_ptr<Simulation> next, const Apply& command);
    bool change_in_place(Simulation& next, const Apply& command);
    void carry_over(Simulation& next) const;
    std::int64_t epoch_of_numbers();
    void enter_epoch();
    void note_best(const IterationInfo& row);
    void reset();
    void plan_gradients(Built& of);

    // ---- scenes before an edit (runner_older.cpp) ----
    EditionPointer edition();
    EditionPointer known_edition(const World& next, const document::Document& document,
                                 const std::vector<Numbers>& base) const;
    Built& built_for(const WorldPointer& world);
    void check_rerun(const Trajectory& trajectory, double loss) const;
    void forget(std::int64_t iteration);
    void drop_older();
    void drop_unused_older();
    void bound_older_scenes();
    // What tools work on: what is shown, with the scene that it was run with.
    struct Subject {
        std::shared_ptr<const document::Document> document;
        Numbers parameters;
    };
    Subject subject() const;

    // ---- trajectories (runner_run.cpp) ----
    TrajectoryPointer new_trajectory(const WorldPointer& world, std::int64_t iteration,
                                     std::shared_ptr<const std::vector<Numbers>> base,
                                     Numbers parameters);
    static void load(Built& into, const std::vector<Numbers>& base, const Numbers& parameters);
    // Keeps frames of a run of `of`.
    // `held`: the scene's point whose place goes with the frames.
    Rollout::Watch recorder(const TrajectoryPointer& trajectory, Simulation& of,
                            std::function<bool()> leaves, std::int64_t held = -1);
    void finish(const TrajectoryPointer& trajectory, Simulation& of, double loss);
    void show_current();  // a trajectory of the parameters as they stand; run when its turn comes
    bool run_trajectory(const TrajectoryPointer& trajectory, bool as_current);
    bool run_iteration(std::int64_t iteration);
    bool needs_more(const Trajectory& trajectory);
    void forget_arrays();  // of a simulation that goes: what makes and fills frames has some
    bool wants_gradient(const Trajectory& trajectory);
    bool run_gradient(const TrajectoryPointer& trajectory);
    std::vector<std::string> wanted_gradients(const World& world) const;
    std::optional<std::vector<double>> gradient_into(const TrajectoryPointer& trajectory,
                                                     Simulation& of);

    // ---- frames between those that are kept (runner_between.cpp) ----
    std::optional<std::int64_t> step_between(const TrajectoryPointer& t) const;
    bool wants_between_range() const;
    bool run_between();

    // ---- a pull by hand (runner_pull.cpp) ----
    void pull(const Grab& grab);
    void follow_hand(const Grab& grab);
    bool hand_waits(const Lock& lock) const;
    bool wait_for_hand(Clock::time_point& due);

    // ---- optimisation (runner_optimise.cpp) ----
    void make_optimisation();
    void optimise();
    bool add_row(const Optimization::Row& row);
    std::optional<Ensemble::Result> evaluate(const std::vector<double>& values, bool gradient);
    void steer(Optimise::What what);
    void branch(const Branch& command);
    void revert();
    void accept(const Accept& command);
    void bound_rows();
    void thin_rows();
    bool is_looked_at(std::int64_t iteration) const;
    void note_unaccepted();  // under the desk's lock
    bool looks_elsewhere();
    const IterationInfo* row_of(std::int64_t iteration) const;

    Desk& desk_;
    const Registry& registry_;
    SessionOptions options_;

    Built now_;                   // the scene as it is now; without a simulation: there is none
    std::optional<Built> older_;  // one before an edit, of which an iteration is shown
    std::unique_ptr<Optimization> optimization_;
    LossScan loss_scan_;
    GradientProbe gradient_probe_;
    std::shared_ptr<DroppedFrames> dropped_frames_;  // of frames on a CUDA device; null: on none
    FrameKernels frame_kernels_;
    FrameKeeper keeper_;
    FrameWriter frame_writer_;
    std::shared_ptr<const document::Document> document_;
    std::filesystem::path file_;
    std::uint64_t revision_ = 0;
    std::shared_ptr<const std::vector<Numbers>> base_;  // all numbers, as the document has them
    Numbers written_;                                   // the parameters among them
    Numbers values_;  // the parameters that stand: edited, optimised, branched from

    bool optimising_ = false;
    std::int64_t rows_left_ = -1;  // of a single step; -1: as many as there are
    std::int64_t branched_from_ = -1;
    std::int64_t iteration_ = 0;  // of the optimisation, at its last row
    std::int64_t epoch_ = 0;      // losses are compared within one: another with each edit
    std::int64_t epochs_ = 0, builds_ = 0;  // so far
    EditionPointer edition_;                // of the rows that come; null: not made yet
    bool began_ = false;                    // the optimisation has reported a row
    TrajectoryPointer last_;                // of the last evaluation
    Clock::time_point optimising_since_;
    double optimised_seconds_ = 0;
    bool profiling_ = false;
    std::uint64_t seen_ = 0;  // Desk::asked at the last look
    Leave leave_ = Leave::stay;
    struct Between {
        TrajectoryPointer of;
        std::vector<Rollout::State> states;  // of its simulation, in the order they were copied
        bool failed = false;                 // not tried again
    };
    std::vector<Between> between_;
    struct BetweenRange {
        WorldPointer world;
        std::int64_t first = 0, last = 0;
    };
    std::optional<BetweenRange> between_range_;  // that is run now
};

}  // namespace hindcast::session
