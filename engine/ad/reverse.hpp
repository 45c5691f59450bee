// The reverse sweep shared by adjoint() (whole kernels) and grad() (an expression inside a kernel
// being recorded).
//
// Recompute the primal with the Cloner, which stores every loop-carried value on a tape, then walk
// the regions backwards. The adjoint of a value is a variable (slot) of the same builder, absent
// until something is added, so accumulation through branches and loops needs no machinery of its
// own. Dead tapes disappear in simplification.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/ad/activity.hpp"
#include "engine/ir/clone.hpp"

namespace hindcast::ad {

class Reverse {
public:
    Reverse(const ir::Kernel& source, ir::Builder& target, Activity activity);

    ir::Cloner cloner;
    // Adjoint parameter of each source parameter; -1 = none. Empty: effects and memory are not
    // differentiated (grad).
    std::vector<int> adjoint_symbol;

    // Adds g to the adjoint of v, if v is active.
    void add(ir::Value v, ir::Value g);
    ir::Value get(ir::Value v);  // no_value if nothing was added
    // Walks the ops of a region backwards.
    void walk(int region);
    // The adjoints of a region's local arrays: they live as long as the arrays. walk() begins with
    // it.
    void open_locals(int region);
    void walk_op(ir::Value v, const ir::Op& op);
    void enter(int region);  // forget the adjoints of an earlier activation of the region
    void finish();           // writes the adjoints of parameters and own-index loads, once each

    const Activity& activity() const { return activity_; }

private:
    void arithmetic(ir::Value v, const ir::Op& op);
    void effect(const ir::Op& op, ir::Value v);
    void loaded(const ir::Op& op, ir::Value g);
    void nested(ir::Value v, const ir::Op& op);
    void branch(const ir::Op& op);
    void loop(ir::Value v, const ir::Op& op);
    int dual_of(const ir::Op& op) const;

    const ir::Kernel& source_;
    ir::Builder& b_;
    Activity activity_;
    std::vector<ir::Slot> slots_;  // adjoint of each source value, -1 = none yet
    std::vector<int> home_;        // depth at which each source region is being walked
    std::map<ir::Value, ir::Value> local_adjoint_;
    std::map<std::pair<int, int>, ir::Slot>
        own_reads_;  // (parameter, component) read at the item's own index
};

}  // namespace hindcast::ad
