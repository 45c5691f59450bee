#include "engine/sim/functions/scene_function.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "engine/base/error.hpp"
#include "engine/base/hash.hpp"
#include "engine/document/text.hpp"
#include "engine/sim/functions/many_calls.hpp"
#include "engine/sim/functions/picks.hpp"
#include "engine/sim/scene/numbers_at.hpp"

namespace hindcast {

namespace {

using document::Node;
using Numbers = std::vector<double>;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class Names>
void refuse_twice(const Names& names, const char* what) {
    for (auto name = names.begin(); name != names.end(); ++name)
        if (std::find(names.begin(), name, *name) != name)
            throw Error(std::string("the ") + what + " '" + *name + "' is given twice");
}

// The scene with these parameters and no others.
Scene with_parameters(const Scene& scene, const std::vector<std::string>& paths) {
    refuse_twice(paths, "input");
    if (paths.empty()) throw Error("a function needs inputs").remedy("give paths of the scene");
    document::Document document = scene.document();
    std::vector<Node> list;
    for (const std::string& path : paths) list.push_back(Node::object({{"path", Node(path)}}));
    document.set("/parameters", Node::array(std::move(list)));
    return Scene::of(std::move(document), scene.file());
}

bool same_bits(const Numbers& a, const Numbers& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

void add_to(const Array& array, std::span<const double> numbers) {
    Numbers sum = array.to_doubles();
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += numbers[k];
    array.assign(sum);
}

std::span<const double> part_of(std::span<const double> y, const SceneFunction::Value& output) {
    return y.subspan(static_cast<std::size_t>(output.first), static_cast<std::size_t>(output.size));
}

}  // namespace

SceneFunction::SceneFunction(const Scene& scene, const Registry& registry,
                             const SimulationOptions& options,
                             const std::vector<std::string>& inputs,
                             const std::vector<std::string>& outputs)
    : simulation_(std::make_unique<Simulation>(with_parameters(scene, inputs), registry, options)) {
    values_ = simulation_->parameters().values();
    std::int64_t first = 0;
    for (const Parameter& p : simulation_->parameters().list()) {
        Value input{p.path, {}, first, static_cast<std::int64_t>(p.entries.size())};
        const model::Quantity& q = *p.quantity;
        if (p.entries.size() == q.values.size()) {  // the whole value
            if (!q.shared) input.shape.push_back(q.count);
            if (q.components > 1) input.shape.push_back(q.components);
        } else if (p.entries.size() > 1) {
            input.shape.push_back(input.size);
        }
        first += input.size;
        inputs_.push_back(std::move(input));
    }
    refuse_twice(outputs, "output");
    if (outputs.empty())
        throw Error("a function needs outputs").remedy("give \"loss\", \"final:position\" ...");
    for (const std::string& name : outputs) add_output(name);
}

SceneFunction::~SceneFunction() = default;

void SceneFunction::add_output(const std::string& name) {
    Value output{name, {}, static_cast<std::int64_t>(output_size_), 1};
    Source source;
    const auto array_after = [&](std::string_view prefix) {
        if (!name.starts_with(prefix)) return false;
        source.array = name.substr(prefix.size());
        return true;
    };
    if (name == "loss") {
        if (simulation_->model().terms().empty())
            throw Error("the scene has no objective, so there is no loss")
                .remedy("add one to its \"objective\"");
    } else if (array_after("final:")) {
        source.time = Time::end;
    } else if (array_after("state:")) {
        source.time = Time::every_step;
        has_samples_ = true;
    } else {
        throw Error("there is no output '" + name + "'")
            .remedy("outputs are loss, final:NAME and state:NAME of state arrays");
    }
    if (source.time != Time::loss) {
        std::vector<std::string_view> known;
        const model::Model::Published* found = nullptr;
        for (const auto& [array, published] : simulation_->model().arrays()) {
            if (!published.state || !ir::is_real(published.array.type())) continue;
            known.push_back(array);
            if (array == source.array) found = &published;
        }
        if (found == nullptr)
            throw Error("output '" + name + "': there is no state array '" + source.array + "'")
                .remedy(document::suggestion(source.array, known, "there are"));
        const Array& array = found->array;
        output.shape = array.shape();
        if (array.components() == 1) output.shape.resize(1);
        output.size = array.size();
        if (source.time == Time::every_step) {
            const std::int64_t frames = simulation_->steps() / simulation_->scene().substeps() + 1;
            output.shape.insert(output.shape.begin(), frames);
            output.size *= frames;
        }
    }
    output_size_ += static_cast<std::size_t>(output.size);
    outputs_.push_back(std::move(output));
    sources_.push_back(std::move(source));
}

std::unique_ptr<Simulation> SceneFunction::copy(const SimulationOptions& options) {
    const std::lock_guard lock(mutex_);
    return simulation_->copy(options);
}

std::vector<std::size_t> SceneFunction::operand_sizes(Kind kind) const {
    const std::size_t n = input_size(), m = output_size();
    switch (kind) {
        case Kind::value: return {n};
        case Kind::jvp: return {n, n};
        case Kind::vjp: return {n, m};
        case Kind::hvp: return {n, m, n};
        case Kind::jvp2: break;
    }
    return {n, n, n};
}

void SceneFunction::check(const Call& call) const {
    std::vector<std::size_t> sizes = operand_sizes(call.kind);
    sizes.resize(3, 0);
    const Numbers* const given[] = {&call.x, &call.a, &call.b};
    for (std::size_t k = 0; k < 3; ++k)
        if (given[k]->size() != sizes[k])
            throw Error("operand " + std::to_string(k) + " of the function has " +
                        std::to_string(sizes[k]) + " numbers, and is given " +
                        std::to_string(given[k]->size()));
    const ir::Type real = ir::real_type(options().precision);
    std::size_t k = 0;
    for (const Parameter& p : simulation_->parameters().list())
        for (std::size_t e = 0; e < p.entries.size(); ++e, ++k)
            require_value(*p.quantity, call.x[k], real, [&] { return p.names[e]; });
}

// ---------------------------------------------------------------- one call

std::vector<double> SceneFunction::run(Simulation& simulation, const Call& call) const {
    simulation.parameters().set_values(call.x);
    const bool back = gives_inputs(call.kind);
    Numbers result = forward(simulation, call, back);
    if (back && !simulation.rollout().divergence()) return backward(simulation, call);
    result.resize(result_size(call.kind));
    if (simulation.rollout().divergence()) std::ranges::fill(result, not_a_number);
    return result;
}

// The same on `simulation_`, which may have made this run already.
std::vector<double> SceneFunction::run_alone(const Call& call) {
    const bool back = call.kind == Kind::vjp;
    if (call.kind != Kind::value && !back) {
        last_.reset();
        ++runs_;
        return run(*simulation_, call);
    }
    const bool same = last_ && same_bits(last_->x, call.x);
    if (same && back && !last_->kept) keeps_values_ = true;
    if (!same && last_ && !last_->went_back) keeps_values_ = false;
    if (!same || (back && !last_->kept)) {
        LastRun made{.x = call.x, .y = {}, .kept = back || keeps_values_};
        last_.reset();
        ++runs_;
        simulation_->parameters().set_values(call.x);
        made.y = forward(*simulation_, call, made.kept);
        if (simulation_->rollout().divergence()) std::ranges::fill(made.y, not_a_number);
        last_ = std::move(made);
    }
    if (!back) return last_->y;
    last_->went_back = true;
    if (simulation_->rollout().divergence()) return Numbers(input_size(), not_a_number);
    return backward(*simulation_, call);
}

// The outputs, or their tangents; an hvp needs neither.
std::vector<double> SceneFunction::forward(Simulation& simulation, const Call& call,
                                           bool keep) const {
    pick::Pick picked = pick::itself;
    RolloutMode mode = RolloutMode::first;
    Parameters& parameters = simulation.parameters();
    switch (call.kind) {
        case Kind::value:
        case Kind::vjp: break;
        case Kind::hvp:
            parameters.set_tangents(call.b);
            simulation.rollout().forward(keep, {}, RolloutMode::second);
            return {};
        case Kind::jvp:
            parameters.set_tangents(call.a);
            picked = pick::tangent;
            mode = RolloutMode::tangent;
            break;
        case Kind::jvp2:
            parameters.set_tangents(call.a);
            parameters.set_second_tangents(call.b);
            picked = pick::mixed_tangent;
            mode = RolloutMode::tangent_tangent;
            break;
    }
    Numbers y(output_size_);
    const auto copy = [&](std::size_t k, std::int64_t frame) {
        const Numbers numbers = picked(simulation.model().array(sources_[k].array)).to_doubles();
        std::ranges::copy(numbers, y.begin() + outputs_[k].first +
                                       frame * static_cast<std::int64_t>(numbers.size()));
    };
    const std::int64_t substeps = simulation.scene().substeps();
    Rollout::Watch watch;
    if (has_samples_)
        watch = [&](std::int64_t done) {
            if (done % substeps == 0)
                for (std::size_t k = 0; k < sources_.size(); ++k)
                    if (sources_[k].time == Time::every_step) copy(k, done / substeps);
            return true;
        };
    if (mode == RolloutMode::first)
        simulation.run(keep, watch);
    else
        simulation.rollout().forward(keep, watch, mode);
    for (std::size_t k = 0; k < sources_.size(); ++k) {
        if (sources_[k].time == Time::end) copy(k, 0);
        if (sources_[k].time != Time::loss) continue;
        double sum = 0;
        for (const model::Term& term : simulation.model().terms())
            sum += term.weight * picked(term.value).value(0);
        y[static_cast<std::size_t>(outputs_[k].first)] =
            mode == RolloutMode::first ? simulation.loss() : sum;
    }
    return y;
}

// After forward() that kept its values.
std::vector<double> SceneFunction::backward(Simulation& simulation, const Call& call) const {
    const RolloutMode mode = call.kind == Kind::vjp ? RolloutMode::first : RolloutMode::second;
    Rollout& rollout = simulation.rollout();
    std::vector<Rollout::Seed> seeds;
    // A loss alone has the bits of the program's gradient, times the cotangent.
    const double factor = is_loss() ? call.a[0] : 1;
    for (std::size_t k = 0; k < sources_.size(); ++k) {
        const std::span<const double> c = part_of(call.a, outputs_[k]);
        if (sources_[k].time == Time::loss)
            for (const model::Term& term : simulation.model().terms())
                seeds.push_back({term.value, is_loss() ? term.weight : term.weight * c[0]});
        else if (sources_[k].time == Time::end)
            seeds.push_back(
                {simulation.model().array(sources_[k].array), 1, Numbers(c.begin(), c.end())});
    }
    const std::int64_t substeps = simulation.scene().substeps();
    struct Watching {
        Rollout& rollout;
        ~Watching() { rollout.watch_adjoints({}); }
    } const watching{rollout};
    if (has_samples_)
        rollout.watch_adjoints([&](std::int64_t done) {
            if (done % substeps != 0) return;
            for (std::size_t k = 0; k < sources_.size(); ++k) {
                if (sources_[k].time != Time::every_step) continue;
                const Array array = simulation.model().array(sources_[k].array);
                const auto size = static_cast<std::size_t>(array.size());
                const auto frame = static_cast<std::size_t>(done / substeps);
                add_to(array.gradient(), part_of(call.a, outputs_[k]).subspan(frame * size, size));
            }
        });
    rollout.backward(seeds, mode);
    Numbers result = mode == RolloutMode::first ? simulation.parameters().gradient()
                                                : simulation.parameters().gradient_tangents();
    for (double& each : result) each *= factor;
    return result;
}

std::vector<double> SceneFunction::operator()(const Call& call) {
    const std::lock_guard lock(mutex_);
    check(call);
    return run_alone(call);
}

// ---------------------------------------------------------------- many

std::vector<std::vector<double>> SceneFunction::operator()(std::span<const Call> calls) {
    const std::lock_guard lock(mutex_);
    for (const Call& call : calls) {
        check(call);
        if (call.kind != calls[0].kind) throw Error("calls of one kind are expected");
    }
    const bool first_order =
        !calls.empty() && (calls[0].kind == Kind::value || calls[0].kind == Kind::vjp);
    if (calls.size() > 1) last_.reset();
    if (!many_) many_ = std::make_unique<ManyCalls>(*simulation_);
    if (calls.size() > 1 && is_loss() && first_order) return many_->through_ensemble(calls);
    std::vector<Numbers> results;
    while (results.size() < calls.size()) {
        if (calls.size() - results.size() > 1 &&
            many_->on_threads(calls, results, [this](Simulation& simulation, const Call& call) {
                return run(simulation, call);
            }))
            break;
        const auto start = std::chrono::steady_clock::now();
        results.push_back(run_alone(calls[results.size()]));
        if (calls.size() > 1)
            many_->note_alone(
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return results;
}

}  // namespace hindcast
