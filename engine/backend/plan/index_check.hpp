// Indices out of range, found before a launch runs.
//
//   a + b * item, at the top level   when the launch is recorded: outside()
//   static, under static conditions  by the host, once per version of the index buffers: IndexCheck
//   everything else                  by the kernel itself: CompileOptions::checked
//
// A static index under a condition that is not known before needs no check in the kernel as long as
// it is in range for every item.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "engine/backend/plan/fault.hpp"
#include "engine/backend/plan/static_values.hpp"

namespace hindcast::backend {

// True if operand 0 is the index of an element of a parameter.
bool reaches_an_element(ir::OpCode code);

// The first access of a kernel, in a launch of so many items, that leaves the elements of its
// parameter (-1: not checked), among those at the top level with an index a + b * item. A sum of
// own elements counts too, under any condition: it is loaded and stored for every item.
std::optional<KernelFault> outside(const ir::Kernel& kernel, std::int64_t items,
                                   const std::vector<std::int64_t>& elements);

// IndexCheck: checks all accesses that outside() does not check.
class IndexCheck {
public:
    // The kernel outlives it.
    explicit IndexCheck(const ir::Kernel& kernel);

    // True if the kernel has to check indices itself, in every launch.
    bool has_unknown() const { return has_unknown_; }
    // True if outside() checks all accesses.
    bool is_needless() const { return sites_.empty() && !has_unknown_; }

    // False: the launch needs the kernel's own checks. Throws the Error of the first item with an
    // index out of range.
    bool holds(const Binding* bindings, std::int64_t items);

private:
    struct Site {
        ir::Value op = ir::no_value;
        std::vector<std::pair<ir::Value, bool>> conditions;  // static ones that hold there
        bool is_sure = true;  // no other condition, and no loop, stands around it
    };
    void visit(int region, const Site& around);
    bool evaluate(const Binding* bindings, std::int64_t items) const;

    const ir::Kernel& kernel_;
    StaticValues values_;
    std::vector<char> own_sums_;  // per parameter
    std::vector<Site> sites_;
    bool has_unknown_ = false;
    std::vector<std::uint64_t> key_, last_key_;
    bool is_known_ = false, holds_ = false;  // of the last key
    std::vector<std::size_t> passing_;
    int changes_ = 0;  // of the key, lately: where it keeps changing the kernel looks itself
};

}  // namespace hindcast::backend
