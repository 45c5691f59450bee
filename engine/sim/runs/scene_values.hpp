// The values of a scene by path: read, set and saved. They stand in a simulation of the scene with
// the parameters that it names.
#pragma once

#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/sim/simulation.hpp"

namespace hindcast::runs {

using Shape = std::vector<std::int64_t>;

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
// An argument that cannot be taken; its name stands in the message.
struct ArgumentFault : Error {
    using Error::Error;
};
// Throws ArgumentFault for a number that a quantity's entry cannot be in a run of this precision.
void check_number(model::Model& model, const model::Quantity& q, std::size_t entry, double value,
                  ir::Precision precision);

class SceneValues {
public:
    // The registry stays to the end of the process: a build that is interrupted may go on. Throws Error.
    SceneValues(Scene scene, const Registry& registry, SimulationOptions options);

    struct Value {
        Shape shape;  // empty: one number
        std::vector<double> numbers;
    };
    // The value of a number that enters the physics; nothing if the path names none.
    // "ball.velocity.z" of vectors is one number per element.
    std::optional<Value> value(const std::string& path);
    // The scene's JSON at any other path. Throws ArgumentFault if it writes nothing there.
    std::string json(const std::string& path) const;
    // Numbers in the value's shape. Throws ArgumentFault and changes nothing if a number is outside
    // its range. One element of a value for all makes it one per element.
    void set(const std::string& path, std::span<const double> numbers);
    void make_per_element(const std::string& path);
    // As --set does; everything is made again. Throws Error and changes nothing.
    void set_json(const std::string& path, const std::string& json);
    struct Described {
        std::string path, unit;
        Shape shape;
        std::int64_t count = 0;  // elements that the value applies to
        bool shared = false, differentiable = false;
    };
    std::vector<Described> paths() const;
    std::vector<std::string> parameters() const;  // the paths that the scene names, each once

    // A simulation, and how long its runs took last.
    struct Made {
        std::unique_ptr<Simulation> simulation;
        double forward[3] = {-1, -1, -1}, backward[3] = {-1, -1, -1};  // by mode
    };
    // A path among those that are differentiated.
    struct Leaf {
        std::string path;
        Shape shape;
        model::Quantity* quantity = nullptr;
        std::vector<std::size_t> entries;  // of the quantity's values
    };
    // The numbers that a path names in a model of this scene; nothing if it names none.
    std::optional<Leaf> find(model::Model& model, const std::string& path) const;
    ArgumentFault unknown(const std::string& path, const std::string& argument) const;
    // The scene with the values as they stand. Long arrays and files go into the same folder.
    void save(const std::filesystem::path& file);

    const Scene& scene() const { return scene_; }
    Scene written() const;  // the scene with the values as they stand
    // By path, all numbers of each value that is not that of scene().
    std::map<std::string, std::vector<double>> values_set() const;
    Simulation& simulation() const { return *base_->simulation; }
    const SimulationOptions& options() const { return options_; }
    model::Model& model() const { return base_->simulation->model(); }
    std::int64_t steps() const {
        return base_->simulation->steps() / base_->simulation->scene().substeps();
    }

    // Refuses what would change the simulation while an optimization asks its watch.
    void require_idle() const;

protected:
    ~SceneValues() = default;
    // The simulation was made anew: runs with the one before are no longer of this scene.
    virtual void forget_runs() {}

    // A copy of the scene with these parameters and the values as they stand.
    Scene with_parameters(Scene scene, const std::vector<std::string>& paths) const;
    void build(Scene scene);

    const Registry& registry_;
    Scene scene_;
    SimulationOptions options_;
    std::shared_ptr<Made> base_;
    std::set<std::string> changed_;  // quantities whose values are not those of scene_
    bool optimizing_ = false;
};

}  // namespace hindcast::runs
