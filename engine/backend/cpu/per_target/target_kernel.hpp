// TargetKernel: the kernel over targets that a kernel over items becomes (target_loop.hpp says how
// and why), with what its tables hold.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/backend/plan/plan.hpp"

namespace hindcast::ir {
class Builder;
}

namespace hindcast::backend::cpu {

// Targets side by side in the tables.
inline constexpr int block_targets = most_lanes;
// In tables of runs: the targets of a block do not agree; none of them is its item's first row.
inline constexpr std::int32_t no_run = INT32_MIN, no_term = INT32_MIN + 1;

class TargetKernel {
public:
    // As TargetLoop. The plan outlives it.
    TargetKernel(const Plan& plan, std::vector<int> symbols, bool copies,
                 std::vector<ir::Value> reduced);

    bool shifted() const { return !shifts.empty(); }
    // True if evaluating items once per row costs less than sending their terms through memory.
    bool pays() const;

    struct Shift {
        std::int64_t offset;  // index = item + offset
        std::size_t row;
    };
    struct Column {  // an own element of the items, copied in the order of the entries
        int symbol, component, parameter;
    };
    // Parameters behind those of the planned kernel: the tables, in this order.
    struct Parameters {
        int more_slots = 0, items = 0, most = 0, degree = 0, item = 0, row = 0, other = 0, run = 0,
            term_run = 0, first_terms = 0;
    };

    const Plan& plan;
    const std::vector<int> symbols;
    const std::vector<Row>& rows;
    const std::vector<ir::Value> reduced;
    std::vector<Shift> shifts;  // in the order in which a target meets them; empty: tables
    bool pairs = false;         // two rows: the table `other`
    bool symmetric = false;     // symmetry.hpp; the table `row` holds the item in row 0, else -1
    int other_components = 1;   // in which entries of `other` are counted, instead of elements
    Parameters parameters;
    std::vector<int> at_target;  // buffers that are read at the target's index
    std::vector<int> elsewhere;  // and at others than those of targets
    std::vector<Column> columns;
    ir::Kernel kernel, inner;  // inner: if shifted

private:
    class Body;

    void find_shifts();
    ir::Kernel record(bool copies, bool checked);
    void walk_all(ir::Builder& builder, bool copies);
    void walk(ir::Builder& builder, Body& body) const;

    int passes_ = 1;  // loops over the entries
};

}  // namespace hindcast::backend::cpu
