// A robot as MuJoCo's compiler leaves it: bodies, joints, geoms, actuators and so on, as named
// arrays of numbers. It is a copy: nothing in it refers to MuJoCo's library or memory.
//
// Arrays and sizes have the names that they have in MuJoCo's mjModel, whose documentation says what
// each means: "body_mass" is nbody numbers, "jnt_axis" njnt x 3. Options and statistics are arrays
// of one row, "opt.timestep", "stat.extent". Units are SI (m, kg, s, rad). Left out is what only looks
// (lights, materials, textures, skins), what deforms (flexes; supported.hpp refuses them), and what
// MuJoCo keeps for itself (paths, hashes).
//
//     const RobotModel robot = RobotModel::load("humanoid.xml");
//     robot.reals("body_mass")[robot.find(ObjectKind::body, "torso")];
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/robot/layout/model_enums.hpp"
#include "engine/robot/mujoco_library.hpp"

namespace hindcast::robot {

// Kinds of objects with names of their own.
enum class ObjectKind : std::uint8_t {
    body,
    joint,
    geom,
    site,
    camera,
    light,
    flex,
    mesh,
    skin,
    height_field,
    texture,
    material,
    pair,
    exclude,
    equality,
    tendon,
    actuator,
    sensor,
    numeric,
    keyframe,
    plugin
};

// "body", "height field".
std::string_view name_of(ObjectKind kind);

// rows x columns numbers in C order. Single precision is kept as the same number in double; flags
// and small integers are int32.
struct ModelArray {
    std::string name;
    std::int64_t rows = 0, columns = 1;
    std::variant<std::vector<double>, std::vector<std::int32_t>> values;

    bool is_real() const { return values.index() == 0; }
};

// mjOption, by its names.
struct RobotOptions {
    double timestep = 0;                     // s
    std::array<double, 3> gravity{};         // m/s^2
    std::array<double, 3> wind{};            // m/s
    std::array<double, 3> magnetic{};        // T
    double density = 0, viscosity = 0;       // of the medium: kg/m^3, Pa s
    double impratio = 0;                     // of friction's to the normal's impedance
    double tolerance = 0, ls_tolerance = 0;  // of the solver and of its line search
    double noslip_tolerance = 0, ccd_tolerance = 0;
    IntegratorType integrator{};
    ConeType cone{};
    JacobianType jacobian{};
    SolverType solver{};
    int iterations = 0, ls_iterations = 0, noslip_iterations = 0, ccd_iterations = 0;
    int disableflags = 0, enableflags = 0;  // DisableFlag, EnableFlag
    int disableactuator = 0;                // bits: groups of actuators that are off

    bool disabled(DisableFlag flag) const { return (disableflags & static_cast<int>(flag)) != 0; }
    bool enabled(EnableFlag flag) const { return (enableflags & static_cast<int>(flag)) != 0; }
};

class RobotModel {
public:
    // Reads MJCF or URDF. In a URDF, `package://NAME/...` means the nearest folder NAME above the
    // file or beside one of those. Throws Error where the file cannot be read, where MuJoCo refuses
    // it (with its words, and the line where it says one), and where MuJoCo is not there.
    static RobotModel load(const std::filesystem::path& file);
    // The same of a text that stands in this file, or would.
    static RobotModel from_text(const std::string& text,
                                const std::filesystem::path& file = "model.xml");
    // Copies what was compiled. Throws Error where its sizes cannot be.
    explicit RobotModel(const CompiledModel& compiled);

    // A number of things by MuJoCo's name for it, "nbody". Throws Error for an unknown name.
    std::int64_t size(std::string_view name) const;
    const std::map<std::string, std::int64_t, std::less<>>& sizes() const { return sizes_; }

    // Every array, in MuJoCo's order.
    const std::vector<ModelArray>& arrays() const { return arrays_; }
    // One by its name. Throws Error, with the nearest name, for an unknown one.
    const ModelArray& array(std::string_view name) const;
    // Its numbers. Throws Error where they are of the other type.
    std::span<const double> reals(std::string_view name) const;
    std::span<const std::int32_t> integers(std::string_view name) const;

    const RobotOptions& options() const { return options_; }

    // The names of one kind, by number; "" where one has none.
    const std::vector<std::string>& names(ObjectKind kind) const;
    // The number of a thing by its name. Throws Error, with the nearest name, where there is none.
    int find(ObjectKind kind, std::string_view name) const;
    // For messages: "geom 'foot'"; without a name "geom 3 of body 'shin'", "tendon 2".
    std::string describe(ObjectKind kind, int number) const;

    // The sources of the masses of each geom, body and mesh.
    const MassSources& masses() const { return masses_; }

    // Warnings of MuJoCo's compiler.
    const std::vector<std::string>& warnings() const { return warnings_; }

private:
    void read_options();

    std::map<std::string, std::int64_t, std::less<>> sizes_;
    std::vector<ModelArray> arrays_;
    std::map<std::string, std::size_t, std::less<>> places_;  // in arrays_, by name
    std::map<ObjectKind, std::vector<std::string>> names_;
    RobotOptions options_;
    MassSources masses_;
    std::vector<std::string> warnings_;
};

// The numbers of an array as an enum.
template <class Enum>
Enum enum_at(std::span<const std::int32_t> values, std::int64_t index) {
    return static_cast<Enum>(values[static_cast<std::size_t>(index)]);
}

}  // namespace hindcast::robot
