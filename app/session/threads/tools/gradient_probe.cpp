#include "app/session/threads/tools/gradient_probe.hpp"

#include <algorithm>
#include <cmath>

#include "app/session/threads/shared/shared_state.hpp"

namespace hindcast::session {

struct GradientProbe::Job {
    document::Document document;
    std::filesystem::path file;
    const Registry* registry = nullptr;
    SimulationOptions options;
};

void GradientProbe::start(const Trajectory& at, const document::Document& document,
                          const std::filesystem::path& file, const Registry& registry,
                          const SimulationOptions& options) {
    cancel();
    auto probe = std::make_shared<ProbedGradients>();
    probe->scene = at.scene;
    probe->base = at.base;
    probe->parameters = at.parameters;
    auto job = std::make_shared<Job>(Job{document, file, &registry, options});
    {
        const std::unique_lock lock(shared_.mutex);
        shared_.probed_gradients = std::make_shared<const ProbedGradients>(*probe);  // on its way
    }
    background_.start([this, job, probe] { run(*job, *probe); },
                      [this, probe](const std::optional<Error>& failure) {
                          if (background_.canceled()) return;
                          probe->done = true;
                          const std::unique_lock lock(shared_.mutex);
                          if (failure)
                              shared_.log(LogLine::Level::warning,
                                          std::string("no gradient of what is not optimized: ") +
                                              failure->what());
                          shared_.probed_gradients = probe;
                          shared_.mark_changed();
                      });
}

void GradientProbe::run(Job& job, ProbedGradients& probe) const {
    const SceneInfo& scene = *probe.scene;
    document::Document& document = job.document;
    const bool listed = document.find("/parameters") != nullptr;
    std::vector<std::size_t> wanted;
    for (std::size_t q = 0; q < scene.quantities.size(); ++q) {
        const QuantityInfo& info = scene.quantities[q].info;
        if (!info.may_optimize || info.optimized) continue;
        if (wanted.empty() && !listed) document.set("/parameters", document::Node::array());
        document.set("/parameters/-", document::Node::object({{"path", info.path}}));
        wanted.push_back(q);
    }
    if (wanted.empty()) return;
    Simulation simulation(Scene::of(document, job.file), *job.registry, in_background(job.options));
    Parameters& parameters = simulation.parameters();
    // Each as it stands in the run that is shown.
    std::vector<double> values;
    std::map<std::size_t, std::size_t> first_of;  // where a quantity's entries begin
    for (const Parameter& p : parameters.list()) {
        const auto found = scene.quantity_of.find(p.path);
        if (found == scene.quantity_of.end() ||
            scene.quantities[found->second].info.rows *
                    scene.quantities[found->second].info.components !=
                static_cast<std::int64_t>(p.quantity->values.size()))
            throw Error("'" + p.path + "' has another shape when it is optimized");
        first_of.emplace(found->second, values.size());
        const std::vector<double> all =
            scene.values_of(found->second, *probe.base, probe.parameters);
        for (const std::size_t entry : p.entries) values.push_back(all[entry]);
    }
    parameters.set_values(values);
    const auto stops = [this](std::int64_t) { return !background_.canceled() && !shared_.ends; };
    const double loss = simulation.run(true, stops);
    if (!stops(0) || !std::isfinite(loss)) return;
    const std::vector<double> gradient = simulation.gradient();
    for (const std::size_t q : wanted) {
        const QuantityInfo& info = scene.quantities[q].info;
        const auto begin = gradient.begin() + static_cast<std::ptrdiff_t>(first_of.at(q));
        probe.gradients[q].assign(begin, begin + info.rows * info.components);
    }
}

}  // namespace hindcast::session
