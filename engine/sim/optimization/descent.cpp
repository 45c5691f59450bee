#include "engine/sim/optimization/descent.hpp"

#include <algorithm>
#include <cmath>

namespace hindcast {

namespace {

using namespace lang;

constexpr std::size_t squares = 6;  // GradientRule::squares()

KernelDef report_term_kernel() {
    return kernel("report_term", {"term", "at", "report"},
                  [](Int i, Param<Float> term, Param<Int> at, WriteSlice<Float> report) {
                      report.store_once(at.value() + i, term.value());
                  });
}
KernelDef report_numbers_kernel() {
    return kernel("report_numbers", {"numbers", "at", "report"},
                  [](Int i, Read<Float> numbers, Param<Int> at, WriteSlice<Float> report) {
                      report.store_once(at.value() + i, numbers[i]);
                  });
}
KernelDef report_flags_kernel() {
    return kernel("report_flags", {"flags", "at", "report"},
                  [](Int i, Read<Int> flags, Param<Int> at, WriteSlice<Float> report) {
                      report.store_once(at.value() + i, Float(flags[i]));
                  });
}
KernelDef report_squares_kernel() {
    return kernel("report_squares", {"squares", "at", "report"},
                  [](Int i, Read<Vec<Float, 6>> all, Param<Int> at, WriteSlice<Float> report) {
                      const Vec<Float, 6> s = all[i];
                      for (int k = 0; k < 6; ++k) report.store_once(at.value() + k, s[k]);
                  });
}

}  // namespace

Descent::Descent(Simulation& simulation, optim::GradientRule& rule, std::size_t most_read)
    : simulation_(simulation),
      rule_(rule),
      most_read_(most_read),
      vector_(simulation.parameters(), simulation.options().device),
      after_(simulation.options().device),
      update_(simulation.options().device) {
    vector_.add_gather(after_, rule.gradient(), [](const Array& a) { return a.gradient(); });
    rule.add_look(after_);
    if (simulation.options().device->cuda()) make_report();
    if (!reads_vectors()) {
        before_ = rule.values().clone();
        kept_values_ = rule.values().clone();
        kept_gradient_ = rule.values().clone();
        update_.add_copy(before_, rule.values());
    }
    rule.add_update(update_);
    vector_.add_scatter(update_, rule.values(), [](const Array& a) { return a; });
}

Descent::~Descent() { simulation_.rollout().leave_backward(&after_); }

bool Descent::reads_vectors() const { return simulation_.parameters().size() <= most_read_; }

void Descent::make_report() {
    const std::vector<model::Term>& terms = simulation_.model().terms();
    const Array& flags = simulation_.rollout().not_finite();
    const std::int64_t n = rule_.values().elements(), vectors = reads_vectors() ? 2 * n : 0;
    report_ = Array(ir::Type::f64, {static_cast<std::int64_t>(terms.size() + squares) +
                                    (flags ? flags.elements() : 0) + vectors});
    std::int64_t at = 0;
    const auto add = [&](const KernelDef& def, std::int64_t items, const Array& of,
                         std::int64_t numbers) {
        after_.add(Launch(simulation_.options().device, def, ir::Precision::f64, items,
                          {of, at, report_}, "report of an iteration"));
        at += numbers;
    };
    for (const model::Term& term : terms) add(report_term_kernel(), 1, term.value, 1);
    add(report_squares_kernel(), 1, rule_.squares(), squares);
    if (flags) add(report_flags_kernel(), flags.elements(), flags, flags.elements());
    if (vectors == 0) return;
    add(report_numbers_kernel(), n, rule_.values(), n);
    add(report_numbers_kernel(), n, rule_.gradient(), n);
}

void Descent::start_at(std::span<const double> values) {
    rule_.values().assign(values);
    simulation_.parameters().set_values(values);
    simulation_.rollout().follow_backward(&after_);
}

void Descent::evaluate() {
    loss_.reset();
    Rollout& rollout = simulation_.rollout();
    if (!simulation_.options().device->cuda()) {
        loss_ = simulation_.run(true);
        if (std::isfinite(*loss_)) simulation_.backward();
        return;
    }
    // The loss is tested afterward, so that the host does not wait in between.
    rollout.look_later(true);
    try {
        rollout.forward(true);
    } catch (...) {
        rollout.look_later(false);
        throw;
    }
    rollout.look_later(false);
    if (rollout.divergence()) return;
    try {
        simulation_.backward();
    } catch (const Error&) {  // a loss that is not finite needs no gradient
        if (std::isfinite(simulation_.loss())) throw;
    }
}

Descent::Look Descent::read_report() {
    const std::vector<double> all = report_.to_doubles();
    const double* next = all.data();
    Look look;
    for (const model::Term& term : simulation_.model().terms())
        look.terms.push_back({term.name, term.weight, *next++});
    const double physical[] = {next[3], next[4], next[5]};
    next += squares;
    look.loss = Simulation::loss_of(look.terms);
    look.gradient_norm = optim::norm_of(physical);
    // The sum over entries that were made smaller is finite as long as they are.
    look.finite = std::isfinite(look.loss) && std::isfinite(physical[1]);
    if (!std::isfinite(look.loss)) look.gradient_norm = 0;
    if (const Array& flags = simulation_.rollout().not_finite()) {
        const bool diverged =
            std::any_of(next, next + flags.size(), [](double f) { return f > 0; });
        next += flags.size();
        if (diverged) {
            look.loss = simulation_.run(true);  // where, and what the terms are then
            look.terms = simulation_.terms();
            look.finite = false;
        }
    }
    if (!reads_vectors()) return look;
    const std::size_t n = simulation_.parameters().size();
    look.values.assign(next, next + n);
    if (std::isfinite(look.loss)) look.gradient.assign(next + n, next + 2 * n);
    return look;
}

Descent::Look Descent::look() {
    if (report_ && !simulation_.rollout().divergence()) return read_report();
    Look look;
    look.terms = simulation_.terms();
    look.loss = loss_ ? *loss_ : simulation_.loss();
    if (std::isfinite(look.loss)) {
        const std::vector<double> all = rule_.squares().to_doubles();
        const double physical[] = {all[3], all[4], all[5]};
        look.gradient_norm = optim::norm_of(physical);
        look.finite = std::isfinite(physical[1]);
    }
    if (reads_vectors()) {
        look.values = values();
        if (std::isfinite(look.loss)) look.gradient = gradient();
    }
    return look;
}

void Descent::update() {
    update_.run();
    simulation_.parameters().values_are_in(rule_.values());
}

void Descent::keep() {
    kept_values_.copy_from(rule_.values());
    kept_gradient_.copy_from(rule_.gradient());
}

}  // namespace hindcast
