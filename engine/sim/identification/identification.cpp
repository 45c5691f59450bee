#include "engine/sim/identification/identification.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/base/random.hpp"
#include "engine/document/text.hpp"
#include "engine/sim/identification/findings.hpp"

namespace hindcast {

using document::Node;
using model::ResidualBlock;

namespace {

optim::Variables variables_of(const Parameters& parameters) {
    optim::Variables variables;
    for (const Parameter& p : parameters.list())
        for (std::size_t e = 0; e < p.entries.size(); ++e) {
            variables.low.push_back(p.low);
            variables.high.push_back(p.high);
            variables.rate.push_back(1);
            variables.logarithmic.push_back(p.log_scale);
        }
    return variables;
}

// f(block, channel, number of the channel, first residual) for each channel of all residuals.
template <class F>
void for_each_channel(const std::vector<const ResidualBlock*>& blocks, F f) {
    std::size_t first = 0;
    for (const ResidualBlock* block : blocks) {
        for (std::size_t c = 0; c < block->channels.size(); ++c) {
            const ResidualBlock::Channel& channel = block->channels[c];
            f(*block, channel, c, first + static_cast<std::size_t>(channel.first));
        }
        first += static_cast<std::size_t>(block->values.size());
    }
}

}  // namespace

std::vector<bool> Identification::auxiliary() {
    const std::set<std::string>& own =
        simulation_.model().shared<model::Residuals>().of_one_recording;
    std::vector<bool> auxiliary;
    for (const Parameter& p : simulation_.parameters().list())
        auxiliary.insert(auxiliary.end(), p.entries.size(), own.contains(p.quantity->path));
    return auxiliary;
}

std::vector<Identification::Point> Identification::starts(std::size_t count, std::uint64_t seed) {
    const document::ElementaryTable functions = own_elementary_functions();
    const std::vector<bool> own = auxiliary();
    std::vector<Point> points{simulation_.parameters().values()};
    for (std::size_t k = 1; k < count; ++k) {
        const Random random(seed, k);
        Point point = points[0];
        std::size_t number = 0;
        for (const Parameter& p : simulation_.parameters().list())
            for (std::size_t e = 0; e < p.entries.size(); ++e, ++number) {
                if (own[number]) continue;
                if (!std::isfinite(p.low) || !std::isfinite(p.high) || (p.log_scale && p.low <= 0))
                    throw Error("'" + p.path + "' has no bounds to draw a start from")
                        .remedy(p.log_scale ? "give it \"bounds\": [low, high] above 0"
                                            : "give it \"bounds\": [low, high]");
                const double value = p.log_scale
                                         ? functions.exp(random.uniform(
                                               number, functions.log(p.low), functions.log(p.high)))
                                         : random.uniform(number, p.low, p.high);
                point[number] = std::clamp(value, p.low, p.high);
            }
        points.push_back(std::move(point));
    }
    return points;
}

Identification::Check Identification::check() {
    const Point values = simulation_.parameters().values();
    const optim::DenseMatrix jacobian = function_.jacobian(values);
    const std::vector<bool> own = auxiliary();
    Check check{optim::identifiability(jacobian, function_.groups(), own), {}};
    check.findings = findings(check.found, simulation_.parameters().names(), values, own);
    const std::vector<std::string> kinks = simulation_.parameters().kinks(simulation_.model());
    for (std::size_t k = 0; k < kinks.size(); ++k)
        if (!kinks[k].empty())
            check.findings.push_back(simulation_.parameters().names()[k] + ": " + kinks[k]);
    return check;
}

std::vector<Identification::Fit> Identification::fit(const std::vector<Point>& starts,
                                                     const Options& options) {
    optim::LeastSquares problem;
    problem.variables = variables_of(simulation_.parameters());
    problem.groups = function_.groups();
    problem.residuals = [this](std::span<const double> values) {
        return function_.residuals(values);
    };
    problem.jacobian = [this](std::span<const double> values) {
        return function_.jacobian(values);
    };
    std::vector<Fit> fits;
    bool go_on = true;
    for (std::size_t s = 0; s < starts.size() && go_on; ++s) {
        Fit fit{starts[s], {}, {}};
        optim::LeastSquaresOptions how;
        how.iterations = options.iterations;
        how.watch = [&](std::int64_t iteration, double cost, std::span<const double>) {
            if (options.watch) go_on = options.watch(s, iteration, cost);
            return go_on;
        };
        try {
            fit.result = optim::minimize(problem, starts[s], how);
        } catch (const Error& error) {
            if (starts.size() == 1) throw;
            fit.failure = error.what();
        }
        fits.push_back(std::move(fit));
    }
    return fits;
}

std::size_t Identification::best(const std::vector<Fit>& fits) {
    std::size_t best = fits.size();
    for (std::size_t s = 0; s < fits.size(); ++s)
        if (fits[s].failure.empty() &&
            (best == fits.size() || fits[s].result.cost < fits[best].result.cost))
            best = s;
    if (best == fits.size())
        throw Error("no start could be fitted; the first one ended with: " +
                    (fits.empty() ? "nothing" : fits[0].failure));
    return best;
}

std::size_t Identification::agreeing(const std::vector<Fit>& fits) {
    const double least = fits[best(fits)].result.cost;
    return static_cast<std::size_t>(std::ranges::count_if(fits, [&](const Fit& fit) {
        return fit.failure.empty() && fit.result.cost <= least * (1 + 1e-6);
    }));
}

optim::FitStatistics Identification::statistics(const optim::LeastSquaresResult& result) const {
    std::vector<bool> held;
    for (const int bound : result.at_bound) held.push_back(bound != 0);
    return optim::fit_statistics(result.jacobian, result.residuals, function_.groups(), held);
}

std::vector<ChannelAgreement> Identification::agreement(
    const std::vector<double>& residuals) const {
    std::vector<ChannelAgreement> all;
    for_each_channel(
        function_.blocks(), [&](const ResidualBlock& block, const ResidualBlock::Channel& channel,
                                std::size_t c, std::size_t first) {
            ChannelAgreement one{block.owner, channel.name, static_cast<std::size_t>(channel.count),
                                 0, 0};
            double sum = 0;
            for (std::size_t i = 0; i < one.count; ++i)
                sum += residuals[first + i] * residuals[first + i];
            one.rms_sigmas = one.count > 0 ? std::sqrt(sum / static_cast<double>(one.count)) : 0;
            one.rms = one.rms_sigmas * ResidualBlock::of(block.sigma, c, 1);
            all.push_back(std::move(one));
        });
    return all;
}

std::vector<Comparison> Identification::comparison(const std::vector<double>& residuals) const {
    std::vector<Comparison> all;
    for_each_channel(
        function_.blocks(), [&](const ResidualBlock& block, const ResidualBlock::Channel& channel,
                                std::size_t c, std::size_t first) {
            if (block.file.empty()) return;
            Comparison one{block.owner, channel.name, {}, {}, {}, {}};
            for (std::size_t i = 0; i < static_cast<std::size_t>(channel.count); ++i) {
                const std::size_t at = static_cast<std::size_t>(channel.first) + i;
                const double measured = ResidualBlock::of(block.scale, c, 1) * block.measured[at] +
                                        ResidualBlock::of(block.offset, c, 0);
                one.times.push_back(block.times[at]);
                one.measured.push_back(measured);
                one.residuals.push_back(residuals[first + i]);
                one.simulated.push_back(measured + residuals[first + i] *
                                                       ResidualBlock::of(block.sigma, c, 1));
            }
            all.push_back(std::move(one));
        });
    return all;
}

Scene with_other_data(const Scene& scene, const std::string& from,
                      const std::filesystem::path& to) {
    std::set<std::string> named;
    std::vector<std::pair<std::string, std::string>> places;  // pointer, file
    for (const Scene::Object& object : scene.objects()) {
        const Node* const file = object.node->find("file");
        if (file == nullptr || !file->is_string()) continue;
        named.insert(file->string());
        places.emplace_back(file->pointer(), file->string());
    }
    if (named.empty()) throw Error("no object of the scene names a file of data");
    std::vector<std::string_view> names(named.begin(), named.end());
    if (from.empty() && named.size() > 1)
        throw Error("the scene names several files of data: " + document::listed(names))
            .remedy("say which one is to be replaced: --validate OLD=NEW");
    if (!from.empty() && !named.contains(from))
        throw Error("no object of the scene names the file '" + from + "'")
            .remedy(document::suggestion(from, names));
    const std::string replaced = from.empty() ? *named.begin() : from;
    std::error_code ignored;
    const std::filesystem::path full = std::filesystem::absolute(to, ignored);
    document::Document changed = scene.document();
    for (const auto& [pointer, file] : places)
        if (file == replaced) changed.set(pointer, Node(full.string()));
    return Scene::of(std::move(changed), scene.file());
}

std::vector<std::string> take_identified(const Simulation& from, Simulation& to) {
    const std::set<std::string>& own = to.model().shared<model::Residuals>().of_one_recording;
    std::vector<std::string> left;
    from.parameters().fetch_values();
    for (const Parameter& parameter : from.parameters().list()) {
        const model::Quantity& found = *parameter.quantity;
        if (own.contains(found.path)) {
            left.push_back(parameter.path);
            continue;
        }
        model::Quantity* const mine = to.model().find_quantity(found.path);
        if (mine == nullptr || mine->values.size() != found.values.size())
            throw Error("the scene with other data has no '" + parameter.path +
                        "' of the same shape");
        mine->values = found.values;
        mine->upload();
    }
    return left;
}

}  // namespace hindcast
