// Cloner: records a kernel again through a builder. It is the simplifier (a clone folds and shares
// what the first recording could not see), the recomputation in an adjoint, and the base of the
// tangent.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "engine/ir/builder.hpp"
#include "engine/ir/kernel.hpp"

namespace hindcast::ir {

class Cloner {
public:
    Cloner(const Kernel& source, Builder& target);
    virtual ~Cloner() = default;

    // The value of the clone that stands for a source value (leaves are made on demand; what was
    // set() for a parameter stands for it).
    Value at(Value source_value);
    void set(Value source_value, Value clone) {
        clones_[static_cast<std::size_t>(source_value)] = clone;
    }
    bool has(Value source_value) const {
        return clones_[static_cast<std::size_t>(source_value)] >= 0;
    }
    // Records the ops of one region. `start` runs where the loop body proper begins: at the front,
    // or behind break_unless. `skip_break` leaves break_unless out (recomputing one known trip of a
    // while_).
    void region(int source_region, bool skip_break = false,
                const std::function<void()>& start = {});
    void nested(Value source_value, const Op& op);
    // The ops that follow get the source place of this op.
    void place_like(const Op& op);

    std::vector<int> symbols;  // source parameter -> parameter of the clone
    Value item = no_value;     // stands for the source's work item; none: the clone's own
    bool effects = true;       // false: recomputation, only values
    bool tapes = false;        // store every carried value of every loop, per trip
    bool own_as_load = false;  // own elements are read as the unchanging version before the launch
    std::set<Value> fresh_locals;  // local arrays declared by the clone since last cleared: their
                                   // writes are recomputed

    // The tape of a loop for the reverse sweep: one local array per carried value, and the number
    // of trips made.
    struct Tape {
        std::vector<Value> arrays;
        Value trips = no_value;
    };
    std::map<Value, Tape> tape_of;

protected:
    // Hooks of the tangent.
    virtual void after(Value, const Op&) {}
    virtual void before_nest(Value, const Op&) {}
    virtual void at_body_start(Value, const Op&) {}
    virtual void at_yield(Value, const Op&, int /*region*/) {}
    virtual void after_nest(Value, const Op&) {}
    virtual Value load(const Op& op, int symbol, Value index) {
        return target_.load(symbol, op.component, index);
    }
    // Hooks of fusion: an own element before the kernel and after it, and a term added to an
    // element.
    virtual Value own_load(const Op& op, int symbol, Value index) {
        return own_as_load ? load(op, symbol, index)
                           : target_.own_load(symbol, index, op.component);
    }
    virtual void own_store(const Op& op, int symbol, Value index, Value value) {
        target_.write(target_.own(symbol, index, op.component), value);
    }
    virtual void accumulate(const Op& op, int symbol, Value index, Value term) {
        target_.effect(op.code, symbol, op.component, index, term);
    }
    // Hook of batch(): records one op that has no regions.
    virtual void record(Value value, const Op& op);
    // Hook of the lowering: records one pure op; a, b, c are the clones of its operands.
    virtual Value emit(const Op& op, Value a, Value b, Value c) {
        return target_.emit(op.code, op.type, a, b, c);
    }

    const Kernel& source_;
    Builder& target_;

private:
    void loop(Value source_value, const Op& op, const std::vector<Slot>& slots);

    std::vector<Value> clones_;
    std::vector<int> places_;
};

// Removes what nothing live reads. A while_ whose results are dead is kept if `keep_while` (it may
// raise).
void remove_dead_ops(Kernel& kernel, bool keep_while);
// Clone and dead-code elimination, twice: folds values that loops hid, drops unread ones.
Kernel simplify(const Kernel& kernel, bool keep_while);

}  // namespace hindcast::ir
