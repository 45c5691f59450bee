// Writes a planned kernel as LLVM IR text with explicit vectors.
//
//     void kernel(const Binding* bindings, i64 begin, i64 end, Context* context)
//
// runs items begin .. end-1, W at a time; the last block has a mask, and in long kernels, which it
// costs little, every block. Values that are the same for all items are scalars, and control flow
// that depends on them alone is real branches; values that depend on the item are vectors of W
// lanes (one lane: everything is scalar). If lanes part ways both sides run under masks; effects
// never touch memory for a lane that is masked out, and loads read element 0 for it. Values that
// change in a region are stack variables, which LLVM turns into registers.
//
// Every pure line is shared by its text within the scopes that it dominates, and stands in front of
// the loop over items if nothing in it changes there. Names tell: %u... stands in front of that
// loop, %t... inside, %a... is a variable.
//
// One class in seven files: emitter.cpp lines, values and pure ops; control.cpp branches and
// loops; memory.cpp elements of buffers, lanes.cpp those with an index per lane,
// stencil.cpp those of stencils; sums.cpp accumulation, reduction, local arrays;
// fixed.cpp accumulation in fixed point.
#pragma once

#include <fmt/format.h>

#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/backend/plan/fault.hpp"
#include "engine/backend/plan/plan.hpp"

namespace hindcast::backend::cpu {

// Context: data that code and launch share while it runs. The emitted code knows the offsets.
struct Context {
    double* totals = nullptr;        // [reduce component][reduce_lanes]: of the chunk under way
    char* arena = nullptr;           // local arrays
    char* const* scratch = nullptr;  // see Plan::scratch
    KernelFault fault;
    struct FixedState* fixed = nullptr;  // per parameter of Plan::fixed_symbols
};

// A kernel as a module of its own.
std::string emit(const Plan& plan);

// A kernel as a function of a larger module, whose arrays change between its calls:
//     void NAME(Context* context, i64 begin, i64 end, ptr data of parameter 0, 1, ...)
// Counts and strides are those of `shape`; data pointers of written arrays alias no others.
struct Embedding {
    const Binding* shape = nullptr;
    bool inlined = true;
};
struct EmbeddedFunction {
    std::string text;  // behind the name, which the caller chooses
    std::set<std::string> declarations;
    bool uses_fault = false;
};
EmbeddedFunction emit_embedded(const Plan& plan, const Embedding& embedding);
// The attributes behind the arguments of a function, which depend on whether it is inlined.
const char* attributes_of_function(bool inlined);
// The function that the text calls if it uses_fault; metadata that all text refers to.
std::string fault_function();
extern const char* const module_end;

class Emitter {
public:
    explicit Emitter(const Plan& plan, const Embedding* embedding = nullptr);
    std::string module();
    EmbeddedFunction function();

private:
    using Names = std::vector<std::string>;
    using Block = std::function<void()>;
    using Argument = std::pair<std::string, std::string>;  // type, value
    struct Variable {
        std::string name, type;
    };
    struct Scope {
        Emitter& emitter;
        explicit Scope(Emitter& e) : emitter(e) { e.scopes_.emplace_back(); }
        ~Scope() { emitter.scopes_.pop_back(); }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;
    };

    // --- lines ---
    template <class... A>
    void put(fmt::format_string<A...> format, A&&... arguments) {
        body_ += "  " + fmt::format(format, std::forward<A>(arguments)...) + "\n";
    }
    std::string let_line(const std::string& text);
    std::string pure_line(const std::string& text);
    // A line with a result. `pure`: may be shared, and moved to the front.
    template <class... A>
    std::string let(fmt::format_string<A...> format, A&&... arguments) {
        return let_line(fmt::format(format, std::forward<A>(arguments)...));
    }
    template <class... A>
    std::string pure(fmt::format_string<A...> format, A&&... arguments) {
        return pure_line(fmt::format(format, std::forward<A>(arguments)...));
    }
    // The text of a call of an intrinsic, which is declared. `name` without "llvm.".
    std::string call(const std::string& result, const std::string& name,
                     std::initializer_list<Argument> arguments);
    std::string cast(const char* code, const std::string& from, const std::string& x,
                     const std::string& to);
    std::string pointer(const std::string& element, const std::string& base,
                        const std::string& index);
    std::string invariant_load(const std::string& type,
                               const std::string& at);  // load of what never changes
    std::string context_field(std::size_t offset);
    std::string label() { return "b" + std::to_string(next_++); }
    void start(const std::string& block) { body_ += block + ":\n"; }
    void jump(const std::string& block) { put("br label %{}", block); }
    void branch(const std::string& condition, const std::string& yes, const std::string& no);
    void when(const std::string& condition, const Block& then, bool unlikely = false);
    void loop(const std::function<std::string()>& condition, const Block& body);
    Variable variable(std::string type, const std::string& first);
    void store(const Variable& v, const std::string& x) {
        put("store {} {}, ptr {}", v.type, x, v.name);
    }
    std::string load(const Variable& v) { return let("load {}, ptr {}", v.type, v.name); }

    // --- types and values ---
    static std::string scalar_type(ir::Type type);
    std::string lanes_of(const std::string& scalar) const;
    std::string type_as(ir::Type type, bool as_scalar) const;
    std::string vector_type(ir::Type type) const { return lanes_of(scalar_type(type)); }
    std::string type(ir::Value v) const { return type_as(kernel_.op(v).type, is_scalar(v)); }
    bool is_scalar(ir::Value v) const { return width_ == 1 || !plan_.varies[v]; }
    std::string scalar(ir::Value v);
    std::string vector(ir::Value v);
    std::string as(ir::Value v, bool as_scalar) { return as_scalar ? scalar(v) : vector(v); }
    std::string value(ir::Value v) { return as(v, is_scalar(v)); }
    std::string splat(const std::string& scalar_type, const std::string& scalar);
    static std::string constant(ir::Type type, std::uint64_t bits);
    std::string zero(const std::string& scalar_type) const;
    void define(ir::Value v, const std::string& name) { names_[v] = name; }

    // --- masks ---
    std::string mask_type() const { return lanes_of("i1"); }
    std::string all() { return splat("i1", "true"); }
    std::string none_of(const std::string& mask);
    std::string any(const std::string& mask);
    std::string both(const std::string& mask, const std::string& condition);
    std::string choose(const std::string& mask, const std::string& value_type,
                       const std::string& yes, const std::string& no);
    // The new value of a variable: in lanes that are masked out, the old one.
    void blend(const Variable& variable, const std::string& value);
    void fault(const std::string& mask, ir::Value op, const std::string& index);

    // --- pure ops ---
    void op(ir::Value v, const ir::Op& op);
    void pure_op(ir::Value v, const ir::Op& op);
    bool keeps_consecutive(ir::Value v, const ir::Op& op);
    std::string from_table(const char* row, const ir::Op& op, bool as_scalar);
    std::string convert(const ir::Op& op, bool as_scalar);
    std::string divide(const ir::Op& op, bool as_scalar);

    // --- branches and loops ---
    void region(int r, std::size_t from = 0, std::size_t to = SIZE_MAX);
    void if_uniform(const ir::Op& op);
    void if_varying(const ir::Op& op);
    void for_loop(ir::Value v, const ir::Op& op);
    void while_loop(ir::Value v, const ir::Op& op);
    bool is_cheap(int r) const;
    std::vector<Variable> carried(const ir::Op& op);
    void read_arguments(const ir::Op& op, const std::vector<Variable>& variables);
    void write_yields(const ir::Op& op, const std::vector<Variable>& variables, bool masked);
    void define_results(const ir::Op& op, const std::vector<Variable>& variables);

    // --- elements of buffers ---
    Layout layout(int symbol) const { return plan_.form[symbol].layout; }
    std::string binding_field(int symbol, std::size_t offset);
    std::string component_pointer(int symbol, int component);
    std::string index64(ir::Value index);
    std::string element_pointer(int symbol, int component, ir::Value index);
    std::string element_pointers(int symbol, int component, ir::Value index,
                                 const std::string& mask);
    std::string in_range(ir::Value op, int symbol, ir::Value index);
    bool is_contiguous(int symbol, ir::Value index) const;
    Names load_element(ir::Value op, int symbol, ir::Value index,
                       const std::vector<int>& components);
    Names load_consecutive(int symbol, ir::Value index, const std::vector<int>& components,
                           const std::string& mask);
    void fetch_ahead(int symbol, int component, ir::Value index, int scalars);
    Names load_by_lane(int symbol, ir::Value index, const std::vector<int>& components);
    void store_element(ir::Value op, int symbol, ir::Value index,
                       const std::vector<int>& components, const Names& values);
    std::string masked_load(const std::string& t, const std::string& at, const std::string& mask);
    void masked_store(const std::string& t, const std::string& x, const std::string& at,
                      const std::string& mask);
    std::string gather(const std::string& t, const std::string& pointers, const std::string& mask);
    void scatter(const std::string& t, const std::string& x, const std::string& pointers,
                 const std::string& mask);
    void store_lanes(const std::string& t, const std::string& x, int symbol, int component,
                     ir::Value index, const std::string& mask);
    std::optional<std::int64_t> distance(ir::Value index) const;
    std::int64_t anchor_of(std::int64_t distance) const;
    std::string load_from_blocks(int symbol, int component, ir::Value index);
    void group_ops(int r);
    void load_group(ir::Value v, const ir::Op& op);
    bool load_rows(const ir::Op& op);
    Names transpose_blocks(const std::string& element, const Names& parts);
    Names transpose_rows(const std::string& element, const Names& lanes, int n);
    void keep_in_memory(const std::vector<ir::Value>& group);
    void store_group(ir::Value v, const ir::Op& op);
    std::string flat_mask(int components, int part);
    std::string shuffle(const std::string& element, std::size_t size, const std::string& a,
                        const std::string& b, const std::vector<int>& from);
    Names interleave(const std::string& element, const Names& lanes);
    std::string deinterleave(const std::string& element, const Names& parts, int component);
    Names transpose(const std::string& element, const Names& lanes, int n);

    // --- sums and local arrays ---
    void begin_item();
    void end_item();
    void declare_sums(int r);
    std::string total_at(int symbol, int component, const std::string& item);
    void add_total(int symbol, int component, const Variable& sum);
    void finish_totals();
    void store_terms(int symbol);
    void accumulate(ir::Value v, const ir::Op& op);
    void reduce(const ir::Op& op);
    void atomic(ir::Value v, const ir::Op& op);
    void local_array(ir::Value v, const ir::Op& op);
    void local_access(ir::Value v, const ir::Op& op);

    // --- accumulation in fixed point ---
    // An index that is a value varying from lane to lane plus something uniform.
    struct SplitIndex {
        ir::Value base = ir::no_value;
        std::string offset;  // of the base's type
        std::int64_t number = 0;
        bool known = true;  // the offset is this number
    };
    // The rows of one base: base + low ... base + low + span.
    struct FixedBase {
        ir::Value value = ir::no_value;
        std::string low, span, first, in_memory;
        std::vector<std::string> offsets;
        std::vector<std::int64_t> numbers;  // the same, if all are known
        bool known = true;
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
    SplitIndex split_index(ir::Value index);
    std::string fixed_at(int symbol, std::size_t offset);
    FixedNotes& fixed_notes(int symbol);
    void accumulate_fixed(ir::Value v, const ir::Op& op);
    void fixed_group(std::size_t which);
    std::vector<FixedBase> fixed_bases(const FixedGroup& group, std::vector<int>& base_of);
    std::string fixed_mask(const FixedGroup& group, std::vector<FixedBase>& bases);
    void widen(Extent& extent, const std::string& t, const std::string& low,
               const std::string& high, const std::string& top, const std::string& mask);
    void note_columns(FixedNotes& notes, const FixedBase& base, const std::string& mask);
    Names fixed_elements(ir::Type type, const Names& lanes, int size);
    void fixed_row(std::size_t which, std::size_t row);
    void store_fixed_row(std::size_t which, std::size_t row);
    std::string fixed_factor(int symbol, std::size_t k);
    void scale_again(std::size_t which);
    void note_largest(std::size_t which, const std::string& mask, const std::string& bits);
    void add_fixed_lanes(const FixedGroup& group, const std::vector<FixedBase>& bases,
                         const std::vector<int>& base_of, const std::string& scratch,
                         const std::string& mask, bool atomic);
    void add_fixed_lane(const FixedGroup& group, const std::vector<FixedBase>& bases,
                        const std::vector<int>& base_of, const std::string& scratch,
                        const std::string& lane, bool atomic);
    void add_fixed_element(const FixedGroup& group, std::size_t row, const std::string& to,
                           const std::string& scratch, const std::string& lane, bool atomic);
    void finish_fixed();

    void record();

    const Plan& plan_;
    const Embedding* embedding_;  // nullptr: a module of its own
    const ir::Kernel& kernel_;
    const int width_;
    const bool splits_;  // full blocks go without masks: a second copy of the code
    std::string preheader_, body_, variables_;
    std::set<std::string> declarations_;
    bool uses_fault_ = false;
    int next_ = 0;
    std::vector<std::unordered_map<std::string, std::string>> scopes_;  // text of a line -> name
    std::unordered_map<std::string, std::string> front_shared_;
    Names names_;  // per value
    Names bases_;  // per value that is item + something uniform: its lane 0
    ir::Value item_ = ir::no_value;
    std::string mask_, item_mask_;  // lanes that are active; those that have an item
    std::string lanes_left_;        // how many have one

    // Loads of one element, and own stores to one, are done together: (region, symbol, index).
    std::map<std::array<int, 3>, std::vector<ir::Value>> load_groups_, store_groups_;
    // The last load of consecutive elements: components in whole vectors, and their address.
    struct Flat {
        std::string pointer;
        Names parts;
        std::vector<int> components;
    };
    std::vector<Flat> flats_;
    // Indices that stand in memory: lane l is at pointer[l * stride + offset]. Padded: lanes that
    // are masked out are indices too.
    struct LaneSource {
        std::string pointer;
        int stride, offset;
        bool padded;
    };
    std::map<ir::Value, LaneSource> lane_sources_;
    // Elements that were loaded together with their neighbours: values by component.
    std::map<std::array<int, 3>, std::map<int, std::string>> row_values_;
    std::map<ir::Value, std::string> row_bases_;  // lanes of a base, in memory
    struct Blocks {
        std::string before, here, after;
    };
    std::map<std::tuple<int, int, std::int64_t>, Blocks> blocks_;  // by symbol, component, anchor
    std::map<std::pair<int, int>, Variable> sums_;  // own and reduce: (symbol, component)
    std::map<std::pair<int, int>, std::vector<Variable>> totals_;  // of reductions, by lanes
    std::map<ir::Value, Variable> terms_;                          // gathered: per site
    std::map<int, FixedNotes> fixed_notes_;                        // by parameter
    struct FixedRows {                                             // of one group: its lines so far
        Variable scratch;
        std::string largest;
    };
    std::map<std::size_t, FixedRows> fixed_rows_;
};

// The name of a type in intrinsics: "v16f32" for <16 x float>.
std::string suffix(const std::string& type);
// <i32 0, i32 2, ...>
std::string list_of(const char* type, const std::vector<int>& numbers);
std::vector<int> up_to(int n);
std::size_t align_of(const std::string& scalar_type);

}  // namespace hindcast::backend::cpu
