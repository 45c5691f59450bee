// The rules that step along the gradient, as kernels over the parameter vector. An update is two
// launches: the gradient in the optimiser's variable, scaled and clipped by entry, with the sum of
// its squares; then the rule's formula with a factor for the norm, and the projection on the
// bounds.
//
//     x <- project(x - d)  or, with a log scale,  x <- project(x exp(-d)),   d = rate * direction
//
// which is u - d in u = log x without the rounding of log and exp: a zero step changes nothing.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/document/read.hpp"
#include "engine/optim/update_rule.hpp"
#include "engine/runtime/launch.hpp"

namespace hindcast::optim {

namespace {

using namespace lang;

// dL/du, scaled by a power of two and clipped by entry. The adjoint of x = exp(u) is x dL/dx.
KernelDef own_gradient_kernel() {
    return kernel(
        "optimizer_gradient",
        {"value", "gradient", "logarithmic", "scale", "limit", "own", "squares"},
        [](Int i, Read<Float> value, Read<Float> gradient, Read<Int> logarithmic,
           Param<Float> scale, Param<Float> limit, Write<Float> own, Reduce<Float> squares) {
            const Float g = select(logarithmic[i] != 0, value[i] * gradient[i], gradient[i]);
            const Float clipped = clamp(g, -limit.value(), limit.value()) * scale.value();
            own[i] = clipped;
            squares += clipped * clipped;
        });
}

// What every rule's kernel takes to move a value by -d and hold it within its bounds.
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
        "gradient_descent", {"own", "factor", "rate", "logarithmic", "low", "high", "value"},
        [moved](Int i, Read<Float> own, Param<Float> factor, Read<Float> rate,
                Read<Int> logarithmic, Read<Float> low, Read<Float> high, ReadWrite<Float> value) {
            const Float g = own[i] * factor.value();
            value[i] = moved(value[i], rate[i] * g, logarithmic[i], low[i], high[i]);
        });
}

KernelDef momentum_kernel(const Moved& moved, bool nesterov) {
    return kernel(
        "momentum",
        {"own", "factor", "rate", "logarithmic", "low", "high", "keep", "velocity", "value"},
        [moved, nesterov](Int i, Read<Float> own, Param<Float> factor, Read<Float> rate,
                          Read<Int> logarithmic, Read<Float> low, Read<Float> high,
                          Param<Float> keep, ReadWrite<Float> velocity, ReadWrite<Float> value) {
            const Float g = own[i] * factor.value();
            const Float m = keep.value() * velocity[i] + g;
            velocity[i] = m;
            const Float direction = nesterov ? g + keep.value() * m : m;
            value[i] = moved(value[i], rate[i] * direction, logarithmic[i], low[i], high[i]);
        });
}

// Kingma and Ba, "Adam: a method for stochastic optimization", ICLR 2015, algorithm 1; the
// corrections are 1 / (1 - beta^t).
KernelDef adam_kernel(const Moved& moved) {
    return kernel("adam",
                  {"own", "factor", "rate", "logarithmic", "low", "high", "beta1", "beta2",
                   "epsilon", "correction1", "correction2", "first", "second", "value"},
                  [moved](Int i, Read<Float> own, Param<Float> factor, Read<Float> rate,
                          Read<Int> logarithmic, Read<Float> low, Read<Float> high,
                          Param<Float> beta1, Param<Float> beta2, Param<Float> epsilon,
                          Param<Float> correction1, Param<Float> correction2,
                          ReadWrite<Float> first, ReadWrite<Float> second, ReadWrite<Float> value) {
                      const Float g = own[i] * factor.value();
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

class GradientRule final : public UpdateRule {
public:
    GradientRule(const Settings& settings, const Variables& variables,
                 std::shared_ptr<Device> device)
        : settings_(settings),
          device_(std::move(device)),
          count_(static_cast<std::int64_t>(variables.size())),
          value_(vector()),
          gradient_(vector()),
          own_(vector()),
          squares_(ir::Type::f64, {1}),
          logarithmic_(ir::Type::i32, {count_}) {
        std::vector<double> rates = variables.rate;
        for (double& rate : rates) rate *= settings.base_rate();
        const std::vector<std::int64_t> flags(variables.logarithmic.begin(),
                                              variables.logarithmic.end());
        logarithmic_.assign_integers(flags);
        common_ = {
            own_, 1.0, vector(rates), logarithmic_, vector(variables.low), vector(variables.high)};
        own_gradient_ =
            std::make_unique<Launch>(device_, own_gradient_kernel(), ir::Precision::f64, count_,
                                     std::vector<Argument>{value_, gradient_, logarithmic_, 1.0,
                                                           settings.clip_value, own_, squares_},
                                     "gradient in the optimiser's variable");
        own_gradient_run_ = own_gradient_->forward();
        make_update(Moved{std::find(flags.begin(), flags.end(), 1) != flags.end()});
        update_run_ = update_->forward();
    }

    Step step(const Evaluation& here, const Evaluate&) override {
        value_.assign(here.values);
        gradient_.assign(here.gradient);
        run_own_gradient(1);
        update_->set("factor", factor());
        if (settings_.type == RuleType::adam) {
            power1_ *= settings_.beta1;
            power2_ *= settings_.beta2;
            update_->set("correction1", 1 / (1 - power1_));
            update_->set("correction2", 1 / (1 - power2_));
        }
        update_run_.run();
        return {true, value_.to_doubles(), ""};
    }

    document::Node state() const override {
        document::Node node = document::Node::object();
        for (const auto& [name, array] : memory_) node.set(name, exact_numbers(array.to_doubles()));
        if (settings_.type == RuleType::adam) {
            node.set("beta1_power", power1_);
            node.set("beta2_power", power2_);
        }
        return node;
    }

    void restore(const document::Node& state) override {
        document::Reader reader(state, "the state of " + settings_.describe());
        std::vector<std::vector<double>> read;
        for (const auto& [name, array] : memory_)
            read.push_back(
                exact_numbers_of(reader.require(name), static_cast<std::size_t>(count_)));
        const bool adam = settings_.type == RuleType::adam;
        const double power1 = adam ? reader.number("beta1_power") : 1;
        const double power2 = adam ? reader.number("beta2_power") : 1;
        reader.finish();
        power1_ = power1;
        power2_ = power2;
        for (std::size_t k = 0; k < read.size(); ++k) memory_[k].second.assign(read[k]);
    }

private:
    Array vector() const { return Array(ir::Type::f64, {count_}); }
    Array vector(std::span<const double> values) const {
        return Array::from(values, ir::Type::f64, {count_});
    }
    Array memory(const char* name) { return memory_.emplace_back(name, vector()).second; }

    void make_update(const Moved& moved) {
        std::vector<Argument> arguments = common_;
        const auto make = [&](const KernelDef& def, std::vector<Argument> own) {
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
                make(adam_kernel(moved), {settings_.beta1, settings_.beta2, settings_.epsilon, 1.0,
                                          1.0, first, second});
                break;
            }
            default: make(descent_kernel(moved), {});
        }
    }

    void run_own_gradient(double scale) {
        scale_ = scale;
        own_gradient_->set("scale", scale);
        squares_.clear();
        own_gradient_run_.run();
    }

    // What the scaled gradient is multiplied by: undoes the scale, and clips or normalises.
    double factor() {
        const bool normalized = settings_.type == RuleType::normalized_gradient_descent;
        if (!normalized && settings_.clip_norm == unlimited) return 1;
        // Squares of what is very large or very small leave the range of f64.
        constexpr double tiny = 0x1p-900, step = 0x1p600;
        if (!(squares_.value(0) <= std::numeric_limits<double>::max()))
            run_own_gradient(1 / step);
        else if (squares_.value(0) < tiny)
            run_own_gradient(step);
        const double length = std::sqrt(squares_.value(0));  // times scale_
        if (normalized) return length > 0 ? 1 / length : 0;
        if (length > settings_.clip_norm * scale_) return settings_.clip_norm / length;
        return 1 / scale_;
    }

    Settings settings_;
    std::shared_ptr<Device> device_;
    std::int64_t count_;
    Array value_, gradient_, own_, squares_, logarithmic_;
    double scale_ = 1;
    std::vector<Argument> common_;                       // of all update kernels
    std::vector<std::pair<std::string, Array>> memory_;  // what an update leaves to the next
    double power1_ = 1, power2_ = 1;                     // adam: beta^t
    std::unique_ptr<Launch> own_gradient_, update_;
    Launch::Replay own_gradient_run_, update_run_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_gradient_rule(const Settings& settings, const Variables& variables,
                                               const std::shared_ptr<Device>& device) {
    return std::make_unique<GradientRule>(settings, variables, device);
}

}  // namespace hindcast::optim
