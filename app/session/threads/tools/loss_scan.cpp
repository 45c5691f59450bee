#include "app/session/threads/tools/loss_scan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/sim/ensembles/ensemble.hpp"

namespace hindcast::session {

namespace {
constexpr auto publish_interval = std::chrono::milliseconds(50);
constexpr int most_values = 501;
}  // namespace

struct LossScan::Job {
    Scan what;
    Scene scene;
    const Registry* registry = nullptr;
    SimulationOptions options;
    std::vector<double> center;
    std::int64_t epoch = 0;  // of the loss
};

void LossScan::start(const Scan& what, const Scene& scene, const Registry& registry,
                     const SimulationOptions& options, std::vector<double> center) {
    std::int64_t epoch = 0;
    {
        const std::unique_lock lock(shared_.mutex);
        epoch = shared_.draft.scene.epoch;
    }
    auto job =
        std::make_shared<Job>(Job{what, scene, &registry, options, std::move(center), epoch});
    background_.start([this, job] { run(*job); },
                      [this, job](const std::optional<Error>& failure) {
                          if (!failure) return;
                          const std::unique_lock lock(shared_.mutex);
                          if (shared_.draft.scene.epoch == job->epoch) shared_.fail(*failure);
                      });
}

bool LossScan::publish(const Job& job, const Landscape& landscape) {
    auto copy = std::make_shared<const Landscape>(landscape);
    const std::unique_lock lock(shared_.mutex);
    if (shared_.draft.scene.epoch != job.epoch) return false;
    shared_.draft.tools.landscape = std::move(copy);
    shared_.mark_changed();
    return true;
}

void LossScan::run(Job& job) {
    job.options = in_background(job.options);
    Simulation simulation(job.scene, *job.registry, job.options);
    Parameters& parameters = simulation.parameters();
    const std::vector<std::string>& names = parameters.names();
    if (job.center.size() != names.size() || simulation.model().terms().empty())
        throw Error("there is no loss to scan").remedy("add an objective and a parameter");

    Landscape landscape;
    landscape.names = job.what.names;
    landscape.count = std::clamp(job.what.count, 2, most_values);
    const int directions = job.what.names[1].empty() ? 1 : 2;
    std::array<std::size_t, 2> entry{};
    std::vector<double> low, high;
    for (const Parameter& p : parameters.list()) {
        low.insert(low.end(), p.entries.size(), p.low);
        high.insert(high.end(), p.entries.size(), p.high);
    }
    for (std::size_t d = 0; d < static_cast<std::size_t>(directions); ++d) {
        const auto found = std::find(names.begin(), names.end(), job.what.names[d]);
        if (found == names.end())
            throw Error("there is no parameter '" + job.what.names[d] + "' to scan")
                .remedy("choose one of the optimizer's entries, such as " + names.front());
        entry[d] = static_cast<std::size_t>(found - names.begin());
        const double center = job.center[entry[d]];
        double width = job.what.width[d];
        if (!(width > 0)) width = center != 0 ? std::fabs(center) : 1;
        landscape.center[d] = center;
        landscape.range[d] = {std::max(center - width / 2, low[entry[d]]),
                              std::min(center + width / 2, high[entry[d]])};
    }
    const auto stops = [this](std::int64_t) { return !background_.canceled() && !shared_.ends; };
    const auto count = static_cast<std::size_t>(landscape.count);
    landscape.losses.assign(directions == 1 ? count : count * count,
                            std::numeric_limits<double>::quiet_NaN());
    if (!publish(job, landscape)) return;

    parameters.set_values(job.center);
    const double loss = simulation.run(true, stops);
    if (!stops(0)) return;
    if (std::isfinite(loss)) {
        const std::vector<double> gradient = simulation.gradient();
        for (std::size_t d = 0; d < static_cast<std::size_t>(directions); ++d)
            landscape.slope[d] = gradient[entry[d]];
    }
    const auto value = [&](std::size_t d, std::size_t k) {
        const double part = static_cast<double>(k) / static_cast<double>(count - 1);
        return landscape.range[d][0] + part * (landscape.range[d][1] - landscape.range[d][0]);
    };
    const auto point = [&](std::size_t k) {
        std::vector<double> values = job.center;
        values[entry[0]] = value(0, k % count);
        if (directions == 2) values[entry[1]] = value(1, k / count);
        return values;
    };
    // Short runs go many at once, as members of an ensemble; a long one has to be stopped in its
    // middle when the scan is canceled.
    const Clock::time_point start = Clock::now();
    parameters.set_values(point(0));
    landscape.losses[0] = simulation.run(false, stops);
    if (!stops(0)) return;
    Clock::time_point published = Clock::now();
    const bool short_runs = Clock::now() - start < publish_interval / 2;
    Ensemble ensemble(simulation, {.go_on = [&] { return stops(0); }});
    std::size_t together = 1;
    for (std::size_t k = 1; k < landscape.losses.size();) {
        const Clock::time_point before = Clock::now();
        if (short_runs) {
            std::vector<std::vector<double>> points;
            for (std::size_t n = k; n < std::min(k + together, landscape.losses.size()); ++n)
                points.push_back(point(n));
            for (const Ensemble::Result& r : ensemble.evaluate(points, false))
                landscape.losses[k++] = r.loss;
        } else {
            parameters.set_values(point(k));
            landscape.losses[k++] = simulation.run(false, stops);
        }
        if (!stops(0)) return;
        // As many at once as are done between two pictures.
        const Clock::duration took = Clock::now() - before;
        together = took < publish_interval / 2   ? 2 * together
                   : took > publish_interval * 2 ? std::max<std::size_t>(together / 2, 1)
                                                 : together;
        if (Clock::now() - published > publish_interval) {
            if (!publish(job, landscape)) return;
            published = Clock::now();
        }
    }
    landscape.done = true;
    publish(job, landscape);
}

}  // namespace hindcast::session
