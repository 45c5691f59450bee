// Random numbers by counting: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011). Number i of a stream is a function of (seed, stream, i) alone, so any thread
// may ask for any number, in any order, and gets the same one.
//
// Elementary functions come from the caller: the C library's differ between machines.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace hindcast {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// Ten rounds: 128 random bits from a counter and a key.
constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter[0];
        const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter[2];
        counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
                   static_cast<std::uint32_t>(product1),
                   static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
                   static_cast<std::uint32_t>(product0)};
        key[0] += 0x9E3779B9;  // golden ratio
        key[1] += 0xBB67AE85;  // sqrt(3) - 1
    }
    return counter;
}

class Random {
public:
    // Streams of one seed are independent of each other.
    explicit constexpr Random(std::uint64_t seed, std::uint64_t stream = 0)
        : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
          stream_{static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)} {}

    // The 128 bits that number `index` is made from.
    constexpr PhiloxCounter bits(std::uint64_t index) const {
        return philox4x32({static_cast<std::uint32_t>(index),
                           static_cast<std::uint32_t>(index >> 32), stream_[0], stream_[1]},
                          key_);
    }

    // Uniform in [0, 1): a multiple of 2^-53.
    constexpr double uniform(std::uint64_t index) const {
        const PhiloxCounter b = bits(index);
        return unit(b[0], b[1]);
    }

    // Uniform in [low, high); `low` when both are equal.
    constexpr double uniform(std::uint64_t index, double low, double high) const {
        const double value = low + (high - low) * uniform(index);
        return value < high || !(low < high) ? value : low;  // rounding may reach `high`
    }

    // Normal with mean 0 and deviation 1 (Box and Muller 1958): sqrt(-2 log u) cos(2 pi v).
    // `functions` has log(double) and cos(double).
    template <class Functions>
    double normal(std::uint64_t index, const Functions& functions) const {
        const PhiloxCounter b = bits(index);
        const double u = 1.0 - unit(b[0], b[1]);  // exact, in (0, 1]
        const double angle = 6.283185307179586 * unit(b[2], b[3]);
        return std::sqrt(-2.0 * functions.log(u)) * functions.cos(angle);
    }

private:
    static constexpr double unit(std::uint32_t low, std::uint32_t high) {
        const std::uint64_t word = std::uint64_t{high} << 32 | low;
        return static_cast<double>(word >> 11) * 0x1p-53;
    }

    PhiloxKey key_;
    std::array<std::uint32_t, 2> stream_;
};

}  // namespace hindcast
