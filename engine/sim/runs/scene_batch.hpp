// Many copies of a scene that go their own ways: environments for learning. One
// thread at a time, which spreads the members over the device's threads.
//
//     SceneBatch batch(scene, registry, options, 64);
//     batch.set("cage.stiffness", {}, numbers);    // [members, size of the value]
//     batch.step({}, 4);                           // every member that is not done, 4 steps on
//     batch.losses();
//
// A member is its values, the state between two of its steps, and how many it has made. Each
// belongs to one worker, a simulation on one thread, which is set to the member's values and state,
// runs on, and hands the state back: the bits of the whole are those of a run alone. Values count
// from the next step on; those that only the start of a run reads, from the next reset on.
#pragma once

#include <cstdint>
#include <map>

#include "engine/sim/runs/scene_runs.hpp"

namespace hindcast::runs {

class BatchGradients;
class BatchWindows;
class MemberValues;

class SceneBatch {
public:
    // A batch of the scene with these options; all members stand at the start. Throws Error.
    SceneBatch(Scene scene, const Registry& registry, SimulationOptions options,
               std::size_t members);
    ~SceneBatch();

    std::function<bool()> go_on;  // false: the work under way ends, and Interrupted is thrown

    using Mask = std::vector<std::uint8_t>;  // 1 for each member that is meant; empty: all
    std::size_t size() const { return members_.size(); }
    std::size_t workers() const { return workers_.size(); }
    std::int64_t steps() const { return runs_.steps(); }  // of an episode
    SceneRuns& runs() { return runs_; }

    // ---- values ----
    // Of all members, one after the other. Throws ArgumentFault for a path that names no number.
    SceneRuns::Value values(const std::string& path);
    // Throws ArgumentFault and changes nothing if the path names none, names what another path that
    // was set names too, or a number is out of its range.
    void set(const std::string& path, const Mask& mask, std::span<const double> numbers);

    // ---- states ----
    struct Member {
        Rollout::State state;
        bool diverged = false;
    };
    // Back to the start. `states`: arrays by name that are set to these numbers, [members, ...].
    struct Given {
        std::string name;
        std::vector<double> numbers;
    };
    void reset(const Mask& mask, const std::vector<Given>& states = {});
    // Members that are at the end, or have diverged, stay as they are.
    void step(const Mask& mask, std::int64_t steps);
    // The state of all members, for a later restore() into this batch.
    std::vector<Member> save() const;
    void restore(const Mask& mask, const std::vector<Member>& saved);

    // ---- results ----
    std::vector<std::int64_t> steps_done() const;
    Mask diverged() const;
    Mask done() const;  // at the end, or diverged
    std::vector<double> losses() const;
    std::vector<std::string> observed() const;  // names that observe() and reset() take
    struct Observation {
        ir::Type type = ir::Type::none;
        Shape shape;  // of one member
        std::vector<std::byte> bytes;
    };
    Observation observe(const std::string& name) const;

    // ---- gradients ----
    struct Gradients {
        std::vector<double> losses;
        std::vector<std::vector<double>> by_path;   // [members, size] each
        std::vector<Shape> shapes;                  // of one member
        std::vector<std::vector<double>> by_state;  // in the order asked for
        std::vector<Shape> state_shapes;
    };
    // Gradients of runs from the start to the end; the members stay where they are.
    Gradients gradients(const std::vector<std::string>& paths);
    // Gradients of loss_weight * loss + sum of cotangents * states, `steps` steps on from where
    // each member is, with respect to values that count in these steps and to state arrays where
    // they begin. `losses` is the objective then. The members stay where they are.
    struct Pull {
        std::vector<std::string> paths, states;
        std::int64_t steps = 0;
        double loss_weight = 0;
        std::vector<Given> cotangents;
    };
    Gradients pull_back(const Pull& wanted);

private:
    friend class BatchWindows;
    std::int64_t substeps() const { return runs_.simulation().scene().substeps(); }
    std::size_t worker_of(std::size_t member) const { return member % workers_.size(); }
    std::vector<std::size_t> chosen(const Mask& mask) const;
    // f(worker, member) on the workers' threads. `asks`, in f: false where the work must end.
    void each(const std::vector<std::size_t>& members,
              const std::function<void(std::size_t worker, std::size_t member)>& f);
    bool goes_on();  // on any thread that each() works with
    void run_to(std::size_t worker, std::size_t member, std::int64_t target, bool anew);
    void settle(std::size_t worker, std::size_t member);
    double loss_of(std::size_t member) const;
    std::size_t place_of(const std::string& name, const std::string& argument) const;
    std::size_t size_of(const std::string& name, const std::string& argument) const;

    SceneRuns runs_;
    std::unique_ptr<MemberValues> values_;
    std::vector<std::unique_ptr<Simulation>> workers_;
    std::vector<Member> members_;
    std::map<std::string, std::size_t> places_;  // of state arrays in Rollout::State::arrays
    double took_ = -1;                           // seconds of the last run of one member
    std::unique_ptr<BatchGradients> gradients_;  // both are made when they are first asked for
    std::unique_ptr<BatchWindows> windows_;
    struct Work;
    Work* work_ = nullptr;  // while each() runs
};

}  // namespace hindcast::runs
