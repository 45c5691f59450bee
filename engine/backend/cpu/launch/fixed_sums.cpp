#include "engine/backend/cpu/launch/fixed_sums.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/backend/cpu/launch/deferred_work.hpp"
#include "engine/backend/cpu/launch/fixed_totals.hpp"
#include "engine/backend/plan/work_split.hpp"
#include "engine/base/thread_pool.hpp"

namespace hindcast::backend::cpu {

namespace {

// Only what is another is written.
template <class T>
void change(T& variable, T value) {
    if (variable != value) variable = value;
}

ActiveRange touched_by(const FixedState& state) {
    ActiveRange all{state.lowest, state.highest + 1};
    if (state.period > 0 && state.rightmost < state.period)
        all.columns = {state.period, state.leftmost, state.rightmost + 1};
    return all;
}

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

}  // namespace

FixedPointSums::FixedPointSums(const Plan& plan) : plan_(plan) {
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

void FixedPointSums::prepare(const Binding* bindings, std::int64_t items, ThreadPool* pool) {
    ++run_;
    change(used_, pool != nullptr ? static_cast<std::size_t>(pool->threads()) : 1);
    change(measuring_, false);
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
        change(t.shared, used_ > 1 && static_cast<double>(elements) > private_elements * terms);
        const auto size = static_cast<std::size_t>(elements * t.stride);
        for (std::size_t s = 0; s < used_; ++s) {
            Slot& slot = *slots_[s];
            if (!plan_.measure && (s == 0 || !t.shared) && slot.sums[k].size() < size)
                slot.sums[k] = AlignedBuffer<std::int64_t>(size);
            change(slot.states[k].sums, slots_[t.shared ? 0 : s]->sums[k].data());
            change(slot.states[k].shared, std::int64_t{t.shared});
        }
        apply_scale(k);
    }
}

// A thread's notes of this run; nullptr: it had no task.
FixedState* FixedPointSums::noted(std::size_t slot, std::size_t k) const {
    FixedState& state = slots_[slot]->states[k];
    return state.run == run_ ? &state : nullptr;
}

void FixedPointSums::apply_scale(std::size_t k) {
    const FixedScale& scale = targets_[k].scale;
    // One factor where the type has it.
    const int most = targets_[k].type == ir::Type::f64 ? 1000 : 120;
    const int first = std::clamp(scale.high_bits, -most, most);
    for (std::size_t s = 0; s < used_; ++s) {
        FixedState& state = slots_[s]->states[k];
        change(state.factor[0], measuring_ ? 1 : std::ldexp(1.0, first));
        change(state.factor[1], measuring_ ? 1 : std::ldexp(1.0, scale.high_bits - first));
        change(state.low_factor, std::ldexp(1.0, scale.low_bits));
    }
}

void FixedPointSums::start_measuring() {
    measuring_ = true;
    for (std::size_t k = 0; k < targets_.size(); ++k) apply_scale(k);
}

Scales FixedPointSums::check(std::int64_t items) {
    Scales result = Scales::right;
    for (std::size_t k = 0; k < targets_.size(); ++k) {
        Target& t = targets_[k];
        double largest = 0;
        std::int64_t terms = 0;
        bool non_finite = false;
        for (std::size_t s = 0; s < used_; ++s) {
            const FixedState* const state = noted(s, k);
            if (state == nullptr) continue;
            largest = std::max({largest, largest_term(*state, t.type), state->largest_finite});
            terms += state->terms;
            non_finite |= state->non_finite;
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

bool FixedPointSums::copy_scales(const FixedPointSums& measured) {
    bool changed = false;
    for (std::size_t k = 0; k < targets_.size(); ++k) {
        changed |= !(targets_[k].scale == measured.targets_[k].scale);
        targets_[k].scale = measured.targets_[k].scale;
        apply_scale(k);
    }
    return changed;
}

void FixedPointSums::clear() {
    for (std::size_t s = 0; s < used_; ++s)
        for (std::size_t k = 0; k < targets_.size(); ++k) {
            const FixedState* const state = noted(s, k);
            const int stride = targets_[k].stride;
            if (state != nullptr && state->highest >= state->lowest)
                std::fill(state->sums + state->lowest * stride,
                          state->sums + (state->highest + 1) * stride, 0);
        }
    ++run_;
    measuring_ = false;
    for (std::size_t k = 0; k < targets_.size(); ++k) apply_scale(k);
}

// Terms that are not finite, merged per component; the component's finite sums are cleared.
std::vector<FixedState::Found> FixedPointSums::take_non_finite(std::size_t k) {
    std::vector<FixedState::Found> all;
    for (std::size_t s = 0; s < used_; ++s)
        if (const FixedState* const state = noted(s, k); state != nullptr)
            all.insert(all.end(), state->found.begin(), state->found.end());
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

void FixedPointSums::add_range(std::size_t k, std::int64_t begin, std::int64_t end) {
    const Target& t = targets_[k];
    const Binding& b = t.to;
    constexpr std::size_t most = 1024;
    std::int64_t* sources[most];
    std::size_t count = 0;
    for (const Target::Source& source : t.sources)
        if (source.touched.end > begin && source.touched.begin < end)
            sources[count++] = source.sums;
    if (count == 0 && !t.defines) return;
    if (t.defines && count == 0 && b.component_stride == 1 && b.element_stride == t.components) {
        const std::size_t bytes = ir::size_of(t.type) * static_cast<std::size_t>(t.components);
        std::memset(static_cast<char*>(b.data) + static_cast<std::size_t>(begin) * bytes, 0,
                    static_cast<std::size_t>(end - begin) * bytes);
        return;
    }
    TotalsTarget to{b, t.scale, t.type, t.components, 0, t.stride, t.slots, t.defines};
    for (; to.group < group_count(t.components); ++to.group) {
        add_totals(to, {sources, count}, begin, end);
        const int slots = padded(group_size(t.components, to.group));
        for (std::size_t n = 0; n < count; ++n) sources[n] += slots;
    }
}

// Returns what was touched.
ActiveRange FixedPointSums::find_sources(std::size_t k) {
    Target& t = targets_[k];
    ActiveRange touched;
    std::size_t count = 0;
    const auto set = [&](std::size_t n, std::int64_t* sums, const ActiveRange& elements) {
        if (t.sources.size() <= n) t.sources.resize(n + 1);
        Target::Source& source = t.sources[n];
        change(source.sums, sums);
        change(source.touched.begin, elements.begin);
        change(source.touched.end, elements.end);  // columns are those of the pass
    };
    for (std::size_t s = 0; s < used_; ++s) {
        const FixedState* const state = noted(s, k);
        if (state == nullptr || state->highest < state->lowest) continue;
        const ActiveRange elements = touched_by(*state);
        touched = hull(touched, elements);
        if (!t.shared) set(count++, state->sums, elements);
    }
    if (t.shared && touched.begin < touched.end)
        set(count++, slots_.front()->states[k].sums, touched);
    if (t.sources.size() > count) t.sources.resize(count);
    constexpr double most = 0.75;  // of a row: with more it is not worth while
    ActiveRange::Columns& columns = touched.columns;
    if (columns.end - columns.begin > most * columns.period) columns = {};
    return touched;
}

void FixedPointSums::add(const Binding* bindings, DeferredWork& deferred,
                         std::vector<FactUpdate>* learned) {
    for (std::size_t k = 0; k < targets_.size(); ++k) {
        Target& t = targets_[k];
        const Binding& b = bindings[t.symbol];
        const ActiveRange touched = find_sources(k);
        std::vector<FixedState::Found> non_finite;
        for (std::size_t s = 0; s < used_ && non_finite.empty(); ++s)
            if (const FixedState* const state = noted(s, k); state != nullptr && state->non_finite)
                non_finite = take_non_finite(k);
        if (b.occupied != nullptr) *b.occupied = touched;
        // Each thread gets an equal part of what was touched: near the elements that its own items
        // add to, where items that are near each other have such targets. The others become 0, if
        // they are not.
        const bool idle = b.contents != nullptr && b.contents->is_idle();
        ActiveRange changed = touched;
        if (t.defines) changed = hull(touched, idle ? b.contents->busy : ActiveRange{0, b.count});
        if (!t.to.is_same(b)) t.to = b;             // other threads have it in their caches
        constexpr double work = short_work / 1024;  // of a slot
        deferred.add({.count = b.count,
                      .range = changed,
                      .occupied = touched,
                      .work = work * static_cast<double>((changed.end - changed.begin) * t.slots),
                      .written = {&b.contents, 1},
                      .read_elsewhere = {}},
                     [this, k](std::int64_t from, std::int64_t to) { add_range(k, from, to); });
        if (b.contents == nullptr || !non_finite.empty()) deferred.run();
        if (learned != nullptr && (t.defines || idle) && !plan_.shares_buffer(t.symbol))
            learned->push_back({t.symbol, t.defines ? touched : hull(touched, b.contents->busy)});
        for (const FixedState::Found& f : non_finite) {
            const std::int64_t at = f.element * b.element_stride + f.component * b.component_stride;
            if (t.type == ir::Type::f64)
                static_cast<double*>(b.data)[at] += non_finite_sum(f.kind);
            else
                static_cast<float*>(b.data)[at] += static_cast<float>(non_finite_sum(f.kind));
        }
    }
}

FixedPointSums::Slot* FixedPointSums::acquire(std::int64_t task, std::int64_t tasks,
                                              std::uint64_t run) {
    // The one that had these items in the launch before, if it is free.
    const auto wanted = static_cast<std::size_t>(task) * used_ / static_cast<std::size_t>(tasks);
    for (std::size_t k = 0;; ++k) {
        Slot& slot = *slots_[(wanted + k) % used_];
        if (slot.taken.exchange(true, std::memory_order_acquire)) continue;
        for (FixedState& state : slot.states)
            if (state.run != run) state.forget(run);
        return &slot;
    }
}

void FixedPointSums::release(Slot* slot) { slot->taken.store(false, std::memory_order_release); }

}  // namespace hindcast::backend::cpu
