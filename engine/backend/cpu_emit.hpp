// Writes a planned kernel as LLVM IR text with explicit vectors.
//
//     void kernel(const Binding* bindings, i64 begin, i64 end, Context* context)
//
// runs items begin .. end-1, W at a time; the last block has a mask. What is the same for all items is scalar, and its
// control flow real branches; what depends on the item is a vector of W lanes (one lane: everything is scalar). Where
// lanes part ways both sides run under masks; effects never touch memory for a lane that is masked out, and loads read
// element 0 for it. Values that change in a region are stack variables, which LLVM turns into registers.
//
// Every pure line is shared by its text within the scopes that it dominates, and moves in front of the loop over items
// if nothing in it changes there; names tell: %u... stands in front of that loop, %t... inside, %a... is a variable.
#pragma once

#include <fmt/format.h>

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/backend/cpu_plan.hpp"

namespace hindcast::backend::cpu {

// What code and launch share while it runs. The emitted code knows the offsets.
struct Context {
    double* totals = nullptr;          // [reduce component][reduce_lanes]: sums of the chunk under way
    char* arena = nullptr;             // local arrays
    char* const* scratch = nullptr;    // see Plan::scratch
    std::int64_t fault_item = INT64_MAX;
    std::int64_t fault_index = 0;
    std::int32_t fault_op = -1;
};

std::string emit(const Plan& plan);

// How intrinsics call a type: "v16f32" for <16 x float>.
std::string suffix(const std::string& type);

class Emitter {
public:
    explicit Emitter(const Plan& plan);
    std::string module();

private:
    using Names = std::vector<std::string>;
    struct Variable {
        std::string name, type;
    };

    // --- lines (cpu_emit.cpp) ---
    template <class... A>
    void put(fmt::format_string<A...> format, A&&... arguments) {
        body_ += "  ";
        fmt::format_to(std::back_inserter(body_), format, std::forward<A>(arguments)...);
        body_ += '\n';
    }
    std::string name_line(const std::string& text);
    std::string pure_line(const std::string& text);
    // A line with a result; `pure`: shared, and moved to the front if it can be.
    template <class... A>
    std::string let(fmt::format_string<A...> format, A&&... arguments) {
        return name_line(fmt::format(format, std::forward<A>(arguments)...));
    }
    template <class... A>
    std::string pure(fmt::format_string<A...> format, A&&... arguments) {
        return pure_line(fmt::format(format, std::forward<A>(arguments)...));
    }
    std::string label() { return "b" + std::to_string(next_++); }
    void start(const std::string& block) { body_ += block + ":\n"; }
    void jump(const std::string& block) { put("br label %{}", block); }
    void branch(const std::string& condition, const std::string& yes, const std::string& no, bool unlikely = false);
    void when(const std::string& condition, const std::function<void()>& then, bool unlikely = false);
    Variable variable(std::string type);
    void store(const Variable& variable, const std::string& value) { put("store {} {}, ptr {}", variable.type, value, variable.name); }
    std::string load(const Variable& variable) { return let("load {}, ptr {}", variable.type, variable.name); }
    // Calls an intrinsic and declares it.
    std::string intrinsic(const std::string& result, const std::string& name, const std::string& types, const std::string& arguments);

    // --- types and values ---
    std::string scalar_type(ir::Type type) const;
    std::string vector_type(ir::Type type) const;
    std::string lanes_of(const std::string& scalar) const;
    bool is_scalar(ir::Value v) const { return width_ == 1 || !plan_.varies[static_cast<std::size_t>(v)]; }
    std::string type(ir::Value v) const;
    std::string value(ir::Value v);   // in its own form
    std::string scalar(ir::Value v);
    std::string vector(ir::Value v);
    std::string as(ir::Value v, bool as_scalar) { return as_scalar ? scalar(v) : vector(v); }
    std::string splat(const std::string& scalar_type, const std::string& scalar);
    std::string constant(const ir::Op& op) const;
    void define(ir::Value v, const std::string& name) { names_[static_cast<std::size_t>(v)] = name; }

    // --- masks ---
    std::string mask_type() const { return lanes_of("i1"); }
    std::string any(const std::string& mask);
    std::string both(const std::string& mask, const std::string& condition);
    std::string choose(const std::string& mask, const std::string& value_type, const std::string& yes, const std::string& no);
    // The new value of a variable: in lanes that are masked out, the old one.
    void blend(const Variable& variable, const std::string& value);
    void fault(const std::string& mask, ir::Value op, const std::string& index);

    // --- ops ---
    void region(int r, std::size_t from = 0, std::size_t to = SIZE_MAX);
    void op(ir::Value v, const ir::Op& op);
    void pure_op(ir::Value v, const ir::Op& op);
    std::string from_table(const char* row, const ir::Op& op, bool as_scalar);
    std::string convert(const ir::Op& op, bool as_scalar);
    std::string divide(const ir::Op& op, bool as_scalar);
    void nest(ir::Value v, const ir::Op& op);
    void if_uniform(const ir::Op& op);
    void if_varying(const ir::Op& op);
    void for_loop(ir::Value v, const ir::Op& op);
    void while_loop(ir::Value v, const ir::Op& op);
    bool is_cheap(int r) const;
    bool changes_here(ir::Value v) const;
    std::vector<Variable> carried(const ir::Op& op);
    void read_arguments(const ir::Op& op, const std::vector<Variable>& variables);
    void write_yields(const ir::Op& op, const std::vector<Variable>& variables, bool masked);

    // --- memory (cpu_memory.cpp) ---
    void begin_item();
    void end_item();
    std::string data(int symbol);
    std::string binding_field(int symbol, int offset);
    std::string component_pointer(int symbol, int component);
    std::string index64(ir::Value index);
    std::string element_pointer(int symbol, int component, ir::Value index);       // of a scalar index, or lane 0
    std::string element_pointers(int symbol, int component, ir::Value index, const std::string& mask);
    std::string in_range(ir::Value op, int symbol, ir::Value index, bool as_scalar);
    bool is_contiguous(int symbol, ir::Value index) const;
    Names load_element(ir::Value op, int symbol, ir::Value index, const std::vector<int>& components);
    Names load_by_lane(int symbol, ir::Value index, const std::vector<int>& components);
    Names transpose(const std::string& element, const Names& lanes, int n);
    void store_element(ir::Value op, int symbol, ir::Value index, const std::vector<int>& components, const Names& values);
    void group_ops(int r);
    void load_group(ir::Value v, const ir::Op& op);
    void keep_in_memory(const std::vector<ir::Value>& group);
    void store_group(ir::Value v, const ir::Op& op);
    std::string flat_mask(int components, int part);
    Names interleave(const std::string& element, const Names& lanes);
    std::string deinterleave(const std::string& element, const Names& parts, int component);
    void accumulate(ir::Value v, const ir::Op& op);
    void atomic(ir::Value v, const ir::Op& op);
    void local_array(ir::Value v, const ir::Op& op);
    std::string local_pointer(const ir::Op& op, bool& contiguous);
    void local_access(ir::Value v, const ir::Op& op);

    const Plan& plan_;
    const ir::Kernel& kernel_;
    const int width_;
    std::string front_, body_, variables_;
    std::set<std::string> declarations_;
    bool uses_fault_ = false;
    int next_ = 0;
    std::vector<std::unordered_map<std::string, std::string>> scopes_;
    std::unordered_map<std::string, std::string> front_shared_;
    std::vector<std::string> names_;  // per value
    std::vector<std::string> bases_;  // per value that is item + something uniform: lane 0
    std::string mask_, item_mask_, lanes_left_;

    // Loads of one element, and own stores to one, are done together: (region, symbol, index) -> ops.
    std::map<std::array<int, 3>, std::vector<ir::Value>> load_groups_, store_groups_;
    // Indices that stand in memory: lane l of the value is at pointer[l * stride + offset].
    struct LaneSource {
        std::string pointer;
        int stride, offset;
    };
    std::map<ir::Value, LaneSource> lane_sources_;
    // What the last load of consecutive elements loaded: components in whole vectors, from where.
    struct Flat {
        std::string pointer;
        Names parts;
        std::vector<int> components;
    };
    std::vector<Flat> flats_;
    // Variables of accumulated components and of reductions; what each holds is said in begin_item().
    std::map<std::pair<int, int>, Variable> sums_;  // own accumulation and reduce: (symbol, component)
    std::map<ir::Value, Variable> terms_;           // gathered: the site
};

}  // namespace hindcast::backend::cpu
