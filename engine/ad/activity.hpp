// Activity: the values of a kernel that take part in a derivative.
//   varied   depends on an active input
//   useful   an active output depends on it
//   gated    its adjoint may be the zero of a path not taken: it flows through a useful select, min
//            or max, or the value is used inside a branch or a loop that may make no trip; or it may
//            be infinite: it flows through a singular op (see rules.hpp)
//   steep    its tangent may be infinite: it depends on an active input through a singular op
// Only values that are both varied and useful have adjoints; only varied ones have tangents.
#pragma once

#include <array>
#include <set>
#include <vector>

#include "engine/ir/kernel.hpp"

namespace hindcast::ad {

class Activity {
public:
    // `active` has one entry per parameter of the kernel.
    Activity(const ir::Kernel& kernel, const std::vector<char>& active);
    // For grad(): derivatives of the value `output` with respect to the values `inputs`, nothing
    // else.
    Activity(const ir::Kernel& kernel, const std::set<ir::Value>& inputs, ir::Value output);

    bool varied(ir::Value v) const { return varied_[static_cast<std::size_t>(v)] != 0; }
    bool useful(ir::Value v) const { return useful_[static_cast<std::size_t>(v)] != 0; }
    bool gated(ir::Value v) const { return gated_[static_cast<std::size_t>(v)] != 0; }
    bool steep(ir::Value v) const { return steep_[static_cast<std::size_t>(v)] != 0; }
    bool on(ir::Value v) const { return varied(v) && useful(v); }

private:
    using Sets = std::array<std::vector<char>*, 2>;  // of values
    Activity(const ir::Kernel& kernel, const std::vector<char>& active,
             const std::set<ir::Value>& inputs, ir::Value output);
    void find_divisors();
    bool singular(ir::Value v, int i) const;
    void spread_forward();
    void spread_backward();
    void mark(std::vector<char>& set, ir::Value v);
    void pass(Sets sets, ir::Value from, ir::Value to);
    void link(Sets sets, const ir::Op& op, bool forward);
    void gate_uses();
    bool may_be_skipped(int region, int from) const;

    const ir::Kernel& kernel_;
    std::vector<char> active_;
    std::vector<char> varied_, useful_, gated_, steep_;
    std::vector<char> divisor_;  // some quotient div is by this value
    bool changed_ = false;
};

}  // namespace hindcast::ad
