// The rules that step along the gradient (settings.hpp has their formulas), as kernels over vectors
// of f64 on a device: the point, its gradient and the state that updates hand on stay there.
//
//     add_look()      from values() and gradient(): the gradient in the optimizer's variable,
//                     clipped by entry, and sums of squares
//     add_update()    what changes from update to update (adam's beta^t), the factor that clips or
//                     normalizes, and the next values(), within their bounds
//
//     x <- project(x - d)  or, with a log scale,  x <- project(x exp(-d)),   d = rate * direction
//
// which is u - d in u = log x without the rounding of log and exp: a zero step changes nothing.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/optim/update_rule.hpp"
#include "engine/runtime/program/sequence.hpp"

namespace hindcast::optim {

class GradientRule final : public UpdateRule {
public:
    GradientRule(const Settings& settings, const Variables& variables,
                 std::shared_ptr<Device> device);

    const Array& values() const { return value_; }       // f64 {n}
    const Array& gradient() const { return gradient_; }  // physical, f64 {n}
    // f64 {1, 6}: sums of squares of the gradient in the optimizer's variable, and of the physical
    // one; each of the entries, and of the entries times 2^-600 and 2^600 (see norm_of).
    const Array& squares() const { return squares_; }
    void add_look(Sequence& sequence) const;
    void add_update(Sequence& sequence) const;

    // For values and gradients on the host.
    Step step(const Evaluation& here, const Evaluate& evaluate) override;
    document::Node state() const override;
    void restore(const document::Node& state) override;

private:
    Array vector() const { return Array(ir::Type::f64, {count_}); }
    Array vector(std::span<const double> values) const {
        return Array::from(values, ir::Type::f64, {count_});
    }
    Array memory(const char* name) { return memory_.emplace_back(name, vector()).second; }
    void make_update(bool any_logarithmic, const std::vector<Argument>& common);

    Settings settings_;
    std::shared_ptr<Device> device_;
    std::int64_t count_;
    Array value_, gradient_, own_, squares_;
    // Numbers of one update: the gradient's two factors, and adam's corrections.
    Array scale_, factor_, correction1_, correction2_;
    Array powers_;                                       // f64 {1, 2}, adam: beta^t
    std::vector<std::pair<std::string, Array>> memory_;  // state that an update leaves to the next
    std::unique_ptr<Launch> look_, numbers_, update_;
    Sequence on_host_look_, on_host_update_;
};

// The Euclidean norm from sums of squares of the entries, of the entries times 2^-600, and of those
// times 2^600: the first that neither overflows nor underflows.
double norm_of(const double (&squares)[3]);
// The norm by these sums, each in the order of a kernel's Reduce (executable.hpp): the bits that
// GradientRule has for such a gradient. Infinite or NaN if an entry is.
double norm_as_reduced(std::span<const double> values);

}  // namespace hindcast::optim
