// Start reading at Runner::run().
#include "engine/sim/scripted/test_runner.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

#include "engine/base/vectors.hpp"
#include "engine/document/formula.hpp"
#include "engine/sim/gradients/gradient_check.hpp"
#include "engine/sim/results/results.hpp"
#include "engine/sim/scene/numbers_at.hpp"
#include "engine/sim/scene/scene_check.hpp"
#include "engine/sim/values/set_value.hpp"

namespace hindcast {

bool same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

std::string about(const std::filesystem::path& scene, const std::string& what) {
    return what.find(scene.string()) != std::string::npos ? what : scene.string() + ": " + what;
}

void Findings::add(std::string message) {
    constexpr std::size_t most = 12;
    if (messages_.size() < most)
        messages_.push_back(std::move(message));
    else if (messages_.size() == most)
        messages_.push_back("and more");
}

void Findings::compare(const std::string& what, double expected, double found, double tolerance,
                       double scale) {
    const double size = std::max(std::fabs(expected), scale);
    if (std::fabs(found - expected) <= tolerance * size) return;
    add(fmt::format("{}: expected {} within {:.3g}, found {} (off by {:.3g})", what,
                    number_text(expected), tolerance * size, number_text(found),
                    std::fabs(found - expected)));
}

namespace {

namespace fs = std::filesystem;
using document::Node;
using Step = TestScript::Step;

constexpr double negligible = 1e-3;  // of the largest number in a list

// A folder that is removed at the end.
class ScratchFolder {
public:
    ScratchFolder() {
        std::string name = (fs::temp_directory_path() / "hindcast-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw Error("the folder " + name + " cannot be made");
        path_ = name;
    }
    ~ScratchFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

// The sum of a formula over the elements of the arrays that it names.
class Sum {
public:
    Sum(const Node& formula, Simulation& simulation)
        : columns_(columns_of(simulation)), formula_(over(columns_, formula)) {
        for (std::size_t k = 0; k < columns_.size(); ++k) {
            if (!formula_.uses(k)) continue;
            const std::int64_t n = columns_[k].array.elements();
            if (count_ >= 0 && n != count_)
                throw document::fault(formula, "it names arrays of different lengths");
            count_ = n;
        }
        if (count_ < 0) throw document::fault(formula, "it names no array of the scene");
        values_.resize(columns_.size());
    }

    struct Value {
        double sum = 0, magnitude = 0;
    };
    Value evaluate() {
        Value value;
        for (std::int64_t e = 0; e < count_; ++e) {
            for (std::size_t k = 0; k < columns_.size(); ++k)
                if (formula_.uses(k))
                    values_[k] = columns_[k].array.value(e, columns_[k].component);
            const double term = formula_(values_);
            value.sum += term;
            value.magnitude += std::fabs(term);
        }
        return value;
    }

private:
    struct Column {
        std::string name;
        Array array;
        int component;
    };
    static std::vector<Column> columns_of(Simulation& simulation) {
        std::vector<Column> columns;
        for (const auto& [name, published] : simulation.model().arrays()) {
            const int components = published.array.components();
            if (components > 3) continue;
            for (int c = 0; c < components; ++c) {
                const std::string component = components == 1 ? "" : fmt::format("_{}", "xyz"[c]);
                columns.push_back({name + component, published.array, c});
            }
        }
        return columns;
    }
    static document::Formula over(const std::vector<Column>& columns, const Node& formula) {
        static const document::ElementaryTable functions = own_elementary_functions();
        std::vector<std::string_view> names;
        for (const Column& column : columns) names.push_back(column.name);
        return {formula, functions, names};
    }

    std::vector<Column> columns_;
    std::vector<double> values_;
    document::Formula formula_;
    std::int64_t count_ = -1;
};

// The result of a run or an optimization that "pinned" and "unchanged" compare.
struct Figures {
    std::string hash;
    double loss = 0;
};

class Runner {
public:
    Runner(TestScript& script, ir::Precision precision, const Registry& registry,
           const TestOptions& options, std::vector<std::string>& messages,
           std::vector<std::string>& updates)
        : script_(script),
          precision_(precision),
          registry_(registry),
          test_(options),
          findings_(messages),
          updates_(updates) {
        options_.device = std::make_shared<Device>(options.device);
        options_.precision = precision;
        options_.allowed_paths = options.allowed_paths;
    }

    void run() {
        for (std::size_t k = 0; k < script_.steps.size(); ++k) {
            const Step& step = script_.steps[k];
            if (std::ranges::find(step.precisions, precision_) == step.precisions.end()) continue;
            if (test_.go_on && !test_.go_on()) throw TestStopped();
            where_ = fmt::format("step {} ({})", k, name_of(step.action));
            if (!act(step)) return;
        }
    }

private:
    // False if the test cannot go on.
    bool act(const Step& step) {
        const auto& wanted = step.expect.error;
        try {
            scene();
            perform(step);
        } catch (const TestStopped&) {
            throw;
        } catch (const std::exception& error) {
            const std::string what = error.what();
            if (wanted && what.find(*wanted) != std::string::npos) {
                simulation_.reset();
                return true;
            }
            const std::string found = about(script_.scene, what);
            findings_.add(wanted ? fmt::format("{}: expected an error with '{}', found: {}", where_,
                                               *wanted, found)
                                 : fmt::format("{}: {}", where_, found));
            return false;
        }
        if (!wanted) return true;
        findings_.add(
            fmt::format("{}: expected an error with '{}', but there was none", where_, *wanted));
        return false;
    }

    void perform(const Step& step) {
        switch (step.action) {
            case TestScript::Action::set: set(step); break;
            case TestScript::Action::run: run_scene(step); break;
            case TestScript::Action::optimize: optimize(step); break;
            case TestScript::Action::check_gradients: check(step); break;
            case TestScript::Action::save:
                if (!folder_) folder_.emplace();
                save_scene(simulation(), folder_->path(), "saved.json");
                saved_ = folder_->path() / "saved.json";
                break;
            case TestScript::Action::reload:
                scene_ = Scene::load(saved_.empty() ? script_.scene : saved_);
                simulation_.reset();
                break;
        }
    }

    // Read when a step first needs it: a fault in it is that step's.
    Scene& scene() {
        if (!scene_) {
            Scene loaded = Scene::load(script_.scene);
            check_optimizer(loaded.document().root());
            scene_ = std::move(loaded);
        }
        return *scene_;
    }

    Simulation& simulation() {
        if (!simulation_) simulation_.emplace(scene(), registry_, options_);
        return *simulation_;
    }

    void set(const Step& step) {
        Scene next = scene();
        set_value(next, registry_, options_, step.path, step.value);
        simulation_.reset();
        simulation_.emplace(next, registry_, options_);
        scene_ = std::move(next);
    }

    // ---- run ----

    void run_scene(const Step& step) {
        std::optional<Simulation> shorter;
        if (step.count >= 0) {
            SimulationOptions options = options_;
            options.steps = step.count;
            shorter.emplace(scene(), registry_, options)
                .parameters()
                .set_values(simulation().parameters().values());
        }
        Simulation& sim = shorter ? *shorter : simulation();
        std::vector<Sum> sums;
        std::vector<Sum::Value> first;
        std::vector<bool> broken(step.expect.conserved.size(), false);
        for (const auto& conserved : step.expect.conserved)
            sums.emplace_back(conserved.formula, sim);
        const double loss = sim.run(false, [&](std::int64_t done) {
            for (std::size_t k = 0; k < sums.size(); ++k) {
                const Sum::Value now = sums[k].evaluate();
                if (done == 0) first.push_back(now);
                if (broken[k]) continue;
                const double scale = std::max(now.magnitude, first[k].magnitude);
                const double allowed = step.expect.conserved[k].tolerance.of(precision_) * scale;
                if (std::fabs(now.sum - first[k].sum) <= allowed) continue;
                broken[k] = true;
                findings_.add(fmt::format(
                    "{}: the sum of {}: expected {} within {:.3g}, found {} after {} substeps",
                    where_, step.expect.conserved[k].formula.string(), number_text(first[k].sum),
                    allowed, number_text(now.sum), done));
            }
            return !test_.go_on || test_.go_on();
        });
        if (test_.go_on && !test_.go_on()) throw TestStopped();
        const Figures figures{to_string(sim.state_hash().digest()), loss};
        const double tolerance = step.tolerance.of(precision_);
        if (step.expect.loss)
            findings_.compare(where_ + ": loss", *step.expect.loss, loss, tolerance);
        compare_terms(where_, step.expect.terms, sim.terms(), tolerance);
        for (const auto& [path, expected] : step.expect.state)
            compare_state(sim, path, expected, tolerance);
        if (step.expect.unchanged) compare_with_previous(figures);
        finish(step, figures);
    }

    void compare_state(Simulation& sim, const std::string& text, double expected,
                       double tolerance) {
        const Path path = Path::parse(text);
        const Array array = sim.model().array(path.base());
        const auto elements = elements_at(sim.model(), path, array.elements());
        if (elements && elements->count > 1)
            throw Error("'" + text + "' names several numbers")
                .remedy("name one of them: " + path.base() +
                        index_text(sim.model(), path.base(), elements->first));
        const double found = array.value(elements ? elements->first : 0,
                                         component_at(path, array.components()).value_or(0));
        findings_.compare(where_ + ": " + text, expected, found, tolerance,
                          negligible * largest(array.to_doubles()));
    }

    void compare_terms(const std::string& where, const std::map<std::string, double>& expected,
                       const std::vector<Simulation::TermValue>& terms, double tolerance) {
        for (const auto& [name, value] : expected) {
            const auto found = std::ranges::find(terms, name, &Simulation::TermValue::name);
            if (found == terms.end()) throw Error("the objective has no term '" + name + "'");
            findings_.compare(fmt::format("{}: term {}", where, name), value, found->value,
                              tolerance);
        }
    }

    // ---- optimize ----

    void optimize(const Step& step) {
        Simulation& sim = simulation();
        Optimization optimization(sim, step.count);
        std::map<std::int64_t, const TestScript::HistoryRow*> wanted;
        for (const TestScript::HistoryRow& row : step.expect.history)
            if (std::ranges::find(row.precisions, precision_) != row.precisions.end())
                wanted[row.iteration] = &row;
        double before = 0;
        const Optimization::Outcome outcome = optimization.run([&](const Optimization::Row& row) {
            if (const auto found = wanted.find(row.iteration); found != wanted.end()) {
                compare_row(*found->second, row);
                wanted.erase(found);
            }
            if (step.expect.decreases && row.iteration > 0 && !(row.loss < before))
                findings_.add(
                    fmt::format("{}: the loss does not decrease in iteration {}: {} "
                                "after {}",
                                where_, row.iteration, number_text(row.loss), number_text(before)));
            before = row.loss;
            return !test_.go_on || test_.go_on();
        });
        if (test_.go_on && !test_.go_on()) throw TestStopped();
        for (const auto& [iteration, row] : wanted)
            findings_.add(fmt::format("{}: iteration {} was never reached: {}", where_, iteration,
                                      outcome.reason));
        static constexpr const char* stops[] = {"iterations", "converged", "stopped", "not_finite",
                                                "stuck"};
        const std::string stop = stops[static_cast<std::size_t>(outcome.stop)];
        if (step.expect.stop && *step.expect.stop != stop)
            findings_.add(fmt::format("{}: expected the stop '{}', found '{}': {}", where_,
                                      *step.expect.stop, stop, outcome.reason));
        if (!step.expect.stop && outcome.stop == Optimization::Stop::not_finite)
            findings_.add(where_ + ": " + outcome.reason);
        if (step.expect.best_below && !(outcome.best.loss < *step.expect.best_below))
            findings_.add(
                fmt::format("{}: expected a loss below {}, the best is {} in iteration "
                            "{}",
                            where_, *step.expect.best_below, number_text(outcome.best.loss),
                            outcome.best.iteration));
        // A search may have run elsewhere since: the state is made to be that of the last row.
        sim.parameters().set_values(outcome.last.parameters);
        sim.run(false);
        finish(step, {to_string(sim.state_hash().digest()), outcome.last.loss});
    }

    void compare_row(const TestScript::HistoryRow& expected, const Optimization::Row& row) {
        const std::string at = fmt::format("{}: iteration {}", where_, row.iteration);
        const double tolerance = expected.tolerance.of(precision_);
        const double for_gradient = expected.gradient_tolerance.of(precision_);
        if (expected.loss) findings_.compare(at + ": loss", *expected.loss, row.loss, tolerance);
        if (expected.gradient_norm)
            findings_.compare(at + ": gradient norm", *expected.gradient_norm, row.gradient_norm,
                              for_gradient);
        compare_terms(at, expected.terms, row.terms, tolerance);
        compare_numbers(at + ": gradient of ", expected.gradient, row.gradient, for_gradient);
        compare_numbers(at + ": ", expected.parameters, row.parameters, tolerance);
    }

    void compare_numbers(const std::string& what, const TestScript::Numbers& expected,
                         const std::vector<double>& found, double tolerance) {
        if (!expected.given) return;
        const std::vector<std::string>& names = simulation().parameters().names();
        const double scale = negligible * largest(found);
        if (!expected.all.empty() && expected.all.size() != found.size())
            throw Error(fmt::format("the test lists {} numbers for {} parameters",
                                    expected.all.size(), found.size()));
        for (std::size_t k = 0; k < expected.all.size(); ++k)
            findings_.compare(what + names[k], expected.all[k], found[k], tolerance, scale);
        for (const auto& [name, value] : expected.some) {
            std::size_t k =
                static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
            const char* end = name.data() + name.size();
            if (k == names.size() && std::from_chars(name.data(), end, k).ptr != end)
                k = names.size();
            if (k >= names.size()) throw Error("the scene has no parameter '" + name + "'");
            findings_.compare(what + names[k], value, found[k], tolerance, scale);
        }
    }

    // ---- check_gradients ----

    void check(const Step& step) {
        GradientCheckOptions wanted;
        wanted.entries = step.entries;
        wanted.directions = step.directions;
        wanted.hessian = step.hessian;
        wanted.tolerance = step.difference_tolerance;
        wanted.span = step.span;
        wanted.at = simulation().parameters().values();
        wanted.go_on = [this](std::int64_t, std::int64_t) { return !test_.go_on || test_.go_on(); };
        const GradientReport report = check_gradients(scene(), registry_, options_, wanted);
        if (report.stopped) throw TestStopped();
        if (step.verdict.empty()) {
            for (const std::string& failure : report.failures())
                findings_.add(where_ + ": " + failure);
        } else if (const std::string found = to_string(report.worst()); found != step.verdict) {
            findings_.add(fmt::format("{}: verdict: expected \"{}\", found \"{}\"", where_,
                                      step.verdict, found));
        }
    }

    // ---- figures ----

    void compare_with_previous(const Figures& now) {
        if (!previous_) throw Error("\"unchanged\" needs a run or optimize before it");
        if (!same_bits(previous_->loss, now.loss))
            findings_.add(fmt::format("{}: loss: expected the {} of the step before, found {}",
                                      where_, number_text(previous_->loss), number_text(now.loss)));
        if (previous_->hash != now.hash)
            findings_.add(
                fmt::format("{}: state: expected the hash {} of the step before, found {}", where_,
                            previous_->hash, now.hash));
    }

    void finish(const Step& step, const Figures& now) {
        previous_ = now;
        if (step.pinned == nullptr) return;
        const Node* pinned = script_.document.find(step.pointer + "/pinned");
        const Node* entry = pinned->find(name_of(precision_));
        const Node fresh = Node::object({{"hash", now.hash}, {"loss", number_node(now.loss)}});
        if (entry != nullptr && *entry == fresh) return;
        const std::string old = entry != nullptr ? document::to_line(*entry) : "nothing";
        if (test_.update) {
            updates_.push_back(fmt::format("{}: {} -> {}", where_, old, document::to_line(fresh)));
            script_.document.set(step.pointer + "/pinned/" + name_of(precision_), fresh);
        } else if (entry == nullptr) {
            findings_.add(where_ + ": nothing is pinned; fill it in with --update");
        } else {
            findings_.add(
                fmt::format("{}: pinned {}, found {}; if the change is meant, accept it "
                            "with --update",
                            where_, old, document::to_line(fresh)));
        }
    }

    TestScript& script_;
    ir::Precision precision_;
    const Registry& registry_;
    const TestOptions& test_;
    SimulationOptions options_;
    Findings findings_;
    std::vector<std::string>& updates_;
    std::string where_;
    std::optional<Scene> scene_;
    std::optional<Simulation> simulation_;
    std::optional<ScratchFolder> folder_;
    fs::path saved_;
    std::optional<Figures> previous_;
};

}  // namespace

void run_script(TestScript& script, ir::Precision precision, const Registry& registry,
                const TestOptions& options, std::vector<std::string>& messages,
                std::vector<std::string>& updates) {
    Runner(script, precision, registry, options, messages, updates).run();
}

}  // namespace hindcast
