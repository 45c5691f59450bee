#include "engine/sim/functions/device_function.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/backend/cuda/context.hpp"
#include "engine/base/error.hpp"
#include "engine/runtime/array/memory.hpp"
#include "engine/sim/functions/packing.hpp"
#include "engine/sim/functions/picks.hpp"

namespace hindcast {

namespace {

using namespace lang;
using backend::cuda::address_of;
using Kind = SceneFunction::Kind;
using Time = SceneFunction::Time;

// Two kernels, since one would round the product and the sum at once, and the host does not.
KernelDef weigh_term_kernel() {
    return kernel("weigh_term", {"weight", "term", "product"},
                  [](Int i, Param<Float> weight, Param<Float> term, Write<Float> product) {
                      product[i] = weight.value() * term.value();
                  });
}
KernelDef add_term_kernel() {
    return kernel("add_term", {"product", "loss"},
                  [](Int i, Read<Float> product, ReadWrite<Float> loss) {
                      loss[i] = Float(loss[i]) + product[i];
                  });
}
// A term's cotangent of the loss' one.
KernelDef weigh_kernel() {
    return kernel(
        "weigh_cotangent", {"weight", "vector", "first", "cotangent"},
        [](Int i, Param<Float> weight, Read<Float> vector, Param<Int> first,
           Write<Float> cotangent) { cotangent[i] = weight.value() * vector[first.value() + i]; });
}
KernelDef scale_kernel() {
    return kernel("scale_numbers", {"factor", "vector"},
                  [](Int k, Read<Float> factor, ReadWrite<Float> vector) {
                      vector[k] = Float(vector[k]) * factor[Int(0)];
                  });
}
KernelDef mark_kernel(std::int64_t flags) {
    return kernel("mark_results", {"flags", "nan", "vector"},
                  [flags](Int k, Read<Int> flag, Param<Float> nan, ReadWrite<Float> vector) {
                      Int any = flag[Int(0)];
                      for (std::int64_t j = 1; j < flags; ++j) any = max(any, flag[Int(j)]);
                      vector[k] = select(any > 0, nan.value(), Float(vector[k]));
                  });
}

// Comparisons with NaN are false.
KernelDef refuse_kernel() {
    return kernel("refuse_values", {"x", "low", "high", "flag"},
                  [](Int k, Read<Float> x, Read<Float> low, Read<Float> high, Atomic<Int> flag) {
                      const Float value = x[k];
                      flag[Int(0)].max(select(value >= low[k] && value <= high[k], Int(0), Int(1)));
                  });
}

RolloutMode mode_of(Kind kind) {
    switch (kind) {
        case Kind::value:
        case Kind::vjp: return RolloutMode::first;
        case Kind::hvp: return RolloutMode::second;
        case Kind::jvp: return RolloutMode::tangent;
        case Kind::jvp2: break;
    }
    return RolloutMode::tangent_tangent;
}

std::unique_ptr<Simulation> copy_on(SceneFunction& function,
                                    const std::shared_ptr<Device>& device) {
    SimulationOptions options = function.options();
    options.device = device;
    return function.copy(options);
}

}  // namespace

DeviceFunction::DeviceFunction(SceneFunction& function, Kind kind,
                               const std::shared_ptr<Device>& device)
    : kind_(kind),
      device_(device),
      simulation_(copy_on(function, device)),
      substeps_(simulation_->scene().substeps()),
      mode_(mode_of(kind)),
      result_(vector(function.result_size(kind))),
      parameters_(simulation_->parameters(), device),
      before_(device),
      after_(device) {
    const std::vector<std::size_t> sizes = function.operand_sizes(kind);
    for (std::size_t k = 0; k < sizes.size(); ++k) operands_[k] = vector(sizes[k]);
    if (function.output_size() > std::numeric_limits<std::int32_t>::max())
        throw Error("outputs of more than 2^31 numbers are not made on a device");
    offset_ = Array(ir::Type::i32, {1});
    parameters_.add_scatter(before_, operands_[0], pick::itself);
    if (SceneFunction::gives_inputs(kind)) {
        if (kind == Kind::hvp) parameters_.add_scatter(before_, operands_[2], pick::tangent);
        set_cotangents(function);
        parameters_.add_gather(after_, result_,
                               kind == Kind::hvp ? pick::gradient_tangent : pick::gradient);
        if (function.is_loss())
            after_.add(Launch(device, scale_kernel(), ir::Precision::f64, result_.elements(),
                              {operands_[1], result_}));
    } else {
        if (kind != Kind::value) parameters_.add_scatter(before_, operands_[1], pick::tangent);
        if (kind == Kind::jvp2)
            parameters_.add_scatter(before_, operands_[2], pick::second_tangent);
        set_outputs(function);
    }
    mark(result_, simulation_->rollout().not_finite());
    mark_refused_values(function.options());
    // All that calls need is made by one at the scene's own values.
    operands_[0].assign(function.scene_values());
    run();
    device_->synchronize();
}

Array DeviceFunction::vector(std::size_t size) const {
    return Array::on(device_->cuda(), ir::Type::f64, {static_cast<std::int64_t>(size)});
}

void DeviceFunction::add_loss(ParameterVector::Pick picked, std::int64_t first) {
    const Array loss(ir::Type::f64, {1}), product(ir::Type::f64, {1});
    after_.add_clear(loss);
    for (const model::Term& term : simulation_->model().terms()) {
        after_.add(Launch(device_, weigh_term_kernel(), ir::Precision::f64, 1,
                          {term.weight, picked(term.value), product}));
        after_.add(Launch(device_, add_term_kernel(), ir::Precision::f64, 1, {product, loss}));
    }
    after_.add(packing(device_, Packing::pack, loss, result_, first, "loss"));
}

void DeviceFunction::set_outputs(SceneFunction& function) {
    const ParameterVector::Pick picked = kind_ == Kind::value ? pick::itself
                                         : kind_ == Kind::jvp ? pick::tangent
                                                              : pick::mixed_tangent;
    for (std::size_t k = 0; k < function.outputs().size(); ++k) {
        const SceneFunction::Value& output = function.outputs()[k];
        const SceneFunction::Source& source = function.sources()[k];
        if (source.time == Time::loss) {
            add_loss(picked, output.first);
            continue;
        }
        const Array array = picked(simulation_->model().array(source.array));
        if (source.time == Time::end)
            after_.add(packing(device_, Packing::pack, array, result_, output.first, output.name));
        else
            of_each_step_.push_back(
                {array, output.first, array.size(),
                 packing(device_, Packing::pack, array, result_, offset_, output.name).forward()});
    }
}

void DeviceFunction::set_cotangents(SceneFunction& function) {
    const Array& c = operands_[1];
    for (std::size_t k = 0; k < function.outputs().size(); ++k) {
        const SceneFunction::Value& output = function.outputs()[k];
        const SceneFunction::Source& source = function.sources()[k];
        if (source.time == Time::loss) {
            for (const model::Term& term : simulation_->model().terms()) {
                Rollout::Seed seed{term.value, term.weight};
                if (!function.is_loss()) {
                    seed.from = Array(ir::Type::f64, {1});
                    before_.add(Launch(device_, weigh_kernel(), ir::Precision::f64, 1,
                                       {term.weight, c, output.first, seed.from}));
                }
                seeds_.push_back(std::move(seed));
            }
            continue;
        }
        const Array array = simulation_->model().array(source.array);
        if (source.time == Time::end) {
            const Array seed = array.clone();
            before_.add(packing(device_, Packing::unpack, seed, c, output.first, output.name));
            seeds_.push_back({.of = array, .from = seed});
        } else {
            of_each_step_.push_back(
                {array, output.first, array.size(),
                 packing(device_, Packing::add, array.gradient(), c, offset_, output.name)
                     .forward()});
        }
    }
}

void DeviceFunction::mark_refused_values(const SimulationOptions& options) {
    const double largest = options.precision == ir::Precision::f32
                               ? static_cast<double>(std::numeric_limits<float>::max())
                               : std::numeric_limits<double>::max();
    std::vector<double> low, high;
    for (const Parameter& p : simulation_->parameters().list()) {
        const document::Range& range = p.quantity->range;
        const double inner_low = range.low_open ? std::nextafter(range.low, largest) : range.low;
        const double inner_high =
            range.high_open ? std::nextafter(range.high, -largest) : range.high;
        low.insert(low.end(), p.entries.size(), std::max(inner_low, -largest));
        high.insert(high.end(), p.entries.size(), std::min(inner_high, largest));
    }
    const Array lows = vector(low.size()), highs = vector(high.size()), flag(ir::Type::i32, {1});
    lows.assign(low);
    highs.assign(high);
    after_.add_clear(flag);
    after_.add(Launch(device_, refuse_kernel(), ir::Precision::f64, operands_[0].elements(),
                      {operands_[0], lows, highs, flag}));
    mark(result_, flag);
}

void DeviceFunction::mark(const Array& result, const Array& flags) {
    if (flags && result.elements() > 0)
        after_.add(Launch(device_, mark_kernel(flags.elements()), ir::Precision::f64,
                          result.elements(),
                          {flags, std::numeric_limits<double>::quiet_NaN(), result}));
}

void DeviceFunction::run() {
    Rollout& rollout = simulation_->rollout();
    before_.run();
    const auto parts_of = [this](std::int64_t done) {
        if (done % substeps_ != 0) return;
        for (const Part& part : of_each_step_) {
            offset_.store(static_cast<std::int32_t>(part.first + done / substeps_ * part.size));
            part.packing.run();
        }
    };
    const bool back = SceneFunction::gives_inputs(kind_);
    Rollout::Watch watch;
    if (!back && !of_each_step_.empty())
        watch = [&](std::int64_t done) {
            parts_of(done);
            return true;
        };
    struct Looking {
        Rollout& rollout;
        explicit Looking(Rollout& r) : rollout(r) { rollout.look_later(true); }
        ~Looking() {
            rollout.look_later(false);
            rollout.watch_adjoints({});
        }
    } const looking{rollout};
    rollout.forward(back, watch, mode_);
    if (back) {
        if (!of_each_step_.empty()) rollout.watch_adjoints(parts_of);
        rollout.backward(seeds_, mode_);
    }
    after_.run();
}

void DeviceFunction::put(std::span<const Numbers> operands, std::byte* result, bool result_is_f64) {
    backend::cuda::Context& context = *device_->cuda();
    const auto copy = [&](std::byte* to, const std::byte* from, std::int64_t count, bool is_f64,
                          bool in) {
        const auto n = static_cast<std::size_t>(count);
        if (is_f64)
            context.copy(address_of(to), address_of(from), n * sizeof(double));
        else if (in)
            context.widen(address_of(to), address_of(from), n);
        else
            context.narrow(address_of(to), address_of(from), n);
    };
    for (std::size_t k = 0; k < operands.size(); ++k) {
        const Array& to = operands_[k];
        copy(static_cast<std::byte*>(to.device_data()), operands[k].at, to.elements(),
             operands[k].is_f64, true);
        to.wrote_on_device();
    }
    run();
    copy(result, static_cast<const std::byte*>(result_.device_data()), result_.elements(),
         result_is_f64, false);
}

}  // namespace hindcast
