#include "app/session/threads/gradient_probe.hpp"

#include <algorithm>
#include <cmath>

#include "app/session/threads/desk.hpp"

namespace hindcast::session {

struct GradientProbe::Job {
    document::Document document;
    std::filesystem::path file;
    const Registry* registry = nullptr;
    SimulationOptions options;
};

bool Probe::is_of(const Trajectory& t) const {
    return world == t.world && base == t.base &&
           (parameters == t.parameters ||
            (parameters && t.parameters && *parameters == *t.parameters));
}

void GradientProbe::start(const Trajectory& at, const document::Document& document,
                          const std::filesystem::path& file, const Registry& registry,
                          const SimulationOptions& options) {
    cancel();
    auto probe = std::make_shared<Probe>();
    probe->world = at.world;
    probe->base = at.base;
    probe->parameters = at.parameters;
    auto job = std::make_shared<Job>(Job{document, file, &registry, options});
    {
        const std::unique_lock lock(desk_.mutex);
        desk_.probe = std::make_shared<const Probe>(*probe);  // on its way
    }
    background_.start(
        [this, job, probe] { run(*job, *probe); },
        [this, probe](const std::optional<Error>& failure) {
            if (background_.cancelled()) return;
            probe->done = true;
            const std::unique_lock lock(desk_.mutex);
            if (failure)
                desk_.say(LogLine::Level::warning,
                          std::string("no gradient of what is not optimised: ") + failure->what());
            desk_.probe = probe;
            desk_.mark();
        });
}

void GradientProbe::run(Job& job, Probe& probe) const {
    const World& world = *probe.world;
    document::Document& document = job.document;
    const bool listed = document.find("/parameters") != nullptr;
    std::vector<std::size_t> wanted;
    for (std::size_t q = 0; q < world.quantities.size(); ++q) {
        const QuantityInfo& info = world.quantities[q].info;
        if (!info.may_optimise || info.optimised) continue;
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
        const auto found = world.quantity_of.find(p.path);
        if (found == world.quantity_of.end() ||
            world.quantities[found->second].info.rows *
                    world.quantities[found->second].info.components !=
                static_cast<std::int64_t>(p.quantity->values.size()))
            throw Error("'" + p.path + "' has another shape when it is optimised");
        first_of.emplace(found->second, values.size());
        const std::vector<double> all =
            world.values_of(found->second, *probe.base, probe.parameters);
        for (const std::size_t entry : p.entries) values.push_back(all[entry]);
    }
    parameters.set_values(values);
    const auto stops = [this](std::int64_t) { return !background_.cancelled() && !desk_.ends; };
    const double loss = simulation.run(true, stops);
    if (!stops(0) || !std::isfinite(loss)) return;
    const std::vector<double> gradient = simulation.gradient();
    for (const std::size_t q : wanted) {
        const QuantityInfo& info = world.quantities[q].info;
        const auto begin = gradient.begin() + static_cast<std::ptrdiff_t>(first_of.at(q));
        probe.gradients[q].assign(begin, begin + info.rows * info.components);
    }
}

}  // namespace hindcast::session
