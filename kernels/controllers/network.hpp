// A dense network as code of one work item: layers of tanh or max(0, x), the last one linear or tanh.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/lang/kernel.hpp"
#include "engine/lang/local_array.hpp"

namespace hindcast::controllers {

enum class Activation { linear, tanh, relu };

struct Layer {
    int inputs = 0, outputs = 0;
    Activation activation = Activation::tanh;
};

struct Network {
    std::vector<Layer> layers;

    int inputs() const { return layers.front().inputs; }
    int outputs() const { return layers.back().outputs; }
    // Numbers in all; layer by layer. A layer's weights stand output by output: the weight of input i of
    // output o is number first + o * inputs + i.
    std::int64_t weights() const;
    std::int64_t biases() const;
    // Uniform between -r and r with r = sqrt(6 / (inputs + outputs)) of each layer (Glorot and Bengio
    // 2010).
    std::vector<double> random_weights(std::uint64_t seed) const;

    // y = activation(W x + b), layer after layer.
    lang::LocalArray evaluate(const lang::LocalArray& inputs,
                              const lang::Property<lang::Float>& weights,
                              const lang::Property<lang::Float>& biases) const;
};

}  // namespace hindcast::controllers
