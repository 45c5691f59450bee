// A scripted test as it was read from its file: the format is described in scripted_test.hpp.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/document/document.hpp"
#include "engine/ir/type.hpp"

namespace hindcast {

struct Tolerance {
    double f64 = 1e-6, f32 = 1e-3;
    double of(ir::Precision precision) const { return precision == ir::Precision::f64 ? f64 : f32; }
};

struct TestScript {
    using Precisions = std::vector<ir::Precision>;

    // Numbers of a vector: all of them, or some by name or index.
    struct Numbers {
        bool given = false;
        std::vector<double> all;
        std::map<std::string, double> some;
    };
    struct Conserved {
        document::Node formula;  // a string, with its place
        Tolerance tolerance{1e-12, 1e-5};
    };
    struct HistoryRow {
        std::int64_t iteration = 0;
        std::optional<double> loss, gradient_norm;
        Numbers gradient, parameters;
        std::map<std::string, double> terms;
        Tolerance tolerance, gradient_tolerance;
        Precisions precisions;  // in which it is looked at
    };
    struct Expect {
        std::optional<std::string> error, stop;
        std::optional<double> loss, best_below;
        std::map<std::string, double> terms, state;
        std::vector<Conserved> conserved;
        std::vector<HistoryRow> history;
        bool unchanged = false, decreases = false;
    };
    enum class Action { set, run, optimize, check_gradients, save, reload };
    struct Step {
        Action action = Action::run;
        std::string pointer;  // of the step in the file
        Precisions precisions;
        std::string path, value;   // set: the value as JSON text
        std::int64_t count = -1;   // run: steps; optimize: iterations
        std::size_t entries = 16;  // check_gradients
        int directions = 8;
        bool hessian = false;
        double difference_tolerance = 1e-6;
        double span = 0.1;
        std::string verdict;  // expected of the worst; "": none fails
        Tolerance tolerance;
        Expect expect;
        const document::Node* pinned = nullptr;  // null: nothing is pinned
    };
    struct Determinism {
        bool wanted = false, interpreter = false;
        std::int64_t steps = -1;
        Precisions precisions;
    };

    document::Document document;  // the owner of the steps' nodes
    std::filesystem::path scene;
    std::optional<std::string> skip;
    bool needs_mujoco = false;  // to read a robot's model
    Precisions precisions;
    std::vector<Step> steps;
    Determinism determinism;

    // Throws Error with the place of whatever is wrong.
    static TestScript load(const std::filesystem::path& file);
};

const char* name_of(TestScript::Action action);

}  // namespace hindcast
