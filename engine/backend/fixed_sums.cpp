#include "engine/backend/fixed_sums.hpp"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/backend/split.hpp"

namespace hindcast::backend::cpu {

namespace {

double largest_term(const FixedState& state, ir::Type type) {
    return ir::real_of(state.largest, type);
}

// Takes terms that are not finite out of a block, and notes them and the largest finite one.
template <class T>
void sort_out_terms(FixedState& state, const FixedGroup& group, T* terms,
                    const std::int64_t* elements, std::uint64_t lanes) {
    const ir::Parameter& p = state.plan->kernel.parameter(group.symbol);
    const int width = state.plan->width;
    state.non_finite = true;
    for (std::size_t r = 0; r < group.rows.size(); ++r) {
        T* at = terms + r * static_cast<std::size_t>(fixed_slots(p.components) * width);
        for (int g = 0; g < group_count(p.components); ++g) {
            const int size = group_size(p.components, g), n = padded(size);
            for (int l = 0; l < width; ++l)
                for (int c = 0; c < size; ++c) {
                    if (((lanes >> l) & 1) == 0 || group.rows[r].sites[4 * g + c] < 0) continue;
                    T& term = at[fixed_position(l, width, n, p.type) * n + c];
                    if (const unsigned kind = non_finite_kind(term); kind != 0) {
                        state.found.push_back({elements[r * width + l], 4 * g + c, kind});
                        term = 0;
                    } else {
                        state.largest_finite =
                            std::max(state.largest_finite, std::abs(static_cast<double>(term)));
                    }
                }
            at += n * width;
        }
    }
}

void sort_out(FixedState* state, void* terms, const std::int64_t* elements, std::uint64_t lanes,
              std::int32_t which) {
    const FixedGroup& group = state->plan->fixed_groups[which];
    if (state->plan->kernel.parameter(group.symbol).type == ir::Type::f64)
        sort_out_terms(*state, group, static_cast<double*>(terms), elements, lanes);
    else
        sort_out_terms(*state, group, static_cast<float*>(terms), elements, lanes);
}

typedef std::int64_t Integers __attribute__((vector_size(32)));
typedef std::uint64_t Words __attribute__((vector_size(32)));
typedef double Doubles __attribute__((vector_size(32)));
typedef float Floats __attribute__((vector_size(16)));

// Rounded to nearest. Both halves are exact: as mantissas of 2^52 and of 2^84, the upper one with
// 2^31 added to make it positive; the sum rounds once.
Doubles to_doubles(Integers x) {
    const Words low = ((Words)x & 0xffffffffu) | 0x4330000000000000u;
    const Words high = (((Words)x >> 32) ^ 0x80000000u) | 0x4530000000000000u;
    return ((Doubles)high - (0x1p84 + 0x1p63)) + ((Doubles)low - 0x1p52);
}

struct Source {
    std::int64_t *sums, lowest, highest;
};

bool is_zero(Integers total) { return _mm256_testz_si256((__m256i)total, (__m256i)total) != 0; }

// Totals of N adjacent sums, which are cleared. Many between the lowest and the highest element
// touched are zero: points touch parts of the rows of a grid.
template <int N>
Integers take_totals(const Source* sources, std::size_t count, std::int64_t at) {
    constexpr std::size_t bytes = N * sizeof(std::int64_t);
    Integers total{};
    for (std::size_t s = 0; s < count; ++s) {
        Integers part{};
        std::memcpy(&part, sources[s].sums + at, bytes);
        if (is_zero(part)) continue;
        total += part;
        std::memset(sources[s].sums + at, 0, bytes);
    }
    return total;
}

template <int N>
void store(Floats value, float* to) {
    if (N == 3) {  // a copy of 12 bytes would go through memory
        _mm_storel_pi(reinterpret_cast<__m64*>(to), value);
        _mm_store_ss(to + 2, _mm_movehl_ps(value, value));
    } else {
        std::memcpy(to, &value, N * sizeof(float));
    }
}

// Adds N values (or stores them) to adjacent numbers. A value of zero changes nothing.
template <int N>
void add_values(Integers total, double unit, bool defines, float* to) {
    if (is_zero(total)) {
        if (defines) std::memset(to, 0, N * sizeof(float));
        return;
    }
    Floats value = __builtin_convertvector(to_doubles(total) * unit, Floats) + 0.0f;
    if (!defines) {
        Floats old{};
        std::memcpy(&old, to, N * sizeof(float));
        value = value != 0 ? old + value : old;
    }
    store<N>(value, to);
}

// N components in f32 of elements begin .. end-1: sums up all sources, clears them, and adds the
// values to the target.
template <int N>
void add_group(const Source* sources, std::size_t count, int stride, double unit, bool defines,
               float* target, const Binding& b, std::int64_t begin, std::int64_t end) {
    std::int64_t e = begin;
    if (N < 3 && stride == N && b.element_stride == N && b.component_stride == 1)
        for (constexpr int step = 4 / N; e + step <= end; e += step)
            add_values<4>(take_totals<4>(sources, count, e * N), unit, defines, target + e * N);
    for (; e < end; ++e) {
        const Integers total = take_totals<padded(N)>(sources, count, e * stride);
        float* to = target + e * b.element_stride;
        if (b.component_stride == 1) {
            add_values<N>(total, unit, defines, to);
        } else if (defines || !is_zero(total)) {
            float values[4] = {};
            add_values<4>(total, unit, true, values);
            for (int c = 0; c < N; ++c) {
                float& x = to[c * b.component_stride];
                if (defines)
                    x = values[c];
                else if (values[c] != 0)
                    x += values[c];
            }
        }
    }
}

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

// The double nearest to an integer, ties to even: its upper 64 bits, of which the last one is set
// where a bit was cut off, round as the whole does.
double nearest(Wide x) {
    const bool negative = x < 0;
    const UnsignedWide magnitude =
        negative ? -static_cast<UnsignedWide>(x) : static_cast<UnsignedWide>(x);
    const int cut = 64 - std::countl_zero(static_cast<std::uint64_t>(magnitude >> 64));
    auto upper = static_cast<std::uint64_t>(magnitude >> cut);
    upper |= (magnitude & ((UnsignedWide{1} << cut) - 1)) != 0 ? 1 : 0;
    const double value = static_cast<double>(upper) *
                         std::bit_cast<double>(static_cast<std::uint64_t>(1023 + cut) << 52);
    return negative ? -value : value;
}

// fixed_value() in f64, with the factor ready. Where it may be subnormal, fixed_value() itself.
struct WideValue {
    explicit WideValue(const FixedScale& s)
        : scale(s),
          normal(std::abs(s.high_bits + s.low_bits) <= 1000),
          unit(normal ? std::ldexp(1.0, -s.high_bits - s.low_bits) : 0) {}
    double operator()(std::int64_t high, std::int64_t low) const {
        if (!normal) return fixed_value(high, low, scale, ir::Type::f64);
        return nearest((static_cast<Wide>(high) << scale.low_bits) + low) * unit;
    }
    FixedScale scale;
    bool normal;
    double unit;
};

// As add_group, in f64: low limbs stand `limb` sums behind the high ones.
template <int N>
void add_wide_group(const Source* sources, std::size_t count, int stride, int limb,
                    const WideValue& value, bool defines, double* target, const Binding& b,
                    std::int64_t begin, std::int64_t end) {
    for (std::int64_t e = begin; e < end; ++e) {
        const Integers high = take_totals<padded(N)>(sources, count, e * stride);
        const Integers low = take_totals<padded(N)>(sources, count, e * stride + limb);
        const bool zero = is_zero(high | low);
        if (zero && !defines) continue;
        double* const to = target + e * b.element_stride;
        for (int c = 0; c < N; ++c) {
            const double x = zero ? 0 : value(high[c], low[c]);
            if (defines)
                to[c * b.component_stride] = x + 0.0;  // no -0
            else if (x != 0)
                to[c * b.component_stride] += x;
        }
    }
}

}  // namespace

int fixed_slots(int components) {
    int slots = 0;
    for (int g = 0; g < group_count(components); ++g) slots += padded(group_size(components, g));
    return slots;
}

int fixed_position(int lane, int width, int n, ir::Type type) {
    if (type == ir::Type::f64 || n == 1 || width < 4) return lane;
    if (n == 2) return lane % 4 / 2 * (width / 2) + lane / 4 * 2 + lane % 2;
    return lane % 4 * (width / 4) + lane / 4;
}

FixedSums::FixedSums(const Plan& plan) : plan_(plan) {
    for (const int p : plan.fixed_symbols) {
        const ir::Parameter& parameter = plan.kernel.parameter(p);
        Target t;
        t.symbol = p;
        t.components = parameter.components;
        t.type = parameter.type;
        t.slots = fixed_slots(t.components);
        t.stride = t.slots * fixed_limbs(t.type);
        t.defines = parameter.access == ir::Access::sum && !plan.shares_buffer(p);
        targets_.push_back(t);
    }
}

void FixedSums::prepare(const Binding* bindings, std::int64_t items, ThreadPool* pool) {
    used_ = pool != nullptr ? static_cast<std::size_t>(pool->threads()) : 1;
    while (slots_.size() < used_) {
        slots_.push_back(std::make_unique<Slot>());
        Slot& slot = *slots_.back();
        slot.states.resize(targets_.size());
        slot.sums.resize(targets_.size());
        for (FixedState& state : slot.states) {
            state.plan = &plan_;
            state.sort_out = sort_out;
        }
    }
    for (std::size_t k = 0; k < targets_.size(); ++k) {
        Target& t = targets_[k];
        const std::int64_t elements = bindings[t.symbol].count;
        const double terms = static_cast<double>(items) * plan_.fixed[t.symbol].sites;
        t.shared = used_ > 1 && static_cast<double>(elements) > private_elements * terms;
        const auto size = static_cast<std::size_t>(elements * t.stride);
        for (std::size_t s = 0; s < used_; ++s) {
            Slot& slot = *slots_[s];
            if (!plan_.measure && (s == 0 || !t.shared) && slot.sums[k].size() < size)
                slot.sums[k] = AlignedBuffer<std::int64_t>(size);
            slot.states[k].sums = slots_[t.shared ? 0 : s]->sums[k].data();
            slot.states[k].shared = t.shared;
        }
        measuring_ = false;
        apply_scale(k);
    }
}

void FixedSums::apply_scale(std::size_t k) {
    const FixedScale& scale = targets_[k].scale;
    // One factor where the type has it.
    const int most = targets_[k].type == ir::Type::f64 ? 1000 : 120;
    const int first = std::clamp(scale.high_bits, -most, most);
    for (std::size_t s = 0; s < used_; ++s) {
        FixedState& state = slots_[s]->states[k];
        state.factor[0] = measuring_ ? 1 : std::ldexp(1.0, first);
        state.factor[1] = measuring_ ? 1 : std::ldexp(1.0, scale.high_bits - first);
        state.low_factor = std::ldexp(1.0, scale.low_bits);
    }
}

void FixedSums::start_measuring() {
    measuring_ = true;
    for (std::size_t k = 0; k < targets_.size(); ++k) apply_scale(k);
}

Scales FixedSums::check(std::int64_t items) {
    Scales result = Scales::right;
    for (std::size_t k = 0; k < targets_.size(); ++k) {
        Target& t = targets_[k];
        double largest = 0;
        std::int64_t terms = 0;
        bool non_finite = false;
        for (std::size_t s = 0; s < used_; ++s) {
            const FixedState& state = slots_[s]->states[k];
            largest = std::max({largest, largest_term(state, t.type), state.largest_finite});
            terms += state.terms;
            non_finite |= state.non_finite;
        }
        if (non_finite && !measuring_) return Scales::unknown;
        if (largest == 0) continue;  // any scale is right
        if (!plan_.fixed[t.symbol].counted) terms = items * plan_.fixed[t.symbol].sites;
        const FixedScale scale = fixed_scale(largest, terms);
        if (scale == t.scale) continue;
        t.scale = scale;
        result = Scales::changed;
    }
    return result;
}

bool FixedSums::copy_scales(const FixedSums& measured) {
    bool changed = false;
    for (std::size_t k = 0; k < targets_.size(); ++k) {
        changed |= !(targets_[k].scale == measured.targets_[k].scale);
        targets_[k].scale = measured.targets_[k].scale;
        apply_scale(k);
    }
    return changed;
}

void FixedSums::clear() {
    measuring_ = false;
    for (std::size_t s = 0; s < used_; ++s)
        for (std::size_t k = 0; k < targets_.size(); ++k) {
            FixedState& state = slots_[s]->states[k];
            const int stride = targets_[k].stride;
            if (state.highest >= state.lowest)
                std::fill(state.sums + state.lowest * stride,
                          state.sums + (state.highest + 1) * stride, 0);
            state.lowest = INT64_MAX;
            state.highest = -1;
            state.largest = 0;
            state.terms = 0;
            state.largest_finite = 0;
            state.non_finite = false;
            state.found.clear();
            apply_scale(k);
        }
}

// Where a component received terms that are not finite, the finite ones do not count.
std::vector<FixedState::Found> FixedSums::take_non_finite(std::size_t k) {
    std::vector<FixedState::Found> all;
    for (std::size_t s = 0; s < used_; ++s) {
        const auto& found = slots_[s]->states[k].found;
        all.insert(all.end(), found.begin(), found.end());
    }
    const auto place = [](const FixedState::Found& f) { return std::pair(f.element, f.component); };
    std::sort(all.begin(), all.end(),
              [&](const auto& a, const auto& c) { return place(a) < place(c); });
    std::vector<FixedState::Found> merged;
    const Target& t = targets_[k];
    for (const FixedState::Found& f : all) {
        if (!merged.empty() && place(merged.back()) == place(f)) {
            merged.back().kind |= f.kind;
            continue;
        }
        merged.push_back(f);
        for (std::size_t s = 0; s < used_; ++s)
            for (int limb = 0; limb < fixed_limbs(t.type); ++limb)
                slots_[s]->states[k].sums[f.element * t.stride +
                                          static_cast<std::int64_t>(limb) * t.slots + f.component] =
                    0;
    }
    return merged;
}

void FixedSums::add_range(std::size_t k, const Binding& b, std::int64_t begin, std::int64_t end) {
    const Target& t = targets_[k];
    constexpr std::size_t most = 1024;
    Source sources[most];
    std::size_t count = 0;
    for (std::size_t s = 0; s < used_; ++s) {
        const FixedState& state = slots_[s]->states[k];
        if (state.highest < begin || state.lowest >= end) continue;
        if (t.shared && count > 0) {
            sources[0].lowest = std::min(sources[0].lowest, state.lowest);
            sources[0].highest = std::max(sources[0].highest, state.highest);
        } else {
            sources[count++] = {state.sums, state.lowest, state.highest};
        }
    }
    if (count == 0 && !t.defines) return;
    if (t.defines && count == 0 && b.component_stride == 1 && b.element_stride == t.components) {
        const std::size_t bytes = ir::size_of(t.type) * static_cast<std::size_t>(t.components);
        std::memset(static_cast<char*>(b.data) + static_cast<std::size_t>(begin) * bytes, 0,
                    static_cast<std::size_t>(end - begin) * bytes);
        return;
    }
    const bool wide = t.type == ir::Type::f64;
    const double unit = wide ? 0 : std::ldexp(1.0, -t.scale.high_bits);
    const WideValue value(t.scale);
    for (int g = 0; g < group_count(t.components); ++g) {
        const std::int64_t first = 4 * b.component_stride * g;
        const int size = group_size(t.components, g);
        if (wide) {
            const auto add = size == 1   ? add_wide_group<1>
                             : size == 2 ? add_wide_group<2>
                             : size == 3 ? add_wide_group<3>
                                         : add_wide_group<4>;
            add(sources, count, t.stride, t.slots, value, t.defines,
                static_cast<double*>(b.data) + first, b, begin, end);
        } else {
            const auto add = size == 1   ? add_group<1>
                             : size == 2 ? add_group<2>
                             : size == 3 ? add_group<3>
                                         : add_group<4>;
            add(sources, count, t.stride, unit, t.defines, static_cast<float*>(b.data) + first, b,
                begin, end);
        }
        for (std::size_t s = 0; s < count; ++s) sources[s].sums += padded(size);
    }
}

void FixedSums::add(const Binding* bindings, ThreadPool* pool) {
    for (std::size_t k = 0; k < targets_.size(); ++k) {
        const Target& t = targets_[k];
        const Binding& b = bindings[t.symbol];
        std::int64_t first = b.count, end = 0;  // what was touched
        std::vector<FixedState::Found> non_finite;
        for (std::size_t s = 0; s < used_ && non_finite.empty(); ++s)
            if (slots_[s]->states[k].non_finite) non_finite = take_non_finite(k);
        for (std::size_t s = 0; s < used_; ++s) {
            const FixedState& state = slots_[s]->states[k];
            first = std::min(first, state.lowest);
            end = std::max(end, state.highest + 1);
        }
        if (end <= first && !t.defines) continue;
        if (end <= first) first = end = 0;
        // Each thread gets an equal part of what was touched: near the elements that its own items
        // add to, where items that are near each other have such targets. The others become 0.
        const std::int64_t size = end - first;
        const Cut touched(pool, size, 128), others(pool, t.defines ? b.count - size : 0, 1024);
        const auto part = [&](int task) {
            if (task < touched.tasks() && size > 0)
                add_range(k, b, first + touched.begin(task), first + touched.begin(task + 1));
            if (task >= others.tasks()) return;
            const std::int64_t from = others.begin(task), to = others.begin(task + 1);
            if (from < std::min(to, first)) add_range(k, b, from, std::min(to, first));
            if (std::max(from, first) < to)
                add_range(k, b, std::max(from, first) + size, to + size);
        };
        const auto tasks = static_cast<int>(std::max(touched.tasks(), others.tasks()));
        if (pool == nullptr || tasks == 1)
            part(0);
        else
            pool->run(tasks, part);
        for (const FixedState::Found& f : non_finite) {
            const std::int64_t at = f.element * b.element_stride + f.component * b.component_stride;
            if (t.type == ir::Type::f64)
                static_cast<double*>(b.data)[at] += non_finite_sum(f.kind);
            else
                static_cast<float*>(b.data)[at] += static_cast<float>(non_finite_sum(f.kind));
        }
        for (std::size_t s = 0; s < used_; ++s) {  // the sums are clear now
            slots_[s]->states[k].lowest = INT64_MAX;
            slots_[s]->states[k].highest = -1;
        }
    }
    clear();
}

FixedState* FixedSums::acquire(std::int64_t task, std::int64_t tasks) {
    // The one that had these items in the launch before, if it is free.
    const auto wanted = static_cast<std::size_t>(task) * used_ / static_cast<std::size_t>(tasks);
    for (std::size_t k = 0;; ++k) {
        Slot& slot = *slots_[(wanted + k) % used_];
        if (!slot.taken.exchange(true, std::memory_order_acquire)) return slot.states.data();
    }
}

void FixedSums::release(const FixedState* states) {
    for (const auto& slot : slots_)
        if (slot->states.data() == states) slot->taken.store(false, std::memory_order_release);
}

}  // namespace hindcast::backend::cpu
