// SumWriter: accumulation, reductions, atomics; and local arrays.
//
// Within an item, sums are variables. An accumulated component starts an item with its value in
// memory for own accumulation (Sum: 0), with 0 for a reduction, and with -0 for a gathered term, so
// that adding any term is exact. At the end of the item it is stored, added to the chunk's totals,
// or written to scratch memory.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/backend/cpu/emit/fixed_writer.hpp"

namespace hindcast::backend::cpu {

class SumWriter : protected FixedWriter {
protected:
    using FixedWriter::FixedWriter;

    void begin_item();
    void end_item();
    void finish_totals();
    void accumulate(Value v, const Op& op);
    void reduce(const Op& op);
    void atomic(Value v, const Op& op);
    void local_array(Value v, const Op& op);
    void local_access(Value v, const Op& op);

private:
    void declare_sums(int r);
    std::string total_at(int symbol, int component, const std::string& item);
    void add_total(int symbol, int component, const Variable& sum);
    void store_terms(int symbol);

    std::map<std::pair<int, int>, Variable> sums_;  // own and reduce: (symbol, component)
    std::map<std::pair<int, int>, std::vector<Variable>> totals_;  // of reductions, by lanes
    std::map<Value, Variable> terms_;                              // gathered: per site
};

}  // namespace hindcast::backend::cpu
