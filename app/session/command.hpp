// What the window asks of the simulation thread. Commands go in by value, in order; each takes
// effect at the next step or iteration, and never waits for the thread.
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

// Runs this document from now on. What differs only in numbers of quantities is changed in the
// simulation that runs, at the next step or iteration, without stopping the optimisation; anything
// else builds a new one, and what was there stays if that fails.
struct Apply {
    std::shared_ptr<const document::Document> document;
    std::uint64_t revision = 0;
    std::filesystem::path file;  // where it was read from: names relative files
    bool fresh = false;          // another scene: history and time begin anew
};
// Frames go there, from the next one on.
struct ShowOn {
    std::shared_ptr<render::Exchange> exchange;
};

struct Play {
    bool on = true;
};
struct Seek {
    std::int64_t step = 0;  // of the iteration that is wanted
};
struct StepBy {
    std::int64_t steps = 1;  // negative: back, from the frames that are kept
};
// 0: as fast as possible, which shows what is computed as it comes, and passes through a complete
// run in a second at most and never slower than real time.
struct SetSpeed {
    double seconds_per_second = 1;
};
// The speed that a scene of this duration (s) is played with at first: 1, or, for one of less than
// a second, the round number (1, 2 or 5 times a power of ten) at which it lasts about four seconds.
double fitting_speed(double duration);
struct Repeat {
    bool on = true;  // playing begins again at the end
};
struct Reset {};  // time 0, parameters of the document; the iterations so far stay

struct Optimise {
    enum class What : std::uint8_t { start, pause, one, stop } what = What::start;
};
struct ShowIteration {
    std::optional<std::int64_t> iteration;  // none: the newest, as they come
};
struct Ghost {
    std::optional<std::int64_t> iteration;
};
// Goes on from that iteration's parameters, with a fresh optimiser. If it is of an older scene, the
// answer is the document that it was run with: once that is applied, branch again. Without a number
// it is an error.
struct Branch {
    std::int64_t iteration = 0;
    std::uint64_t number = 0;
};
// Answers with the document in which the shown iteration's parameters are written. Of an older
// scene it is an error. `newest`: the parameters that stand, whatever is shown.
struct Accept {
    std::uint64_t number = 0;
    bool newest = false;
};
struct Revert {};  // to the parameters of the document

// What the frames carry besides places: names of Snapshot::colours and arrows, or "".
struct Look {
    std::string colour, arrows;
    bool trails = false;
};

// A pull by hand, with a spring between a point and the hand (hand.hpp). It is felt from the step
// shown on, while time runs, and becomes Snapshot::pulled when it is released. Only what runs with
// the parameters that stand can be pulled on: of an older iteration it is an error.
struct Grab {
    std::uint64_t number = 0;          // of the caller; grows
    std::vector<std::int64_t> points;  // of the scene: the one next to `place` is taken
    render::Vec3 place{};              // m
};
struct PullTo {
    std::uint64_t number = 0;
    render::Vec3 by{};  // m, from where the point was when it was grabbed
};
struct Release {
    std::uint64_t number = 0;
    bool keep = true;  // false: as if it had not been
};

struct CheckGradient {};
struct Scan {
    std::array<std::string, 2>
        names;                      // of entries of the parameter vector; the second may be empty
    std::array<double, 2> width{};  // of the whole range; 0: chosen
    int count = 41;
};
struct CancelScan {};
// Whether gradients are wanted of everything that could be optimised, not only of what is: then
// they are computed in the background, for what is shown, when nothing else is to be done.
struct WatchGradients {
    bool on = true;
};
struct Profile {
    bool on = true;
};
// Answers in Snapshot::launch_text with what a launch of Snapshot::launches becomes. Does not
// disturb what runs: it is answered between two steps.
struct LaunchText {
    std::string launch;                        // LaunchInfo::name
    Direction ran = Direction::forward;        // LaunchInfo::direction
    Direction direction = Direction::forward;  // of the kernel that is wanted
    backend::KernelText what = backend::KernelText::ir;
    bool operator==(const LaunchText&) const = default;
};

using Command =
    std::variant<Apply, ShowOn, Play, Seek, StepBy, SetSpeed, Repeat, Reset, Optimise,
                 ShowIteration, Ghost, Branch, Accept, Revert, Look, Grab, PullTo, Release,
                 CheckGradient, Scan, CancelScan, WatchGradients, Profile, LaunchText>;

}  // namespace hindcast::session
