// The workloads of ensembles.
//
//   ensemble          64 variants of the scene of spring_cage: in variant m every rest length is
//                     1 + m / 640 times the initial one. All losses, and all losses and gradients:
//                     as an ensemble in SIMD lanes; one after the other, launch by launch; and one
//                     after the other, each as one compiled function.
//   ensemble_threads  12 variants of the scene of mpm2d with 100 steps: in variant m the initial
//                     velocity is (m / 12, 0). Each on one thread, as many at once as there are;
//                     and one after the other, each on all threads.
//
// The results of all ways must be equal. The loss is the sum of all; the gradient is that of
// variant 0.
#include <algorithm>
#include <initializer_list>
#include <memory>

#include "app/cli/bench/bench.hpp"
#include "engine/sim/ensembles/ensemble.hpp"

namespace hindcast::cli {

namespace {

using Point = std::vector<double>;
using Results = std::vector<Ensemble::Result>;

struct Variants {
    std::string scene;  // JSON
    std::size_t count = 0;
    int batch = 1;                                          // evaluations per timing
    void (*change)(Point& point, std::size_t m) = nullptr;  // from the scene's to those of m
};

// One way to run them all: seconds for losses, and for losses and gradients.
struct Measured {
    double forward_s = 1e300, forward_backward_s = 1e300, compile_s = 0;
    Results results;
};

class Way {
public:
    Way(const Variants& variants, const BenchOptions& options, WholeProgramUse whole,
        EnsembleUse use)
        : repeats_(options.repeats), batch_(variants.batch) {
        register_all_modules(registry_);
        SimulationOptions so;
        DeviceOptions device = options.device;
        device.whole_program = whole;
        so.device = device_ = std::make_shared<Device>(device);
        so.precision = options.precision;
        simulation_ =
            std::make_unique<Simulation>(Scene::parse(variants.scene, "ensemble"), registry_, so);
        points_.assign(variants.count, simulation_->parameters().values());
        for (std::size_t m = 0; m < points_.size(); ++m) variants.change(points_[m], m);
        ensemble_ = std::make_unique<Ensemble>(
            *simulation_, EnsembleOptions{.members = variants.count, .use = use});
        ensemble_->evaluate(points_, false);
        measured_.results = ensemble_->evaluate(points_, true);
        measured_.compile_s = device_->statistics().seconds;
    }

    void measure() {
        for (const bool gradient : {false, true}) {
            double& least = gradient ? measured_.forward_backward_s : measured_.forward_s;
            least = std::min(least, fastest(*device_, repeats_, batch_,
                                            [&] { ensemble_->evaluate(points_, gradient); }));
        }
    }
    const Measured& measured() const { return measured_; }

private:
    int repeats_, batch_;
    Registry registry_;
    std::shared_ptr<Device> device_;
    std::unique_ptr<Simulation> simulation_;
    std::vector<Point> points_;
    std::unique_ptr<Ensemble> ensemble_;
    Measured measured_;
};

// In turns, since ratios are what counts.
void measure(std::initializer_list<Way*> ways, const BenchOptions& options) {
    const int rounds = options.repeats > 1 ? 3 : 1;
    for (int round = 0; round < rounds; ++round)
        for (Way* way : ways) way->measure();
}

void check_same(const Results& a, const Results& b) {
    for (std::size_t m = 0; m < a.size(); ++m)
        if (a[m].loss != b[m].loss || a[m].gradient != b[m].gradient)
            throw Error("internal: an ensemble has other results than its members alone");
}

BenchResult result_of(const Measured& measured, const char* workload, std::int64_t steps,
                      const char* gradient) {
    BenchResult result{.workload = workload,
                       .n = static_cast<std::int64_t>(measured.results.size()),
                       .steps = steps,
                       .program_steps = steps,
                       .forward_s = measured.forward_s,
                       .forward_backward_s = measured.forward_backward_s,
                       .compile_s = measured.compile_s};
    for (const Ensemble::Result& r : measured.results) result.loss += r.loss;
    result.gradients = {{gradient, measured.results.front().gradient}};
    return result;
}

BenchResult in_lanes(const BenchOptions& options) {
    const Variants cages{spring_cage_scene, 64, 20, [](Point& lengths, std::size_t m) {
                             for (double& length : lengths)
                                 length *= 1 + static_cast<double>(m) / 640;
                         }};
    Way side_by_side(cages, options, WholeProgramUse::never, EnsembleUse::lanes);
    Way by_launches(cages, options, WholeProgramUse::never, EnsembleUse::one_by_one);
    Way by_functions(cages, options, WholeProgramUse::always, EnsembleUse::one_by_one);
    measure({&side_by_side, &by_launches, &by_functions}, options);
    const Measured &lanes = side_by_side.measured(), &launched = by_launches.measured(),
                   &whole = by_functions.measured();
    check_same(lanes.results, launched.results);
    check_same(lanes.results, whole.results);
    BenchResult result = result_of(lanes, "ensemble", 30, "rest");
    result.more = {
        {"launches_forward_s", launched.forward_s},
        {"launches_forward_backward_s", launched.forward_backward_s},
        {"whole_forward_s", whole.forward_s},
        {"whole_forward_backward_s", whole.forward_backward_s},
        {"forward_against_launches", launched.forward_s / lanes.forward_s},
        {"forward_backward_against_launches",
         launched.forward_backward_s / lanes.forward_backward_s},
        {"forward_against_whole", whole.forward_s / lanes.forward_s},
        {"forward_backward_against_whole", whole.forward_backward_s / lanes.forward_backward_s}};
    return result;
}

BenchResult on_threads(const BenchOptions& options) {
    constexpr std::int64_t steps = 100;
    const Variants blocks{material_block_scene(steps), 12, 1, [](Point& velocity, std::size_t m) {
                              velocity[0] = static_cast<double>(m) / 12;
                          }};
    Way one_each(blocks, options, WholeProgramUse::automatic, EnsembleUse::threads);
    Way all_on_one(blocks, options, WholeProgramUse::automatic, EnsembleUse::one_by_one);
    measure({&one_each, &all_on_one}, options);
    const Measured &threads = one_each.measured(), &turns = all_on_one.measured();
    check_same(threads.results, turns.results);
    BenchResult result = result_of(threads, "ensemble_threads", steps, "v0");
    result.more = {
        {"turns_forward_s", turns.forward_s},
        {"turns_forward_backward_s", turns.forward_backward_s},
        {"forward_against_turns", turns.forward_s / threads.forward_s},
        {"forward_backward_against_turns", turns.forward_backward_s / threads.forward_backward_s}};
    return result;
}

}  // namespace

std::vector<Workload> ensemble_workloads() {
    return {{"ensemble", "64 variants of spring_cage at once, against one after the other",
             [](const BenchOptions& o) { return std::vector{in_lanes(o)}; }},
            {"ensemble_threads", "12 variants of mpm2d, one on each thread, against in turns",
             [](const BenchOptions& o) { return std::vector{on_threads(o)}; }}};
}

}  // namespace hindcast::cli
