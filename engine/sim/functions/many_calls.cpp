#include "engine/sim/functions/many_calls.hpp"

#include <atomic>
#include <exception>
#include <limits>
#include <thread>

namespace hindcast {

namespace {

constexpr double worth_copies = 0.25;  // seconds of calls one after the other

}  // namespace

ManyCalls::Results ManyCalls::through_ensemble(std::span<const Call> calls) {
    const bool gradient = calls[0].kind == SceneFunction::Kind::vjp;
    if (!ensemble_) ensemble_ = std::make_unique<Ensemble>(simulation_);
    Results points, results;
    for (const Call& call : calls) points.push_back(call.x);
    std::vector<Ensemble::Result> of = ensemble_->evaluate(points, gradient);
    for (std::size_t k = 0; k < calls.size(); ++k) {
        if (!gradient) {
            results.push_back({of[k].loss});
            continue;
        }
        const std::size_t inputs = calls[k].x.size();
        std::vector<double> g = std::move(of[k].gradient);
        if (g.size() != inputs) g.assign(inputs, std::numeric_limits<double>::quiet_NaN());
        for (double& each : g) each *= calls[k].a[0];
        results.push_back(std::move(g));
    }
    return results;
}

bool ManyCalls::has_copies() {
    if (seconds_alone_ <= worth_copies) return false;
    if (!copies_tried_) {
        copies_tried_ = true;
        try {
            copies_ = std::make_unique<Copies>(simulation_, SIZE_MAX);
        } catch (const Error&) {  // one after the other, then
            copies_.reset();
        }
    }
    return copies_ != nullptr;
}

bool ManyCalls::on_threads(std::span<const Call> calls, Results& results, const Run& run) {
    if (!has_copies()) return false;
    const std::size_t first = results.size();
    results.resize(calls.size());
    std::vector<std::exception_ptr> failures(calls.size());
    std::atomic<std::size_t> next{first};
    {
        std::vector<std::jthread> threads;
        for (const auto& copy : copies_->list())
            threads.emplace_back([&, simulation = copy.get()] {
                for (std::size_t k = next++; k < calls.size(); k = next++) {
                    try {
                        results[k] = run(*simulation, calls[k]);
                    } catch (...) {
                        failures[k] = std::current_exception();
                    }
                }
            });
    }
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
    return true;
}

}  // namespace hindcast
