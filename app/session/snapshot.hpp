// Snapshot: the state of the session for the window. A snapshot is immutable; each one replaces the
// one before, and any thread may read it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/exchange/stage.hpp"
#include "app/session/command.hpp"
#include "engine/base/error.hpp"
#include "engine/document/document.hpp"

namespace hindcast {
struct Warning;  // engine/model/warnings/warning.hpp
}  // namespace hindcast

namespace hindcast::model {
class ElementNames;  // engine/model/element_names.hpp
struct Slider;       // engine/model/handles/sliders.hpp
}  // namespace hindcast::model

namespace hindcast::session {

enum class Activity : std::uint8_t { empty, building, idle, simulating, optimising, stopping };

// A parameter of the scene, as the inspector shows it.
struct ParameterInfo {
    std::string path;  // of the scene's parameter, "cage.rest_length"
    std::string unit;
    std::string group;
    double low = 0, high = 0;  // bounds; -inf, inf: none
    bool log_scale = false;
    std::vector<std::string> names;    // per entry
    std::size_t first = 0, count = 0;  // its range in the flat vector
};

// A quantity of the scene: a number, vector or list with a path.
struct QuantityInfo {
    std::string path, unit, scene_pointer;
    std::int64_t count = 0;  // elements that it applies to
    std::int64_t rows = 0;   // of its values: one if all elements share them, else `count`
    int components = 1;
    bool shared = false;  // one row for all elements, written without a list around it
    bool may_optimise = false, optimised = false;
    double low = 0, high = 0;
    std::vector<double> values;    // rows x components; the first 4096 of them
    std::vector<double> gradient;  // of the loss at those values; empty before it is known
    double least = 0, most = 0;    // minimum and maximum of all values
    double gradient_norm = 0;      // Euclidean norm of the whole gradient
    // Null: its elements have no names, none of its numbers is offered as a slider.
    std::shared_ptr<const model::ElementNames> names;
    std::shared_ptr<const std::vector<model::Slider>> sliders;
};

// The parameters and quantities of a scene, which the window edits.
struct EditableQuantities {
    std::vector<ParameterInfo> parameters;
    std::vector<QuantityInfo> quantities;
};

struct TermInfo {
    std::string name;
    double weight = 1, value = 0;  // value is NaN until the run is complete
};

// One row of the optimisation's history. Its numbers never change.
struct IterationInfo {
    std::int64_t iteration = 0;  // counted across branches
    std::int64_t branched_from = -1;
    double loss = 0, gradient_norm = 0, seconds = 0;
    std::vector<TermInfo> terms;
    // Null where they were dropped to save memory.
    std::shared_ptr<const std::vector<double>> parameters, gradient;
    std::vector<double> adjoint_norms;  // at each kept frame; empty if there are none
    bool frames_kept = false;           // its trajectory is in memory; else it is run again
    std::int64_t build = 0;             // Snapshot::build of the scene it was run with
    std::int64_t epoch = 0;             // Snapshot::epoch at that time
    // False: its scene or its parameters were dropped to save memory. Its losses remain.
    bool can_show = true;
};

// Two objects that can touch, and what keeps them apart.
struct PairInfo {
    std::string a, b;                  // the same: an object with itself
    std::string a_pointer, b_pointer;  // in the document
    std::string law;                   // empty: none
    bool is_exception = false;         // the scene says that they may pass through each other
};

struct LaunchInfo {
    std::string name;
    Direction direction = Direction::forward;
    std::int64_t runs = 0;
    double seconds = 0;
    double bytes = 0;  // read and written by one run, counted from its bindings
};

// The answer to a LaunchText: the text, or the reason why there is none.
struct LaunchTextAnswer {
    LaunchText asked;
    std::string text, problem;
};

struct LogLine {
    enum class Level : std::uint8_t { information, warning, error } level = Level::information;
    std::string text;
    double seconds = 0;  // since the session started
};

// A field that can be shown as colours or arrows: a name for FrameContents.
struct ShownField {
    std::string name;  // "speed", "position gradient", "cage.stiffness", ...
    std::string unit;
    bool gradient = false;
    bool length = false;  // the length of a vector, which has no sign
};

// The least and the largest number that colours show in the frames of a run.
struct ColourRange {
    std::string colour;                          // FrameContents::colour
    std::optional<std::array<double, 2>> range;  // none: nothing has a number
    bool complete = false;                       // false: so far, the run or its measuring goes on

    bool operator==(const ColourRange&) const = default;
};

struct CheckRow {
    std::string name;
    double gradient = 0, difference = 0, error = 0;  // error: relative, as in `hindcast check`
    bool passed = false;
    std::string
        verdict;  // "ok", "a kink", "not smooth" ... (engine/sim/gradients/slope_verdict.hpp)
};

// A pull with the mouse in progress.
struct MousePullInfo {
    std::uint64_t number = 0;     // of the Grab
    bool live = false;            // the force acts; before that only `number` is set
    std::int64_t start_step = 0;  // whole steps
    // m: the grabbed point at the start, the point at the step shown, the mouse.
    render::Vec3 anchor{}, point{}, place{};
};

// A finished pull: the force to write into the scene.
struct ReleasedPull {
    std::uint64_t number = 0;  // of the Grab
    document::Node force;      // of module "pull"
    std::string name;          // of the undo step: "Pull cage point 12"
};

// A scan of the loss around the parameters: `count` values along one parameter, or count x count.
struct Landscape {
    std::array<std::string, 2> names;         // the varied parameters; the second empty in 1-D
    std::array<double, 2> centre{}, slope{};  // their values, and the exact gradient there
    std::array<std::array<double, 2>, 2> range{};
    int count = 0;
    std::vector<double> losses;  // row by row; NaN: not computed yet
    bool done = false;
};

// The answer to a KeepValues.
struct KeptValues {
    std::uint64_t number = 0;
    document::Node values;
};

struct Snapshot {
    std::uint64_t serial = 0;
    Activity activity = Activity::empty;
    std::string activity_text;  // "compiling 12 kernels", "iteration 7 of 30"
    double progress = -1;       // 0 .. 1; -1: unknown

    std::uint64_t revision = 0;  // of the document that runs now
    std::uint64_t applied_revision =
        0;  // of the newest document tried; `error` says why it does not run
    std::shared_ptr<const Error> error;  // the last failure; null after a success
    FrameContents contents;              // asked for
    // The frame of this step, with those contents, is not in the Exchange yet.
    bool frame_waits = false;
    std::shared_ptr<const Error> frame_error;  // why there are no frames; until the next ShowOn

    // Each built scene has a number. A scene that undo or a branch brings back has its old number.
    std::int64_t build = 0;        // of the scene as it is now
    std::int64_t epoch = 0;        // of its loss: an edit that changes the loss begins another
    std::int64_t shown_build = 0;  // of the scene shown: differs for iterations before an edit

    // ---- of what is shown ----
    std::string name, device, precision;
    std::optional<std::array<std::uint8_t, 16>> cuda_uuid;  // of a CUDA device
    double step_seconds = 0;
    std::int64_t steps = 0;                      // whole steps of a run
    std::shared_ptr<const render::Stage> stage;  // changes when another scene is shown

    // ---- of the scene as it is now; null before the first build ----
    std::shared_ptr<const std::vector<Warning>> warnings;  // so far
    std::shared_ptr<const std::vector<PairInfo>> pairs;

    // ---- time ----
    bool playing = false;
    std::int64_t step = 0;  // shown
    // The step sought while time stands still. Until it is computed, the kept frame before it is
    // shown.
    std::int64_t step_asked = 0;
    std::int64_t steps_computed = 0;  // of the shown iteration's trajectory
    std::int64_t frame_every = 1;     // steps between kept frames
    double speed_asked = 1;           // simulated seconds per second; 0: as fast as possible
    double speed_measured = 0;

    // ---- optimisation ----
    std::string optimiser;  // "adam, rate 0.05"; empty: the scene has no parameters
    Live live{.on = false};
    bool live_waits = false;  // for an edit: it has ended, and would go on
    std::int64_t iterations_planned = 0;
    std::int64_t shown_iteration = -1, ghost_iteration = -1, best_iteration = -1;
    std::string ghost_problem;  // why the ghost cannot be drawn; empty: it can
    std::shared_ptr<const std::vector<IterationInfo>> history;
    std::string stop_reason;
    bool stopped_well = false;  // converged, or all iterations are done
    bool unaccepted = false;    // the current parameters differ from the document's
    double loss = 0;            // of the trajectory shown; NaN until it is complete
    std::vector<TermInfo> terms;
    std::vector<ParameterInfo> parameters;
    std::shared_ptr<const std::vector<double>> values, gradient;  // flat, of the trajectory shown
    std::vector<QuantityInfo> quantities;
    // The scene as it is now, where the scene shown is another build; else null. Edits refer to
    // these.
    std::shared_ptr<const EditableQuantities> present;
    const std::vector<ParameterInfo>& present_parameters() const {
        return present ? present->parameters : parameters;
    }
    const std::vector<QuantityInfo>& present_quantities() const {
        return present ? present->quantities : quantities;
    }
    bool shows_older_scene() const { return shown_build != build && shown_iteration >= 0; }

    // ---- what can be looked at ----
    std::vector<ShownField> colours, arrows;
    std::optional<ColourRange> colour_range;  // of the trajectory shown; none: nothing yet
    std::map<std::string, std::vector<double>> series;  // per kept frame: "kinetic energy", ...

    // With FrameContents::trails: the trails of some of the points from the start to the step
    // shown, for View::trail_lines. Null without.
    std::shared_ptr<const std::vector<std::vector<render::Vec3>>> trails;

    // ---- a pull with the mouse ----
    std::optional<MousePullInfo> mouse_pull;
    std::shared_ptr<const ReleasedPull> released_pull;  // the last finished pull

    // ---- tools ----
    std::shared_ptr<const std::vector<CheckRow>> check;
    std::shared_ptr<const std::vector<double>> check_at;  // the parameters it was made at
    std::shared_ptr<const Landscape> landscape;
    std::vector<LaunchInfo> launches;
    std::shared_ptr<const LaunchTextAnswer> launch_text;  // the last answer
    std::string checkpoint_plan;                          // in words
    std::vector<std::int64_t> checkpoints;                // the steps kept as checkpoints
    // frame_bytes: all kept frames, the older scenes that iterations belong to, and the parameters
    // and gradients of all iterations.
    std::int64_t gradient_bytes = 0, frame_bytes = 0, frame_limit = 0;
    std::int64_t older_scene_bytes = 0, iteration_bytes = 0;  // parts of frame_bytes
    // Bytes of the second simulation, which shows iterations of an older scene; 0: there is none.
    std::int64_t older_simulation_bytes = 0;
    std::shared_ptr<const std::vector<LogLine>> log;

    std::shared_ptr<const KeptValues> kept_values;  // the last answer

    // The document that answers a command (Accept, UseValues, Branch), and that command's number.
    std::shared_ptr<const document::Document> answer;
    std::uint64_t answer_to = 0;
    std::string answer_name;  // of the undo step: "Accept iteration 12"
};

}  // namespace hindcast::session
