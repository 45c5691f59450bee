// XXH3-128 by xxHash, compiled into this file alone. Floating-point values pass through a small
// buffer in which NaNs are replaced; rows of strided arrays are gathered into the same buffer.
#include "engine/base/hash.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "engine/base/error.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hindcast {

static_assert(std::endian::native == std::endian::little);

namespace {

constexpr std::size_t block_bytes = 4096;

// Compares bits, not values: the result does not depend on the floating-point environment.
void make_nans_equal(HashType type, unsigned char* block, std::size_t count) {
    if (type == HashType::f32) {
        for (std::size_t i = 0; i < count; ++i) {
            std::uint32_t bits;
            std::memcpy(&bits, block + 4 * i, 4);
            bits = (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : bits;
            std::memcpy(block + 4 * i, &bits, 4);
        }
    } else if (type == HashType::f64) {
        for (std::size_t i = 0; i < count; ++i) {
            std::uint64_t bits;
            std::memcpy(&bits, block + 8 * i, 8);
            bits = (bits & 0x7fffffffffffffffull) > 0x7ff0000000000000ull ? 0x7ff8000000000000ull
                                                                          : bits;
            std::memcpy(block + 8 * i, &bits, 8);
        }
    }
}

Hash128 from(const XXH128_hash_t& hash) { return {hash.high64, hash.low64}; }

}  // namespace

std::string to_string(const Hash128& hash) {
    std::string text;
    text.reserve(32);
    for (const std::uint64_t half : {hash.high, hash.low}) {
        for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[half >> shift & 15];
    }
    return text;
}

struct Hasher::State {
    XXH3_state_t xxh;
};

Hasher::Hasher() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->xxh); }
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

Hasher& Hasher::bytes(const void* data, std::size_t size) {
    if (size > 0) XXH3_128bits_update(&state_->xxh, data, size);
    return *this;
}

Hasher& Hasher::integer(std::uint64_t value) { return bytes(&value, sizeof value); }

Hasher& Hasher::text(std::string_view value) {
    return integer(value.size()).bytes(value.data(), value.size());
}

namespace {

void hash_contiguous(Hasher& hasher, HashType type, const void* data, std::size_t count) {
    if (type != HashType::f32 && type != HashType::f64) {
        hasher.bytes(data, count * size_of(type));
        return;
    }
    const auto* source = static_cast<const unsigned char*>(data);
    const std::size_t per_block = block_bytes / size_of(type);
    unsigned char block[block_bytes];
    for (std::size_t begin = 0; begin < count; begin += per_block) {
        const std::size_t part = std::min(per_block, count - begin);
        std::memcpy(block, source + begin * size_of(type), part * size_of(type));
        make_nans_equal(type, block, part);
        hasher.bytes(block, part * size_of(type));
    }
}

// One row along the last axis, which is not contiguous.
void hash_strided_row(Hasher& hasher, HashType type, const unsigned char* row, std::int64_t count,
                      std::int64_t stride) {
    const std::size_t size = size_of(type);
    const auto per_block = static_cast<std::int64_t>(block_bytes / size);
    unsigned char block[block_bytes];
    for (std::int64_t begin = 0; begin < count; begin += per_block) {
        const std::int64_t part = std::min(per_block, count - begin);
        for (std::int64_t i = 0; i < part; ++i) {
            std::memcpy(block + static_cast<std::size_t>(i) * size,
                        row + (begin + i) * stride * static_cast<std::int64_t>(size), size);
        }
        make_nans_equal(type, block, static_cast<std::size_t>(part));
        hasher.bytes(block, static_cast<std::size_t>(part) * size);
    }
}

}  // namespace

Hasher& Hasher::reals(std::span<const float> values) {
    hash_contiguous(*this, HashType::f32, values.data(), values.size());
    return *this;
}

Hasher& Hasher::reals(std::span<const double> values) {
    hash_contiguous(*this, HashType::f64, values.data(), values.size());
    return *this;
}

Hash128 Hasher::digest() const { return from(XXH3_128bits_digest(&state_->xxh)); }

Hash128 hash_bytes(const void* data, std::size_t size) { return from(XXH3_128bits(data, size)); }

std::size_t size_of(HashType type) {
    switch (type) {
        case HashType::u8: return 1;
        case HashType::f32:
        case HashType::i32:
        case HashType::u32: return 4;
        default: return 8;
    }
}

Hash128 hash_array(const HashArray& array) {
    const std::size_t rank = array.shape.size();
    if (!array.strides.empty() && array.strides.size() != rank) {
        throw Error("an array of rank " + std::to_string(rank) + " has " +
                    std::to_string(array.strides.size()) + " strides")
            .remedy("give one stride per axis, or none for a contiguous array");
    }
    Hasher hasher;
    const auto code = static_cast<std::uint8_t>(array.type);
    hasher.bytes(&code, 1).integer(rank);
    std::int64_t count = 1;
    for (const std::int64_t extent : array.shape) {
        if (extent < 0) {
            throw Error("an array has the extent " + std::to_string(extent))
                .remedy("extents are 0 or above");
        }
        hasher.integer(static_cast<std::uint64_t>(extent));
        count *= extent;
    }
    if (count == 0) return hasher.digest();
    if (array.strides.empty() || rank == 0) {
        hash_contiguous(hasher, array.type, array.data, static_cast<std::size_t>(count));
        return hasher.digest();
    }
    // An odometer over all axes but the last, which is taken a row at a time.
    const auto size = static_cast<std::int64_t>(size_of(array.type));
    const std::int64_t row_length = array.shape[rank - 1];
    const std::int64_t row_stride = array.strides[rank - 1];
    const auto* row = static_cast<const unsigned char*>(array.data);
    std::vector<std::int64_t> index(rank, 0);
    for (std::int64_t rows = count / row_length; rows > 0; --rows) {
        if (row_stride == 1) {
            hash_contiguous(hasher, array.type, row, static_cast<std::size_t>(row_length));
        } else {
            hash_strided_row(hasher, array.type, row, row_length, row_stride);
        }
        for (std::size_t axis = rank - 1; axis-- > 0;) {
            row += array.strides[axis] * size;
            if (++index[axis] < array.shape[axis]) break;
            row -= array.strides[axis] * size * array.shape[axis];
            index[axis] = 0;
        }
    }
    return hasher.digest();
}

void StateHash::add(std::string_view name, const HashArray& array) {
    const auto [entry, fresh] = arrays_.try_emplace(std::string(name));
    if (!fresh) {
        throw Error("the array '" + std::string(name) + "' is in the state hash already")
            .remedy("give each array its own name");
    }
    entry->second = hash_array(array);
}

Hash128 StateHash::digest() const {
    Hasher hasher;
    for (const auto& [name, digest] : arrays_) {
        hasher.text(name).integer(digest.low).integer(digest.high);
    }
    return hasher.digest();
}

}  // namespace hindcast
