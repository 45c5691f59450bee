#include "engine/runtime/history/sparse_history.hpp"

#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "engine/backend/plan/work_split.hpp"
#include "engine/base/error.hpp"

namespace hindcast {

using backend::ActiveRange;
using backend::DeferredWork;

namespace {

std::int64_t rounded_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

bool is_zero(const std::byte* at) {
    const auto* const half = reinterpret_cast<const __m256i*>(at);
    const __m256i any = _mm256_or_si256(_mm256_loadu_si256(half), _mm256_loadu_si256(half + 1));
    return _mm256_testz_si256(any, any) != 0;
}

// A line that is kept, or zeros; how many bytes it has been kept in. Without a branch: which lines
// are kept cannot be guessed.
std::int64_t restore_line(const std::byte* from, bool kept, std::byte* to) {
    const __m256i mask = _mm256_set1_epi32(-static_cast<int>(kept));
    const auto* const half = reinterpret_cast<const int*>(from);
    const __m256i low = _mm256_maskload_epi32(half, mask),
                  high = _mm256_maskload_epi32(half + 8, mask);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to) + 1, high);
    return kept ? 64 : 0;
}

}  // namespace

SparseHistory::SparseHistory(Array array)
    : array_(std::move(array)), by_elements_(array_.layout() == Layout::contiguous) {
    bytes_ = static_cast<std::int64_t>(array_.bytes());  // the last block has what stands behind
    unit_bytes_ = by_elements_
                      ? static_cast<std::int64_t>(ir::size_of(array_.type())) * array_.components()
                      : line;
    units_ = by_elements_ ? array_.elements() : (bytes_ + line - 1) / line;
    blocks_ = (units_ + DeferredWork::block - 1) / DeferredWork::block;
    block_lines_ = DeferredWork::block * unit_bytes_ / line;
    block_words_ = 1 + (block_lines_ + bits - 1) / bits;
    room_ = ((bytes_ + line - 1) / line + 3) / 4;
}

std::size_t SparseHistory::slot_bytes() const {
    constexpr std::int64_t word = sizeof(std::uint32_t);
    return static_cast<std::size_t>(rounded_up(blocks_ * block_words_ * word, line) + room_ * line);
}

void SparseHistory::allocate(std::int64_t slots) {
    release();
    const auto count = static_cast<std::size_t>(slots);
    memory_ = AlignedBuffer<std::byte>(slot_bytes() > SIZE_MAX / std::max<std::size_t>(count, 1)
                                           ? SIZE_MAX
                                           : slot_bytes() * count);
    kept_.assign(count, {});
}

void SparseHistory::release() {
    memory_ = {};
    kept_.clear();
}

void SparseHistory::forget() { std::fill(kept_.begin(), kept_.end(), Kept()); }

bool SparseHistory::holds(std::int64_t slot) const {
    const Kept& kept = kept_[static_cast<std::size_t>(slot)];
    return kept.is_filled && kept.lines <= room_;
}

SparseHistory::Slot SparseHistory::slot(std::int64_t number) const {
    std::byte* const begin =
        const_cast<std::byte*>(memory_.data()) + static_cast<std::size_t>(number) * slot_bytes();
    return {reinterpret_cast<std::uint32_t*>(begin), begin + slot_bytes() - room_ * line};
}

// ---------------------------------------------------------------- blocks

ActiveRange SparseHistory::blocks_of(const ActiveRange& units) const {
    return {units.begin / DeferredWork::block,
            (units.end + DeferredWork::block - 1) / DeferredWork::block};
}

ActiveRange SparseHistory::units_of(const ActiveRange& blocks) const {
    if (blocks.begin >= blocks.end) return {};
    return {blocks.begin * DeferredWork::block, std::min(blocks.end * DeferredWork::block, units_)};
}

// Those with what is not zero, as far as it is known; all, if nothing is.
ActiveRange SparseHistory::busy_blocks() const {
    const backend::ArrayFacts& contents = array_.contents();
    if (contents.is_idle() && by_elements_) return blocks_of(contents.busy);
    return {0, blocks_};
}

// Those with lines in a slot.
ActiveRange SparseHistory::filled(std::int64_t number) const {
    ActiveRange blocks = kept_[static_cast<std::size_t>(number)].busy;
    const Slot from = slot(number);
    const auto is_empty = [&](std::int64_t block) {
        const std::uint32_t* const words = from.words + block * block_words_;
        return std::all_of(words + 1, words + block_words_, [](std::uint32_t w) { return w == 0; });
    };
    while (blocks.begin < blocks.end && is_empty(blocks.end - 1)) --blocks.end;
    while (blocks.begin < blocks.end && is_empty(blocks.begin)) ++blocks.begin;
    return blocks;
}

DeferredWork::Loop SparseHistory::loop_over(const ActiveRange& blocks) const {
    const ActiveRange range = units_of(blocks);
    const auto bytes = static_cast<double>((range.end - range.begin) * unit_bytes_);
    return {.count = units_,
            .range = range,
            .occupied = by_elements_ ? array_.occupied() : ActiveRange{},
            .work = bytes * backend::work_of_byte,
            .written = {},
            .read_elsewhere = {}};
}

// ---------------------------------------------------------------- saving

// Sets a block's bits; how many lines are not zero.
std::int64_t SparseHistory::mark(std::int64_t block, std::uint32_t* words) const {
    const auto* const from =
        static_cast<const std::byte*>(array_.data()) + block * block_lines_ * line;
    const std::int64_t bytes = std::min(block_lines_ * line, bytes_ - block * block_lines_ * line);
    const std::int64_t whole = bytes / line;
    std::int64_t count = 0;
    std::fill(words + 1, words + block_words_, 0);
    for (std::int64_t first = 0, w = 1; first < whole; first += bits, ++w) {
        std::uint32_t word = 0;
        const std::int64_t end = std::min(bits, whole - first);
        for (std::int64_t k = 0; k < end; ++k)
            word |= std::uint32_t{!is_zero(from + (first + k) * line)} << k;
        words[w] = word;
        count += std::popcount(word);
    }
    if (whole * line == bytes) return count;
    std::byte last[line] = {};  // with zeros for what the array has not
    std::memcpy(last, from + whole * line, static_cast<std::size_t>(bytes - whole * line));
    if (is_zero(last)) return count;
    words[1 + whole / bits] |= std::uint32_t{1} << whole % bits;
    return count + 1;
}

void SparseHistory::save_block(std::int64_t block, const std::uint32_t* words,
                               std::byte* to) const {
    const std::int64_t at = block * block_lines_ * line;
    const auto* const from = static_cast<const std::byte*>(array_.data()) + at;
    for (std::int64_t w = 1; w < block_words_; ++w)
        for (std::uint32_t word = words[w]; word != 0; word &= word - 1, to += line) {
            const std::int64_t byte = ((w - 1) * bits + std::countr_zero(word)) * line;
            if (at + byte + line <= bytes_)
                std::memcpy(to, from + byte, line);
            else
                std::memcpy(to, from + byte, static_cast<std::size_t>(bytes_ - at - byte));
        }
}

void SparseHistory::save_part(std::int64_t number, std::int64_t begin, std::int64_t end) {
    const Slot to = slot(number);
    const ActiveRange blocks = blocks_of({begin, end});
    std::int64_t count = 0;
    for (std::int64_t b = blocks.begin; b < blocks.end; ++b) {
        std::uint32_t* const words = to.words + b * block_words_;
        words[0] = static_cast<std::uint32_t>(count);
        count += mark(b, words);
    }
    if (count == 0) return;
    std::atomic_ref<std::int64_t> lines(kept_[static_cast<std::size_t>(number)].lines);
    const std::int64_t first = lines.fetch_add(count, std::memory_order_relaxed);
    if (first + count > room_) return;
    for (std::int64_t b = blocks.begin; b < blocks.end; ++b) {
        std::uint32_t* const words = to.words + b * block_words_;
        words[0] += static_cast<std::uint32_t>(first);
        save_block(b, words, to.lines + words[0] * line);
    }
}

void SparseHistory::save(std::int64_t slot, DeferredWork& deferred) {
    const ActiveRange busy = busy_blocks();
    const backend::ArrayFacts& contents = array_.contents();
    const bool known = contents.is_idle() && by_elements_;
    kept_[static_cast<std::size_t>(slot)] = {
        true, busy, known ? contents.busy.columns : ActiveRange::Columns{}, 0};
    deferred.add(loop_over(busy), [this, slot](std::int64_t begin, std::int64_t end) {
        save_part(slot, begin, end);
    });
}

// ---------------------------------------------------------------- restoring

void SparseHistory::restore_block(std::int64_t block, const Slot& from) const {
    const std::int64_t at = block * block_lines_ * line;
    auto* to = static_cast<std::byte*>(array_.data()) + at;
    const std::int64_t bytes = std::min(block_lines_ * line, bytes_ - at), whole = bytes / line;
    const std::uint32_t* const words = from.words + block * block_words_;
    const std::byte* next = from.lines + words[0] * line;
    for (std::int64_t first = 0, w = 1; first < whole; first += bits, ++w) {
        std::uint32_t word = words[w];
        for (std::int64_t k = std::min(bits, whole - first); k > 0; --k, word >>= 1, to += line)
            next += restore_line(next, (word & 1) != 0, to);
    }
    if (whole * line == bytes) return;
    std::byte last[line];
    restore_line(next, (words[1 + whole / bits] >> whole % bits & 1) != 0, last);
    std::memcpy(to, last, static_cast<std::size_t>(bytes - whole * line));
}

// Slots are restored one after the other on the way back, and no cache holds them any more. The
// word that says where a block's lines are must arrive before the lines can be prefetched.
void SparseHistory::fetch_before(std::int64_t number, const ActiveRange& blocks) const {
    if (blocks.begin >= blocks.end) return;
    if (number > 1) {
        const std::uint32_t* const words = slot(number - 2).words;
        const auto* const at = reinterpret_cast<const std::byte*>(words);
        constexpr std::int64_t word = sizeof(std::uint32_t);
        for (std::int64_t byte = blocks.begin * block_words_ * word / line * line;
             byte < blocks.end * block_words_ * word; byte += line)
            __builtin_prefetch(at + byte, 0, 2);
    }
    if (number < 1 || !holds(number - 1)) return;
    const ActiveRange& busy = kept_[static_cast<std::size_t>(number - 1)].busy;
    const Slot next = slot(number - 1);
    for (std::int64_t b = std::max(blocks.begin, busy.begin), to = std::min(blocks.end, busy.end);
         b < to; ++b) {
        const std::uint32_t* const words = next.words + b * block_words_;
        const std::byte* at = next.lines + words[0] * line;
        for (std::int64_t w = 1; w < block_words_; ++w)
            for (int k = std::popcount(words[w]); k > 0; --k, at += line)
                __builtin_prefetch(at, 0, 2);
    }
}

void SparseHistory::restore_part(std::int64_t number, std::int64_t begin, std::int64_t end) const {
    const Slot from = slot(number);
    const ActiveRange all = blocks_of({begin, end});
    fetch_before(number, all);
    const ActiveRange& busy = kept_[static_cast<std::size_t>(number)].busy;
    const std::int64_t first = std::clamp(busy.begin, all.begin, all.end),
                       behind = std::clamp(busy.end, first, all.end);
    const auto clear = [&](std::int64_t from_block, std::int64_t to_block) {
        const std::int64_t at = from_block * block_lines_ * line;
        const std::int64_t size = std::min(to_block * block_lines_ * line, bytes_) - at;
        if (size > 0)
            std::memset(static_cast<std::byte*>(array_.data()) + at, 0,
                        static_cast<std::size_t>(size));
    };
    clear(all.begin, first);
    for (std::int64_t b = first; b < behind; ++b) restore_block(b, from);
    clear(behind, all.end);
}

void SparseHistory::restore(std::int64_t slot, DeferredWork& deferred) const {
    const ActiveRange blocks = filled(slot);
    ActiveRange units = units_of(blocks);
    units.columns = kept_[static_cast<std::size_t>(slot)].columns;
    if (by_elements_ && units.end > 0) array_.occupied() = units;
    DeferredWork::Loop all = loop_over(hull(busy_blocks(), blocks));
    const backend::ArrayFacts* const written = &array_.contents();
    all.written = {&written, 1};
    deferred.add(all, [this, slot](std::int64_t begin, std::int64_t end) {
        restore_part(slot, begin, end);
    });
    array_.touch();
    if (by_elements_) array_.know(units);
}

}  // namespace hindcast
