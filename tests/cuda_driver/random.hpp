// The generator behind every choice of the driver in software: one seed, one run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>

namespace software_cuda {

class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

    // Splitmix64.
    std::uint64_t next() {
        std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        return x ^ (x >> 31);
    }
    // Of 0 .. count - 1; count > 0.
    std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }
    bool chance(unsigned of_eight) { return below(8) < of_eight; }

    // k -> (first + k * step) mod count is an order of 0 .. count - 1.
    struct Order {
        std::uint64_t first, step;
    };
    Order order(std::uint64_t count) {
        if (count <= 1) return {0, 0};
        std::uint64_t step = 1 + below(count - 1);
        while (std::gcd(step, count) != 1) step = step % (count - 1) + 1;
        return {below(count), step};
    }

private:
    std::uint64_t state_;
};

}  // namespace software_cuda
