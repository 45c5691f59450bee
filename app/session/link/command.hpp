// The commands that the window sends to the session. They are passed by value and in order. Each
// takes effect at the next step or iteration; sending never waits.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/exchange/transport.hpp"
#include "engine/document/document.hpp"
#include "engine/runtime/launch/launch_text.hpp"

namespace hindcast::session {

// Runs this document from now on. If it differs only in numbers that a build merely uploads, they
// are set in the running simulation, at the next step or iteration, without a new build and without
// stopping the optimization. Anything else builds a new simulation; if that fails, the old one
// stays.
struct Apply {
    std::shared_ptr<const document::Document> document;
    std::uint64_t revision = 0;
    std::filesystem::path file;  // it was read from here; relative file names start here
    bool fresh = false;          // another scene: history and time start again
};
// From the next frame on, frames are written into this exchange.
struct ShowOn {
    std::shared_ptr<render::Exchange> exchange;
};

struct Play {
    bool on = true;
};
struct Seek {
    std::int64_t step = 0;  // of the iteration to be shown
};
struct StepBy {
    std::int64_t steps = 1;  // negative: back
};
// 0: as fast as possible. Frames are then shown as they are computed, and a complete run is played
// in at most a second and never slower than in real time.
struct SetSpeed {
    double seconds_per_second = 1;
};
// The initial speed for a scene of this duration (s): 1, or for less than a second the round number
// (1, 2 or 5 times a power of ten) at which playing takes about four seconds.
double fitting_speed(double duration);
struct Repeat {
    bool on = true;  // at the end playing starts again
};
struct Reset {};  // time 0, parameters of the document; the iterations so far are kept

struct Optimize {
    enum class What : std::uint8_t { start, pause, one, stop } what = What::start;
};
// An optimization without end: it goes on after its last iteration. At a minimum, or without a way
// down, it waits for an edit (OptimizationSnapshot::live_waits) and starts anew from there. A loss that is not
// finite ends it as ever.
struct Live {
    bool on = true;
    double rate = 0;  // most iterations per second; 0: no limit
};
struct ShowIteration {
    std::optional<std::int64_t> iteration;  // none: always the newest
};
struct Ghost {
    std::optional<std::int64_t> iteration;
};
// Continues from that iteration's parameters with a new optimizer. If the iteration belongs to an
// older scene, the answer is the document it was run with: apply that, then branch again. Without a
// number that is an error.
struct Branch {
    std::int64_t iteration = 0;
    std::uint64_t number = 0;
};
// Answers with the document that has the shown iteration's parameters. An error for an iteration of
// an older scene. `newest`: the current parameters instead of those shown; `iteration`: that one's.
struct Accept {
    std::uint64_t number = 0;
    bool newest = false;
    std::optional<std::int64_t> iteration = {};
};
// Answers in HandoverSnapshot::kept_values with these parameters (the flat vector of the scene of this build,
// SceneSnapshot::build) as a checkpoint writes them (engine/sim/values/checkpoint.hpp). An error for those
// of an older scene.
struct KeepValues {
    std::uint64_t number = 0;
    std::shared_ptr<const std::vector<double>> parameters;
    std::int64_t build = 0;
    std::filesystem::path folder;  // for large arrays; empty: all is written in line
    std::string stem;              // of their files' names
};
// Answers as Accept does, with the document that has these values: an object of numbers by paths, as
// a checkpoint has it.
struct UseValues {
    std::uint64_t number = 0;
    std::string name;  // of the undo step
    std::shared_ptr<const document::Node> values;
    bool any_number = false;  // also those that are not parameters, and one number for several
    // Changes made to the scene before, as by --checkpoint and --set: the name of one of its
    // checkpoints, or ""; and "path=value".
    std::string checkpoint = {};
    std::vector<std::string> changes = {};
};
struct Revert {};  // back to the parameters of the document

// The data in a frame besides positions: names in ViewSnapshot::colors and ViewSnapshot::arrows, or "".
struct FrameContents {
    std::string color, arrows;
    bool trails = false;

    bool operator==(const FrameContents&) const = default;
};

// A pull with the mouse, by a spring between a point and the mouse (mouse_pull.hpp). It acts from
// the step shown on, while time runs, and becomes PullsSnapshot::released on release. Only a run of
// the current parameters can be pulled on: for an older iteration it is an error.
struct Grab {
    std::uint64_t number = 0;          // chosen by the caller, increasing
    std::vector<std::int64_t> points;  // of the scene; the one nearest to `place` is grabbed
    render::Vec3 place{};              // m
};
struct PullTo {
    std::uint64_t number = 0;
    render::Vec3 by{};  // m, displacement from the point's position when it was grabbed
};
struct Release {
    std::uint64_t number = 0;
    bool keep = true;  // false: the pull is discarded
};

struct CheckGradient {};
struct Scan {
    std::array<std::string, 2> names;  // entries of the parameter vector; the second may be empty
    std::array<double, 2> width{};     // of the range around the current value; 0: automatic
    int count = 41;
};
struct CancelScan {};
// Turns on gradients with respect to every quantity that could be optimized, not only those that
// are. They are computed in the background at the parameters shown, while the runner is idle.
struct WatchGradients {
    bool on = true;
};
struct Profile {
    bool on = true;
};
// Answers in ToolsSnapshot::launch_text with the code generated for one of its launches. It
// is answered between two steps, so a run goes on.
struct LaunchText {
    std::string launch;                        // LaunchInfo::name
    Direction ran = Direction::forward;        // LaunchInfo::direction
    Direction direction = Direction::forward;  // of the kernel to show
    backend::KernelText what{};                // its IR
    bool operator==(const LaunchText&) const = default;
};

using Command = std::variant<Apply, ShowOn, Play, Seek, StepBy, SetSpeed, Repeat, Reset, Optimize,
                             Live, ShowIteration, Ghost, Branch, Accept, KeepValues, UseValues,
                             Revert, FrameContents, Grab, PullTo, Release, CheckGradient, Scan,
                             CancelScan, WatchGradients, Profile, LaunchText>;

}  // namespace hindcast::session
