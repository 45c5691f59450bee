// ElementWriter: loads and stores of elements of buffers.
//
// The access to an element depends on its index: the same for all lanes (one scalar access),
// consecutive (vectors; for C-contiguous elements of several components whole vectors that are
// shuffled apart), anything else (lane by lane, or gather and scatter). Effects never touch memory
// for a lane that is masked out, and loads read element 0 for it.
//
// elements.cpp: addresses, single elements and groups of them; by_lane.cpp: an index per lane;
// stencil.cpp: neighbors at constant distances.
#pragma once

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "engine/backend/cpu/emit/value_writer.hpp"

namespace hindcast::backend::cpu {

class ElementWriter : protected ValueWriter {
protected:
    using ValueWriter::ValueWriter;

    std::string index64(Value index);
    std::string element_pointer(int symbol, int component, Value index);
    std::string element_pointers(int symbol, int component, Value index, const std::string& mask);
    std::string in_range(Value op, int symbol, Value index);
    Names load_element(Value op, int symbol, Value index, const std::vector<int>& components);
    void store_element(Value op, int symbol, Value index, const std::vector<int>& components,
                       const Names& values);
    void group_ops(int r);
    void load_group(Value v, const Op& op);
    void store_group(Value v, const Op& op);
    bool uses_blocks() const { return !blocks_.empty(); }

private:
    // The last load of consecutive elements: components in whole vectors, and their address.
    struct Flat {
        std::string pointer;
        Names parts;
        std::vector<int> components;
    };
    // Indices that stand in memory: lane l is at pointer[l * stride + offset]. Padded: lanes that
    // are masked out are indices too.
    struct LaneSource {
        std::string pointer;
        int stride, offset;
        bool padded;
    };
    struct Blocks {  // of a stencil
        std::string before, here, after;
    };

    bool is_contiguous(int symbol, Value index) const;
    Names load_consecutive(int symbol, Value index, const std::vector<int>& components,
                           const std::string& mask);
    void fetch_ahead(int symbol, int component, Value index, int scalars);
    Names load_by_lane(int symbol, Value index, const std::vector<int>& components);
    bool load_rows(const Op& op);
    void keep_in_memory(const std::vector<Value>& group);
    void store_lanes(const std::string& t, const std::string& x, int symbol, int component,
                     Value index, const std::string& mask);
    std::int64_t anchor_of(std::int64_t distance) const;
    std::string load_from_blocks(int symbol, int component, Value index);

    // Loads of one element, and own stores to one, are done together: (region, symbol, index).
    std::map<std::array<int, 3>, std::vector<Value>> load_groups_, store_groups_;
    std::vector<Flat> flats_;
    std::map<Value, LaneSource> lane_sources_;
    // Elements that were loaded together with their neighbors: values by component.
    std::map<std::array<int, 3>, std::map<int, std::string>> row_values_;
    std::map<Value, std::string> row_bases_;                       // lanes of a base, in memory
    std::map<std::tuple<int, int, std::int64_t>, Blocks> blocks_;  // by symbol, component, anchor
};

}  // namespace hindcast::backend::cpu
