#include <algorithm>
#include <cstddef>

#include "engine/backend/binding.hpp"

#include "engine/backend/cpu/emit/element_writer.hpp"

namespace hindcast::backend::cpu {

// ---------------------------------------------------------------- addresses

// A scalar index, or that of lane 0, in 64 bits.
std::string ElementWriter::index64(Value index) {
    const Op& op = kernel_.op(index);
    if (op.code == OpCode::item) return "%titem";
    // If the sum wraps around, no element is reached either way.
    if (const auto offset = offset_from_item(kernel_, index); offset && !plan_.checked)
        return pure("add i64 %titem, {}", *offset);
    const std::string x = bases_[index].empty() ? scalar(index) : bases_[index];
    return cast(ir::is_signed(op.type) ? "sext" : "zext", scalar_type(op.type), x, "i64");
}

std::string ElementWriter::element_pointer(int symbol, int component, Value index) {
    const Parameter& p = kernel_.parameter(symbol);
    std::string offset = layout(symbol) == Layout::shared ? "0" : index64(index);
    if (layout(symbol) == Layout::elements) offset = pure("mul i64 {}, {}", offset, p.components);
    if (layout(symbol) == Layout::strided)
        offset = pure("mul i64 {}, {}", offset,
                      binding_field(symbol, offsetof(Binding, element_stride)));
    return pointer(scalar_type(p.type), component_pointer(symbol, component), offset);
}

// Per lane; lanes that are masked out point to element 0.
std::string ElementWriter::element_pointers(int symbol, int component, Value index,
                                            const std::string& mask) {
    const Parameter& p = kernel_.parameter(symbol);
    const Type type = kernel_.op(index).type;
    const std::string offset = plan_.form[symbol].wide ? "i64" : "i32", t = lanes_of(offset);
    const bool narrows = ir::size_of(type) == 8;
    std::string at = cast(narrows               ? "trunc"
                          : ir::is_signed(type) ? "sext"
                                                : "zext",
                          vector_type(type), vector(index), t);
    at = choose(mask, t, at, "zeroinitializer");
    std::string stride = std::to_string(p.components);
    if (layout(symbol) == Layout::strided)
        stride =
            cast("trunc", "i64", binding_field(symbol, offsetof(Binding, element_stride)), offset);
    if (layout(symbol) == Layout::elements || layout(symbol) == Layout::strided)
        at = pure("mul {} {}, {}", t, at, splat(offset, stride));
    return pure("getelementptr {}, ptr {}, {} {}", scalar_type(p.type),
                component_pointer(symbol, component), t, at);
}

// Checked mode: the lanes whose index is in range; the others are reported as faults of `op`, if
// one is given.
std::string ElementWriter::in_range(Value op, int symbol, Value index) {
    if (!plan_.checked) return mask_;
    const std::string count = binding_field(symbol, offsetof(Binding, count));
    const std::string at = wide_index(index);
    const std::string inside = pure("icmp ult {} {}, {}", lanes_of("i64"), at, splat("i64", count));
    if (op != ir::no_value) fault(both(mask_, none_of(inside)), op, at);
    return both(mask_, inside);
}

// True if the lanes reach consecutive elements that whole vectors can load and store.
bool ElementWriter::is_contiguous(int symbol, Value index) const {
    if (width_ == 1 || bases_[index].empty()) return false;
    return layout(symbol) == Layout::planes || layout(symbol) == Layout::table ||
           (layout(symbol) == Layout::elements && mask_ == item_mask_ && !plan_.checked);
}

// ---------------------------------------------------------------- one element

Names ElementWriter::load_element(Value op, int symbol, Value index,
                                  const std::vector<int>& components) {
    const Parameter& p = kernel_.parameter(symbol);
    const bool constant = p.access == Access::read;  // unchanging during the launch
    const std::string t = scalar_type(p.type);
    const std::string mask = in_range(op, symbol, index);
    Names values;
    if (width_ == 1 || (constant && (layout(symbol) == Layout::shared || is_scalar(index)))) {
        for (const int c : components) {
            std::string at = element_pointer(symbol, c, index);
            if (plan_.checked) at = pure("select i1 {}, ptr {}, ptr @zeros", any(mask), at);
            const std::string text =
                fmt::format("load {}, ptr {}, align {}{}", t, at, align_of(t),
                            constant && embedding_ == nullptr ? ", !invariant.load !0" : "");
            // Loads that every item makes stand in front of the loop.
            const bool always = constant && !plan_.checked && scopes_.size() == 1;
            values.push_back(always ? pure_line(text) : let_line(text));
        }
        return values;
    }
    if (is_contiguous(symbol, index)) return load_consecutive(symbol, index, components, mask);
    if (constant && !plan_.checked && layout(symbol) == Layout::elements && components.size() > 1)
        return load_by_lane(symbol, index, components);
    // Masked-out lanes read element 0, which exists if any lane reads; in checked mode none may.
    const std::string lanes = plan_.checked || !constant ? mask : all();
    for (const int c : components)
        values.push_back(gather(t, element_pointers(symbol, c, index, mask), lanes));
    return values;
}

Names ElementWriter::load_consecutive(int symbol, Value index, const std::vector<int>& components,
                                      const std::string& mask) {
    const int n = kernel_.parameter(symbol).components;
    const std::string t = scalar_type(kernel_.parameter(symbol).type);
    Names values, parts;
    if (layout(symbol) == Layout::planes || layout(symbol) == Layout::table) {
        for (const int c : components) {
            const std::string at = element_pointer(symbol, c, index);
            const std::string cut = load_from_blocks(symbol, c, index);
            values.push_back(!cut.empty() ? cut
                             : layout(symbol) == Layout::table
                                 ? let("load {}, ptr {}, align {}", lanes_of(t), at, align_of(t))
                                 : masked_load(t, at, mask));
            flats_.push_back({at, {values.back()}, {c}});
            if (cut.empty()) fetch_ahead(symbol, c, index, 1);
        }
        return values;
    }
    const std::string first = element_pointer(symbol, 0, index);
    for (int part = 0; part < n; ++part)
        parts.push_back(
            masked_load(t, pointer(t, first, std::to_string(part * width_)), flat_mask(n, part)));
    for (const int c : components) values.push_back(deinterleave(t, parts, c));
    flats_.push_back({first, parts, components});
    fetch_ahead(symbol, 0, index, n);
    return values;
}

// Prefetches data for a later block of items, when a block loads `scalars` times W scalars from a
// component on: a step goes over many arrays side by side, planes of components above all, and the
// processor follows few of them by itself. Data of the first blocks is fetched in front of the
// loop, all at once; otherwise each of these blocks would wait for its own. A fetch beyond an array
// does nothing: it touches no missing page.
void ElementWriter::fetch_ahead(int symbol, int component, Value index, int scalars) {
    constexpr std::size_t line = 64, blocks = 4;
    if (embedding_ != nullptr || !plan_.form[static_cast<std::size_t>(symbol)].far) return;
    const Parameter& p = kernel_.parameter(symbol);
    const std::size_t block = ir::size_of(p.type) * static_cast<std::size_t>(scalars * width_);
    const auto fetch = [&](const std::string& at, std::size_t byte) {
        return call("void", "prefetch.p0",
                    {{"ptr", pointer("i8", at, std::to_string(byte))},
                     {"i32", "0"},    // to read
                     {"i32", "3"},    // into the nearest cache
                     {"i32", "1"}});  // data
    };
    const std::string at = element_pointer(symbol, component, index);
    for (std::size_t k = 0; k < block; k += line) put("{}", fetch(at, blocks * block + k));
    if (bases_[index] != "%titem") return;
    std::string offset = "%begin";
    if (layout(symbol) == Layout::elements) offset = pure("mul i64 {}, {}", offset, p.components);
    const std::string first =
        pointer(scalar_type(p.type), component_pointer(symbol, component), offset);
    for (std::size_t k = 0; k < blocks * block; k += line)
        preheader_ += "  " + fetch(first, k) + "\n";
}

void ElementWriter::store_element(Value op, int symbol, Value index,
                                  const std::vector<int>& components, const Names& values) {
    const Parameter& p = kernel_.parameter(symbol);
    const std::string t = scalar_type(p.type), mask = in_range(op, symbol, index);
    if (width_ == 1) {
        const auto write = [&] {
            for (std::size_t k = 0; k < components.size(); ++k)
                put("store {} {}, ptr {}, align {}", t, values[k],
                    element_pointer(symbol, components[k], index), align_of(t));
        };
        if (plan_.checked)
            when(mask, write);
        else
            write();
        return;
    }
    const bool contiguous = is_contiguous(symbol, index);
    if (contiguous && layout(symbol) == Layout::elements && components == up_to(p.components)) {
        const Names parts = interleave(t, values);
        const std::string first = element_pointer(symbol, 0, index);
        for (int part = 0; part < p.components; ++part)
            masked_store(t, parts[part], pointer(t, first, std::to_string(part * width_)),
                         flat_mask(p.components, part));
        return;
    }
    for (std::size_t k = 0; k < components.size(); ++k) {
        if (contiguous && layout(symbol) == Layout::planes)
            masked_store(t, values[k], element_pointer(symbol, components[k], index), mask);
        else
            store_lanes(t, values[k], symbol, components[k], index, mask);
    }
}

// One scalar per lane at any index. If neighboring lanes reach neighboring scalars, as they do in
// regular meshes, that is one store; the code tests this when it runs.
void ElementWriter::store_lanes(const std::string& t, const std::string& x, int symbol,
                                int component, Value index, const std::string& mask) {
    // A scatter looks at no lane that is masked out.
    const auto apart = [&] {
        const Scope scope(*this);
        scatter(t, x, element_pointers(symbol, component, index, all()), mask);
    };
    const Layout how = layout(symbol);
    const bool dense = how == Layout::planes || how == Layout::table ||
                       (how == Layout::elements && kernel_.parameter(symbol).components == 1);
    if (!dense) return apart();
    const Type type = kernel_.op(index).type;
    const std::string it = scalar_type(type), v = lanes_of(it);
    const std::string from =
        pure("sub {} {}, {}", v, vector(index), list_of(it.c_str(), up_to(width_)));
    const std::string first = pure("extractelement {} {}, i64 0", v, from);
    const std::string elsewhere = pure("icmp ne {} {}, {}", v, from, splat(it, first));
    const std::string yes = label(), no = label(), after = label();
    branch(any(both(mask, elsewhere)), no, yes);
    start(no);
    apart();
    jump(after);
    start(yes);
    {
        const Scope scope(*this);
        const std::string at = cast(ir::is_signed(type) ? "sext" : "zext", it, first, "i64");
        masked_store(t, x, pointer(t, component_pointer(symbol, component), at), mask);
    }
    jump(after);
    start(after);
}

// ---------------------------------------------------------------- groups of ops

// Loads and own stores of a region by the element that they reach.
void ElementWriter::group_ops(int r) {
    for (const Value v : kernel_.region(r).ops) {
        const Op& op = kernel_.op(v);
        const std::array<int, 3> key{r, op.symbol, op.operand[0]};
        if (op.code == OpCode::load || op.code == OpCode::own_load) load_groups_[key].push_back(v);
        if (op.code == OpCode::own_store) store_groups_[key].push_back(v);
    }
}

// The first load of an element loads all components that this region needs.
void ElementWriter::load_group(Value v, const Op& op) {
    const std::array<int, 3> key{op.region, op.symbol, op.operand[0]};
    const std::vector<Value>& group = load_groups_.at(key);
    if (group[0] != v) return;
    if (row_values_.contains(key) || load_rows(op)) {
        for (const Value x : group) define(x, row_values_.at(key).at(kernel_.op(x).component));
        return;
    }
    std::vector<int> components;
    for (const Value x : group) components.push_back(kernel_.op(x).component);
    flats_.clear();
    const Names values = load_element(v, op.symbol, op.operand[0], components);
    for (std::size_t k = 0; k < group.size(); ++k) define(group[k], values[k]);
    if (layout(op.symbol) == Layout::table && width_ > 1)
        lane_sources_[v] = {element_pointer(op.symbol, 0, op.operand[0]), 1, 0, true};
    else if (op.region == 0 && ir::is_integer(op.type))
        keep_in_memory(group);
}

// The last store to an element stores all its components.
void ElementWriter::store_group(Value v, const Op& op) {
    std::vector<Value> group = store_groups_.at({op.region, op.symbol, op.operand[0]});
    if (group.back() != v) return;
    std::sort(group.begin(), group.end(),
              [&](Value a, Value b) { return kernel_.op(a).component < kernel_.op(b).component; });
    std::vector<int> components;
    Names values;
    for (const Value x : group) {
        components.push_back(kernel_.op(x).component);
        values.push_back(vector(kernel_.op(x).operand[1]));
    }
    store_element(v, op.symbol, op.operand[0], components, values);
}

}  // namespace hindcast::backend::cpu
