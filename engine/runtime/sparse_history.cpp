#include "engine/runtime/sparse_history.hpp"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/backend/split.hpp"
#include "engine/base/error.hpp"

namespace hindcast {

namespace {

bool is_zero(const std::byte* at) {
    const auto* const half = reinterpret_cast<const __m256i*>(at);
    const __m256i any = _mm256_or_si256(_mm256_loadu_si256(half), _mm256_loadu_si256(half + 1));
    return _mm256_testz_si256(any, any) != 0;
}

std::size_t set_bits(const std::uint64_t* words, std::int64_t begin, std::int64_t end) {
    std::size_t count = 0;
    for (std::int64_t k = begin; k < end; ++k)
        count += static_cast<std::size_t>(std::popcount(words[k]));
    return count;
}

}  // namespace

SparseHistory::SparseHistory(Array array)
    : array_(std::move(array)),
      lines_((array_.bytes() + line - 1) / line),
      words_((lines_ + bits - 1) / bits),
      room_((lines_ + 3) / 4),
      element_bytes_(array_.layout() == Layout::contiguous
                         ? static_cast<std::int64_t>(ir::size_of(array_.type())) *
                               array_.components()
                         : 0) {}

std::size_t SparseHistory::slot_bytes() const {
    return (words_ * sizeof(std::uint64_t) + line - 1) / line * line + room_ * line;
}

void SparseHistory::allocate(std::int64_t slots) {
    release();
    const auto count = static_cast<std::size_t>(slots);
    memory_ = AlignedBuffer<std::byte>(slot_bytes() > SIZE_MAX / std::max<std::size_t>(count, 1)
                                           ? SIZE_MAX
                                           : slot_bytes() * count);
    holds_.assign(count, 0);
}

void SparseHistory::release() {
    memory_ = {};
    holds_.clear();
}

void SparseHistory::forget() { std::fill(holds_.begin(), holds_.end(), 0); }

// The words with the lines of such elements.
backend::Occupied SparseHistory::words_of(const backend::Occupied& elements) const {
    return {elements.begin * element_bytes_ / word_bytes,
            (elements.end * element_bytes_ + word_bytes - 1) / word_bytes};
}

// The words with what is not zero, as far as it is known; all, if nothing is.
backend::Occupied SparseHistory::busy_words() const {
    const backend::Contents& contents = array_.contents();
    if (contents.is_idle() && element_bytes_ > 0) return words_of(contents.busy);
    return {0, static_cast<std::int64_t>(words_)};
}

// The elements with what is not zero in a slot.
backend::Occupied SparseHistory::elements_of(const std::uint64_t* words) const {
    auto begin = std::int64_t{0}, end = static_cast<std::int64_t>(words_);
    while (end > 0 && words[end - 1] == 0) --end;
    while (begin < end && words[begin] == 0) ++begin;
    if (element_bytes_ == 0 || begin == end) return {};
    return {begin * word_bytes / element_bytes_,
            std::min(array_.elements(), (end * word_bytes + element_bytes_ - 1) / element_bytes_)};
}

// body(begin, end) for parts of some words, cut as what the array was added to lies in them.
template <class Body>
void SparseHistory::each(const backend::Occupied& words, ThreadPool* pool, const Body& body) const {
    const auto bytes = static_cast<std::size_t>((words.end - words.begin) * word_bytes);
    backend::split(backend::threads_for(bytes, pool), words, 1, words_of(array_.occupied()), body);
}

void SparseHistory::save(std::int64_t slot, ThreadPool* pool) {
    const auto* const from = static_cast<const std::byte*>(array_.data());
    auto* const words = reinterpret_cast<std::uint64_t*>(slot_at(slot));
    std::byte* const to = lines_of(slot);
    const auto count = static_cast<std::int64_t>(words_);
    const std::size_t whole = array_.bytes() / line, rest = array_.bytes() % line;
    std::byte last[line] = {};  // with zeros for what the array has not
    if (rest > 0) std::memcpy(last, from + whole * line, rest);
    const auto line_at = [=, &last](std::size_t k) { return k < whole ? from + k * line : last; };

    const backend::Occupied busy = busy_words();
    std::fill(words, words + busy.begin, 0);
    std::fill(words + busy.end, words + count, 0);
    each(busy, pool, [=, this](std::int64_t begin, std::int64_t end) {
        for (std::int64_t w = begin; w < end; ++w) {
            const std::size_t first = static_cast<std::size_t>(w) * bits;
            std::uint64_t word = 0;
            for (std::size_t k = first; k < std::min(lines_, first + bits); ++k)
                word |= std::uint64_t{!is_zero(line_at(k))} << (k - first);
            words[w] = word;
        }
    });
    const bool fits = set_bits(words, busy.begin, busy.end) <= room_;
    holds_[static_cast<std::size_t>(slot)] = fits ? 1 : 0;
    if (!fits) return;
    each(busy, pool, [=](std::int64_t begin, std::int64_t end) {
        std::byte* next = to + set_bits(words, busy.begin, begin) * line;
        for (std::int64_t w = begin; w < end; ++w)
            for (std::uint64_t word = words[w]; word != 0; word &= word - 1, next += line)
                std::memcpy(next,
                            line_at(static_cast<std::size_t>(w) * bits +
                                    static_cast<std::size_t>(std::countr_zero(word))),
                            line);
    });
}

void SparseHistory::restore(std::int64_t slot, ThreadPool* pool) const {
    auto* const to = static_cast<std::byte*>(array_.data());
    const auto* const words = reinterpret_cast<const std::uint64_t*>(slot_at(slot));
    const std::byte* const from = lines_of(slot);
    const std::size_t bytes = array_.bytes();

    const backend::Occupied elements = elements_of(words), busy = words_of(elements);
    if (element_bytes_ > 0 && elements.end > 0) array_.occupied() = elements;
    const backend::Occupied all = backend::hull(busy_words(), busy);
    each(all, pool, [=](std::int64_t begin, std::int64_t end) {
        const std::byte* next = from + set_bits(words, all.begin, begin) * line;
        for (std::int64_t w = begin; w < end; ++w) {
            std::size_t at = static_cast<std::size_t>(w) * bits * line;
            const std::size_t behind = std::min(at + bits * line, bytes);
            if (words[w] == 0) {
                std::memset(to + at, 0, behind - at);
                continue;
            }
            for (std::uint64_t word = words[w]; at < behind; word >>= 1, at += line) {
                const std::size_t size = std::min(line, behind - at);
                if ((word & 1) == 0) {
                    std::memset(to + at, 0, size);
                } else {
                    std::memcpy(to + at, next, size);
                    next += line;
                }
            }
        }
    });
    array_.touch();
    if (element_bytes_ > 0) array_.know(elements);
}

}  // namespace hindcast
