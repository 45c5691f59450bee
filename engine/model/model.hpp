// The model that modules build together: points, arrays, quantities, phases, objective terms.
//
// Points are what particle-like bodies consist of; all bodies share arrays ("position", "velocity",
// ...), a body is a range of them. An Array is published under a name, with unit and meaning; other
// modules find it by that name. A quantity is a number of the scene that enters the
// physics: it has a path, may be optimized, and is bound to launches either as one value for all
// (f64 scalar) or one per element.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <typeindex>
#include <vector>

#include "engine/document/values.hpp"
#include "engine/model/drawing.hpp"
#include "engine/model/integrator.hpp"
#include "engine/model/registry.hpp"
#include "engine/model/warnings/contact_pairs.hpp"
#include "engine/model/warnings/state_looks.hpp"
#include "engine/runtime/minimization/rules/options.hpp"
#include "engine/runtime/program/program.hpp"

namespace hindcast {
struct EnergyTerm;   // runtime/minimization/energy/energy.hpp
class Minimization;  // runtime/minimization/minimization.hpp
}  // namespace hindcast

namespace hindcast::model {

// Within a phase launches act in the order they were added: bodies, forces, colliders, controllers,
// each in scene order.
enum class Phase {
    begin,
    controllers,
    forces,
    velocity_decay,
    velocity_update,
    velocity_constraints,
    position_update,
    end
};
inline constexpr int phase_count = 8;

// A named number (or array of numbers) of the scene. The f64 values are the truth; the device array
// holds them rounded once to the precision of the run (a shared value stays f64 and is rounded by
// the launch).
struct Quantity {
    std::string path;  // "cage.stiffness"
    std::string unit;
    std::int64_t count = 0;  // elements it applies to
    int components = 1;
    bool shared = false;  // one value for all elements
    bool may_optimize = false;
    std::string no_gradient, remedy;  // why not, where the reference says it has a gradient
    document::Range range;            // of each number
    std::vector<double> values;       // rows x components; one row if shared
    Array array;  // f64 {1, components} if shared, else the real type {count, components}
    std::string scene_pointer;  // of the value in the scene
    // The scene's own values if `values` were set after it was loaded (--set).
    std::function<std::vector<double>()> as_loaded;
    // The module's check of the values besides the range: throws Error. May be empty.
    std::function<void(std::span<const double> values)> check;
    // The build used the scene's value for something other than the array. Set by values_at_load()
    // and Settings::quantity_of(), and by a module that reads the value in another way.
    bool used_at_load = false;

    // The numbers that the scene was loaded with.
    std::vector<double> loaded() const;
    // For a build that makes something else from the values than `array`.
    const std::vector<double>& values_at_load() {
        used_at_load = true;
        return values;
    }
    // True if these values can be rounded to the run's real type.
    bool fits(ir::Type real, std::span<const double> numbers) const;
    std::int64_t rows() const { return shared ? 1 : count; }
    // For a Property<T> or, if shared, a Param<T>.
    Argument argument() const { return shared ? Argument::shared(array) : Argument(array); }
    void upload() const { array.assign(values); }
};

struct Range {
    std::int64_t first = 0, count = 0;

    bool overlaps(const Range& other) const {
        return first < other.first + other.count && other.first < first + count;
    }
    bool contains(std::int64_t point) const { return point >= first && point < first + count; }
};

// The description of a published array, for modules that find it by its name.
struct ArrayDescription {
    std::string unit = {};      // "m/s"; "": a number, or no unit that one could name
    std::string meaning = {};   // in one line: "velocity of each point"
    bool state = false;         // part of the state hash, the outputs and the viewer
    bool defined_anew = false;  // in each step, as the sum of what launches add to it
    bool internal = false;      // of a module's own working: not offered as a color
};

// A scalar field on the nodes of a regular grid in the plane: node (i, j) is element i * columns +
// j of `values` and lies at (i, j) * spacing, in meters.
struct GridField {
    std::int64_t rows = 0, columns = 0;
    double spacing = 0;
    Array values;  // {rows * columns, 1}

    std::vector<double> positions() const;  // x and y of every node
    std::vector<std::int64_t> shape() const { return {rows, columns}; }
};

// Points that each step moves by v <- v + h (g + f / m), x <- x + h v, in phases velocity_update
// and position_update; 1/m is 0 for a fixed one.
struct PointIntegrator {
    Array position, velocity, inverse_mass;
};

class Model;
class Minimized;  // implicit/minimized.hpp

// Energy that a state has: for objectives, and shown beside a run.
struct Energy {
    std::string type;   // of the module that has it
    std::string owner;  // the scene's object; "": all points
    std::string name;   // "elastic energy"
    // Adds to the program a launch that adds scale times the energy, in joule, of the state as it
    // is then to `value`, an f64 scalar. Called once the model is built.
    std::function<void(Model& model, double scale, const Array& value, Program& program)> add;
};

// One term of the objective: loss += weight * value. The term's launches add to `value`, an f64
// scalar that is cleared before each run.
struct Term {
    std::string name;
    double weight = 1;
    std::vector<std::int64_t> times;  // after how many steps its launches run
    Array value;
};

struct ModelOptions {
    std::shared_ptr<Device> device;
    ir::Precision precision = ir::Precision::f32;
    int dimension = 3;
    double step = 0;               // seconds per (sub)step
    std::int64_t steps = 0;        // (sub)steps in all
    std::int64_t scene_steps = 0;  // whole steps that the scene says; a run may make others
    std::int64_t substeps = 1;
    Integrator integrator = Integrator::semi_implicit_euler;
    MinimizationOptions minimization = {};  // of the other integrators
    std::uint64_t seed = 0;
    document::FileAccess files;
    document::ElementaryTable functions;
    std::map<std::string, bool> per_element;  // path -> written shared, but wanted per element
};

class Model {
public:
    explicit Model(ModelOptions options);

    const ModelOptions& options() const { return options_; }
    int dimension() const { return options_.dimension; }
    ir::Type real() const { return ir::real_type(options_.precision); }
    double step() const { return options_.step; }

    // --- bodies and points ---
    Range add_points(const std::string& body, std::int64_t count);
    Range points(const std::string& body,
                 const document::Node& asked_at) const;  // Error at the node, with "did you mean"
    std::int64_t point_count() const { return points_; }
    // Those that have points, in scene order.
    const std::vector<std::pair<std::string, Range>>& bodies_with_points() const { return bodies_; }
    // The starting positions of all points (m), point_count x dimension: for values that are
    // evaluated once at load.
    void set_initial_points(std::int64_t first, std::span<const double> positions);
    const std::vector<double>& initial_points() const { return initial_points_; }

    // --- fields on grids ---
    void add_grid_field(const std::string& body, GridField field);
    // Throws Error at the node if that body has no field, with "did you mean".
    const GridField& grid_field(const std::string& body, const document::Node& asked_at) const;

    // --- arrays ---
    // An array of the run's real type. Throws Error if there is one of that name.
    Array add_array(const std::string& name, std::int64_t elements, int components,
                    ArrayDescription description, Layout layout = Layout::contiguous);
    Array index_array(const std::vector<std::int64_t>& indices,
                      int components) const;  // i32, not published
    bool has_array(const std::string& name) const { return arrays_.contains(name); }
    Array array(const std::string& name) const;
    struct Published : ArrayDescription {
        Array array;
        bool is_defined = false;  // by a launch, if `defined_anew`
    };
    const std::map<std::string, Published>& arrays() const { return arrays_; }
    // Data other than arrays that modules, or a module's instances, share: one T for each model,
    // made when it is first asked for.
    template <class T>
    T& shared() {
        std::shared_ptr<void>& one = shared_[typeid(T)];
        if (!one) one = std::make_shared<T>();
        return *static_cast<T*>(one.get());
    }

    // --- quantities ---
    Quantity& add_quantity(Quantity quantity);
    Quantity* find_quantity(const std::string& path);
    std::map<std::string, std::unique_ptr<Quantity>>& quantities() { return quantities_; }

    // --- values that were made at load ---
    // The numbers of a quantity from which other values were computed when the scene was loaded,
    // and the key that holds them in a saved scene whose quantity has other numbers by then.
    struct MadeFrom {
        std::string quantity;       // its path
        std::string scene_pointer;  // of the key, which the scene does not write
        std::vector<double> values;
        int components = 1;
        bool shared = false;
    };
    // Scenes that are saved with other numbers of the quantity write the key.
    void keep(MadeFrom values) { made_from_.push_back(std::move(values)); }
    const std::vector<MadeFrom>& made_from() const { return made_from_; }
    // True if the build only uploaded this quantity's values: a simulation that gets other values
    // by Quantity::upload() has the same bits as one that is built with them.
    bool only_uploaded(const Quantity& quantity) const;

    // --- launches ---
    // The arguments by name, in any order; parameters that the kernel's body does not use may be
    // left out. The first launch made that adds to an array that each step defines anew clears it:
    // its Accumulate becomes a Sum.
    Launch launch(const lang::KernelDef& kernel, std::int64_t items,
                  const std::vector<NamedArgument>& arguments, std::string description);
    Program& prologue() { return prologue_; }
    void add(Phase phase, const Launch& launch) { phases_[static_cast<int>(phase)].add(launch); }
    Program step_program() const;  // all phases in order
    const Program& phase(Phase phase) const { return phases_[static_cast<int>(phase)]; }
    // None: no points are moved that way.
    const std::optional<PointIntegrator>& integrator() const { return integrator_; }
    void set_integrator(PointIntegrator points) { integrator_ = std::move(points); }
    // True if points move to the minimum of energies in each step, and modules add energies and no
    // forces.
    bool is_implicit() const { return options_.integrator != Integrator::semi_implicit_euler; }
    // An energy of points by their numbers in the scene, in an implicit scene; for build().
    void add_energy(EnergyTerm term);
    // The energies and coordinates of an implicit scene.
    Minimized& minimized() { return *minimized_; }
    // The minimization that moves the points of an implicit scene, once its modules were built;
    // else nullptr.
    const std::shared_ptr<Minimization>& minimization() const;
    // The number of the step that runs, for a Param<Int>.
    const Array& step_counter() const { return step_counter_; }

    // --- warnings ---
    Warnings& warnings() { return warnings_; }
    const Warnings& warnings() const { return warnings_; }
    ContactPairs& contact_pairs() { return contact_pairs_; }
    const ContactPairs& contact_pairs() const { return contact_pairs_; }
    StateLooks& state_looks() { return state_looks_; }

    // --- looks ---
    void draw(Drawing drawing) { drawings_.push_back(std::move(drawing)); }
    const std::vector<Drawing>& drawings() const { return drawings_; }

    // --- energies ---
    void publish_energy(Energy energy) { energies_.push_back(std::move(energy)); }
    const std::vector<Energy>& energies() const { return energies_; }

    // --- objective ---
    // Launches that add to term.value, run after the given numbers of steps.
    void add_term(Term term, const Program& program);
    // The same with a program of its own for each of term.times.
    void add_term(Term term, const std::vector<Program>& programs);
    const std::vector<Term>& terms() const { return terms_; }
    const std::map<std::int64_t, Program>& events() const { return events_; }

private:
    ModelOptions options_;
    std::int64_t points_ = 0;
    std::vector<double> initial_points_;
    std::vector<std::pair<std::string, Range>> bodies_;
    std::map<std::string, GridField> grid_fields_;
    std::map<std::string, Published> arrays_;
    std::map<std::type_index, std::shared_ptr<void>> shared_;
    std::map<std::string, std::unique_ptr<Quantity>> quantities_;
    std::vector<MadeFrom> made_from_;
    Program prologue_, phases_[phase_count];
    std::optional<PointIntegrator> integrator_;
    std::shared_ptr<Minimized> minimized_;
    Array step_counter_{ir::Type::i32, {1}};  // Rollout::set_step_counter()
    Warnings warnings_;
    ContactPairs contact_pairs_;
    StateLooks state_looks_;
    std::vector<Drawing> drawings_;
    std::vector<Energy> energies_;
    std::vector<Term> terms_;
    std::map<std::int64_t, Program> events_;
};

// Settings: one object of the scene, read by its module's field rows. Every getter names a field of
// the type.
class Settings {
public:
    // Reads and checks the object: unknown keys, types, ranges. Fields that need the model are read
    // by the getters below. `loaded`: the same object in the scene as it was loaded, before numbers
    // were set in it; null if none were.
    Settings(const ModuleType& type, const document::Node& object, std::string name,
             const document::Node* loaded = nullptr);

    const std::string& name() const { return name_; }
    const document::Node& node() const { return node_; }
    const document::Node* find(
        const std::string& key) const;  // as written, or the default; null if absent
    // As the scene was loaded, before a number was set.
    const document::Node* find_loaded(const std::string& key) const;
    bool written(const std::string& key) const { return node_.find(key) != nullptr; }

    double number(const std::string& key) const;
    std::int64_t integer(const std::string& key) const;
    bool boolean(const std::string& key) const;
    std::string text(const std::string& key) const;
    std::string choice(const std::string& key) const;

    // Makes the quantity name.key and gives it: numbers and vectors are shared values, values and
    // vectors as written. `positions` serves formulas (count x dimension, or `count` times), `grid`
    // (rows, columns) values that are written row by row.
    Quantity& quantity(Model& model, const std::string& key, std::int64_t count = 1,
                       std::span<const double> positions = {},
                       std::span<const std::int64_t> grid = {}) const;
    // The same with values that the module computed itself, one per element.
    Quantity& quantity_of(Model& model, const std::string& key, std::int64_t count,
                          std::vector<double> values) const;
    // An objective's term: its name, weight, times, and an f64 scalar for its value.
    Term term(const Model& model) const;
    // The points of the body that the field names.
    Range points(const Model& model, const std::string& key) const;
    // The objective's "at": end, a time, a list of times, or "all" (after every
    // whole step, so not the start), as numbers of steps.
    std::vector<std::int64_t> times(const Model& model) const;
    Error error(const std::string& key, const std::string& what) const;  // at the key's place

private:
    const Field& field(const std::string& key) const;
    Quantity make(const Model& model, const Field& f, std::int64_t count, int components,
                  bool shared, std::vector<double> values) const;
    const ModuleType* type_;
    document::Node node_, loaded_;
    std::string name_;
    std::map<std::string, document::Node> defaults_;
};

}  // namespace hindcast::model
