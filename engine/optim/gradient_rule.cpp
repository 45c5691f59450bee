// An update is two or three launches: the gradient in the optimizer's variable, clipped by entry,
// with sums of squares; where there is something to compute, the numbers of the update; then the
// rule's formula with the projection on the bounds.
#include "engine/optim/gradient_rule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/backend/plan/reduction.hpp"
#include "engine/document/read.hpp"

namespace hindcast::optim {

namespace {

using namespace lang;
using Vec6 = Vec<Float, 6>;

// Squares of what is very large or very small leave the range of f64.
constexpr double tiny = 0x1p-900, down = 0x1p-600, up = 0x1p600,
                 most = std::numeric_limits<double>::max();

// dL/du, clipped by entry. The adjoint of x = exp(u) is x dL/dx.
KernelDef look_kernel() {
    return kernel(
        "optimizer_gradient", {"value", "gradient", "logarithmic", "limit", "own", "squares"},
        [](Int i, Read<Float> value, Read<Float> gradient, Read<Int> logarithmic,
           Param<Float> limit, Write<Float> own, Reduce<Vec6> squares) {
            const Float g = gradient[i];
            const Float u =
                clamp(select(logarithmic[i] != 0, value[i] * g, g), -limit.value(), limit.value());
            own[i] = u;
            const Float less = u * down, more = u * up, l = g * down, m = g * up;
            squares += Vec6(u * u, less * less, more * more, g * g, l * l, m * m);
        });
}

// The numbers of an update: the gradient is multiplied by scale, then by factor.
struct Numbers {
    bool normalized, clips, adam;

    KernelDef kernel() const {
        return lang::kernel(
            "optimizer_numbers",
            {"squares", "longest", "beta1", "beta2", "powers", "scale", "factor", "correction1",
             "correction2"},
            [rule = *this](Int i, Read<Vec6> squares, Param<Float> longest, Param<Float> beta1,
                           Param<Float> beta2, ReadWrite<Vec2> powers, ReadWrite<Float> scale,
                           ReadWrite<Float> factor, ReadWrite<Float> correction1,
                           ReadWrite<Float> correction2) {
                if (rule.normalized || rule.clips)
                    rule.factor(squares[i], longest, scale[i], factor[i]);
                if (!rule.adam) return;
                // Products of their own: 1 - beta^t is rounded once more.
                const Vec2 before = powers[i];
                const Float power1 = fma(before.x(), beta1.value(), -0.0),
                            power2 = fma(before.y(), beta2.value(), -0.0);
                powers[i] = Vec2(power1, power2);
                correction1[i] = 1.0 / (1.0 - power1);
                correction2[i] = 1.0 / (1.0 - power2);
            });
    }

private:
    void factor(const Vec6& squares, const Param<Float>& longest, OwnElement<Float> scale,
                OwnElement<Float> factor) const {
        const Bool fits = squares[0] <= most, small = squares[0] < tiny;
        const Float s = select(fits, select(small, Float(up), Float(1)), Float(down));
        const Float length =
            sqrt(select(fits, select(small, squares[2], squares[0]), squares[1]));  // times s
        std::move(scale) = s;
        if (normalized)
            std::move(factor) = select(length > 0.0, 1.0 / length, Float(0));
        else
            std::move(factor) =
                select(length > longest.value() * s, longest.value() / length, 1.0 / s);
    }
};

// Moves a value by -d, or exp(-d) times on a log scale, and holds it within its bounds; for every
// rule's kernel.
struct Moved {
    bool any_logarithmic;
    Float operator()(const Float& value, const Float& d, const Int& logarithmic, const Float& low,
                     const Float& high) const {
        Float free = value - d;
        if (any_logarithmic) free = select(logarithmic != 0, value * exp(-d), free);
        return clamp(free, low, high);
    }
};

KernelDef descent_kernel(const Moved& moved) {
    return kernel(
        "gradient_descent",
        {"own", "scale", "factor", "rate", "logarithmic", "low", "high", "value"},
        [moved](Int i, Read<Float> own, Param<Float> scale, Param<Float> factor, Read<Float> rate,
                Read<Int> logarithmic, Read<Float> low, Read<Float> high, ReadWrite<Float> value) {
            const Float g = own[i] * scale.value() * factor.value();
            value[i] = moved(value[i], rate[i] * g, logarithmic[i], low[i], high[i]);
        });
}

KernelDef momentum_kernel(const Moved& moved, bool nesterov) {
    return kernel("momentum",
                  {"own", "scale", "factor", "rate", "logarithmic", "low", "high", "keep",
                   "velocity", "value"},
                  [moved, nesterov](Int i, Read<Float> own, Param<Float> scale, Param<Float> factor,
                                    Read<Float> rate, Read<Int> logarithmic, Read<Float> low,
                                    Read<Float> high, Param<Float> keep, ReadWrite<Float> velocity,
                                    ReadWrite<Float> value) {
                      const Float g = own[i] * scale.value() * factor.value();
                      const Float m = keep.value() * velocity[i] + g;
                      velocity[i] = m;
                      const Float direction = nesterov ? g + keep.value() * m : m;
                      value[i] =
                          moved(value[i], rate[i] * direction, logarithmic[i], low[i], high[i]);
                  });
}

// Kingma and Ba, "Adam: a method for stochastic optimization", ICLR 2015, algorithm 1; the
// corrections are 1 / (1 - beta^t).
KernelDef adam_kernel(const Moved& moved) {
    return kernel("adam",
                  {"own", "scale", "factor", "rate", "logarithmic", "low", "high", "beta1", "beta2",
                   "epsilon", "correction1", "correction2", "first", "second", "value"},
                  [moved](Int i, Read<Float> own, Param<Float> scale, Param<Float> factor,
                          Read<Float> rate, Read<Int> logarithmic, Read<Float> low,
                          Read<Float> high, Param<Float> beta1, Param<Float> beta2,
                          Param<Float> epsilon, Param<Float> correction1, Param<Float> correction2,
                          ReadWrite<Float> first, ReadWrite<Float> second, ReadWrite<Float> value) {
                      const Float g = own[i] * scale.value() * factor.value();
                      const Float m = beta1.value() * first[i] + (1.0 - beta1.value()) * g;
                      const Float v = beta2.value() * second[i] + (1.0 - beta2.value()) * (g * g);
                      first[i] = m;
                      second[i] = v;
                      const Float direction = (m * correction1.value()) /
                                              (sqrt(v * correction2.value()) + epsilon.value());
                      value[i] =
                          moved(value[i], rate[i] * direction, logarithmic[i], low[i], high[i]);
                  });
}

}  // namespace

GradientRule::GradientRule(const Settings& settings, const Variables& variables,
                           std::shared_ptr<Device> device)
    : settings_(settings),
      device_(std::move(device)),
      count_(static_cast<std::int64_t>(variables.size())),
      value_(vector()),
      gradient_(vector()),
      own_(vector()),
      squares_(ir::Type::f64, {1, 6}),
      scale_(ir::Type::f64, {1}),
      factor_(scale_.clone()),
      correction1_(scale_.clone()),
      correction2_(scale_.clone()),
      powers_(ir::Type::f64, {1, 2}),
      on_host_look_(device_),
      on_host_update_(device_) {
    for (const Array& one : {scale_, factor_, correction1_, correction2_, powers_}) one.fill(1);
    std::vector<double> rates = variables.rate;
    for (double& rate : rates) rate *= settings.base_rate();
    const std::vector<std::int64_t> flags(variables.logarithmic.begin(),
                                          variables.logarithmic.end());
    const Array logarithmic(ir::Type::i32, {count_});
    logarithmic.assign_integers(flags);
    const auto launch = [&](const KernelDef& def, std::int64_t items,
                            std::vector<Argument> arguments, const char* name) {
        return std::make_unique<Launch>(device_, def, ir::Precision::f64, items,
                                        std::move(arguments), name);
    };
    look_ = launch(look_kernel(), count_,
                   {value_, gradient_, logarithmic, settings.clip_value, own_, squares_},
                   "gradient in the optimizer's variable");
    const Numbers numbers{settings.type == RuleType::normalized_gradient_descent,
                          settings.clip_norm != unlimited, settings.type == RuleType::adam};
    if (numbers.normalized || numbers.clips || numbers.adam)
        numbers_ = launch(numbers.kernel(), 1,
                          {squares_, settings.clip_norm, settings.beta1, settings.beta2, powers_,
                           scale_, factor_, correction1_, correction2_},
                          "numbers of a parameter update");
    make_update(std::find(flags.begin(), flags.end(), 1) != flags.end(),
                {own_, scale_, factor_, vector(rates), logarithmic, vector(variables.low),
                 vector(variables.high)});
    add_look(on_host_look_);
    add_update(on_host_update_);
}

void GradientRule::make_update(bool any_logarithmic, const std::vector<Argument>& common) {
    const Moved moved{any_logarithmic};
    const auto make = [&](const KernelDef& def, const std::vector<Argument>& own) {
        std::vector<Argument> arguments = common;
        arguments.insert(arguments.end(), own.begin(), own.end());
        arguments.emplace_back(value_);
        update_ = std::make_unique<Launch>(device_, def, ir::Precision::f64, count_, arguments,
                                           "parameter update");
    };
    switch (settings_.type) {
        case RuleType::momentum:
            make(momentum_kernel(moved, settings_.nesterov),
                 {settings_.momentum, memory("velocity")});
            break;
        case RuleType::adam: {
            const Array first = memory("first_moment"), second = memory("second_moment");
            make(adam_kernel(moved), {settings_.beta1, settings_.beta2, settings_.epsilon,
                                      correction1_, correction2_, first, second});
            break;
        }
        default: make(descent_kernel(moved), {});
    }
}

void GradientRule::add_look(Sequence& sequence) const {
    sequence.add_clear(squares_);
    sequence.add(*look_);
}

void GradientRule::add_update(Sequence& sequence) const {
    if (numbers_) sequence.add(*numbers_);
    sequence.add(*update_);
}

UpdateRule::Step GradientRule::step(const Evaluation& here, const Evaluate&) {
    value_.assign(here.values);
    gradient_.assign(here.gradient);
    on_host_look_.run();
    on_host_update_.run();
    return {true, value_.to_doubles(), ""};
}

document::Node GradientRule::state() const {
    document::Node node = document::Node::object();
    for (const auto& [name, array] : memory_) node.set(name, exact_numbers(array.to_doubles()));
    if (settings_.type == RuleType::adam) {
        node.set("beta1_power", powers_.value(0, 0));
        node.set("beta2_power", powers_.value(0, 1));
    }
    return node;
}

void GradientRule::restore(const document::Node& state) {
    document::Reader reader(state, "the state of " + settings_.describe());
    std::vector<std::vector<double>> read;
    for (const auto& [name, array] : memory_)
        read.push_back(exact_numbers_of(reader.require(name), static_cast<std::size_t>(count_)));
    const bool adam = settings_.type == RuleType::adam;
    const double power1 = adam ? reader.number("beta1_power") : 1;
    const double power2 = adam ? reader.number("beta2_power") : 1;
    reader.finish();
    powers_.assign(std::vector{power1, power2});
    for (std::size_t k = 0; k < read.size(); ++k) memory_[k].second.assign(read[k]);
}

std::unique_ptr<UpdateRule> make_gradient_rule(const Settings& settings, const Variables& variables,
                                               const std::shared_ptr<Device>& device) {
    return std::make_unique<GradientRule>(settings, variables, device);
}

// ---------------------------------------------------------------- norms

double norm_of(const double (&squares)[3]) {
    if (!(squares[0] <= most)) return std::sqrt(squares[1]) / down;
    if (squares[0] < tiny) return std::sqrt(squares[2]) / up;
    return std::sqrt(squares[0]);
}

double norm_as_reduced(std::span<const double> values) {
    constexpr std::size_t chunk = backend::reduce_chunk, lanes = backend::reduce_lanes;
    constexpr double scales[] = {1, down, up};
    double totals[3] = {};
    for (std::size_t begin = 0; begin < values.size(); begin += chunk) {
        double lane[3][lanes] = {};
        for (std::size_t i = begin; i < std::min(values.size(), begin + chunk); ++i)
            for (std::size_t s = 0; s < 3; ++s) {
                const double x = values[i] * scales[s];
                lane[s][i % lanes] += x * x;
            }
        for (std::size_t s = 0; s < 3; ++s) totals[s] += backend::add_pairwise(lane[s]);
    }
    return norm_of(totals);
}

}  // namespace hindcast::optim
