#include <algorithm>
#include <cstddef>
#include <limits>

#include "engine/backend/binding.hpp"
#include "engine/backend/cpu/emit/fixed_state.hpp"
#include "engine/backend/cpu/emit/fixed_writer.hpp"

namespace hindcast::backend::cpu {

namespace {

std::string bits_type(ir::Type real) { return real == ir::Type::f64 ? "i64" : "i32"; }

}  // namespace

std::string FixedWriter::fixed_at(int symbol, std::size_t offset) {
    std::size_t k = 0;
    while (plan_.fixed_symbols[k] != symbol) ++k;
    return pointer("i8", context_field(offsetof(Context, fixed)),
                   std::to_string(k * sizeof(FixedState) + offset));
}

FixedWriter::FixedNotes& FixedWriter::fixed_notes(int symbol) {
    const auto [notes, fresh] = fixed_notes_.try_emplace(symbol);
    if (fresh) {
        Variable& largest = notes->second.largest;
        largest = variable(lanes_of(bits_type(kernel_.parameter(symbol).type)), "");
        start_with(largest, zero(bits_type(kernel_.parameter(symbol).type)));
    }
    return notes->second;
}

void FixedWriter::accumulate_fixed(Value v, const Op& op) {
    in_range(v, op.symbol, op.operand[0]);  // checked mode: reports in the order of execution
    for (std::size_t g = 0; g < plan_.fixed_groups.size(); ++g) {
        const FixedGroup& group = plan_.fixed_groups[g];
        if (group.symbol != op.symbol) continue;
        for (std::size_t r = 0; r < group.rows.size(); ++r)
            if (*std::max_element(group.rows[r].sites.begin(), group.rows[r].sites.end()) == v)
                fixed_row(g, r);
        if (group.last == v) fixed_group(g);
    }
}

// Terms go to scratch memory as soon as a row is complete: they would fill the registers.
void FixedWriter::fixed_row(std::size_t which, std::size_t row) {
    const FixedGroup& group = plan_.fixed_groups[which];
    const Parameter& p = kernel_.parameter(group.symbol);
    FixedRows& rows = fixed_rows_[which];
    const std::string t = scalar_type(p.type), bits = bits_type(p.type), w = lanes_of(bits);
    // The largest magnitude: of finite numbers, infinities and NaNs as of their bits.
    for (const Value site : group.rows[row].sites) {
        if (site < 0) continue;
        const std::string word =
            cast("bitcast", lanes_of(t), vector(kernel_.op(site).operand[1]), w);
        const std::string magnitude =
            pure("and {} {}, {}", w, word,
                 splat(bits, p.type == Type::f64 ? "9223372036854775807" : "2147483647"));
        rows.largest =
            rows.largest.empty() ? magnitude : combine("umax", w, rows.largest, magnitude);
    }
    if (!plan_.measure) store_fixed_row(which, row);
}

void FixedWriter::fixed_group(std::size_t which) {
    const FixedGroup& group = plan_.fixed_groups[which];
    const Parameter& p = kernel_.parameter(group.symbol);
    const std::string bits = bits_type(p.type);
    FixedSites sites = fixed_sites(group);
    const std::string mask = fixed_mask(sites);
    if (plan_.fixed[group.symbol].counted) {
        std::size_t count = 0;
        for (const Row& row : group.rows)
            for (const Value site : row.sites) count += site >= 0;
        const std::string at = fixed_at(group.symbol, offsetof(FixedState, terms));
        const std::string word = flags_type();
        std::string lanes = flags(mask);
        if (width_ > 1) lanes = pure("{}", call(word, "ctpop." + word, {{word, lanes}}));
        lanes = pure("mul i64 {}, {}", cast("zext", word, lanes, "i64"), count);
        const std::string old = let("load i64, ptr {}", at);
        put("store i64 {}, ptr {}", let("add i64 {}, {}", old, lanes), at);
    }
    const std::string largest =
        choose(mask, lanes_of(bits), fixed_rows_[which].largest, zero(bits));
    if (!plan_.measure) scale_again(which);
    note_largest(which, mask, largest);
    if (plan_.measure) return;
    sites.scratch = fixed_rows_[which].scratch.name;
    const std::string shared =
        pure("icmp ne i64 {}, 0",
             invariant_load("i64", fixed_at(group.symbol, offsetof(FixedState, shared))));
    when(shared, [&] { add_fixed_lanes(sites, mask, true); });
    when(pure("xor i1 {}, true", shared), [&] { add_fixed_lanes(sites, mask, false); });
}

void FixedWriter::add_fixed_lanes(const FixedSites& sites, const std::string& mask, bool atomic) {
    if (width_ == 1) {
        when(mask, [&] { add_fixed_lane(sites, "0", atomic); });
        return;
    }
    const std::string word = flags_type(), active = flags(mask);
    count_to(std::to_string(width_), [&](const std::string& position) {
        // Every fourth lane: 0, 4, ..., 1, 5, ...
        const int quarter = width_ / 4;
        const std::string lane = pure(
            "add i64 {}, {}", pure("mul i64 {}, 4", pure("urem i64 {}, {}", position, quarter)),
            pure("udiv i64 {}, {}", position, quarter));
        const std::string bit =
            pure("lshr {} {}, {}", word, active, cast("trunc", "i64", lane, word));
        when(pure("trunc {} {} to i1", word, bit), [&] { add_fixed_lane(sites, lane, atomic); });
    });
}

FixedWriter::FixedSites FixedWriter::fixed_sites(const FixedGroup& group) {
    FixedSites sites{group, {}, {}, {}};
    std::vector<FixedBase>& bases = sites.bases;
    for (const Row& row : group.rows) {
        const SplitIndex split = split_index(row.index);
        std::size_t b = 0;
        while (b < bases.size() && bases[b].value != split.base) ++b;
        if (b == bases.size()) {
            bases.emplace_back();
            bases[b].value = split.base;
        }
        sites.base_of.push_back(b);
        bases[b].offsets.push_back(split.offset);
        bases[b].numbers.push_back(split.number);
        bases[b].known &= split.known;
    }
    for (FixedBase& base : bases) {
        const std::string t = scalar_type(kernel_.op(base.value).type);
        std::string low = base.offsets[0], high = low;
        for (const std::string& offset : base.offsets) {
            if (offset == base.offsets[0]) continue;
            low = combine("smin", t, low, offset);
            high = combine("smax", t, high, offset);
        }
        base.low = low;
        base.span = low == high ? "0" : pure("sub {} {}, {}", t, high, low);
        base.first = pure("add {} {}, {}", lanes_of(t), vector(base.value), splat(t, low));
    }
    return sites;
}

// The lanes that add. One out of range is a fault, checked mode or not.
std::string FixedWriter::fixed_mask(FixedSites& sites) {
    const FixedGroup& group = sites.group;
    std::vector<FixedBase>& bases = sites.bases;
    const std::string count = binding_field(group.symbol, offsetof(Binding, count));
    std::string inside;
    std::vector<std::string> rooms;
    for (FixedBase& base : bases) {
        const std::string t = scalar_type(kernel_.op(base.value).type);
        std::string room = count;
        if (t == "i32") room = cast("trunc", "i64", combine("smin", "i64", count, "2147483647"), t);
        room = pure("sub {} {}, {}", t, room, base.span);
        room = combine("smax", t, room, "0");
        const std::string fits =
            pure("icmp ult {} {}, {}", lanes_of(t), base.first, splat(t, room));
        inside = inside.empty() ? fits : pure("and {} {}, {}", mask_type(), inside, fits);
    }
    const std::string bad = both(mask_, none_of(inside));
    if (!plan_.checked)
        when(
            any(bad),
            [&] {
                for (const Row& row : group.rows) {
                    Value site = ir::no_value;
                    for (const Value s : row.sites)
                        if (s >= 0 && (site < 0 || s < site)) site = s;
                    const std::string at = wide_index(row.index);
                    const std::string fits =
                        pure("icmp ult {} {}, {}", lanes_of("i64"), at, splat("i64", count));
                    fault(both(mask_, none_of(fits)), site, at);
                }
            },
            true);
    const std::string mask = both(mask_, inside);
    if (plan_.measure) return mask;
    FixedNotes& notes = fixed_notes(group.symbol);
    for (FixedBase& base : bases) {
        const std::string t = scalar_type(kernel_.op(base.value).type), v = lanes_of(t);
        const std::string top = t == "i32" ? "2147483647" : "9223372036854775807";
        const std::string last = pure("add {} {}, {}", v, base.first, splat(t, base.span));
        widen(notes.touched[t], t, base.first, last, top, mask);
        note_columns(notes, base, mask);
        if (width_ > 1) {
            const Variable lanes = variable(v, base.first);
            base.in_memory = lanes.name;
        }
    }
    return mask;
}

// Notes vectors of t that are not negative, and below `top`, for the lanes of a mask.
void FixedWriter::widen(Extent& extent, const std::string& t, const std::string& low,
                        const std::string& high, const std::string& top, const std::string& mask) {
    const std::string v = lanes_of(t);
    const auto note = [&](Variable& to, const char* how, const std::string& x,
                          const std::string& none) {
        if (to.name.empty()) {
            to = variable(v, "");
            start_with(to, splat(t, none));
        }
        store(to, let("{}", call(v, how + suffix(v),
                                 {{v, load(to)}, {v, choose(mask, v, x, splat(t, none))}})));
    };
    note(extent.lowest, "smin.", low, top);
    note(extent.highest, "smax.", high, "-1");
}

// Notes the columns in which a stencil adds to the rows of a grid, if its offsets tell the rows'
// length: offsets within a row lie close together, and rows are one length apart.
void FixedWriter::note_columns(FixedNotes& notes, const FixedBase& base, const std::string& mask) {
    constexpr std::int64_t shortest = 32, longest = 1 << 24;
    std::vector<std::int64_t> at = base.numbers;
    std::sort(at.begin(), at.end());
    std::int64_t period = 0, span = 0;
    for (std::size_t k = 1; k < at.size() && period == 0; ++k)
        if (at[k] - at[k - 1] >= shortest / 2) period = at[k] - at[0];
    if (!base.known || period < shortest || period > longest) period = -1;
    for (std::size_t k = 0; k < at.size() && period > 0; ++k)
        span = std::max(span, (at[k] - at[0]) % period);
    if (period > 0 && 2 * span > period) period = -1;
    const std::string t = scalar_type(kernel_.op(base.value).type), v = lanes_of(t);
    if (notes.period == 0) notes.period = period;
    if (notes.period != period || notes.touched.size() > 1) notes.period = -1;
    if (notes.period < 0) return;

    const std::string left =
        pure("urem {} {}, {}", v, base.first, splat(t, std::to_string(period)));
    const std::string right = pure("add {} {}, {}", v, left, splat(t, std::to_string(span)));
    widen(notes.columns, t, left, right, std::to_string(2 * longest), mask);
}

// `size` components in W lanes each (padded: the rest is of no account), element by element, lanes
// at their fixed_position.
Names FixedWriter::fixed_elements(Type type, const Names& lanes, int size) {
    const int n = padded(size);
    const std::string t = scalar_type(type);
    if (width_ == 1 || n == 1) return lanes;
    if (type == Type::f64) return interleave(t, lanes);
    // Within blocks of four lanes: a, b of one vector and c, d of another.
    const auto merge = [&](const std::string& x, const std::string& y, int a, int c, int b, int d) {
        std::vector<int> from;
        for (int block = 0; block < width_; block += 4)
            for (const int k : {a, b, c, d}) from.push_back(block + (k < 4 ? k : width_ + k - 4));
        return shuffle(t, width_, x, y, from);
    };
    const auto in_turns = [&](int x, int y, int first) {
        return merge(lanes[x], lanes[y], first, first + 1, first + 4, first + 5);
    };
    const std::string low = in_turns(0, 1, 0), high = in_turns(0, 1, 2);
    if (n == 2) return {low, high};
    if (size == 3) {  // the padding is another copy of the third
        const std::string& z = lanes[2];
        return {merge(low, z, 0, 4, 1, 4), merge(low, z, 2, 5, 3, 5), merge(high, z, 0, 6, 1, 6),
                merge(high, z, 2, 7, 3, 7)};
    }
    const std::string low2 = in_turns(2, 3, 0), high2 = in_turns(2, 3, 2);
    return {merge(low, low2, 0, 4, 1, 5), merge(low, low2, 2, 6, 3, 7),
            merge(high, high2, 0, 4, 1, 5), merge(high, high2, 2, 6, 3, 7)};
}

// Scaled terms of one row into scratch memory.
void FixedWriter::store_fixed_row(std::size_t which, std::size_t row) {
    const FixedGroup& group = plan_.fixed_groups[which];
    const Parameter& p = kernel_.parameter(group.symbol);
    const std::string t = scalar_type(p.type), v = lanes_of(t);
    const auto slots = static_cast<std::size_t>(fixed_slots(p.components));
    Variable& scratch = fixed_rows_[which].scratch;
    if (scratch.name.empty())
        scratch = variable(fmt::format("[{} x {}]", group.rows.size() * slots, v), "");
    const std::string factor = fixed_factor(group.symbol, 0);
    std::size_t at = row * slots;
    for (int g = 0; g < group_count(p.components); ++g) {
        const int size = group_size(p.components, g);
        Names lanes(static_cast<std::size_t>(padded(size)), zero(t));
        for (int c = 0; c < size; ++c) {
            const Value site = group.rows[row].sites[4 * g + c];
            if (site >= 0)
                lanes[c] = pure("fmul {} {}, {}", v, vector(kernel_.op(site).operand[1]), factor);
        }
        for (const std::string& part : fixed_elements(p.type, lanes, size))
            put("store {} {}, ptr {}", v, part,
                pure("getelementptr {}, ptr {}, i64 {}", v, scratch.name, at++));
    }
}

// Factor k of the scale, in all lanes.
std::string FixedWriter::fixed_factor(int symbol, std::size_t k) {
    const std::string t = scalar_type(kernel_.parameter(symbol).type);
    const std::string factor = invariant_load(
        "double", fixed_at(symbol, offsetof(FixedState, factor) + k * sizeof(double)));
    return splat(t, cast("fptrunc", "double", factor, t));
}

// Scales beyond the range of the type, for terms that are tiny or huge, have a second factor.
void FixedWriter::scale_again(std::size_t which) {
    const FixedGroup& group = plan_.fixed_groups[which];
    const Parameter& p = kernel_.parameter(group.symbol);
    const std::string v = lanes_of(scalar_type(p.type));
    const std::string factor = invariant_load(
        "double", fixed_at(group.symbol, offsetof(FixedState, factor) + sizeof(double)));
    when(
        pure("fcmp one double {}, 1.0", factor),
        [&] {
            const std::string lanes = fixed_factor(group.symbol, 1);
            const std::size_t count =
                group.rows.size() * static_cast<std::size_t>(fixed_slots(p.components));
            for (std::size_t k = 0; k < count; ++k) {
                const std::string at =
                    pure("getelementptr {}, ptr {}, i64 {}", v, fixed_rows_[which].scratch.name, k);
                const std::string x = let("load {}, ptr {}", v, at);
                put("store {} {}, ptr {}", v, let("fmul {} {}, {}", v, x, lanes), at);
            }
        },
        true);
}

// Keeps the largest magnitude; a block with terms that are not finite is sorted out by the host.
void FixedWriter::note_largest(std::size_t which, const std::string& mask,
                               const std::string& bits) {
    const FixedGroup& group = plan_.fixed_groups[which];
    const Type real = kernel_.parameter(group.symbol).type;
    const std::string t = bits_type(real), v = lanes_of(t);
    const Variable found = variable(v, bits);
    const std::string limit =
        splat(t, std::to_string(ir::bits_of(std::numeric_limits<double>::infinity(), real)));
    when(
        any(pure("icmp uge {} {}, {}", v, bits, limit)),
        [&] {
            if (plan_.measure)
                for (std::size_t r = 0; r < group.rows.size(); ++r) store_fixed_row(which, r);
            const std::string terms = fixed_rows_[which].scratch.name;
            const Variable elements =
                variable(fmt::format("[{} x {}]", group.rows.size(), lanes_of("i64")), "");
            for (std::size_t r = 0; r < group.rows.size(); ++r) {
                put("store {} {}, ptr {}", lanes_of("i64"), wide_index(group.rows[r].index),
                    pure("getelementptr {}, ptr {}, i64 {}", lanes_of("i64"), elements.name, r));
            }
            const std::string lanes = cast("zext", flags_type(), flags(mask), "i64");
            put("call void {}(ptr {}, ptr {}, ptr {}, i64 {}, i32 {})",
                invariant_load("ptr", fixed_at(group.symbol, offsetof(FixedState, sort_out))),
                fixed_at(group.symbol, 0), terms, elements.name, lanes, which);
            store(found, zero(t));
        },
        true);
    const Variable& largest = fixed_notes(group.symbol).largest;
    store(largest, let("{}", call(v, "umax." + suffix(v), {{v, load(largest)}, {v, load(found)}})));
}

void FixedWriter::add_fixed_lane(const FixedSites& sites, const std::string& lane, bool atomic) {
    const FixedGroup& group = sites.group;
    const std::vector<FixedBase>& bases = sites.bases;
    const Parameter& p = kernel_.parameter(group.symbol);
    const int stride = fixed_slots(p.components) * fixed_limbs(p.type);
    const std::string sums =
        invariant_load("ptr", fixed_at(group.symbol, offsetof(FixedState, sums)));
    const auto scaled = [&](const std::string& type, const std::string& x) {
        return pure("mul i64 {}, {}", cast("sext", type, x, "i64"), stride);
    };
    Names starts;
    std::vector<std::size_t> next(bases.size(), 0);
    for (const FixedBase& base : bases) {
        const std::string t = scalar_type(kernel_.op(base.value).type);
        std::string first = base.first;
        if (width_ > 1) first = let("load {}, ptr {}", t, pointer(t, base.in_memory, lane));
        starts.push_back(pointer("i64", sums, scaled(t, first)));
    }
    for (std::size_t r = 0; r < group.rows.size(); ++r) {
        const FixedBase& base = bases[sites.base_of[r]];
        const std::string t = scalar_type(kernel_.op(base.value).type);
        const std::string offset =
            pure("sub {} {}, {}", t, base.offsets[next[sites.base_of[r]]++], base.low);
        const std::string to = pointer("i64", starts[sites.base_of[r]], scaled(t, offset));
        add_fixed_element(sites, r, to, lane, atomic);
    }
}

void FixedWriter::add_fixed_element(const FixedSites& sites, std::size_t row, const std::string& to,
                                    const std::string& lane, bool atomic) {
    const Parameter& p = kernel_.parameter(sites.group.symbol);
    const std::string t = scalar_type(p.type);
    const int slots = fixed_slots(p.components);
    for (int g = 0, slot = 0; g < group_count(p.components); ++g) {
        const int size = group_size(p.components, g), n = padded(size);
        std::string position = lane;
        if (width_ >= 4 && n > 1 && p.type == Type::f32) {  // fixed_position
            const std::string block = pure("udiv i64 {}, 4", lane),
                              k = pure("urem i64 {}, 4", lane);
            if (n == 4)
                position = pure("add i64 {}, {}", pure("mul i64 {}, {}", k, width_ / 4), block);
            else
                position = pure("add i64 {}, {}",
                                pure("mul i64 {}, {}", pure("udiv i64 {}, 2", k), width_ / 2),
                                pure("add i64 {}, {}", pure("mul i64 {}, 2", block),
                                     pure("urem i64 {}, 2", k)));
        }
        const auto vector_of = [&](const std::string& x) {
            return n == 1 ? x : fmt::format("<{} x {}>", n, x);
        };
        const std::string v = vector_of(t), integers = vector_of("i64");
        const std::string start = std::to_string((row * slots + slot) * width_);
        const std::string from =
            pointer(t, pointer(t, sites.scratch, start), pure("mul i64 {}, {}", position, n));
        const std::string term = let("load {}, ptr {}, align {}", v, from, align_of(t));
        Names limbs{pure("fptosi {} {} to {}", v, term, integers)};
        if (p.type == Type::f64) {
            const std::string back = pure("sitofp {} {} to {}", integers, limbs[0], v);
            const std::string low = invariant_load(
                "double", fixed_at(sites.group.symbol, offsetof(FixedState, low_factor)));
            std::string factor = low;
            if (n > 1) {
                const std::string one = pure("insertelement {} poison, double {}, i64 0", v, low);
                factor = pure("shufflevector {} {}, {} poison, <{} x i32> zeroinitializer", v, one,
                              v, n);
            }
            const std::string rest = pure("fsub {} {}, {}", v, term, back);
            limbs.push_back(
                pure("fptosi {} {} to {}", v, pure("fmul {} {}, {}", v, rest, factor), integers));
        }
        for (std::size_t limb = 0; limb < limbs.size(); ++limb) {
            const std::string at =
                pointer("i64", to, std::to_string(limb * slots + static_cast<std::size_t>(slot)));
            for (int c = 0; atomic && c < size; ++c) {
                std::string x = limbs[limb];
                if (n > 1) x = pure("extractelement {} {}, i64 {}", integers, x, c);
                put("atomicrmw add ptr {}, i64 {} monotonic", pointer("i64", at, std::to_string(c)),
                    x);
            }
            if (atomic) continue;
            const std::string old = let("load {}, ptr {}, align 8", integers, at);
            put("store {} {}, ptr {}, align 8", integers,
                let("add {} {}, {}", integers, old, limbs[limb]), at);
        }
        slot += n;
    }
}

// Writes the notes where the host finds them, together with those of earlier calls.
void FixedWriter::finish_fixed() {
    const auto combine = [&](const char* how, const std::string& t, const std::string& x,
                             const std::string& at) {
        const std::string old = let("load {}, ptr {}", t, at);
        const std::string most =
            let("{}", call(t, fmt::format("{}.{}", how, t), {{t, old}, {t, x}}));
        put("store {} {}, ptr {}", t, most, at);
    };
    const auto reduced = [&](const char* how, const Variable& v, const std::string& t) {
        std::string all = load(v);
        if (width_ == 1) return all;
        return let("{}", call(t, fmt::format("vector.reduce.{}.{}", how, suffix(v.type)),
                              {{v.type, all}}));
    };
    for (const auto& [symbol, notes] : fixed_notes_) {
        const std::string t = bits_type(kernel_.parameter(symbol).type);
        combine("umax", "i64", cast("zext", t, reduced("umax", notes.largest, t), "i64"),
                fixed_at(symbol, offsetof(FixedState, largest)));
        for (const auto& [type, touched] : notes.touched) {
            combine("smin", "i64", cast("sext", type, reduced("smin", touched.lowest, type), "i64"),
                    fixed_at(symbol, offsetof(FixedState, lowest)));
            combine("smax", "i64",
                    cast("sext", type, reduced("smax", touched.highest, type), "i64"),
                    fixed_at(symbol, offsetof(FixedState, highest)));
        }
        if (notes.period <= 0) continue;
        const std::string type = notes.touched.begin()->first;
        put("store i32 {}, ptr {}", notes.period, fixed_at(symbol, offsetof(FixedState, period)));
        combine("smin", "i32",
                cast("trunc", type, reduced("smin", notes.columns.lowest, type), "i32"),
                fixed_at(symbol, offsetof(FixedState, leftmost)));
        combine("smax", "i32",
                cast("trunc", type, reduced("smax", notes.columns.highest, type), "i32"),
                fixed_at(symbol, offsetof(FixedState, rightmost)));
    }
}

}  // namespace hindcast::backend::cpu
