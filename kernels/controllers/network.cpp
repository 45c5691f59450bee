// u_a = offset_a + scale_a y_a, where y is what a dense network makes of what is observed:
// y = f_n(W_n ... f_1(W_1 (x - center) / width + b_1) ... + b_n).
#include "kernels/controllers/network.hpp"

#include <cmath>
#include <numbers>

#include "engine/base/random.hpp"
#include "engine/document/read.hpp"
#include "engine/model/components.hpp"
#include "kernels/controllers/actuators.hpp"
#include "kernels/controllers/controllers.hpp"

namespace hindcast::controllers {

using namespace lang;
using articulated::at;
using model::Model;
using model::Settings;

std::int64_t Network::weights() const {
    std::int64_t sum = 0;
    for (const Layer& layer : layers) sum += std::int64_t{layer.inputs} * layer.outputs;
    return sum;
}

std::int64_t Network::biases() const {
    std::int64_t sum = 0;
    for (const Layer& layer : layers) sum += layer.outputs;
    return sum;
}

std::vector<double> Network::random_weights(std::uint64_t seed) const {
    const Random random(seed);
    std::vector<double> all;
    for (const Layer& layer : layers) {
        const double most = std::sqrt(6.0 / (layer.inputs + layer.outputs));
        for (int k = 0; k < layer.inputs * layer.outputs; ++k)
            all.push_back(random.uniform(all.size(), -most, most));
    }
    return all;
}

LocalArray Network::evaluate(const LocalArray& inputs, const Property<Float>& weights,
                             const Property<Float>& biases) const {
    LocalArray x = inputs;
    int first_weight = 0, first_bias = 0;
    for (const Layer& layer : layers) {
        const LocalArray y(layer.outputs);
        for_(0, layer.outputs, [&](Int o) {
            Float sum = biases[first_bias + o];
            const Int row = first_weight + o * layer.inputs;
            for_(0, layer.inputs, [&](Int i) { sum = sum + weights[row + i] * x[i]; });
            y.add(o, layer.activation == Activation::tanh   ? tanh(sum)
                     : layer.activation == Activation::relu ? max(sum, Float(0))
                                                            : sum);
        });
        first_weight += layer.inputs * layer.outputs;
        first_bias += layer.outputs;
        x = y;
    }
    return x;
}

namespace {

// One item per element of an array, of which each has so many numbers.
template <int components>
KernelDef observe(int first) {
    using V = Vec<Float, components>;
    return kernel("observe", {"source", "center", "width", "observed"},
                  [first](Int i, Read<V> source, Property<Float> center, Property<Float> width,
                          WriteSlice<Float> observed) {
                      const V element = source[i];
                      for (int c = 0; c < components; ++c) {
                          const Int k = i * components + (first + c);
                          observed.store_once(k, (element[c] - center[k]) / width[k]);
                      }
                  });
}

// Sine and cosine of the phase of a clock.
KernelDef observe_clock(int first) {
    return kernel("observe_clock", {"period", "step", "h", "center", "width", "observed"},
                  [first](Int i, Property<Float> period, Param<Int> step, Param<Float> h,
                          Property<Float> center, Property<Float> width, Write<Float> observed) {
                      const Int k = injective(i + first);
                      const Float phase =
                          2 * std::numbers::pi * (Float(step.value()) * h.value()) / period[0];
                      const Float now = select(i == 0, sin(phase), cos(phase));
                      observed[k] = (now - center[k]) / width[k];
                  });
}

KernelDef control_of(const Network& network, const std::vector<int>& actuators) {
    return kernel("network_control",
                  {"observed", "weights", "biases", "scale", "offset", "control"},
                  [network, actuators](Int, Read<Float> observed, Property<Float> weights,
                                       Property<Float> biases, Property<Float> scale,
                                       Property<Float> offset, Accumulate<Float> control) {
                      const LocalArray x(network.inputs());
                      for_(0, network.inputs(), [&](Int i) { x.add(i, observed[i]); });
                      const LocalArray y = network.evaluate(x, weights, biases);
                      for (std::size_t a = 0; a < actuators.size(); ++a) {
                          const int row = static_cast<int>(a);
                          control[actuators[a]] += offset[row] + scale[row] * y[row];
                      }
                  });
}

class Policy final : public model::Instance {
public:
    explicit Policy(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void build(Model& model) override {
        const Actuators actuators = actuators_of(*settings_, model);
        find_sources(model, *actuators.robot);
        const Network network = network_of(static_cast<int>(actuators.count()));
        const Array observed = model.add_array(
            settings_->name() + ".observed", inputs_, 1,
            {.meaning = "what the network is given in the last step: (number - center) / width"});
        const auto number = [&](const char* key, std::int64_t count) {
            return settings_->quantity(model, key, count).argument();
        };
        const Argument center = number("center", inputs_), width = number("width", inputs_);
        int first = 0;
        for (const Source& source : sources_) {
            std::vector<NamedArgument> arguments = {
                {"center", center}, {"width", width}, {"observed", observed}};
            KernelDef kernel = observe_clock(first);
            if (source.array) {
                kernel =
                    model::for_components(*source.array, [&](auto C) { return observe<C>(first); });
                arguments.emplace_back("source", *source.array);
            } else {
                arguments.emplace_back("period", number("period", 1));
                arguments.emplace_back("step", model.step_counter());
                arguments.emplace_back("h", model.step());
            }
            model.add(model::Phase::controllers,
                      model.launch(kernel, source.array ? source.array->shape()[0] : source.count,
                                   arguments, settings_->name() + ": observe " + source.name));
            first += static_cast<int>(source.count);
        }
        add(model, *settings_, actuators, control_of(network, actuators.numbers),
            {{"observed", observed},
             {"weights", weights_of(model, network)},
             {"biases", number("biases", network.biases())},
             {"scale", scale_of(model, actuators, "scale", 1)},
             {"offset", scale_of(model, actuators, "offset", 0)}},
            "network");
    }

private:
    struct Source {
        std::string name;
        std::optional<Array> array;  // none: the clock
        std::int64_t count = 0;
    };

    void find_sources(Model& model, const articulated::Robot& robot) {
        const document::Node& list = *settings_->find("observe");
        for (std::size_t i = 0; i < document::array_of(list, 1).size(); ++i) {
            const document::Node& item = list.item(i);
            Source source;
            source.name = document::string_of(item);
            if (source.name == "clock") {
                if (!settings_->written("period"))
                    throw document::fault(item, "a clock needs a period")
                        .remedy("add \"period\", in seconds");
                source.count = 2;
            } else {
                source.array = model::array_named(model, item, robot.name);
                source.count = source.array->shape()[0] * source.array->shape()[1];
            }
            inputs_ += source.count;
            sources_.push_back(std::move(source));
        }
        if (inputs_ > 4096)
            throw settings_->error("observe", "these are " + std::to_string(inputs_) + " numbers")
                .remedy("observe no more than 4096");
    }

    Network network_of(int outputs) const {
        Network network;
        int inputs = static_cast<int>(inputs_);
        const std::string named = settings_->choice("activation");
        const Activation inner = named == "relu" ? Activation::relu : Activation::tanh;
        if (const document::Node* const hidden = settings_->find("hidden"))
            for (std::size_t i = 0; i < document::array_of(*hidden).size(); ++i) {
                const int width = static_cast<int>(document::integer_of(hidden->item(i), 1, 4096));
                network.layers.push_back({inputs, width, inner});
                inputs = width;
            }
        network.layers.push_back(
            {inputs, outputs,
             settings_->choice("output") == "tanh" ? Activation::tanh : Activation::linear});
        return network;
    }

    Argument weights_of(Model& model, const Network& network) const {
        if (settings_->written("weights"))
            return settings_->quantity(model, "weights", network.weights()).argument();
        const auto seed = static_cast<std::uint64_t>(settings_->integer("seed"));
        return settings_
            ->quantity_of(model, "weights", network.weights(),
                          network.random_weights(seed ^ model.options().seed))
            .argument();
    }

    // As written, or half of the width of an actuator's limits or their middle; without limits
    // `otherwise`.
    Argument scale_of(Model& model, const Actuators& actuators, const std::string& key,
                      double otherwise) const {
        if (settings_->written(key))
            return settings_->quantity(model, key, actuators.count()).argument();
        std::vector<double> values;
        for (const int u : actuators.numbers) {
            const articulated::Limits& limits = actuators.robot->tree->actuators.at(at(u)).control;
            const double other = key == "scale" ? -limits.low : limits.low;
            values.push_back(limits.present ? 0.5 * (limits.high + other) : otherwise);
        }
        return settings_->quantity_of(model, key, actuators.count(), std::move(values)).argument();
    }

    std::shared_ptr<Settings> settings_;
    std::vector<Source> sources_;
    std::int64_t inputs_ = 0;
};

}  // namespace

void register_network(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::controllers,
         "network",
         "Neural network for a robot",
         "Adds to the controls of actuators what a dense neural network makes of what it observes: "
         "offset + scale y, where each layer is f(W x + b).",
         {of_field(), actuators_field(),
          list("observe")
              .schema(R"({"type":"string","means":"array"})")
              .doc(
                  "what the network is given, in this order: arrays of the robot (qpos, qvel, act, "
                  "xipos ...) or of the scene (position ...) by name, as they are at the begin of "
                  "the "
                  "step, or \"clock\", sine and cosine of 2 pi t / period"),
          number("period").optional().unit("s").positive().differentiable().doc("of the clock"),
          list("hidden")
              .optional()
              .schema(R"({"type":"integer","minimum":1,"maximum":4096})")
              .doc("units of each hidden layer; without it the network is one layer"),
          choice("activation", {"tanh", "relu"}).fallback("\"tanh\"").doc("f of hidden layers"),
          choice("output", {"tanh", "linear"}).fallback("\"tanh\"").doc("f of the last layer"),
          values("weights").optional().differentiable().doc(
              "layer by layer, of each output those of all inputs; without it random: uniform up "
              "to sqrt(6 / (inputs + outputs)) (Glorot and Bengio 2010)"),
          integer("seed").fallback("0").at_least(0).doc("of random weights"),
          values("biases").fallback("0").differentiable().doc("layer by layer, of each output"),
          values("center").fallback("0").differentiable().doc("of each number that is observed"),
          values("width").fallback("1").positive().differentiable().doc(
              "of each number that is observed"),
          values("scale").optional().differentiable().doc(
              "of each actuator; without it half of its range, or 1"),
          values("offset").optional().differentiable().doc(
              "of each actuator; without it the middle of its range, or 0")},
         [](std::shared_ptr<Settings> s) { return std::make_unique<Policy>(std::move(s)); },
         true});
}

}  // namespace hindcast::controllers
