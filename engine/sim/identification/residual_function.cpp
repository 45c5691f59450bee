#include "engine/sim/identification/residual_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <thread>

#include "engine/base/float_environment.hpp"
#include "engine/document/text.hpp"

namespace hindcast {

using model::ResidualBlock;

namespace {
constexpr double worth_copies = 0.25;  // seconds of columns one after the other

std::string amount(double value, const char* unit) {
    return std::isfinite(value) ? document::number_text(value) + unit : "not finite";
}
}  // namespace

ResidualFunction::ResidualFunction(Simulation& simulation)
    : simulation_(simulation), blocks_(blocks_of(simulation)) {
    if (simulation.parameters().size() == 0)
        throw Error("the scene has no parameters to identify")
            .remedy("list what is unknown in \"parameters\"");
    for (const model::Term& term : simulation.model().terms()) {
        if (term.weight == 0) continue;
        if (std::ranges::none_of(
                blocks_, [&](const ResidualBlock* block) { return block->owner == term.name; }))
            throw Error("the objective '" + term.name + "' is not a sum over residuals")
                .remedy(
                    "leave it out or give it the weight 0; objectives of type \"measured\" have "
                    "residuals. `hindcast optimize` takes all objectives");
    }
    if (blocks_.empty())
        throw Error("the scene compares nothing with measured data")
            .remedy("add an objective of type \"measured\"");
    for (const ResidualBlock* block : blocks_)
        size_ += static_cast<std::size_t>(block->values.size());
}

std::vector<const ResidualBlock*> ResidualFunction::blocks_of(Simulation& simulation) {
    std::vector<const ResidualBlock*> blocks;
    for (const ResidualBlock& block : simulation.model().shared<model::Residuals>().blocks)
        if (block.weight > 0) blocks.push_back(&block);
    return blocks;
}

std::vector<optim::ResidualGroup> ResidualFunction::groups() const {
    std::vector<optim::ResidualGroup> groups;
    for (const ResidualBlock* block : blocks_)
        groups.push_back(
            {static_cast<std::size_t>(block->values.size()), block->weight, block->robust()});
    return groups;
}

Rollout::Watch ResidualFunction::watch() const {
    if (!ends_) return {};
    return [this](std::int64_t) { return !ends_(); };
}

void ResidualFunction::check_end() const {
    if (ends_ && ends_()) throw Error("the identification was ended");
}

std::vector<double> ResidualFunction::residuals(std::span<const double> values) {
    simulation_.parameters().set_values(values);
    simulation_.run(false, watch());
    check_end();
    std::vector<double> all;
    if (simulation_.rollout().divergence()) return all;
    for (const ResidualBlock* block : blocks_) {
        const std::vector<double> own = block->values.to_doubles();
        all.insert(all.end(), own.begin(), own.end());
    }
    return all;
}

void ResidualFunction::column(Simulation& simulation, std::size_t k, std::span<double> into) const {
    std::vector<double> direction(simulation.parameters().size(), 0.0);
    direction[k] = 1;
    simulation.parameters().set_tangents(direction);
    simulation.rollout().forward(false, watch(), RolloutMode::tangent);
    check_end();
    if (simulation.rollout().divergence())
        throw Error("the run diverges where its derivatives are wanted")
            .remedy("make the steps shorter, or the bounds of the parameters narrower");
    std::size_t row = 0;
    for (const ResidualBlock* block : blocks_of(simulation))
        for (const double value : block->values.tangent().to_doubles()) into[row++] = value;
}

optim::DenseMatrix ResidualFunction::jacobian(std::span<const double> values) {
    simulation_.parameters().set_values(values);
    optim::DenseMatrix jacobian(size_, values.size());
    if (size_ < values.size())
        by_rows(jacobian);
    else
        by_columns(jacobian);
    require_finite(jacobian);
    return jacobian;
}

ResidualFunction::Sample ResidualFunction::sample(std::size_t residual) const {
    std::size_t first = 0, b = 0;
    for (; residual - first >= static_cast<std::size_t>(blocks_[b]->values.size()); ++b)
        first += static_cast<std::size_t>(blocks_[b]->values.size());
    const ResidualBlock& block = *blocks_[b];
    const std::size_t at = residual - first;
    std::size_t channel = 0;
    while (at >=
           static_cast<std::size_t>(block.channels[channel].first + block.channels[channel].count))
        ++channel;
    return {block, channel, at};
}

std::string ResidualFunction::describe(std::size_t residual) const {
    const auto [block, channel, at] = sample(residual);
    return fmt::format("'{}: {}' at {:.6g} s", block.owner, block.channels[channel].name,
                       block.times[at]);
}

void ResidualFunction::require_finite(const std::vector<double>& residuals) const {
    std::size_t row = 0;
    for (const optim::ResidualGroup& group : groups())
        for (std::size_t i = 0; i < group.count; ++i, ++row)
            if (!(std::sqrt(group.weight) * std::fabs(residuals[row]) < largest))
                throw too_large(row, residuals[row]);
}

Error ResidualFunction::too_large(std::size_t residual, double value) const {
    const auto [block, channel, at] = sample(residual);
    std::string text =
        fmt::format("the residual of {} is {}", describe(residual), amount(value, " sigmas"));
    if (block.weight != 1) text += fmt::format(", of weight {:g}", block.weight);
    if (block.file.empty()) return Error(text).remedy("make the steps shorter");
    text += fmt::format("; {} has {} there, and sigma is {:g}", block.file,
                        document::number_text(block.measured[at]),
                        ResidualBlock::of(block.sigma, channel, 1));
    return Error(text).remedy(
        "correct the recording or \"sigma\"; if the motion is what is too large, make the steps "
        "shorter or start from other values");
}

void ResidualFunction::require_finite(const optim::DenseMatrix& jacobian) const {
    for (std::size_t k = 0; k < jacobian.columns; ++k) {
        std::size_t row = 0;
        for (const optim::ResidualGroup& group : groups())
            for (std::size_t i = 0; i < group.count; ++i, ++row)
                if (!(std::sqrt(group.weight) * std::fabs(jacobian(row, k)) < largest))
                    throw Error(fmt::format("the derivative of the residual of {} by {} is {}",
                                            describe(row), simulation_.parameters().names()[k],
                                            amount(jacobian(row, k), "")))
                        .remedy(
                            "correct the recording or \"sigma\", make the steps shorter, or the "
                            "bounds of the parameters narrower");
    }
}

void ResidualFunction::by_columns(optim::DenseMatrix& jacobian) {
    std::size_t done = 0;
    const auto start = std::chrono::steady_clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    while (done < jacobian.columns && !copies_) {
        column(simulation_, done, jacobian.column(done));
        ++done;
        const std::size_t left = jacobian.columns - done;
        if (copies_tried_ || left < 2 || done < 2) continue;
        if (seconds() * static_cast<double>(jacobian.columns) <
            worth_copies * static_cast<double>(done))
            continue;
        copies_tried_ = true;
        try {
            copies_ = std::make_unique<Copies>(simulation_, jacobian.columns);
        } catch (const Error&) {  // one after the other, then: one thread, or too little memory
            copies_.reset();
        }
    }
    if (done == jacobian.columns) return;
    std::vector<std::exception_ptr> failures(jacobian.columns);
    std::atomic<std::size_t> next{done};
    for (const auto& copy : copies_->list()) copy->take_quantities(simulation_);
    {
        std::vector<std::jthread> threads;
        for (const auto& copy : copies_->list())
            threads.emplace_back([&, simulation = copy.get()] {
                const FloatEnvironment rules;
                for (std::size_t k = next++; k < jacobian.columns; k = next++) {
                    try {
                        column(*simulation, k, jacobian.column(k));
                    } catch (...) {
                        failures[k] = std::current_exception();
                    }
                }
            });
    }
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

void ResidualFunction::by_rows(optim::DenseMatrix& jacobian) {
    simulation_.run(true, watch());
    check_end();
    if (simulation_.rollout().divergence())
        throw Error("the run diverges where its derivatives are wanted")
            .remedy("make the steps shorter, or the bounds of the parameters narrower");
    std::size_t row = 0;
    for (const ResidualBlock* block : blocks_) {
        const auto count = static_cast<std::size_t>(block->values.size());
        for (std::size_t i = 0; i < count; ++i, ++row) {
            check_end();
            std::vector<double> unit(count, 0.0);
            unit[i] = 1;
            simulation_.rollout().backward({{.of = block->values, .values = std::move(unit)}});
            const std::vector<double> gradient = simulation_.parameters().gradient();
            for (std::size_t k = 0; k < gradient.size(); ++k) jacobian(row, k) = gradient[k];
        }
    }
}

}  // namespace hindcast
