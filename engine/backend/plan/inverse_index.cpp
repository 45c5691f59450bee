#include "engine/backend/plan/inverse_index.hpp"

#include <algorithm>
#include <cstring>

#include "engine/backend/binding.hpp"

namespace hindcast::backend {

namespace {

constexpr std::size_t kept_inverses = 16;

void make_room(AlignedBuffer<std::uint32_t>& buffer, std::size_t count) {
    if (buffer.size() < count) buffer = AlignedBuffer<std::uint32_t>(count);
}

}  // namespace

InverseIndex::InverseIndex(const Plan& plan, int symbol)
    : plan_(plan),
      symbol_(symbol),
      clear_(plan.kernel.parameter(symbol).access == ir::Access::sum),
      indices_(plan.kernel) {
    for (const Row& row : plan.rows[symbol]) indices_.add(row.index);
}

void InverseIndex::read_key(const Binding* bindings, std::int64_t items) {
    key_.clear();
    passing_.clear();
    key_.push_back(static_cast<std::uint64_t>(items));
    key_.push_back(static_cast<std::uint64_t>(bindings[symbol_].count));
    indices_.append_key(bindings, key_, passing_);
}

void InverseIndex::prepare(const Binding* bindings, std::int64_t items) {
    read_key(bindings, items);
    const auto found = std::find_if(known_.begin(), known_.end(),
                                    [&](const auto& inverse) { return inverse->key == key_; });
    if (found != known_.end()) {
        std::rotate(known_.begin(), found, found + 1);
        return;
    }
    std::unique_ptr<Inverse> inverse;
    const auto outdated = std::find_if(known_.begin(), known_.end(),
                                       [&](const auto& known) { return outdates(known->key); });
    if (outdated != known_.end()) {
        inverse = std::move(*outdated);
        known_.erase(outdated);
        inverse->attachment.reset();
    } else {
        inverse = std::make_unique<Inverse>();
    }
    inverse->key = key_;
    invert(bindings, items, *inverse);
    known_.insert(known_.begin(), std::move(inverse));
    if (known_.size() > kept_inverses) known_.pop_back();
}

// True if no launch from this one on, whose inverse is not known, can need the inverse of `key`.
bool InverseIndex::outdates(const std::vector<std::uint64_t>& key) const {
    if (passing_.empty() || key.size() != key_.size()) return false;
    for (std::size_t k = 0, p = 0; k < key.size(); ++k)
        if (p < passing_.size() && passing_[p] == k)
            ++p;
        else if (key[k] != key_[k])
            return false;
    return true;
}

std::size_t InverseIndex::bytes() const {
    std::size_t sum = 0;
    for (const auto& inverse : known_)
        sum += (inverse->first.size() + inverse->entries.size() + inverse->slots.size() +
                inverse->padded_entries.size()) *
               sizeof(std::uint32_t);
    return sum;
}

void InverseIndex::invert(const Binding* bindings, std::int64_t items, Inverse& inverse) const {
    const std::vector<Row>& rows = plan_.rows[symbol_];
    const std::int64_t stride = scratch_items(items), targets = bindings[symbol_].count;
    const auto row_count = static_cast<std::int64_t>(rows.size());
    if (stride * row_count >= std::int64_t{1} << 32)
        throw Error("a launch of " + std::to_string(items) + " items accumulates too many terms")
            .in_kernel(plan_.kernel.name)
            .remedy("split the launch");
    // Two passes over all terms: count per target, then place. The indices are kept in between.
    std::vector<std::int32_t> index(items * row_count);
    make_room(inverse.first, targets + 2);
    std::fill_n(inverse.first.data(), targets + 2, 0);
    std::uint32_t* count = inverse.first.data() + 2;
    StaticValues::Evaluator evaluator(indices_, bindings);
    std::size_t terms = 0, k = 0;
    for (std::int64_t begin = 0; begin < items; begin += StaticValues::Evaluator::block) {
        const std::int64_t n = std::min(items - begin, StaticValues::Evaluator::block);
        evaluator.run(begin, n);
        for (std::int64_t i = 0; i < n; ++i)
            for (const Row& row : rows) {
                const std::int64_t t = evaluator.integer(row.index, i);
                const bool valid = t >= 0 && t < targets;
                index[k++] = valid ? static_cast<std::int32_t>(t) : -1;
                if (valid) ++count[t];
                terms += valid;
            }
    }
    // first[t + 1] becomes the place of the next entry of t, and in the end the first of t + 1.
    std::uint32_t* next = inverse.first.data() + 1;
    for (std::int64_t t = 1; t < targets; ++t) next[t] += next[t - 1];
    make_room(inverse.entries, terms);
    k = 0;
    for (std::int64_t i = 0; i < items; ++i)
        for (std::int64_t r = 0; r < row_count; ++r) {
            const std::int32_t t = index[k++];
            if (t >= 0) inverse.entries[next[t]++] = static_cast<std::uint32_t>(r * stride + i);
        }
    pad(targets, stride * row_count, inverse);
}

void InverseIndex::pad(std::int64_t targets, std::int64_t no_term, Inverse& inverse) const {
    inverse.padded = false;
    constexpr std::int64_t enough = 64;      // targets: with fewer it does not matter
    constexpr std::size_t most_padding = 2;  // slots for each entry
    if (targets < enough) return;
    const std::uint32_t* const first = inverse.first.data();
    const std::int64_t blocks = targets / together;
    AlignedBuffer<std::uint32_t>& slots = inverse.slots;
    make_room(slots, blocks + 1);
    slots[0] = 0;
    for (std::int64_t block = 0; block < blocks; ++block) {
        std::uint32_t longest = 0;
        for (std::int64_t t = block * together; t < (block + 1) * together; ++t)
            longest = std::max(longest, first[t + 1] - first[t]);
        slots[block + 1] = slots[block] + longest;
    }
    const std::size_t cells = std::size_t{slots[blocks]} * together;
    if (no_term > UINT32_MAX || cells > most_padding * first[targets]) return;
    AlignedBuffer<std::uint32_t>& padded = inverse.padded_entries;
    make_room(padded, cells);
    std::fill_n(padded.data(), cells, static_cast<std::uint32_t>(no_term));
    for (std::int64_t t = 0; t < blocks * together; ++t)
        for (std::uint32_t e = first[t]; e < first[t + 1]; ++e)
            padded[std::size_t{slots[t / together] + e - first[t]} * together + t % together] =
                inverse.entries[e];
    inverse.padded = true;
}

// `targets` sums of N components of T, each added lane by lane: their k-th entries stand side by
// side. In scratch memory the components are padded; those of a target lie `plane` apart.
template <class T, int N, int targets>
void InverseIndex::add_up(T* const* to, std::int64_t plane, const T* terms,
                          const std::uint32_t* entry, const std::uint32_t* stop) const {
    constexpr int lanes = N == 1 ? 2 : padded(N);  // GCC has no vectors of one
    typedef T V __attribute__((vector_size(sizeof(T) * lanes)));
    V sum[targets] = {};
    if (!clear_) {  // unrolled, or the components would take the way through memory
#pragma GCC unroll 4
        for (int k = 0; k < targets; ++k)
#pragma GCC unroll 4
            for (int c = 0; c < N; ++c) sum[k][c] = to[k][c * plane];
    }
    for (; entry != stop; entry += targets) {
#pragma GCC unroll 4
        for (int k = 0; k < targets; ++k) {
            V term{};
            const T* const from = terms + std::size_t{entry[k]} * padded(N);
            if constexpr (N == 1)
                term[0] = *from;
            else
                std::memcpy(&term, from, sizeof term);
            sum[k] += term;
        }
    }
#pragma GCC unroll 4
    for (int k = 0; k < targets; ++k)
#pragma GCC unroll 4
        for (int c = 0; c < N; ++c) to[k][c * plane] = sum[k][c];
}

template <class T, int N>
void InverseIndex::run_group(const Binding& b, const char* scratch, int component,
                             std::int64_t begin, std::int64_t end) const {
    const Inverse& inverse = *known_.front();
    const T* const terms = reinterpret_cast<const T*>(scratch);
    T* const data = static_cast<T*>(b.data) + component * b.component_stride;
    std::int64_t t = begin;
    if (inverse.padded) {
        const std::uint32_t* const slots = inverse.slots.data();
        const std::uint32_t* const entries = inverse.padded_entries.data();
        for (; t + together <= end; t += together) {
            const std::uint32_t first = slots[t / together], stop = slots[t / together + 1];
            if (first == stop && !clear_) continue;
            T* const at = data + t * b.element_stride;
            T* const to[together] = {at, at + b.element_stride, at + 2 * b.element_stride,
                                     at + 3 * b.element_stride};
            add_up<T, N, together>(to, b.component_stride, terms,
                                   entries + std::size_t{first} * together,
                                   entries + std::size_t{stop} * together);
        }
    }
    const std::uint32_t* const first = inverse.first.data();
    const std::uint32_t* const entries = inverse.entries.data();
    for (; t < end; ++t) {
        if (first[t] == first[t + 1] && !clear_) continue;
        T* const to[] = {data + t * b.element_stride};
        add_up<T, N, 1>(to, b.component_stride, terms, entries + first[t], entries + first[t + 1]);
    }
}

template <class T>
void InverseIndex::run_type(const Binding& target, char* const* scratch, std::int64_t begin,
                            std::int64_t end) const {
    const int components = plan_.kernel.parameter(symbol_).components;
    const std::size_t rows = plan_.rows[symbol_].size();
    for (int group = 0; group < group_count(components); ++group) {
        const char* from = scratch[plan_.scratch[symbol_] + group * rows];
        switch (group_size(components, group)) {
            case 1: run_group<T, 1>(target, from, 4 * group, begin, end); break;
            case 2: run_group<T, 2>(target, from, 4 * group, begin, end); break;
            case 3: run_group<T, 3>(target, from, 4 * group, begin, end); break;
            default: run_group<T, 4>(target, from, 4 * group, begin, end);
        }
    }
}

void InverseIndex::run(const Binding& target, char* const* scratch, std::int64_t begin,
                       std::int64_t end) const {
    if (plan_.kernel.parameter(symbol_).type == ir::Type::f64)
        run_type<double>(target, scratch, begin, end);
    else
        run_type<float>(target, scratch, begin, end);
}

void TermMemory::lay_out(const Plan& plan, std::span<const InverseIndex> inverses,
                         std::int64_t items) {
    constexpr std::size_t no_term_bytes = 64;
    bool same = items == items_ && padded_.size() == inverses.size();
    padded_.resize(inverses.size());
    std::size_t groups = 0;
    for (std::size_t k = 0; k < inverses.size(); ++k) {
        const char pads = inverses[k].pads() ? 1 : 0;
        same &= padded_[k] == pads;
        padded_[k] = pads;
        if (pads) groups += group_count(plan.kernel.parameter(inverses[k].symbol()).components);
    }
    if (same) return;
    items_ = items;
    const auto row_items = static_cast<std::size_t>(scratch_items(items));
    const std::size_t needed = plan.scratch_offset.back() * row_items + groups * no_term_bytes;
    if (memory_.size() < needed) memory_ = AlignedBuffer<char>(needed);
    rows_.resize(plan.scratch_offset.size());
    std::size_t behind = 0;  // bytes of those terms so far
    const auto place = [&](std::size_t k) {
        return memory_.data() + plan.scratch_offset[k] * row_items + behind;
    };
    for (const InverseIndex& inverse : inverses) {
        const ir::Parameter& p = plan.kernel.parameter(inverse.symbol());
        std::size_t k = plan.scratch[inverse.symbol()];
        for (int group = 0; group < group_count(p.components); ++group) {
            for (std::size_t r = 0; r < plan.rows[inverse.symbol()].size(); ++r, ++k)
                rows_[k] = place(k);
            if (!inverse.pads()) continue;
            if (p.type == ir::Type::f64)
                std::fill_n(reinterpret_cast<double*>(place(k)), no_term_bytes / 8, -0.0);
            else
                std::fill_n(reinterpret_cast<float*>(place(k)), no_term_bytes / 4, -0.0F);
            behind += no_term_bytes;
        }
    }
}

}  // namespace hindcast::backend
