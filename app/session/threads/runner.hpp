// The thread of a session that computes: it builds simulations, runs them, keeps their frames, and
// optimises. It takes its commands from the shared state in order. When there are none it computes
// what is missing: the trajectory to show, the ghost's, the gradients of what is shown.
//
// Between steps it reads the shared state. A command that makes the run obsolete stops it. During
// an optimisation edits wait for the end of the row; everything else acts at once.
//
//   runner.cpp            the loop, commands
//   runner_build.cpp      documents: a new build, or numbers set in place
//   runner_older.cpp      scenes before an edit, to show their iterations
//   runner_run.cpp        trajectories and gradients
//   runner_between.cpp    steps between the frames that are kept
//   runner_pull.cpp       a pull with the mouse, simulated while it goes on
//   runner_optimise.cpp   rows, branches, accepting
//   runner_values.cpp     values of the scene written into its document; checkpoints
//   runner_text.cpp       launches as text: IR, assembly, CUDA
//   runner_warnings.cpp   what the simulation warns of
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "app/session/document/compare.hpp"
#include "app/session/frames/frame_recorder.hpp"
#include "app/session/frames/frame_writer.hpp"
#include "app/session/session.hpp"
#include "app/session/threads/gradient_probe.hpp"
#include "app/session/threads/loss_scan.hpp"
#include "app/session/threads/shared_state.hpp"
#include "engine/sim/optimization/optimization.hpp"

namespace hindcast::session {

// A built scene.
struct BuiltScene {
    std::unique_ptr<Simulation> simulation;
    SceneInfoPointer scene;
    std::vector<SharedValues> loaded;  // the values of the simulation's quantities
    bool gradients_planned = false, gradients_failed = false;
};

class Runner {
public:
    Runner(SharedState& shared, const Registry& registry, SessionOptions options);
    ~Runner();

    void run();  // until SharedState::ends

private:
    using Lock = std::unique_lock<std::mutex>;
    enum class Interrupt : std::uint8_t { none, at_row, now };

    // ---- the loop (runner.cpp) ----
    void take(Command& command);
    bool take_commands();  // whether there were any
    void write_frame();
    void measure_colours();
    void guarded(const std::function<void()>& work);
    bool do_missing();
    // How soon the waiting commands want the current run to stop.
    Interrupt interrupt();
    bool edit_is_coming() const;
    void wait_for_shown_edit(Lock& lock);
    bool interrupted() { return interrupt() == Interrupt::now; }
    void say(const std::string& text);
    void set_activity(Activity activity, const std::string& text = "", double progress = -1);
    void check_gradient();
    void probe_gradients(const TrajectoryPointer& at);
    void set_profiling(bool on);
    void publish_launches();
    // ---- texts of launches (runner_text.cpp) ----
    void answer_texts();  // those that wait in the shared state
    void answer(const LaunchText& command);

    // ---- documents (runner_build.cpp) ----
    void apply(const Apply& command);
    void runs_now(const Apply& command);
    // ---- what the simulation warns of (runner_warnings.cpp) ----
    SimulationOptions heard_options();
    bool numbers_warn() const;
    void publish_warnings();
    bool check_warnings();
    std::shared_ptr<const std::vector<SharedValues>> edited_in_place(
        const Difference& difference, const document::Document& document) const;
    std::shared_ptr<const std::vector<SharedValues>> built_in_place(const Difference& difference,
                                                                    Simulation& next) const;
    void set_in_place(std::shared_ptr<const std::vector<SharedValues>> base);
    void take_over(std::unique_ptr<Simulation> next, const Apply& command);
    void carry_over(Simulation& next) const;
    std::int64_t epoch_of_numbers();
    void enter_epoch();
    void note_best(const IterationInfo& row);
    void reset();
    void plan_gradients(BuiltScene& of);

    // ---- scenes before an edit (runner_older.cpp) ----
    SceneRevisionPointer scene_revision();
    SceneRevisionPointer known_scene_revision(const SceneInfo& next,
                                              const document::Document& document,
                                              const std::vector<SharedValues>& base) const;
    BuiltScene& built_for(const SceneInfoPointer& scene);
    void check_rerun(const Trajectory& trajectory, double loss) const;
    void forget(std::int64_t iteration);
    void drop_older();
    void drop_unused_older();
    void bound_older_scenes();
    // What the tools work on: the parameters shown, and the scene they were run with.
    struct ToolInput {
        std::shared_ptr<const document::Document> document;
        SharedValues parameters;
    };
    ToolInput tool_input() const;

    // ---- trajectories (runner_run.cpp) ----
    TrajectoryPointer new_trajectory(const SceneInfoPointer& scene, std::int64_t iteration,
                                     std::shared_ptr<const std::vector<SharedValues>> base,
                                     SharedValues parameters);
    static void load(BuiltScene& into, const std::vector<SharedValues>& base,
                     const SharedValues& parameters);
    // A watch that keeps frames of a run of `of`. `held`: a point of the scene whose place is
    // recorded with each frame.
    Rollout::Watch recorder(const TrajectoryPointer& trajectory, Simulation& of,
                            std::function<bool()> interrupted, std::int64_t held = -1);
    void finish(const TrajectoryPointer& trajectory, Simulation& of, double loss);
    void show_current();  // asks for a run of the current parameters
    bool run_trajectory(const TrajectoryPointer& trajectory, bool as_current);
    bool run_iteration(std::int64_t iteration);
    bool needs_more(const Trajectory& trajectory);
    void forget_arrays();  // of a simulation about to be destroyed, which the recorders hold
    bool wants_gradient(const Trajectory& trajectory);
    bool run_gradient(const TrajectoryPointer& trajectory);
    std::vector<std::string> wanted_gradients(const SceneInfo& scene) const;
    std::optional<std::vector<double>> gradient_into(const TrajectoryPointer& trajectory,
                                                     Simulation& of);

    // ---- frames between those that are kept (runner_between.cpp) ----
    std::optional<std::int64_t> step_between(const TrajectoryPointer& t) const;
    bool wants_between_range() const;
    bool run_between();

    // ---- a pull with the mouse (runner_pull.cpp) ----
    void pull(const Grab& grab);
    void follow_mouse(const Grab& grab);
    bool pull_must_end(const Lock& lock) const;
    bool wait_for_mouse(Clock::time_point& due);

    // ---- optimisation (runner_optimise.cpp) ----
    void make_optimisation();
    void optimise();
    bool add_row(const Optimization::Row& row);
    std::optional<Ensemble::Result> evaluate(const std::vector<double>& values, bool gradient);
    void steer(Optimise::What what);
    void lengthen();
    void set_live(const Live& live);
    void rest(bool on);
    void go_on();
    bool at_minimum(double loss);
    void wait_for_next_row();
    std::string iteration_text(std::int64_t iteration) const;
    // 0 .. 1; -1: unknown. `of_none`: where no iterations are planned.
    double progress_at(std::int64_t iteration, double of_none) const;
    // Whether rows are computed now.
    bool computes_rows() const { return optimising_ && !rests_; }
    void branch(const Branch& command);
    void revert();
    void accept(const Accept& command);
    // ---- values by name (runner_values.cpp) ----
    void answer_values(const std::function<void()>& work);
    void keep(const KeepValues& command);
    void use(const UseValues& command);
    std::map<std::size_t, std::vector<double>> named_values(const UseValues& command,
                                                            std::vector<double>& parameters) const;
    void hold(std::vector<double> parameters);
    std::shared_ptr<const document::Document> changed_document(const UseValues& command) const;
    // The document with these values of some quantities, by their number; only those that differ
    // are written anew, and what was made from them at load.
    std::shared_ptr<const document::Document> document_with(
        const std::map<std::size_t, std::vector<double>>& values) const;
    void bound_rows();
    void thin_rows();
    bool is_looked_at(std::int64_t iteration) const;
    void note_unaccepted();  // under the shared lock
    bool looks_elsewhere();
    const IterationInfo* row_of(std::int64_t iteration) const;

    SharedState& shared_;
    const Registry& registry_;
    SessionOptions options_;

    BuiltScene now_;                   // the scene as it is now; without a simulation there is none
    std::optional<BuiltScene> older_;  // a scene before an edit, to show an iteration of it
    std::unique_ptr<Optimization> optimization_;
    LossScan loss_scan_;
    GradientProbe gradient_probe_;
    std::shared_ptr<DroppedFrames> dropped_frames_;  // only on a CUDA device
    FrameKernels frame_kernels_;
    FrameRecorder frame_recorder_;
    FrameWriter frame_writer_;
    std::shared_ptr<const document::Document> document_;
    std::filesystem::path file_;
    std::uint64_t revision_ = 0;
    std::shared_ptr<const std::vector<SharedValues>>
        base_;              // the values of all quantities in the document
    SharedValues written_;  // the values of the parameters in the document
    SharedValues values_;   // their current values: edited, optimised or branched from

    bool optimising_ = false;
    Live live_{.on = false};
    bool rests_ = false;  // a live optimisation that has ended: until an edit
    // Of a live optimisation since it began or was edited: an update rule without an end of its own
    // rests where nothing is to be won any more.
    struct LiveProgress {
        double greatest = 0;    // loss, in absolute value
        double mark = 0;        // the loss that the rows since have not beaten
        std::int64_t rows = 0;  // since then; 0: there is no mark yet
        std::string end;        // why it rests; empty: it goes on
    } live_progress_;
    Clock::time_point last_row_;
    std::int64_t rows_left_ = -1;  // after "one step"; -1: no limit
    std::int64_t branched_from_ = -1;
    std::int64_t iteration_ = 0;  // of the optimisation's last row
    std::int64_t epoch_ = 0;      // losses are compared within one epoch; an edit begins another
    std::int64_t epochs_ = 0, builds_ = 0;  // so far
    SceneRevisionPointer scene_revision_;   // of the next rows; null: not made yet
    bool began_ = false;                    // the optimisation has reported a row
    TrajectoryPointer last_;                // of the last evaluation
    Clock::time_point optimising_since_;
    double optimised_seconds_ = 0;
    bool profiling_ = false;
    std::uint64_t seen_ = 0;  // SharedState::runner_wakeups when it was last read
    Interrupt interrupt_ = Interrupt::none;
    std::weak_ptr<Trajectory> edited_;  // the run that shows the last number edited
    Clock::time_point edited_at_;
    bool edit_waits_ = false;  // for that run
    struct Between {
        TrajectoryPointer of;
        std::vector<Rollout::State> states;  // of its simulation, in order of copying
        bool failed = false;                 // not tried again
    };
    std::vector<Between> between_;
    struct BetweenRange {
        SceneInfoPointer scene;
        std::int64_t first = 0, last = 0;
    };
    std::optional<BetweenRange> between_range_;  // being run now

    std::string said_, before_said_;  // see say()

    // Numbers were set in place: only a build can tell what it warns of.
    std::shared_ptr<const document::Document> unchecked_;
    std::shared_ptr<const document::Document> warns_;  // such a one that does; under the lock
    std::atomic<bool> checks_warnings_ = false;
    BackgroundTask warning_check_;  // last: it ends before the members that it writes
};

}  // namespace hindcast::session
