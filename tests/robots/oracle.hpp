// MuJoCo itself, beside articulated bodies of ours: the same text of a model in both.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/robot/layout/model_layout.hpp"
#include "engine/robot/mujoco_library.hpp"
#include "engine/robot/robot_model.hpp"
#include "engine/sim/simulation.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/mujoco.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hindcast::test {

struct RobotState {
    std::vector<double> qpos, qvel, act, ctrl;
};

// The largest |a - b| / (1 + |b|), with the norm of all of b.
inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double difference = 0, size = 0;
    REQUIRE(a.size() == b.size());
    for (std::size_t k = 0; k < a.size(); ++k) {
        difference += (a[k] - b[k]) * (a[k] - b[k]);
        size += b[k] * b[k];
    }
    return std::sqrt(difference) / (1 + std::sqrt(size));
}

// A model in MuJoCo with a state of its own, moved through its public functions.
class Oracle {
public:
    explicit Oracle(const std::string& text, const std::filesystem::path& file)
        : compiled_(robot::mujoco_library().compile(text, file)), model_(compiled_) {
        data_ = call<void*(const void*)>("mj_makeData")(memory());
    }
    ~Oracle() { call<void(void*)>("mj_deleteData")(data_); }
    Oracle(const Oracle&) = delete;
    Oracle& operator=(const Oracle&) = delete;

    const robot::RobotModel& model() const { return model_; }
    // Of uniform numbers; quaternions of any direction.
    RobotState random_state(std::mt19937_64& generator) const {
        const auto uniform = [&](double low, double high) {
            return low + (high - low) * static_cast<double>(generator() >> 11) * 0x1p-53;
        };
        RobotState s;
        const auto fill = [&](std::vector<double>& list, const char* size, double bound) {
            for (std::int64_t k = 0; k < model_.size(size); ++k)
                list.push_back(uniform(-bound, bound));
        };
        fill(s.qpos, "nq", 1.5);
        fill(s.qvel, "nv", 2);
        fill(s.act, "na", 1);
        fill(s.ctrl, "nu", 1.5);
        const auto types = model_.integers("jnt_type"), places = model_.integers("jnt_qposadr");
        for (std::size_t j = 0; j < types.size(); ++j) {
            if (types[j] > 1) continue;
            double* const q =
                &s.qpos[static_cast<std::size_t>(places[j]) + (types[j] == 0 ? 3 : 0)];
            const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
            for (int k = 0; k < 4; ++k) q[k] /= length;
        }
        return s;
    }
    void set(const RobotState& s) {
        std::vector<double> all = s.qpos;
        for (const auto* part : {&s.qvel, &s.act, &s.ctrl})
            all.insert(all.end(), part->begin(), part->end());
        put(all, 2 | 4 | 8 | 64);
    }
    void step() { call<void(const void*, void*)>("mj_step")(memory(), data_); }
    RobotState state() const { return {get(2, "nq"), get(4, "nv"), get(8, "na"), get(64, "nu")}; }
    // Computes all that follows from the state.
    void forward() { call<void(const void*, void*)>("mj_forward")(memory(), data_); }
    // Real numbers of its compiled model, to be changed; set_constants() then derives others from them.
    std::span<double> field(const std::string& name) {
        const auto fields = robot::array_fields();
        const auto found = std::ranges::find(fields, name, &robot::ModelField::name);
        REQUIRE(found != fields.end());
        REQUIRE(found->element == robot::Element::real64);
        double* numbers = nullptr;
        std::memcpy(static_cast<void*>(&numbers), compiled_.memory.get() + found->offset,
                    sizeof(void*));
        return {numbers, model_.reals(name).size()};
    }
    void set_constants() { call<void(const void*, void*)>("mj_setConst")(memory(), data_); }
    // The derivatives of a step by the state (tangents of qpos, then qvel) and by the controls, row by row,
    // from central differences of this width.
    struct Transition {
        std::vector<double> by_state, by_control;
    };
    Transition transition(double width) {
        const auto state = static_cast<std::size_t>(2 * model_.size("nv") + model_.size("na"));
        Transition t;
        t.by_state.resize(state * state);
        t.by_control.resize(state * static_cast<std::size_t>(model_.size("nu")));
        call<void(const void*, void*, double, std::uint8_t, double*, double*, double*, double*)>(
            "mjd_transitionFD")(memory(), data_, width, 1, t.by_state.data(), t.by_control.data(),
                                nullptr, nullptr);
        return t;
    }
    // The memory of its mjData, for what no function says (contacts.hpp).
    const std::byte* data() const { return static_cast<const std::byte*>(data_); }
    // Of the state before the last step, without constraints, except with RK4.
    std::vector<double> acceleration() const { return get(32, "nv"); }

protected:
    // Parts of its state by the bits of mjtState.
    void put(const std::vector<double>& values, int what) {
        call<void(const void*, void*, const double*, int)>("mj_setState")(memory(), data_,
                                                                          values.data(), what);
    }

private:
    template <class F>
    static F* call(const char* name) {
        return reinterpret_cast<F*>(robot::mujoco_library().function(name));
    }
    const void* memory() const { return compiled_.memory.get(); }
    std::vector<double> get(int what, const char* size) const {
        std::vector<double> values(static_cast<std::size_t>(model_.size(size)));
        call<void(const void*, const void*, double*, int)>("mj_getState")(memory(), data_,
                                                                          values.data(), what);
        return values;
    }

    robot::CompiledModel compiled_;
    robot::RobotModel model_;
    void* data_ = nullptr;
};

// The same model in a scene of ours, called "robot", on the interpreter in f64.
class Ours {
public:
    // `keys` of the scene, `own` of the body, `time` of "time"; all begin with a comma.
    Ours(const std::string& text, double step, std::int64_t steps, const std::string& keys = "",
         const std::string& own = "", const std::string& time = "") {
        std::ofstream(folder_ / "robot.xml") << text;
        const std::string scene =
            R"({"format": 1, "time": {"step": )" + number(step) + R"(, "steps": )" +
            std::to_string(steps) + time +
            R"(}, "bodies": [{"type": "articulated", "name": "robot", "model": "robot.xml")" + own +
            "}]" + keys + "}";
        SimulationOptions options;
        options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
        options.precision = ir::Precision::f64;
        simulation_ = std::make_unique<Simulation>(
            Scene::of(document::Document::parse(scene, "scene"), folder_ / "scene.json"),
            all_modules(), options);
    }
    void set(const RobotState& s) {
        give("qpos", s.qpos);
        give("qvel", s.qvel);
        give("act", s.act);
        give("ctrl", s.ctrl);
    }
    void run() { simulation_->run(); }
    // One step of both from this state.
    void run_beside(Oracle& oracle, const RobotState& state) {
        set(state);
        run();
        oracle.set(state);
        oracle.step();
    }
    model::Quantity& quantity(const std::string& key) {
        model::Quantity* const found = simulation_->model().find_quantity("robot." + key);
        REQUIRE(found != nullptr);
        return *found;
    }
    std::vector<double> array(const std::string& name) const {
        if (!simulation_->model().has_array("robot." + name)) return {};
        return simulation_->model().array("robot." + name).to_doubles();
    }
    Simulation& simulation() { return *simulation_; }

private:
    void give(const std::string& key, const std::vector<double>& values) {
        model::Quantity* const quantity = simulation_->model().find_quantity("robot." + key);
        if (quantity == nullptr) return;  // none, or of actuators that are off
        quantity->values = values;
        quantity->upload();
    }
    TemporaryFolder folder_;
    std::unique_ptr<Simulation> simulation_;
};

}  // namespace hindcast::test
