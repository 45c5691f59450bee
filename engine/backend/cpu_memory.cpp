// Emission of memory accesses: own elements, loads, accumulation, reductions, slices, atomics,
// local arrays.
//
// How an element is reached depends on its index: the same for all lanes (one scalar access),
// consecutive (vectors; for C-contiguous elements of several components whole vectors that are
// shuffled apart), anything else (gather, scatter).
#include <algorithm>
#include <cstddef>

#include "engine/backend/cpu_emit.hpp"

namespace hindcast::backend::cpu {

using ir::Access;
using ir::Op;
using ir::OpCode;
using ir::Parameter;
using ir::Type;
using ir::Value;

namespace {

std::string list_of(const char* type, const std::vector<int>& numbers) {
    std::string text = "<";
    for (std::size_t k = 0; k < numbers.size(); ++k)
        text += fmt::format("{}{} {}", k > 0 ? ", " : "", type, numbers[k]);
    return text + ">";
}

std::vector<int> up_to(int n) {
    std::vector<int> all(static_cast<std::size_t>(n));
    for (int k = 0; k < n; ++k) all[static_cast<std::size_t>(k)] = k;
    return all;
}

}  // namespace

// ---------------------------------------------------------------- one block of items

void Emitter::begin_item() {
    put("%titem = load i64, ptr %aitem");
    mask_ = "true";
    if (width_ > 1) {
        const std::string left = pure("sub i64 %end, %titem");
        const std::string most = pure(
            "{}", intrinsic("i64", "umin.i64", "i64, i64", fmt::format("{}, {}", left, width_)));
        lanes_left_ = pure("trunc i64 {} to i32", most);
        mask_ = flat_mask(1, 0);
    }
    item_mask_ = mask_;
    for (std::size_t v = 0; v < kernel_.ops.size(); ++v)
        if (kernel_.ops[v].code == OpCode::item) bases_[v] = pure("trunc i64 %titem to i32");

    // Own accumulation starts from what is there (Sum: from 0), a reduction from 0, a gathered term
    // from -0, to which adding nothing is exact.
    std::map<std::pair<int, Value>, std::vector<int>> own;  // (symbol, index) -> components
    const auto look = [&](const auto& self, int r) -> void {
        for (const Value v : kernel_.region(r).ops) {
            const Op& op = kernel_.op(v);
            if (op.nest >= 0)
                for (const int inner : kernel_.nest(op).region)
                    if (inner >= 0) self(self, inner);
            if (op.code != OpCode::reduce && op.code != OpCode::accumulate) continue;
            const Summation how = plan_.summation[static_cast<std::size_t>(op.symbol)];
            if (op.code == OpCode::accumulate && how != Summation::own) continue;
            const auto [entry, fresh] = sums_.try_emplace({op.symbol, op.component});
            if (!fresh) continue;
            entry->second =
                variable(op.code == OpCode::reduce ? lanes_of("double") : vector_type(op.type));
            store(entry->second, width_ == 1 ? "0.0" : "zeroinitializer");
            if (op.code == OpCode::accumulate)
                own[{op.symbol, op.operand[0]}].push_back(op.component);
        }
    };
    look(look, 0);
    for (const auto& [key, components] : own) {
        const auto& [symbol, index] = key;
        if (kernel_.parameter(symbol).access == Access::sum) continue;
        const Names values = load_element(ir::no_value, symbol, index, components);
        for (std::size_t k = 0; k < components.size(); ++k)
            store(sums_.at({symbol, components[k]}), values[k]);
    }
    for (const std::vector<Row>& rows : plan_.rows)
        for (const Row& row : rows)
            for (const Value site : row.sites) {
                if (site < 0) continue;
                const Op& op = kernel_.op(site);
                terms_[site] = variable(vector_type(op.type));
                store(terms_[site], splat(scalar_type(op.type), "-0.0"));
            }
}

void Emitter::end_item() {
    std::map<int, std::pair<std::vector<int>, Names>> own;
    for (const auto& [key, sum] : sums_) {
        const auto& [symbol, component] = key;
        const std::string total = load(sum);
        if (kernel_.parameter(symbol).access != Access::reduce) {
            own[symbol].first.push_back(component);
            own[symbol].second.push_back(total);
            continue;
        }
        const int first =
            (plan_.totals[static_cast<std::size_t>(symbol)] + component) * reduce_lanes;
        const std::string all =
            pure("load ptr, ptr {}, !invariant.load !0",
                 pure("getelementptr i8, ptr %context, i64 {}", offsetof(Context, totals)));
        const std::string lane =
            pure("add i64 {}, {}", pure("and i64 %titem, {}", reduce_lanes - 1), first);
        const std::string at = pure("getelementptr double, ptr {}, i64 {}", all, lane);
        const std::string old = let("load {}, ptr {}, align 8", sum.type, at);
        const std::string mine =
            width_ == 1 ? total : choose(item_mask_, sum.type, total, "zeroinitializer");
        put("store {} {}, ptr {}, align 8", sum.type, let("fadd {} {}, {}", sum.type, old, mine),
            at);
    }
    for (const auto& [symbol, parts] : own)
        for (std::size_t v = 0; v < kernel_.ops.size(); ++v)
            if (kernel_.ops[v].code == OpCode::item)
                store_element(ir::no_value, symbol, static_cast<Value>(v), parts.first,
                              parts.second);

    for (std::size_t p = 0; p < plan_.rows.size(); ++p) {
        const Parameter& parameter = kernel_.parameters[p];
        const int groups = group_count(parameter.components);
        const std::string t = scalar_type(parameter.type);
        for (std::size_t r = 0; r < plan_.rows[p].size(); ++r) {
            const Row& row = plan_.rows[p][r];
            for (int g = 0; g < groups; ++g) {
                const int size = group_size(parameter.components, g), n = padded(size);
                const int which = plan_.scratch[p] + static_cast<int>(r) * groups + g;
                const std::string table = pure(
                    "load ptr, ptr {}, !invariant.load !0",
                    pure("getelementptr i8, ptr %context, i64 {}", offsetof(Context, scratch)));
                const std::string base =
                    pure("load ptr, ptr {}, !invariant.load !0",
                         pure("getelementptr ptr, ptr {}, i64 {}", table, which));
                Names lanes;
                for (int c = 0; c < n; ++c) {
                    const Value site =
                        c < size ? row.sites[static_cast<std::size_t>(4 * g + c)] : ir::no_value;
                    lanes.push_back(site >= 0                 ? load(terms_.at(site))
                                    : c >= size && width_ > 1 ? "poison"
                                                              : splat(t, "-0.0"));
                }
                const std::string at = pure("getelementptr {}, ptr {}, i64 {}", t, base,
                                            pure("mul i64 %titem, {}", n));
                const Names parts = interleave(t, lanes);
                for (std::size_t k = 0; k < parts.size(); ++k)
                    put("store {} {}, ptr {}, align {}", lanes_of(t), parts[k],
                        pure("getelementptr {}, ptr {}, i64 {}", t, at,
                             k * static_cast<std::size_t>(width_)),
                        ir::size_of(parameter.type));
            }
        }
    }
}

// The mask of part `part` of `components` consecutive vectors that hold whole elements.
std::string Emitter::flat_mask(int components, int part) {
    const std::string left =
        components == 1 ? lanes_left_ : pure("mul i32 {}, {}", lanes_left_, components);
    std::vector<int> positions;
    for (int l = 0; l < width_; ++l) positions.push_back(part * width_ + l);
    return pure("icmp ugt {} {}, {}", lanes_of("i32"), splat("i32", left),
                list_of("i32", positions));
}

// ---------------------------------------------------------------- shuffles

// lanes[c] holds component c of W elements (poison: padding, last); the result holds the elements
// one after the other.
Emitter::Names Emitter::interleave(const std::string& element, const Names& lanes) {
    const int n = static_cast<int>(lanes.size());
    if (n == 1 || width_ == 1) return lanes;
    const std::string v = lanes_of(element);
    const auto shuffle = [&](const std::string& a, const std::string& b,
                             const std::vector<int>& from) {
        return pure("shufflevector {} {}, {} {}, {} {}", v, a, v, b, lanes_of("i32"),
                    list_of("i32", from));
    };
    Names parts;
    for (int part = 0; part < n; ++part) {
        std::string so_far = lanes[0];
        for (int c = 1; c < n && lanes[static_cast<std::size_t>(c)] != "poison"; ++c) {
            std::vector<int> from;
            for (int l = 0; l < width_; ++l) {
                const int component = (part * width_ + l) % n, lane = (part * width_ + l) / n;
                from.push_back(component == c  ? width_ + lane
                               : component > c ? 0
                               : c == 1        ? lane
                                               : l);
            }
            so_far = shuffle(so_far, lanes[static_cast<std::size_t>(c)], from);
        }
        parts.push_back(so_far);
    }
    return parts;
}

std::string Emitter::deinterleave(const std::string& element, const Names& parts, int component) {
    const int n = static_cast<int>(parts.size());
    const std::string v = lanes_of(element);
    std::string so_far = parts[0];
    for (int part = 1; part < n; ++part) {
        std::vector<int> from;
        for (int l = 0; l < width_; ++l) {
            const int at = l * n + component, where = at / width_, lane = at % width_;
            from.push_back(where == part ? width_ + lane : where > part ? 0 : part == 1 ? lane : l);
        }
        so_far = pure("shufflevector {} {}, {} {}, {} {}", v, so_far, v,
                      parts[static_cast<std::size_t>(part)], lanes_of("i32"), list_of("i32", from));
    }
    return so_far;
}

// ---------------------------------------------------------------- addresses

std::string Emitter::binding_field(int symbol, int offset) {
    const std::string at = pure("getelementptr i8, ptr %bindings, i64 {}",
                                symbol * static_cast<int>(sizeof(Binding)) + offset);
    return pure("load {}, ptr {}, !invariant.load !0",
                offset == static_cast<int>(offsetof(Binding, data)) ? "ptr" : "i64", at);
}
std::string Emitter::data(int symbol) { return binding_field(symbol, offsetof(Binding, data)); }

std::string Emitter::component_pointer(int symbol, int component) {
    const Layout layout = plan_.form[static_cast<std::size_t>(symbol)].layout;
    const std::string t = scalar_type(kernel_.parameter(symbol).type);
    if (component == 0) return data(symbol);
    if (layout == Layout::elements)
        return pure("getelementptr {}, ptr {}, i64 {}", t, data(symbol), component);
    const std::string offset = pure(
        "mul i64 {}, {}", binding_field(symbol, offsetof(Binding, component_stride)), component);
    return pure("getelementptr {}, ptr {}, i64 {}", t, data(symbol), offset);
}

// A scalar index, or that of lane 0, in 64 bits.
std::string Emitter::index64(Value index) {
    const Type type = kernel_.op(index).type;
    const std::string& base = bases_[static_cast<std::size_t>(index)];
    const std::string narrow = base.empty() ? scalar(index) : base;
    if (kernel_.op(index).code == OpCode::item) return "%titem";
    return ir::size_of(type) == 8
               ? narrow
               : pure("{} i32 {} to i64", ir::is_signed(type) ? "sext" : "zext", narrow);
}

std::string Emitter::element_pointer(int symbol, int component, Value index) {
    const Parameter& p = kernel_.parameter(symbol);
    std::string offset = "0";
    switch (plan_.form[static_cast<std::size_t>(symbol)].layout) {
        case Layout::shared: break;
        case Layout::planes: offset = index64(index); break;
        case Layout::elements: offset = pure("mul i64 {}, {}", index64(index), p.components); break;
        case Layout::strided:
            offset = pure("mul i64 {}, {}", index64(index),
                          binding_field(symbol, offsetof(Binding, element_stride)));
            break;
    }
    return pure("getelementptr {}, ptr {}, i64 {}", scalar_type(p.type),
                component_pointer(symbol, component), offset);
}

// Per lane; lanes that are masked out point to element 0.
std::string Emitter::element_pointers(int symbol, int component, Value index,
                                      const std::string& mask) {
    const Parameter& p = kernel_.parameter(symbol);
    const ParameterForm& form = plan_.form[static_cast<std::size_t>(symbol)];
    const Type type = kernel_.op(index).type;
    const std::string narrow = lanes_of("i32"), wide = lanes_of("i64"),
                      t = form.wide ? wide : narrow;
    std::string at = vector(index);
    if (form.wide && ir::size_of(type) == 4)
        at = pure("{} {} {} to {}", ir::is_signed(type) ? "sext" : "zext", narrow, at, wide);
    if (!form.wide && ir::size_of(type) == 8) at = pure("trunc {} {} to {}", wide, at, narrow);
    at = choose(mask, t, at, "zeroinitializer");
    if (form.layout == Layout::elements && p.components > 1)
        at = pure("mul {} {}, {}", t, at,
                  splat(form.wide ? "i64" : "i32", std::to_string(p.components)));
    if (form.layout == Layout::strided) {
        std::string stride = binding_field(symbol, offsetof(Binding, element_stride));
        if (!form.wide) stride = pure("trunc i64 {} to i32", stride);
        at = pure("mul {} {}, {}", t, at, splat(form.wide ? "i64" : "i32", stride));
    }
    return pure("getelementptr {}, ptr {}, {} {}", scalar_type(p.type),
                component_pointer(symbol, component), t, at);
}

// Checked mode: the lanes whose index is in range; the others are reported as faults of `op`, if
// one is given.
std::string Emitter::in_range(Value op, int symbol, Value index, bool as_scalar) {
    if (!plan_.checked) return mask_;
    const std::string count = binding_field(symbol, offsetof(Binding, count));
    std::string inside, at;
    if (as_scalar) {
        at = index64(index);
        inside = splat("i1", pure("icmp ult i64 {}, {}", at, count));
        at = splat("i64", at);
    } else {
        const Type type = kernel_.op(index).type;
        at = vector(index);
        if (ir::size_of(type) == 4)
            at = pure("{} {} {} to {}", ir::is_signed(type) ? "sext" : "zext", lanes_of("i32"), at,
                      lanes_of("i64"));
        inside = pure("icmp ult {} {}, {}", lanes_of("i64"), at, splat("i64", count));
    }
    if (op != ir::no_value)
        fault(both(mask_, pure("xor {} {}, {}", mask_type(), inside, splat("i1", "true"))), op, at);
    return both(mask_, inside);
}

// ---------------------------------------------------------------- elements

// Whether the lanes reach consecutive elements of an array whose components, or whole elements, are
// contiguous.
bool Emitter::is_contiguous(int symbol, Value index) const {
    const Layout layout = plan_.form[static_cast<std::size_t>(symbol)].layout;
    if (width_ == 1 || bases_[static_cast<std::size_t>(index)].empty()) return false;
    return layout == Layout::planes ||
           (layout == Layout::elements && mask_ == item_mask_ && !plan_.checked);
}

Emitter::Names Emitter::load_element(Value op, int symbol, Value index,
                                     const std::vector<int>& components) {
    const Parameter& p = kernel_.parameter(symbol);
    const bool constant = p.access == Access::read;  // unchanging during the launch
    const std::string t = scalar_type(p.type), v = lanes_of(t),
                      still = constant ? ", !invariant.load !0" : "";
    const std::size_t align = ir::size_of(p.type);
    const bool shared = plan_.form[static_cast<std::size_t>(symbol)].layout == Layout::shared;
    Names values;
    if (width_ == 1 || (constant && (shared || is_scalar(index)))) {
        const bool known = width_ == 1 || is_scalar(index);
        const std::string mask = in_range(op, symbol, index, known);
        for (const int c : components) {
            std::string at = element_pointer(symbol, c, index);
            if (plan_.checked) at = pure("select i1 {}, ptr {}, ptr @zeros", any(mask), at);
            const std::string text =
                fmt::format("load {}, ptr {}, align {}{}", t, at, align, still);
            // At the top every launch with items executes it.
            values.push_back(constant && !plan_.checked && scopes_.size() == 1 ? pure_line(text)
                                                                               : name_line(text));
        }
        return values;
    }
    const std::string mask = in_range(op, symbol, index, is_scalar(index));
    if (is_contiguous(symbol, index)) {
        const auto masked_load = [&](const std::string& at, const std::string& lanes) {
            return let("{}",
                       intrinsic(v, fmt::format("masked.load.{}.p0", suffix(v)),
                                 fmt::format("ptr, i32, {}, {}", mask_type(), v),
                                 fmt::format("{}, {}, {}, zeroinitializer", at, align, lanes)));
        };
        if (plan_.form[static_cast<std::size_t>(symbol)].layout == Layout::planes) {
            for (const int c : components) {
                values.push_back(masked_load(element_pointer(symbol, c, index), mask));
                flats_.push_back({element_pointer(symbol, c, index), {values.back()}, {c}});
            }
            return values;
        }
        const std::string first = element_pointer(symbol, 0, index);
        Names parts;
        for (int part = 0; part < p.components; ++part)
            parts.push_back(
                masked_load(pure("getelementptr {}, ptr {}, i64 {}", t, first, part * width_),
                            flat_mask(p.components, part)));
        for (const int c : components) values.push_back(deinterleave(t, parts, c));
        flats_.push_back({first, parts, components});
        return values;
    }
    if (constant && !plan_.checked &&
        plan_.form[static_cast<std::size_t>(symbol)].layout == Layout::elements &&
        components.size() > 1)
        return load_by_lane(symbol, index, components);
    for (const int c : components) {
        // Masked-out lanes read element 0, which exists if any lane reads; in checked mode none
        // may.
        const std::string lanes = plan_.checked || !constant ? mask : splat("i1", "true");
        values.push_back(
            let("{}",
                intrinsic(v, fmt::format("masked.gather.{}.{}", suffix(v), suffix(lanes_of("ptr"))),
                          fmt::format("{}, i32, {}, {}", lanes_of("ptr"), mask_type(), v),
                          fmt::format("{}, {}, {}, zeroinitializer",
                                      element_pointers(symbol, c, index, mask), align, lanes))));
    }
    return values;
}

void Emitter::store_element(Value op, int symbol, Value index, const std::vector<int>& components,
                            const Names& values) {
    const Parameter& p = kernel_.parameter(symbol);
    const std::string t = scalar_type(p.type), v = lanes_of(t);
    const std::size_t align = ir::size_of(p.type);
    const std::string mask = in_range(op, symbol, index, width_ == 1 || is_scalar(index));
    if (width_ == 1) {
        const auto write = [&] {
            for (std::size_t k = 0; k < components.size(); ++k)
                put("store {} {}, ptr {}, align {}", t, values[k],
                    element_pointer(symbol, components[k], index), align);
        };
        if (plan_.checked)
            when(mask, write);
        else
            write();
        return;
    }
    const auto masked_store = [&](const std::string& x, const std::string& at,
                                  const std::string& lanes) {
        put("{}", intrinsic("void", fmt::format("masked.store.{}.p0", suffix(v)),
                            fmt::format("{}, ptr, i32, {}", v, mask_type()),
                            fmt::format("{}, {}, {}, {}", x, at, align, lanes)));
    };
    const Layout layout = plan_.form[static_cast<std::size_t>(symbol)].layout;
    if (is_contiguous(symbol, index) && layout == Layout::planes) {
        for (std::size_t k = 0; k < components.size(); ++k)
            masked_store(values[k], element_pointer(symbol, components[k], index), mask);
    } else if (is_contiguous(symbol, index) && components == up_to(p.components)) {
        const Names parts = interleave(t, values);
        const std::string first = element_pointer(symbol, 0, index);
        for (int part = 0; part < p.components; ++part)
            masked_store(parts[static_cast<std::size_t>(part)],
                         pure("getelementptr {}, ptr {}, i64 {}", t, first, part * width_),
                         flat_mask(p.components, part));
    } else {
        for (std::size_t k = 0; k < components.size(); ++k)
            put("{}",
                intrinsic("void",
                          fmt::format("masked.scatter.{}.{}", suffix(v), suffix(lanes_of("ptr"))),
                          fmt::format("{}, {}, i32, {}", v, lanes_of("ptr"), mask_type()),
                          fmt::format("{}, {}, {}, {}", values[k],
                                      element_pointers(symbol, components[k], index, mask), align,
                                      mask)));
    }
}

// C-contiguous elements at any index: every lane loads its element with as few instructions as it
// has groups of four components, then the lanes are transposed. Hardware gathers take about twice
// as long.
Emitter::Names Emitter::load_by_lane(int symbol, Value index, const std::vector<int>& components) {
    const Parameter& p = kernel_.parameter(symbol);
    const std::string t = scalar_type(p.type), element = fmt::format("[{} x {}]", p.components, t);
    const auto source = lane_sources_.find(index);
    const bool wide = ir::size_of(kernel_.op(index).type) == 8;
    const std::string it = wide ? "i64" : "i32";
    const char* extend = ir::is_signed(kernel_.op(index).type) ? "sext" : "zext";
    const bool from_memory = source != lane_sources_.end() && mask_ == item_mask_;
    const std::string indices =
        from_memory ? "" : choose(mask_, lanes_of(it), vector(index), "zeroinitializer");
    Names elements;
    for (int l = 0; l < width_; ++l) {
        std::string at;
        if (from_memory) {
            const auto& [pointer, stride, offset] = source->second;
            at = pure("load {}, ptr {}, align {}", it,
                      pure("getelementptr {}, ptr {}, i64 {}", it, pointer, l * stride + offset),
                      wide ? 8 : 4);
        } else {
            at = pure("extractelement {} {}, i64 {}", lanes_of(it), indices, l);
        }
        if (!wide) at = pure("{} i32 {} to i64", extend, at);
        elements.push_back(pure("getelementptr {}, ptr {}, i64 {}", element, data(symbol), at));
    }
    std::map<int, Names> groups;  // values of the components of a group
    Names values;
    for (const int c : components) {
        Names& group = groups[c / 4];
        if (group.empty()) {
            const int size = group_size(p.components, c / 4), n = padded(size);
            const std::string v = n == 1 ? t : fmt::format("<{} x {}>", n, t);
            Names lanes;
            for (const std::string& e : elements) {
                const std::string at =
                    c < 4 ? e : pure("getelementptr {}, ptr {}, i64 {}", t, e, c / 4 * 4);
                if (size == 3)
                    lanes.push_back(pure(
                        "{}", intrinsic(v, fmt::format("masked.load.{}.p0", suffix(v)),
                                        fmt::format("ptr, i32, <4 x i1>, {}", v),
                                        fmt::format(
                                            "{}, {}, <i1 true, i1 true, i1 true, i1 false>, poison",
                                            at, ir::size_of(p.type)))));
                else
                    lanes.push_back(pure("load {}, ptr {}, align {}, !invariant.load !0", v, at,
                                         ir::size_of(p.type)));
            }
            group = transpose(t, lanes, n);
        }
        values.push_back(group[static_cast<std::size_t>(c % 4)]);
    }
    return values;
}

// From one vector of n components per lane to one vector of lanes per component.
Emitter::Names Emitter::transpose(const std::string& element, const Names& lanes, int n) {
    const auto shuffle = [&](int size, const std::string& a, const std::string& b,
                             const std::vector<int>& from) {
        return pure("shufflevector <{} x {}> {}, <{} x {}> {}, <{} x i32> {}", size, element, a,
                    size, element, b, from.size(), list_of("i32", from));
    };
    const auto concatenate = [&](Names parts) {
        for (int size = n; parts.size() > 1; size *= 2) {
            Names pairs;
            for (std::size_t k = 0; k < parts.size(); k += 2)
                pairs.push_back(shuffle(size, parts[k], parts[k + 1], up_to(2 * size)));
            parts = pairs;
        }
        return parts[0];
    };
    if (n == 1) {
        std::string v = "poison";
        for (int l = 0; l < width_; ++l)
            v = pure("insertelement {} {}, {} {}, i64 {}", lanes_of(element), v, element,
                     lanes[static_cast<std::size_t>(l)], l);
        return {v};
    }
    Names parts(static_cast<std::size_t>(n));
    if (n == 2) {
        const auto half = static_cast<std::ptrdiff_t>(width_ / 2);
        parts = {concatenate({lanes.begin(), lanes.begin() + half}),
                 concatenate({lanes.begin() + half, lanes.end()})};
        return {deinterleave(element, parts, 0), deinterleave(element, parts, 1)};
    }
    // Part k holds lanes k, k+4, ...; then every block of four by four is transposed in two steps.
    for (int k = 0; k < 4; ++k) {
        Names mine;
        for (int l = k; l < width_; l += 4) mine.push_back(lanes[static_cast<std::size_t>(l)]);
        parts[static_cast<std::size_t>(k)] = concatenate(mine);
    }
    const auto blocks = [&](const std::string& a, const std::string& b,
                            const std::array<int, 4>& from) {  // 0-3 of a, 4-7 of b
        std::vector<int> all;
        for (int block = 0; block < width_; block += 4)
            for (const int f : from) all.push_back(f < 4 ? block + f : width_ + block + f - 4);
        return shuffle(width_, a, b, all);
    };
    const std::string low01 = blocks(parts[0], parts[1], {0, 4, 1, 5}),
                      low23 = blocks(parts[2], parts[3], {0, 4, 1, 5});
    const std::string high01 = blocks(parts[0], parts[1], {2, 6, 3, 7}),
                      high23 = blocks(parts[2], parts[3], {2, 6, 3, 7});
    return {blocks(low01, low23, {0, 1, 4, 5}), blocks(low01, low23, {2, 3, 6, 7}),
            blocks(high01, high23, {0, 1, 4, 5}), blocks(high01, high23, {2, 3, 6, 7})};
}

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
    const std::vector<Value>& group = load_groups_.at({op.region, op.symbol, op.operand[0]});
    if (group[0] != v) return;
    std::vector<int> components;
    for (const Value x : group) components.push_back(kernel_.op(x).component);
    flats_.clear();
    const Names values = load_element(v, op.symbol, op.operand[0], components);
    for (std::size_t k = 0; k < group.size(); ++k) define(group[k], values[k]);
    if (op.region == 0 && ir::is_integer(op.type)) keep_in_memory(group);
}

// Integers that were just loaded from consecutive memory and serve load_by_lane as indices: it
// takes them from there again, which is cheaper than taking a vector apart. The last items have a
// copy, with 0 for the lanes beyond.
void Emitter::keep_in_memory(const std::vector<Value>& group) {
    const auto is_index = [&](Value v) {
        for (const Value user : kernel_.region(0).ops) {
            const Op& op = kernel_.op(user);
            if (op.code == OpCode::load && op.operand[0] == v &&
                kernel_.parameter(op.symbol).components > 1)
                return true;
        }
        return false;
    };
    for (const auto& [pointer, parts, components] : flats_) {
        const std::string t = scalar_type(kernel_.op(group[0]).type), v = lanes_of(t);
        const int stride = static_cast<int>(parts.size());
        std::string from;
        for (const Value index : group) {
            const int c = kernel_.op(index).component;
            if (std::find(components.begin(), components.end(), c) == components.end() ||
                !is_index(index))
                continue;
            if (from.empty()) {
                const Variable copy = variable(fmt::format("[{} x {}]", stride * width_, t));
                const Variable where =
                    variable("ptr");  // not a select: LLVM makes branches of loads from one
                store(where, pointer);
                when(
                    pure("icmp ne i32 {}, {}", lanes_left_, width_),
                    [&] {
                        store(where, copy.name);
                        for (int part = 0; part < stride; ++part)
                            put("store {} {}, ptr {}, align {}", v,
                                parts[static_cast<std::size_t>(part)],
                                let("getelementptr {}, ptr {}, i64 {}", v, copy.name, part),
                                ir::size_of(kernel_.op(group[0]).type));
                    },
                    true);
                from = load(where);
            }
            lane_sources_[index] = {from, stride, stride == 1 ? 0 : c};
        }
    }
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

// ---------------------------------------------------------------- sums

void Emitter::accumulate(Value v, const Op& op) {
    const std::string t = vector_type(op.type);
    switch (plan_.summation[static_cast<std::size_t>(op.symbol)]) {
        case Summation::own: {
            if (plan_.checked) in_range(v, op.symbol, op.operand[0], width_ == 1);
            const Variable& sum = sums_.at({op.symbol, op.component});
            blend(sum, let("fadd {} {}, {}", t, load(sum), vector(op.operand[1])));
            break;
        }
        case Summation::gathered:
            if (plan_.checked)
                in_range(v, op.symbol, op.operand[0], width_ == 1 || is_scalar(op.operand[0]));
            blend(terms_.at(v), vector(op.operand[1]));
            break;
        case Summation::direct: {
            const Names old = load_element(v, op.symbol, op.operand[0], {op.component});
            store_element(v, op.symbol, op.operand[0], {op.component},
                          {let("fadd {} {}, {}", t, old[0], vector(op.operand[1]))});
            break;
        }
        case Summation::atomic: atomic(v, op); break;
    }
}

void Emitter::atomic(Value v, const Op& op) {
    const char* sign = ir::is_signed(op.type) ? "" : "u";
    const char* name = op.code == OpCode::atomic_min   ? "min"
                       : op.code == OpCode::atomic_max ? "max"
                                                       : "add";
    const std::string t = scalar_type(op.type), how = std::string(*name == 'a' ? "" : sign) + name;
    const std::string mask =
        in_range(v, op.symbol, op.operand[0], width_ == 1 || is_scalar(op.operand[0]));
    const auto update = [&](const std::string& at, const std::string& x) {
        put("{} = atomicrmw {} ptr {}, {} {} monotonic", "%t" + std::to_string(next_++), how, at, t,
            x);
    };
    if (width_ == 1) {
        const auto write = [&] {
            update(element_pointer(op.symbol, op.component, op.operand[0]), scalar(op.operand[1]));
        };
        if (plan_.checked)
            when(mask, write);
        else
            write();
        return;
    }
    // One lane after the other: the lowest set bit of what is left of the mask.
    const std::string bits = fmt::format("i{}", width_),
                      pointers = element_pointers(op.symbol, op.component, op.operand[0], mask),
                      values = vector(op.operand[1]);
    const Variable left = variable(bits);
    store(left, let("bitcast {} {} to {}", mask_type(), mask, bits));
    const std::string head = label(), inside = label(), after = label();
    jump(head);
    start(head);
    const std::string now = load(left);
    branch(let("icmp ne {} {}, 0", bits, now), inside, after);
    start(inside);
    const std::string lane =
        let("{}", intrinsic(bits, "cttz." + bits, bits + ", i1", now + ", true"));
    update(let("extractelement {} {}, {} {}", lanes_of("ptr"), pointers, bits, lane),
           let("extractelement {} {}, {} {}", lanes_of(t), values, bits, lane));
    store(left, let("and {} {}, {}", bits, now, let("sub {} {}, 1", bits, now)));
    jump(head);
    start(after);
}

// ---------------------------------------------------------------- local arrays: [index][lane]

void Emitter::local_array(Value v, const Op& op) {
    const std::string arena =
        pure("load ptr, ptr {}, !invariant.load !0",
             pure("getelementptr i8, ptr %context, i64 {}", offsetof(Context, arena)));
    define(v, pure("getelementptr i8, ptr {}, i64 {}", arena,
                   plan_.local_offset[static_cast<std::size_t>(v)]));
    // Cleared up to the largest size that an active lane asks for.
    const Type size_type = kernel_.op(op.operand[0]).type;
    const std::string narrow = scalar_type(size_type);
    std::string size = value(op.operand[0]);
    if (!is_scalar(op.operand[0])) {
        const std::string name = fmt::format("vector.reduce.smax.{}", suffix(lanes_of(narrow)));
        size = pure("{}", intrinsic(narrow, name, lanes_of(narrow),
                                    choose(mask_, lanes_of(narrow), size, "zeroinitializer")));
    }
    if (narrow == "i32") size = pure("sext i32 {} to i64", size);
    size =
        pure("{}", intrinsic("i64", "smin.i64", "i64, i64", fmt::format("{}, {}", size, op.bits)));
    const std::string row = lanes_of(op.type == Type::boolean ? "i8" : scalar_type(op.type));
    const Variable counter = variable("i64");
    store(counter, "0");
    const std::string head = label(), inside = label(), after = label();
    jump(head);
    start(head);
    const std::string now = load(counter);
    branch(let("icmp slt i64 {}, {}", now, size), inside, after);
    start(inside);
    put("store {} zeroinitializer, ptr {}, align {}", row,
        let("getelementptr {}, ptr {}, i64 {}", row, names_[static_cast<std::size_t>(v)], now),
        ir::size_of(op.type));
    store(counter, let("add i64 {}, 1", now));
    jump(head);
    start(after);
}

// Where an access goes: one row of lanes, or a place per lane. Out of range (after a fault) it
// stays in the array.
std::string Emitter::local_pointer(const Op& op, bool& contiguous) {
    const Op& array = kernel_.op(op.operand[0]);
    const Value index = op.operand[1];
    contiguous = is_scalar(index);
    const std::string element = op.type == Type::boolean ? "i8" : scalar_type(op.type);
    const std::string& base = names_[static_cast<std::size_t>(op.operand[0])];
    const std::string last = std::to_string(array.bits - 1);
    if (contiguous) {
        const std::string at =
            pure("{}", intrinsic("i64", "umin.i64", "i64, i64", index64(index) + ", " + last));
        return pure("getelementptr {}, ptr {}, i64 {}", lanes_of(element), base, at);
    }
    const std::string wide = lanes_of("i64");
    std::string at = vector(index);
    if (ir::size_of(kernel_.op(index).type) == 4)
        at = pure("sext {} {} to {}", lanes_of("i32"), at, wide);
    at = pure("{}", intrinsic(wide, "umin." + suffix(wide), wide + ", " + wide,
                              at + ", " + splat("i64", last)));
    at = pure("mul {} {}, {}", wide, at, splat("i64", std::to_string(width_)));
    at = pure("add {} {}, {}", wide, at, list_of("i64", up_to(width_)));
    return pure("getelementptr {}, ptr {}, {} {}", element, base, wide, at);
}

void Emitter::local_access(Value v, const Op& op) {
    bool contiguous = false;
    const std::string at = local_pointer(op, contiguous);
    const bool boolean = op.type == Type::boolean;
    const std::string element = boolean ? "i8" : scalar_type(op.type), t = lanes_of(element);
    const std::size_t align = ir::size_of(op.type);
    const std::string pointers = lanes_of("ptr"),
                      lanes = fmt::format("{}.{}", suffix(t), suffix(pointers));
    const std::string old =
        contiguous
            ? let("load {}, ptr {}, align {}", t, at, align)
            : let("{}", intrinsic(t, "masked.gather." + lanes,
                                  fmt::format("{}, i32, {}, {}", pointers, mask_type(), t),
                                  fmt::format("{}, {}, {}, zeroinitializer", at, align, mask_)));
    if (op.code == OpCode::local_load) {
        define(v, boolean ? pure("icmp ne {} {}, zeroinitializer", t, old) : old);
        return;
    }
    std::string term = vector(op.operand[2]);
    if (boolean) term = pure("zext {} {} to {}", mask_type(), term, t);
    std::string sum = let("{} {} {}, {}",
                          boolean                ? "or"
                          : ir::is_real(op.type) ? "fadd"
                                                 : "add",
                          t, old, term);
    if (contiguous) {
        if (mask_ != item_mask_) sum = choose(mask_, t, sum, old);
        put("store {} {}, ptr {}, align {}", t, sum, at, align);
    } else {
        put("{}", intrinsic("void", "masked.scatter." + lanes,
                            fmt::format("{}, {}, i32, {}", t, pointers, mask_type()),
                            fmt::format("{}, {}, {}, {}", sum, at, align, mask_)));
    }
}

}  // namespace hindcast::backend::cpu
