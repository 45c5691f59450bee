// Coordinates of a search: three kernels over the parameter vector, in f64.
#include "engine/optim/search_space.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hindcast::optim {

namespace {

using namespace lang;

KernelDef values_kernel(bool any_logarithmic) {
    return kernel("search_values",
                  {"coordinate", "scale", "origin", "logarithmic", "low", "high", "value"},
                  [any_logarithmic](Int i, Read<Float> coordinate, Read<Float> scale,
                                    Read<Float> origin, Read<Int> logarithmic, Read<Float> low,
                                    Read<Float> high, Write<Float> value) {
                      const Float su = scale[i] * coordinate[i];
                      Float x = su;
                      if (any_logarithmic) x = select(logarithmic[i] != 0, origin[i] * exp(su), su);
                      value[i] = clamp(x, low[i], high[i]);
                  });
}

KernelDef coordinates_kernel(bool any_logarithmic) {
    return kernel("search_coordinates", {"value", "scale", "origin", "logarithmic", "coordinate"},
                  [any_logarithmic](Int i, Read<Float> value, Read<Float> scale, Read<Float> origin,
                                    Read<Int> logarithmic, Write<Float> coordinate) {
                      Float su = value[i];
                      if (any_logarithmic)
                          su = select(logarithmic[i] != 0, log(value[i] / origin[i]), value[i]);
                      coordinate[i] = su / scale[i];
                  });
}

KernelDef gradient_kernel() {
    return kernel("search_gradient", {"value", "gradient", "scale", "logarithmic", "own"},
                  [](Int i, Read<Float> value, Read<Float> gradient, Read<Float> scale,
                     Read<Int> logarithmic, Write<Float> own) {
                      own[i] = scale[i] *
                               select(logarithmic[i] != 0, value[i] * gradient[i], gradient[i]);
                  });
}

}  // namespace

SearchSpace::SearchSpace(const Variables& variables, Scaling scaling,
                         const std::shared_ptr<Device>& device)
    : variables_(variables), scaling_(scaling) {
    const std::int64_t n = static_cast<std::int64_t>(variables.size());
    const auto vector = [n](std::span<const double> values) {
        return Array::from(values, ir::Type::f64, {n});
    };
    scale_ = Array(ir::Type::f64, {n});
    set_scales(std::vector<double>(variables.size(), 0.0));
    from_ = Array(ir::Type::f64, {n});
    gradient_ = from_.clone();
    to_ = from_.clone();
    origin_ = from_.clone();
    origin_.fill(1);
    const std::vector<std::int64_t> flags(variables.logarithmic.begin(),
                                          variables.logarithmic.end());
    const bool any = std::find(flags.begin(), flags.end(), 1) != flags.end();
    const Array logarithmic(ir::Type::i32, {n});
    logarithmic.assign_integers(flags);
    const auto launch = [&](const KernelDef& def, std::vector<Argument> arguments,
                            const char* name) {
        return std::make_unique<Launch>(device, def, ir::Precision::f64, n, std::move(arguments),
                                        name);
    };
    to_values_ = launch(
        values_kernel(any),
        {from_, scale_, origin_, logarithmic, vector(variables.low), vector(variables.high), to_},
        "physical values of a search");
    to_coordinates_ = launch(coordinates_kernel(any), {from_, scale_, origin_, logarithmic, to_},
                             "coordinates of a search");
    to_gradient_ = launch(gradient_kernel(), {from_, gradient_, scale_, logarithmic, to_},
                          "gradient in a search's coordinates");
    run_values_ = to_values_->forward();
    run_coordinates_ = to_coordinates_->forward();
    run_gradient_ = to_gradient_->forward();
}

void SearchSpace::set_scales(std::span<const double> values) {
    std::vector<double> scales(variables_.size(), 1.0);
    for (std::size_t first = 0, end = 0; first < scales.size(); first = end) {
        std::vector<double> entries;
        for (end = first; end < scales.size() && variables_.same_parameter(first, end); ++end)
            entries.push_back(values[end]);
        double size = 1;
        if (scaling_ == Scaling::sizes && !variables_.logarithmic[first])
            size = std::max(size, norm(entries) / std::sqrt(static_cast<double>(entries.size())));
        for (std::size_t k = first; k < end && scaling_ != Scaling::none; ++k)
            scales[k] =
                std::ldexp(1.0, static_cast<int>(std::lround(std::log2(size) +
                                                             0.5 * std::log2(variables_.rate[k]))));
    }
    scale_.assign(scales);
}

void SearchSpace::start_at(std::span<const double> values) {
    set_scales(values);
    for (std::size_t k = 0; k < variables_.size(); ++k)
        if (variables_.logarithmic[k])
            origin_.set_value(static_cast<std::int64_t>(k), 0, values[k]);
    origin_.touch();
}

std::vector<double> SearchSpace::coordinates(std::span<const double> values) const {
    from_.assign(values);
    run_coordinates_.run();
    return to_.to_doubles();
}

std::vector<double> SearchSpace::values(std::span<const double> coordinates) const {
    from_.assign(coordinates);
    run_values_.run();
    return to_.to_doubles();
}

std::vector<double> SearchSpace::gradient(std::span<const double> values,
                                          std::span<const double> gradient) const {
    from_.assign(values);
    gradient_.assign(gradient);
    run_gradient_.run();
    return to_.to_doubles();
}

std::vector<double> SearchSpace::low() const {
    std::vector<double> bounds = coordinates(variables_.low);
    for (std::size_t k = 0; k < bounds.size(); ++k)
        if (variables_.logarithmic[k] && variables_.low[k] <= std::numeric_limits<double>::min())
            bounds[k] = -std::numeric_limits<double>::infinity();
    return bounds;
}

std::vector<double> SearchSpace::high() const { return coordinates(variables_.high); }

}  // namespace hindcast::optim
