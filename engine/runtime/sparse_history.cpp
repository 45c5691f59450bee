#include "engine/runtime/sparse_history.hpp"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/base/error.hpp"

namespace hindcast {

namespace {

constexpr std::size_t line = 64, bits = 64;  // bytes of a line; lines of a word

bool is_zero(const std::byte* at) {
    const auto* const half = reinterpret_cast<const __m256i*>(at);
    const __m256i any = _mm256_or_si256(_mm256_loadu_si256(half), _mm256_loadu_si256(half + 1));
    return _mm256_testz_si256(any, any) != 0;
}

}  // namespace

SparseHistory::SparseHistory(Array array)
    : array_(std::move(array)),
      lines_((array_.bytes() + line - 1) / line),
      words_((lines_ + bits - 1) / bits),
      room_((lines_ + 3) / 4) {}

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

void SparseHistory::save(std::int64_t slot) {
    const auto* const from = static_cast<const std::byte*>(array_.data());
    std::byte *const to = slot_at(slot), *const end = to + slot_bytes();
    std::byte* next = end - room_ * line;
    std::byte last[line] = {};  // with zeros for what the array has not
    const std::size_t whole = array_.bytes() / line;
    if (whole < lines_) std::memcpy(last, from + whole * line, array_.bytes() % line);
    holds_[static_cast<std::size_t>(slot)] = 0;
    for (std::size_t k = 0; k < lines_;) {
        std::uint64_t word = 0;
        for (const std::size_t first = k; k < std::min(lines_, first + bits); ++k) {
            const std::byte* const at = k < whole ? from + k * line : last;
            if (is_zero(at)) continue;
            if (next == end) return;
            std::memcpy(next, at, line);
            next += line;
            word |= std::uint64_t{1} << (k - first);
        }
        std::memcpy(to + (k - 1) / bits * sizeof word, &word, sizeof word);
    }
    holds_[static_cast<std::size_t>(slot)] = 1;
}

void SparseHistory::restore(std::int64_t slot) const {
    auto* const to = static_cast<std::byte*>(array_.data());
    const std::byte *const from = slot_at(slot), *next = from + slot_bytes() - room_ * line;
    const std::size_t whole = array_.bytes() / line, rest = array_.bytes() % line;
    if (lines_ > 0) std::memset(to, 0, array_.bytes());
    for (std::size_t k = 0; k < lines_; k += bits) {
        std::uint64_t word = 0;
        std::memcpy(&word, from + k / bits * sizeof word, sizeof word);
        for (; word != 0; word &= word - 1, next += line) {
            const std::size_t at = k + static_cast<std::size_t>(std::countr_zero(word));
            if (at < whole)
                std::memcpy(to + at * line, next, line);
            else
                std::memcpy(to + at * line, next, rest);
        }
    }
    array_.touch();
}

}  // namespace hindcast
