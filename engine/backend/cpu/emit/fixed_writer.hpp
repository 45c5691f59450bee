// FixedWriter: accumulation in fixed point.
//
// All sites of a parameter in one region are added where the last one stands. Terms are computed in
// W lanes, scaled, and put into scratch memory, element by element; then one lane after the other
// converts its elements to integers and adds them to the sums, whole elements at a time. Indices
// that differ by an offset common to all lanes (the nodes of a stencil) share their base: one range
// check, one address. Rows of scratch memory: [row][group][position][component]; the order of
// positions is that of cheap shuffles (fixed_position), and lanes that follow each other in it are
// not neighbors, because those would wait for each other's stores.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/backend/cpu/emit/element_writer.hpp"

namespace hindcast::backend::cpu {

class FixedWriter : protected ElementWriter {
protected:
    using ElementWriter::ElementWriter;

    void accumulate_fixed(Value v, const Op& op);
    void finish_fixed();

    // The rows of one base: base + low ... base + low + span.
    struct FixedBase {
        Value value = ir::no_value;
        std::string low, span, first, in_memory;
        std::vector<std::string> offsets;
        std::vector<std::int64_t> numbers;  // the same, if all are known
        bool known = true;
    };
    // The sites of one group where they are added.
    struct FixedSites {
        const FixedGroup& group;
        std::vector<FixedBase> bases;
        std::vector<std::size_t> base_of;  // per row
        std::string scratch;               // memory with the scaled terms
    };
    // The lowest and the highest of what is noted over all items, per lane.
    struct Extent {
        Variable lowest, highest;
    };
    // Notes over all items, kept in variables and written at the end.
    struct FixedNotes {
        Variable largest;
        std::map<std::string, Extent> touched;  // by type of index
        // The length of a grid's rows, if all sites agree on it; 0: not known yet, -1: they differ.
        std::int64_t period = 0;
        Extent columns;  // element % period
    };
    struct FixedRows {  // of one group: its lines so far
        Variable scratch;
        std::string largest;
    };

private:
    std::string fixed_at(int symbol, std::size_t offset);
    FixedNotes& fixed_notes(int symbol);
    void fixed_group(std::size_t which);
    FixedSites fixed_sites(const FixedGroup& group);
    std::string fixed_mask(FixedSites& sites);
    void widen(Extent& extent, const std::string& t, const std::string& low,
               const std::string& high, const std::string& top, const std::string& mask);
    void note_columns(FixedNotes& notes, const FixedBase& base, const std::string& mask);
    Names fixed_elements(Type type, const Names& lanes, int size);
    void fixed_row(std::size_t which, std::size_t row);
    void store_fixed_row(std::size_t which, std::size_t row);
    std::string fixed_factor(int symbol, std::size_t k);
    void scale_again(std::size_t which);
    void note_largest(std::size_t which, const std::string& mask, const std::string& bits);
    void add_fixed_lanes(const FixedSites& sites, const std::string& mask, bool atomic);
    void add_fixed_lane(const FixedSites& sites, const std::string& lane, bool atomic);
    void add_fixed_element(const FixedSites& sites, std::size_t row, const std::string& to,
                           const std::string& lane, bool atomic);

    std::map<int, FixedNotes> fixed_notes_;  // by parameter
    std::map<std::size_t, FixedRows> fixed_rows_;
};

}  // namespace hindcast::backend::cpu
