// Emission of accesses to elements of buffers.
//
// The access to an element depends on its index: the same for all lanes (one scalar access),
// consecutive (vectors; for C-contiguous elements of several components whole vectors that are
// shuffled apart), anything else (lane by lane, or gather and scatter).
#include <algorithm>
#include <cstddef>

#include "engine/backend/binding.hpp"

#include "engine/backend/cpu/emit/emitter.hpp"

namespace hindcast::backend::cpu {

using ir::Op;
using ir::OpCode;
using ir::Parameter;
using ir::Type;
using ir::Value;

// ---------------------------------------------------------------- addresses

std::string Emitter::binding_field(int symbol, std::size_t offset) {
    if (embedding_ != nullptr) {
        const Binding& b = embedding_->shape[symbol];
        return offset == offsetof(Binding, data)             ? fmt::format("%d{}", symbol)
               : offset == offsetof(Binding, count)          ? std::to_string(b.count)
               : offset == offsetof(Binding, element_stride) ? std::to_string(b.element_stride)
                                                             : std::to_string(b.component_stride);
    }
    const std::string at = std::to_string(symbol * sizeof(Binding) + offset);
    return invariant_load(offset == offsetof(Binding, data) ? "ptr" : "i64",
                          pointer("i8", "%bindings", at));
}

std::string Emitter::component_pointer(int symbol, int component) {
    const std::string data = binding_field(symbol, offsetof(Binding, data));
    std::string offset = std::to_string(component);
    if (component > 0 && layout(symbol) != Layout::elements)
        offset = pure("mul i64 {}, {}", binding_field(symbol, offsetof(Binding, component_stride)),
                      component);
    return pointer(scalar_type(kernel_.parameter(symbol).type), data, offset);
}

// A scalar index, or that of lane 0, in 64 bits.
std::string Emitter::index64(Value index) {
    const Op& op = kernel_.op(index);
    if (op.code == OpCode::item) return "%titem";
    // If the sum wraps around, no element is reached either way.
    if (op.code == OpCode::add && !plan_.checked)
        for (const int k : {0, 1})
            if (const Op& c = kernel_.op(op.operand[k]);
                op.operand[1 - k] == item_ && c.code == OpCode::constant)
                return pure("add i64 %titem, {}", ir::integer_of(c.bits, c.type));
    const std::string x = bases_[index].empty() ? scalar(index) : bases_[index];
    return cast(ir::is_signed(op.type) ? "sext" : "zext", scalar_type(op.type), x, "i64");
}

std::string Emitter::element_pointer(int symbol, int component, Value index) {
    const Parameter& p = kernel_.parameter(symbol);
    std::string offset = layout(symbol) == Layout::shared ? "0" : index64(index);
    if (layout(symbol) == Layout::elements) offset = pure("mul i64 {}, {}", offset, p.components);
    if (layout(symbol) == Layout::strided)
        offset = pure("mul i64 {}, {}", offset,
                      binding_field(symbol, offsetof(Binding, element_stride)));
    return pointer(scalar_type(p.type), component_pointer(symbol, component), offset);
}

// Per lane; lanes that are masked out point to element 0.
std::string Emitter::element_pointers(int symbol, int component, Value index,
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
std::string Emitter::in_range(Value op, int symbol, Value index) {
    if (!plan_.checked) return mask_;
    const Type type = kernel_.op(index).type;
    const std::string t = lanes_of("i64"), count = binding_field(symbol, offsetof(Binding, count));
    const std::string at =
        cast(ir::is_signed(type) ? "sext" : "zext", vector_type(type), vector(index), t);
    const std::string inside = pure("icmp ult {} {}, {}", t, at, splat("i64", count));
    if (op != ir::no_value) fault(both(mask_, none_of(inside)), op, at);
    return both(mask_, inside);
}

// True if the lanes reach consecutive elements that whole vectors can load and store.
bool Emitter::is_contiguous(int symbol, Value index) const {
    if (width_ == 1 || bases_[index].empty()) return false;
    return layout(symbol) == Layout::planes || layout(symbol) == Layout::table ||
           (layout(symbol) == Layout::elements && mask_ == item_mask_ && !plan_.checked);
}

// ---------------------------------------------------------------- vectors in memory

std::string Emitter::masked_load(const std::string& t, const std::string& at,
                                 const std::string& mask) {
    const std::string v = lanes_of(t);
    return let("{}", call(v, "masked.load." + suffix(v) + ".p0",
                          {{"ptr", at},
                           {"i32", std::to_string(align_of(t))},
                           {mask_type(), mask},
                           {v, "zeroinitializer"}}));
}

void Emitter::masked_store(const std::string& t, const std::string& x, const std::string& at,
                           const std::string& mask) {
    const std::string v = lanes_of(t);
    put("{}",
        call("void", "masked.store." + suffix(v) + ".p0",
             {{v, x}, {"ptr", at}, {"i32", std::to_string(align_of(t))}, {mask_type(), mask}}));
}

std::string Emitter::gather(const std::string& t, const std::string& pointers,
                            const std::string& mask) {
    const std::string v = lanes_of(t), p = lanes_of("ptr");
    return let("{}", call(v, "masked.gather." + suffix(v) + "." + suffix(p),
                          {{p, pointers},
                           {"i32", std::to_string(align_of(t))},
                           {mask_type(), mask},
                           {v, "zeroinitializer"}}));
}

void Emitter::scatter(const std::string& t, const std::string& x, const std::string& pointers,
                      const std::string& mask) {
    const std::string v = lanes_of(t), p = lanes_of("ptr");
    put("{}",
        call("void", "masked.scatter." + suffix(v) + "." + suffix(p),
             {{v, x}, {p, pointers}, {"i32", std::to_string(align_of(t))}, {mask_type(), mask}}));
}

// The mask of part `part` of `components` consecutive vectors that hold whole elements.
std::string Emitter::flat_mask(int components, int part) {
    std::vector<int> positions = up_to(width_);
    for (int& p : positions) p += part * width_;
    const std::string left =
        components == 1 ? lanes_left_ : pure("mul i32 {}, {}", lanes_left_, components);
    return pure("icmp ugt {} {}, {}", lanes_of("i32"), splat("i32", left),
                list_of("i32", positions));
}

// ---------------------------------------------------------------- shuffles

std::string Emitter::shuffle(const std::string& element, std::size_t size, const std::string& a,
                             const std::string& b, const std::vector<int>& from) {
    const std::string v = fmt::format("<{} x {}>", size, element);
    return pure("shufflevector {} {}, {} {}, <{} x i32> {}", v, a, v, b, from.size(),
                list_of("i32", from));
}

// lanes[c] holds component c of W elements (poison: padding, last); the result holds the elements
// one after the other.
Emitter::Names Emitter::interleave(const std::string& element, const Names& lanes) {
    const int n = static_cast<int>(lanes.size());
    if (n == 1 || width_ == 1) return lanes;
    Names parts;
    for (int part = 0; part < n; ++part) {
        std::string so_far = lanes[0];
        for (int c = 1; c < n && lanes[c] != "poison"; ++c) {
            std::vector<int> from;
            for (int l = 0; l < width_; ++l) {
                const int component = (part * width_ + l) % n, lane = (part * width_ + l) / n;
                from.push_back(component == c  ? width_ + lane
                               : component > c ? 0
                               : c == 1        ? lane
                                               : l);
            }
            so_far = shuffle(element, width_, so_far, lanes[c], from);
        }
        parts.push_back(so_far);
    }
    return parts;
}

// One component of elements that lie one after the other in `parts`.
std::string Emitter::deinterleave(const std::string& element, const Names& parts, int component) {
    const int n = static_cast<int>(parts.size());
    std::string so_far = parts[0];
    for (int part = 1; part < n; ++part) {
        std::vector<int> from;
        for (int l = 0; l < width_; ++l) {
            const int where = (l * n + component) / width_, lane = (l * n + component) % width_;
            from.push_back(where == part ? width_ + lane : where > part ? 0 : part == 1 ? lane : l);
        }
        so_far = shuffle(element, width_, so_far, parts[part], from);
    }
    return so_far;
}

// From one vector of n components per lane (n = 1, 2, 4) to one vector of lanes per component.
Emitter::Names Emitter::transpose(const std::string& element, const Names& lanes, int n) {
    if (n == 1) {
        std::string v = "poison";
        for (int l = 0; l < width_; ++l)
            v = pure("insertelement {} {}, {} {}, i64 {}", lanes_of(element), v, element, lanes[l],
                     l);
        return {v};
    }
    // Part k holds lanes k, k+n, ... one after the other.
    Names parts;
    for (int k = 0; k < n; ++k) {
        Names joined;
        for (int l = k; l < width_; l += n) joined.push_back(lanes[l]);
        for (int size = n; joined.size() > 1; size *= 2) {
            Names pairs;
            for (std::size_t j = 0; j < joined.size(); j += 2)
                pairs.push_back(shuffle(element, size, joined[j], joined[j + 1], up_to(2 * size)));
            joined = pairs;
        }
        parts.push_back(joined[0]);
    }
    return transpose_blocks(element, parts);
}

// n vectors of blocks of n (2, 4): every block of n by n is transposed.
Emitter::Names Emitter::transpose_blocks(const std::string& element, const Names& parts) {
    const int n = static_cast<int>(parts.size());
    const auto blocks = [&](const std::string& a, const std::string& b,
                            const std::vector<int>& from) {
        std::vector<int> all;  // within a block: 0 .. n-1 of a, n .. 2n-1 of b
        for (int block = 0; block < width_; block += n)
            for (const int f : from) all.push_back(f < n ? block + f : width_ + block + f - n);
        return shuffle(element, width_, a, b, all);
    };
    if (n == 2) return {blocks(parts[0], parts[1], {0, 2}), blocks(parts[0], parts[1], {1, 3})};
    const std::string low01 = blocks(parts[0], parts[1], {0, 4, 1, 5});
    const std::string low23 = blocks(parts[2], parts[3], {0, 4, 1, 5});
    const std::string high01 = blocks(parts[0], parts[1], {2, 6, 3, 7});
    const std::string high23 = blocks(parts[2], parts[3], {2, 6, 3, 7});
    return {blocks(low01, low23, {0, 1, 4, 5}), blocks(low01, low23, {2, 3, 6, 7}),
            blocks(high01, high23, {0, 1, 4, 5}), blocks(high01, high23, {2, 3, 6, 7})};
}

// ---------------------------------------------------------------- elements

Emitter::Names Emitter::load_element(Value op, int symbol, Value index,
                                     const std::vector<int>& components) {
    const Parameter& p = kernel_.parameter(symbol);
    const bool constant = p.access == ir::Access::read;  // unchanging during the launch
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

Emitter::Names Emitter::load_consecutive(int symbol, Value index,
                                         const std::vector<int>& components,
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
void Emitter::fetch_ahead(int symbol, int component, Value index, int scalars) {
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

void Emitter::store_element(Value op, int symbol, Value index, const std::vector<int>& components,
                            const Names& values) {
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

// One scalar per lane at any index. If neighbouring lanes reach neighbouring scalars, as they do in
// regular meshes, that is one store; the code tests this when it runs.
void Emitter::store_lanes(const std::string& t, const std::string& x, int symbol, int component,
                          Value index, const std::string& mask) {
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

// ---------------------------------------------------------------- ops

// Loads and own stores of a region by the element that they reach.
void Emitter::group_ops(int r) {
    for (const Value v : kernel_.region(r).ops) {
        const Op& op = kernel_.op(v);
        const std::array<int, 3> key{r, op.symbol, op.operand[0]};
        if (op.code == OpCode::load || op.code == OpCode::own_load) load_groups_[key].push_back(v);
        if (op.code == OpCode::own_store) store_groups_[key].push_back(v);
    }
}

// The first load of an element loads all components that this region needs.
void Emitter::load_group(Value v, const Op& op) {
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
void Emitter::store_group(Value v, const Op& op) {
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
