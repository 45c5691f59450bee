// Scripted tests: NAME.test.json beside the scene NAME.json lists steps to do with the scene and
// the expected results. `hindcast test scenes/` runs them all; nothing else is needed to add one.
//
//     {
//         "description": "Acceptance B",
//         "scene": "spring_cage.json",                 // default: NAME.json
//         "needs": "mujoco",                           // skipped without MuJoCo's library
//         "precision": ["f64", "f32"],                 // default: both; each is one test
//         "tolerance": {"f64": 1e-6, "f32": 1e-3},     // relative; these are the defaults
//         "steps": [
//             {"do": "run", "pinned": {},
//              "expect": {"loss": 0.2392, "state": {"position[0].x": 0.1}}},
//             {"do": "optimize", "iterations": 4,
//              "expect": {"history": [{"iteration": 0, "loss": 0.2392, "gradient": [0.18, ...]},
//                                     {"iteration": 4, "loss": 0.0126}],
//                         "decreases": true}},
//             {"do": "check_gradients", "hessian": true},
//             {"do": "set", "path": "cage.stifness", "value": 1,
//              "expect": {"error": "did you mean 'stiffness'"}}
//         ],
//         "determinism": {"interpreter": true}         // or true
//     }
//
// Steps act one after the other on one simulation. Every step may have "precision": "f64", and then
// is passed over in f32, and "expect": {"error": TEXT}: it must fail with a message that holds
// TEXT.
//   set              "path", "value": changes the scene as it was read last. A value may turn out
//                    not to fit only when the scene is built, so the step builds it.
//   run              "steps" (instead of the scene's). "expect":
//                      "loss", "terms": {NAME: value}, "state": {"position[0].x": value},
//                      "conserved": [{"sum": FORMULA, "tolerance": t}]: the sum over the elements,
//                      after every step what it was at the start, relative to the sum of the
//                      magnitudes (default 1e-12, f32 1e-5). Variables are the arrays' components:
//                      velocity_x, inverse_mass.
//                      "unchanged": true: loss and state have the bits of the run or optimize
//                      before
//   optimize         "iterations" (instead of the scene's). "expect":
//                      "history": rows with "iteration" and any of "loss", "gradient_norm",
//                        "gradient" and "parameters" (a list of all, or {NAME or INDEX: value}),
//                        "terms", and "tolerance", "gradient_tolerance", "precision" of this row
//                      "decreases": true (the loss, in every iteration), "best_below": loss,
//                      "stop": "iterations" | "converged" | "not_finite" | "stuck"
//                    Afterward the parameters are those of the last row.
//   check_gradients  "entries", "directions", "hessian", "span", "tolerance" (of the differences):
//                    as `hindcast check`, at the parameters as they stand. With "verdict" ("ok",
//                    "a kink", "not smooth") the worst one found must be that one
//   save, reload     save writes the scene with its parameters; reload reads what was saved last,
//                    or else the scene's file
//
// A number is right if |found - expected| <= tolerance * |expected|; numbers of a list or an array
// that are below a thousandth of the largest in it are held to that thousandth.
//
// "pinned" on run and optimize holds figures that detect changes and prove nothing: per precision
// the state hash and the loss, compared bit by bit. `--update` fills them in and shows what
// changed; it never touches "expect".
//
// "determinism" (true, or an object with "steps", "interpreter", "precision"): 1, 2, 3 and 8
// threads, 1, 4, 8 and 16 lanes, the interpreter where said, and a run whose backward pass
// recomputes most steps from four checkpoints must give the bits of one thread, in the final state
// and in the gradient. With "steps" the roll-out stops there, and the gradient is that of the sum
// of the state's numbers. It counts as one test per precision.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/sim/simulation.hpp"

namespace hindcast {

struct TestOptions {
    DeviceOptions device;
    std::vector<ir::Precision> precisions = {ir::Precision::f64, ir::Precision::f32};
    std::vector<std::filesystem::path> allowed_paths;
    bool update = false;
    std::function<bool()> go_on;  // asked between steps; false ends the test
};

struct TestOutcome {
    enum class Verdict { passed, failed, skipped };
    std::string name;  // "scenes/spring_cage, f64"
    Verdict verdict = Verdict::passed;
    std::vector<std::string> messages;  // expected and found values; the reason for a skip; updates
    double seconds = 0;
};

// The test files among and below the paths, sorted; a scene's file stands for the test beside it.
// Throws Error for a path that does not exist or names no test.
std::vector<std::filesystem::path> find_tests(const std::vector<std::filesystem::path>& paths);

// Runs all that one file asks for; `report` gets each outcome as it comes.
void run_scripted_test(const std::filesystem::path& file, const Registry& registry,
                       const TestOptions& options,
                       const std::function<void(const TestOutcome&)>& report);

}  // namespace hindcast
