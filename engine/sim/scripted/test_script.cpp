// Strict reading of NAME.test.json: every level refuses keys that it does not know.
#include "engine/sim/scripted/test_script.hpp"

#include <algorithm>
#include <cmath>

#include "engine/document/read.hpp"

namespace hindcast {

using document::Node;
using document::Range;
using document::Reader;

namespace {

using Precisions = TestScript::Precisions;

constexpr std::string_view action_names[] = {"set",  "run",   "optimize", "check_gradients",
                                             "save", "reload"};

ir::Precision precision_of(const Node& node) {
    static constexpr std::string_view names[] = {"f64", "f32"};
    return document::choice_of(node, names, "precision") == 0 ? ir::Precision::f64
                                                              : ir::Precision::f32;
}

// "f64", or a list of them; `all` if it is not said.
Precisions read_precisions(Reader& reader, const Precisions& all) {
    const Node* node = reader.find("precision");
    if (node == nullptr) return all;
    if (!node->is_array()) return {precision_of(*node)};
    Precisions list;
    document::array_of(*node, 1);
    for (std::size_t k = 0; k < node->size(); ++k) list.push_back(precision_of(node->item(k)));
    return list;
}

// One number for both precisions, or {"f64": a, "f32": b}.
Tolerance read_tolerance(Reader& reader, const char* key, const Tolerance& fallback) {
    const Node* node = reader.find(key);
    if (node == nullptr) return fallback;
    Tolerance tolerance = fallback;
    if (!node->is_object()) {
        tolerance.f64 = tolerance.f32 = document::number_of(*node, Range::at_least(0));
        return tolerance;
    }
    Reader both(*node, "a tolerance");
    tolerance.f64 = both.number_or("f64", tolerance.f64, Range::at_least(0));
    tolerance.f32 = both.number_or("f32", tolerance.f32, Range::at_least(0));
    both.finish();
    return tolerance;
}

std::optional<double> read_number(Reader& reader, const char* key) {
    if (!reader.has(key)) return std::nullopt;
    return reader.number(key);
}

std::map<std::string, double> read_map(Reader& reader, const char* key) {
    std::map<std::string, double> numbers;
    const Node* node = reader.find(key);
    if (node == nullptr) return numbers;
    document::object_of(*node);
    for (std::size_t k = 0; k < node->size(); ++k)
        numbers[node->key(k)] = document::number_of(node->item(k));
    return numbers;
}

TestScript::Numbers read_numbers(Reader& reader, const char* key) {
    TestScript::Numbers numbers;
    const Node* node = reader.find(key);
    if (node == nullptr) return numbers;
    numbers.given = true;
    if (node->is_object()) {
        numbers.some = read_map(reader, key);
    } else {
        numbers.all = document::numbers_of(*node, document::array_of(*node, 1).size());
    }
    return numbers;
}

void read_error(Reader& reader, TestScript::Expect& expect) {
    if (!reader.has("error")) return;
    expect.error = reader.string("error");
    if (expect.error->empty())
        throw document::fault(*reader.find("error"), "every message holds the empty text")
            .remedy("write a part of the message that must come");
}

void read_run(Reader& reader, TestScript::Expect& expect) {
    expect.loss = read_number(reader, "loss");
    expect.terms = read_map(reader, "terms");
    expect.state = read_map(reader, "state");
    expect.unchanged = reader.boolean_or("unchanged", false);
    if (!reader.has("conserved")) return;
    const Node& list = reader.array("conserved", 1);
    for (std::size_t k = 0; k < list.size(); ++k) {
        Reader one(list.item(k), "a conserved quantity");
        TestScript::Conserved conserved;
        conserved.formula = one.require("sum");
        document::string_of(conserved.formula);
        conserved.tolerance = read_tolerance(one, "tolerance", conserved.tolerance);
        one.finish();
        expect.conserved.push_back(std::move(conserved));
    }
}

void read_optimize(Reader& reader, const TestScript::Step& step, TestScript::Expect& expect) {
    expect.decreases = reader.boolean_or("decreases", false);
    expect.best_below = read_number(reader, "best_below");
    if (reader.has("stop")) {
        static constexpr std::string_view names[] = {"iterations", "converged", "not_finite",
                                                     "stuck"};
        expect.stop = names[reader.choice("stop", names)];
    }
    if (!reader.has("history")) return;
    const Node& list = reader.array("history", 1);
    for (std::size_t k = 0; k < list.size(); ++k) {
        Reader one(list.item(k), "a row of the history");
        TestScript::HistoryRow row;
        row.iteration = one.integer("iteration", 0);
        row.loss = read_number(one, "loss");
        row.gradient_norm = read_number(one, "gradient_norm");
        row.gradient = read_numbers(one, "gradient");
        row.parameters = read_numbers(one, "parameters");
        row.terms = read_map(one, "terms");
        row.tolerance = read_tolerance(one, "tolerance", step.tolerance);
        row.gradient_tolerance = read_tolerance(one, "gradient_tolerance", row.tolerance);
        row.precisions = read_precisions(one, step.precisions);
        one.finish();
        expect.history.push_back(std::move(row));
    }
}

TestScript::Step read_step(const Node& node, const TestScript& script, const Tolerance& tolerance) {
    using Action = TestScript::Action;
    Reader reader(node, "a step of a test");
    TestScript::Step step;
    step.pointer = node.pointer();
    step.action = static_cast<Action>(reader.choice("do", action_names));
    step.precisions = read_precisions(reader, script.precisions);
    step.tolerance = tolerance;
    switch (step.action) {
        case Action::set:
            step.path = reader.string("path");
            step.value = document::to_line(reader.require("value"));
            break;
        case Action::run: step.count = reader.integer_or("steps", -1, 0); break;
        case Action::optimize: step.count = reader.integer_or("iterations", -1, 0); break;
        case Action::check_gradients:
            step.entries = static_cast<std::size_t>(reader.integer_or("entries", 16, 0));
            step.directions = static_cast<int>(reader.integer_or("directions", 8, 0, 1000));
            step.hessian = reader.boolean_or("hessian", false);
            step.span = reader.number_or("span", step.span, Range::between(0, 1));
            if (reader.has("verdict")) {
                static constexpr std::string_view verdicts[] = {"ok", "a kink", "not smooth"};
                step.verdict = verdicts[reader.choice("verdict", verdicts)];
            }
            step.difference_tolerance =
                reader.number_or("tolerance", step.difference_tolerance, Range::positive());
            break;
        case Action::save:
        case Action::reload: break;
    }
    const bool makes_figures = step.action == Action::run || step.action == Action::optimize;
    if (makes_figures) {
        step.tolerance = read_tolerance(reader, "tolerance", tolerance);
        if (const Node* pinned = reader.find("pinned")) step.pinned = &document::object_of(*pinned);
    }
    if (reader.has("expect")) {
        Reader expect = reader.object("expect", "what is expected of the step");
        read_error(expect, step.expect);
        if (step.action == Action::run) read_run(expect, step.expect);
        if (step.action == Action::optimize) read_optimize(expect, step, step.expect);
        expect.finish();
    }
    reader.finish();
    return step;
}

}  // namespace

const char* name_of(TestScript::Action action) {
    return action_names[static_cast<std::size_t>(action)].data();
}

TestScript TestScript::load(const std::filesystem::path& file) {
    TestScript script;
    script.document = document::Document::load(file);
    Reader reader(script.document.root(), "a scripted test");
    reader.string_or("description", "");
    std::string beside = file.filename().string();
    const std::size_t suffix = beside.rfind(".test.json");
    if (suffix != std::string::npos) beside = beside.substr(0, suffix) + ".json";
    script.scene = file.parent_path() / reader.string_or("scene", beside);
    if (reader.has("skip")) script.skip = reader.string("skip");
    if (reader.has("needs")) script.needs_mujoco = reader.choice("needs", {"mujoco"}) == 0;
    script.precisions = read_precisions(reader, {ir::Precision::f64, ir::Precision::f32});
    const Tolerance tolerance = read_tolerance(reader, "tolerance", {});
    if (reader.has("steps")) {
        const Node& steps = reader.array("steps");
        for (std::size_t k = 0; k < steps.size(); ++k)
            script.steps.push_back(read_step(steps.item(k), script, tolerance));
    }
    script.determinism.precisions = script.precisions;
    if (const Node* node = reader.find("determinism")) {
        if (node->is_object()) {
            Reader one(*node, "the test of determinism");
            script.determinism.wanted = true;
            script.determinism.steps = one.integer_or("steps", -1, 0);
            script.determinism.interpreter = one.boolean_or("interpreter", false);
            script.determinism.precisions = read_precisions(one, script.precisions);
            one.finish();
        } else {
            script.determinism.wanted = document::boolean_of(*node);
        }
    }
    reader.finish();
    return script;
}

}  // namespace hindcast
