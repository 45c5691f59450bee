// Hashes: the state hash that a scene test pins, and the keys of on-disk caches. Both are XXH3-128.
//
// State hash, so that anyone can recompute it: an array's digest is XXH3-128 (seed 0) over its
// element type (one byte), its rank and its extents (64-bit integers), then its elements in logical
// C order, everything little endian, every NaN written as the positive quiet NaN without payload.
// The hash of the state is XXH3-128 over, for each array in byte order of the names: the length of
// the name (64-bit), the name, the low and the high half of the array's digest. Signed zeros
// differ.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace hindcast {

struct Hash128 {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    auto operator<=>(const Hash128&) const = default;
};

// 32 hexadecimal digits, the high half first: the canonical form of XXH3-128.
std::string to_string(const Hash128& hash);

// Hash of bytes that come in pieces; equal bytes give equal hashes, however they were cut.
class Hasher {
public:
    Hasher();
    ~Hasher();
    Hasher(Hasher&&) noexcept;
    Hasher& operator=(Hasher&&) noexcept;

    Hasher& bytes(const void* data, std::size_t size);
    Hasher& integer(std::uint64_t value);           // eight bytes, little endian
    Hasher& text(std::string_view value);           // its length, then its bytes
    Hasher& reals(std::span<const float> values);   // NaNs made equal
    Hasher& reals(std::span<const double> values);  // NaNs made equal

    // The hash of everything added so far; more may follow.
    Hash128 digest() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

Hash128 hash_bytes(const void* data, std::size_t size);
inline Hash128 hash_text(std::string_view text) { return hash_bytes(text.data(), text.size()); }

// The numbers are part of the state hash: they never change.
enum class HashType : std::uint8_t { f32 = 1, f64 = 2, i32 = 3, u32 = 4, i64 = 5, u64 = 6, u8 = 7 };

std::size_t size_of(HashType type);  // bytes per element

template <class T>
constexpr HashType hash_type();
template <>
constexpr HashType hash_type<float>() {
    return HashType::f32;
}
template <>
constexpr HashType hash_type<double>() {
    return HashType::f64;
}
template <>
constexpr HashType hash_type<std::int32_t>() {
    return HashType::i32;
}
template <>
constexpr HashType hash_type<std::uint32_t>() {
    return HashType::u32;
}
template <>
constexpr HashType hash_type<std::int64_t>() {
    return HashType::i64;
}
template <>
constexpr HashType hash_type<std::uint64_t>() {
    return HashType::u64;
}
template <>
constexpr HashType hash_type<std::uint8_t>() {
    return HashType::u8;
}

// An array in host memory. Strides count elements and may be negative; none means C-contiguous.
struct HashArray {
    const void* data = nullptr;
    HashType type = HashType::f64;
    std::span<const std::int64_t> shape;
    std::span<const std::int64_t> strides = {};
};

// Digest of one array, see the top of this file. Throws Error when the shape has a negative extent
// or the strides have another rank.
Hash128 hash_array(const HashArray& array);

// Hash over named arrays, in whatever order they are added.
class StateHash {
public:
    // Throws Error when the name was added before.
    void add(std::string_view name, const HashArray& array);
    template <class T>
    void add(std::string_view name, std::span<const T> values) {
        const std::int64_t extent = static_cast<std::int64_t>(values.size());
        add(name, {values.data(), hash_type<T>(), {&extent, 1}});
    }

    Hash128 digest() const;

    // Digest per array, by name: says which array differs.
    const std::map<std::string, Hash128, std::less<>>& arrays() const { return arrays_; }

private:
    std::map<std::string, Hash128, std::less<>> arrays_;
};

}  // namespace hindcast
