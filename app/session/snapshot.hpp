// What the simulation thread tells the window: immutable, replaced as a whole, read by anyone.
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

namespace hindcast::session {

enum class Activity : std::uint8_t { empty, building, idle, simulating, optimising, stopping };

// One number that may be optimised, as the inspector shows it.
struct ParameterInfo {
    std::string path;  // of the scene's parameter, "cage.rest_length"
    std::string unit;
    std::string group;
    double low = 0, high = 0;  // -inf, inf: none
    bool log_scale = false;
    std::vector<std::string> names;    // per entry
    std::size_t first = 0, count = 0;  // of the flat vector
};

// A quantity of the scene: everything with a path.
struct QuantityInfo {
    std::string path, unit, scene_pointer;
    std::int64_t rows = 0;
    int components = 1;
    bool shared = false;  // one row for all elements, written without the list around it
    bool may_optimise = false, optimised = false;
    double low = 0, high = 0;
    std::vector<double> values;    // rows x components; the first 4096 of them
    std::vector<double> gradient;  // the same of dLoss; empty before any gradient
    double least = 0, most = 0;    // of all values
    double gradient_norm = 0;      // Euclidean, of the whole gradient
};

// What a scene consists of, as far as it can be edited.
struct SceneInfo {
    std::vector<ParameterInfo> parameters;
    std::vector<QuantityInfo> quantities;
};

struct TermInfo {
    std::string name;
    double weight = 1, value = 0;  // NaN: of a run that is not complete
};

// One row of the optimisation's history. Its numbers never change once they are there.
struct IterationInfo {
    std::int64_t iteration = 0;  // counts on over branches
    std::int64_t branched_from = -1;
    double loss = 0, gradient_norm = 0, seconds = 0;
    std::vector<TermInfo> terms;
    // Null where memory has no room for them any more.
    std::shared_ptr<const std::vector<double>> parameters, gradient;
    std::vector<double> adjoint_norms;  // at each kept frame; empty if those are not kept
    bool frames_kept = false;           // its trajectory is in memory (else it is run again)
    std::int64_t build = 0;             // of the scene it was run with: Snapshot::build of then
    std::int64_t epoch = 0;             // likewise: losses are compared within one
    // False: memory has no room for its scene or its parameters any more; its losses are left.
    bool can_show = true;
};

struct LaunchInfo {
    std::string name;
    Direction direction = Direction::forward;
    std::int64_t runs = 0;
    double seconds = 0;
    double bytes = 0;  // that one run reads and writes, by its bindings
};

// The answer to a LaunchText: the text, or why there is none.
struct LaunchTextAnswer {
    LaunchText asked;
    std::string text, problem;
};

struct LogLine {
    enum class Level : std::uint8_t { information, warning, error } level = Level::information;
    std::string text;
    double seconds = 0;  // since the session began
};

// What can be shown as colour, arrows: names to put into Look.
struct ShownField {
    std::string name;  // "speed", "position gradient", "cage.stiffness", ...
    std::string unit;
    bool gradient = false;
    bool length = false;  // of vectors: their lengths are shown, which have no sign
};

struct CheckRow {
    std::string name;
    double gradient = 0, difference = 0, error = 0;  // error: relative, as `hindcast check` has it
    bool passed = false;
    std::string
        verdict;  // "ok", "a kink", "not smooth" ... (engine/sim/gradients/slope_verdict.hpp)
};

// A pull by hand that goes on.
struct HandInfo {
    std::uint64_t number = 0;     // of the Grab
    bool live = false;            // it is felt; before, only `number` holds
    std::int64_t start_step = 0;  // whole steps
    // m: where the point was when it was grabbed, where it is at the step shown, where the hand is.
    render::Vec3 anchor{}, point{}, place{};
};

// A pull that was released: the force to be written into the scene.
struct Pulled {
    std::uint64_t number = 0;  // of the Grab
    document::Node force;      // of module "pull"
    std::string name;          // for undo: "Pull cage point 12"
};

// A scan of the loss around the parameters: count values along one direction, or count x count.
struct Landscape {
    std::array<std::string, 2> names;         // of the parameters varied; the second empty in 1-D
    std::array<double, 2> centre{}, slope{};  // values and exact gradient there
    std::array<std::array<double, 2>, 2> range{};
    int count = 0;
    std::vector<double> losses;  // row by row, NaN where not computed yet
    bool done = false;
};

struct Snapshot {
    std::uint64_t serial = 0;
    Activity activity = Activity::empty;
    std::string activity_text;  // "compiling 12 kernels", "iteration 7 of 30"
    double progress = -1;       // 0 .. 1; -1: unknown

    std::uint64_t revision = 0;  // of the document that runs now
    std::uint64_t applied_revision =
        0;  // the newest that was tried: if it differs, `error` says why
    std::shared_ptr<const Error>
        error;                 // of the last thing that failed; none once another succeeds
    bool frame_waits = false;  // the frame of this moment is not in the Exchange yet
    std::shared_ptr<const Error> frame_error;  // why no frames come; until the next ShowOn

    // Each scene that was built has a number; one that is gone back to has the number it had.
    std::int64_t build = 0;        // of the scene as it is now
    std::int64_t epoch = 0;        // of its loss: another one with each edit that changes the loss
    std::int64_t shown_build = 0;  // of what is shown: another one for iterations before an edit

    // ---- of what is shown ----
    std::string name, device, precision;
    std::optional<std::array<std::uint8_t, 16>> cuda_uuid;  // of the device, if it is a CUDA one
    double step_seconds = 0;
    std::int64_t steps = 0;                      // whole steps of a run
    std::shared_ptr<const render::Stage> stage;  // changes when another scene is shown

    // ---- time ----
    bool playing = false;
    std::int64_t step = 0;  // shown
    // Gone to: while time stands still, what is shown once it is computed. Until then the frame
    // kept before it is shown.
    std::int64_t step_asked = 0;
    std::int64_t steps_computed = 0;  // of the shown iteration's trajectory
    std::int64_t frame_every = 1;     // steps between kept frames
    double speed_asked = 1;           // simulated seconds per second; 0: as fast as possible
    double speed_measured = 0;

    // ---- optimisation ----
    std::string optimiser;  // "adam, rate 0.05"; empty: the scene has no parameters
    std::int64_t iterations_planned = 0;
    std::int64_t shown_iteration = -1, ghost_iteration = -1, best_iteration = -1;
    std::string ghost_problem;  // why the ghost cannot be drawn on what is shown; empty: it can
    std::shared_ptr<const std::vector<IterationInfo>> history;
    std::string stop_reason;
    bool stopped_well = false;  // converged, or all iterations are done
    bool unaccepted = false;    // the parameters that stand are others than those of the document
    double loss = 0;            // of the shown trajectory; NaN if not complete
    std::vector<TermInfo> terms;
    std::vector<ParameterInfo> parameters;
    std::shared_ptr<const std::vector<double>> values, gradient;  // flat, of what is shown
    std::vector<QuantityInfo> quantities;
    // The scene as it is now, where what is shown is of another build; else null. Edits are of
    // these.
    std::shared_ptr<const SceneInfo> present;
    const std::vector<ParameterInfo>& present_parameters() const {
        return present ? present->parameters : parameters;
    }
    const std::vector<QuantityInfo>& present_quantities() const {
        return present ? present->quantities : quantities;
    }
    bool shows_older_scene() const { return shown_build != build && shown_iteration >= 0; }

    // ---- what can be looked at ----
    std::vector<ShownField> colours, arrows;
    std::map<std::string, std::vector<double>> series;  // per kept frame: "kinetic energy", ...

    // With Look::trails: the ways of some of the points from the start to the step shown, for
    // View::trail_lines. Null without.
    std::shared_ptr<const std::vector<std::vector<render::Vec3>>> trails;

    // ---- a pull by hand ----
    std::optional<HandInfo> hand;
    std::shared_ptr<const Pulled> pulled;  // the last one

    // ---- tools ----
    std::shared_ptr<const std::vector<CheckRow>> check;
    std::shared_ptr<const std::vector<double>> check_at;  // the parameters that it was made at
    std::shared_ptr<const Landscape> landscape;
    std::vector<LaunchInfo> launches;
    std::shared_ptr<const LaunchTextAnswer> launch_text;  // the last one that was asked for
    std::string checkpoint_plan;                          // in words
    std::vector<std::int64_t> checkpoints;                // the steps that are kept
    // frame_bytes: of all kept frames, of the older scenes that iterations belong to, and of the
    // parameters and gradients of all iterations.
    std::int64_t gradient_bytes = 0, frame_bytes = 0, frame_limit = 0;
    std::int64_t older_scene_bytes = 0, iteration_bytes = 0;  // of these
    // Of the simulation that is there besides, to show iterations of an older scene; 0: none is.
    std::int64_t older_simulation_bytes = 0;
    std::shared_ptr<const std::vector<LogLine>> log;

    // A document that a command asked for (Accept), with the number of that command.
    std::shared_ptr<const document::Document> answer;
    std::uint64_t answer_to = 0;
    std::string answer_name;  // for undo: "Accept iteration 12"
};

}  // namespace hindcast::session
