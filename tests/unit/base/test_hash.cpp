// The state hash: published values of XXH3-128, NaNs made equal, order and strides.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/base/hash.hpp"

using namespace hindcast;

namespace {

template <class T>
Hash128 digest_of(const std::vector<T>& values) {
    const std::int64_t extent = static_cast<std::int64_t>(values.size());
    return hash_array({values.data(), hash_type<T>(), {&extent, 1}});
}

}  // namespace

TEST_CASE("the hash of no bytes is the published one") {
    // XXH3-128 of the empty input with seed 0, from the xxHash specification.
    CHECK(to_string(hash_text("")) == "99aa06d3014798d86001c324468d497f");
    CHECK(to_string(Hasher().digest()) == "99aa06d3014798d86001c324468d497f");
}

TEST_CASE("bytes hash the same however they are cut") {
    std::string text;
    for (int i = 0; i < 3000; ++i) text += static_cast<char>('a' + i % 26);
    const Hash128 whole = hash_text(text);
    for (const std::size_t piece : {1u, 7u, 240u, 1024u}) {
        Hasher hasher;
        for (std::size_t i = 0; i < text.size(); i += piece) {
            hasher.bytes(text.data() + i, std::min(piece, text.size() - i));
        }
        CHECK(hasher.digest() == whole);
    }
    // A digest in between changes nothing.
    Hasher hasher;
    hasher.bytes(text.data(), 1000).digest();
    CHECK(hasher.bytes(text.data() + 1000, 2000).digest() == whole);
}

TEST_CASE_TEMPLATE("all NaNs are one, zeros keep their sign", T, float, double) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const T quiet = std::numeric_limits<T>::quiet_NaN();
    const Bits infinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
    const Bits sign = Bits{1} << (8 * sizeof(T) - 1);
    const Hash128 expected = digest_of<T>({T(1), quiet, T(2)});
    for (const Bits nan : {Bits(infinity + 1), Bits(infinity | sign) + 1, ~Bits{0}, ~sign}) {
        REQUIRE(std::isnan(std::bit_cast<T>(nan)));
        CHECK(digest_of<T>({T(1), std::bit_cast<T>(nan), T(2)}) == expected);
    }
    CHECK(digest_of<T>({T(1), std::bit_cast<T>(infinity), T(2)}) != expected);
    CHECK(digest_of<T>({T(0)}) != digest_of<T>({-T(0)}));
    const T smallest = std::numeric_limits<T>::denorm_min();
    CHECK(digest_of<T>({T(0)}) != digest_of<T>({smallest}));
    // Integers with the bits of a NaN are no NaNs.
    CHECK(digest_of<Bits>({Bits(infinity + 1)}) != digest_of<Bits>({Bits(infinity + 2)}));
}

TEST_CASE("NaNs are made equal beyond one block") {
    std::vector<float> values(5000, 1.5f), others;
    values[4321] = std::numeric_limits<float>::quiet_NaN();
    others = values;
    others[4321] = std::bit_cast<float>(0xffc12345u);
    CHECK(digest_of(values) == digest_of(others));
    others[4999] = 1.25f;
    CHECK(digest_of(values) != digest_of(others));
    CHECK(Hasher().reals(std::span<const float>(values)).digest() !=
          Hasher().reals(std::span<const float>(others)).digest());
}

TEST_CASE("strided arrays hash as their logical C order") {
    // A 3 x 4 matrix a[i][j] = 10 i + j, laid out in several ways.
    const std::array<std::int64_t, 2> shape{3, 4};
    std::vector<double> row_major, column_major(12), reversed(12), spread(100, -1.0);
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
            const double value = 10.0 * static_cast<double>(i) + static_cast<double>(j);
            row_major.push_back(value);
            column_major[i + 3 * j] = value;
            reversed[11 - (4 * i + j)] = value;
            spread[30 * i + 7 * j] = value;
        }
    }
    const Hash128 expected = hash_array({row_major.data(), HashType::f64, shape});
    const auto hash = [&](const double* data, std::array<std::int64_t, 2> strides) {
        return hash_array({data, HashType::f64, shape, strides});
    };
    CHECK(hash(row_major.data(), {4, 1}) == expected);
    CHECK(hash(column_major.data(), {1, 3}) == expected);
    CHECK(hash(reversed.data() + 11, {-4, -1}) == expected);
    CHECK(hash(spread.data(), {30, 7}) == expected);
    CHECK(hash(row_major.data(), {1, 3}) != expected);
    // The shape is part of the array, and so is the type.
    const std::array<std::int64_t, 2> other{4, 3};
    CHECK(hash_array({row_major.data(), HashType::f64, other}) != expected);
    CHECK(hash_array({row_major.data(), HashType::i64, shape}) != expected);
    const std::array<std::int64_t, 2> none{0, 4}, none_either{4, 0};
    CHECK(hash_array({nullptr, HashType::f64, none}) !=
          hash_array({nullptr, HashType::f64, none_either}));
    const std::array<std::int64_t, 1> one_stride{1};
    CHECK_THROWS_AS(hash_array({row_major.data(), HashType::f64, shape, one_stride}), Error);
}

TEST_CASE("a long strided row is gathered in blocks") {
    std::vector<float> packed(3000), spread(9000, 7.0f);
    for (std::size_t i = 0; i < packed.size(); ++i) {
        packed[i] = spread[3 * i] = static_cast<float>(i) * 0.5f;
    }
    const std::int64_t extent = 3000, stride = 3;
    CHECK(hash_array({spread.data(), HashType::f32, {&extent, 1}, {&stride, 1}}) ==
          digest_of(packed));
}

TEST_CASE("the state hash knows arrays by name, in any order") {
    const std::vector<float> position{1, 2, 3}, velocity{4, 5, 6};
    const auto state = [](const auto&... arrays) {
        StateHash hash;
        (hash.add(arrays.first, std::span<const float>(arrays.second)), ...);
        return hash.digest();
    };
    using Named = std::pair<std::string, std::vector<float>>;
    const Hash128 expected = state(Named("position", position), Named("velocity", velocity));
    CHECK(state(Named("velocity", velocity), Named("position", position)) == expected);
    CHECK(state(Named("position", velocity), Named("velocity", position)) != expected);
    CHECK(state(Named("positio", position), Named("nvelocity", velocity)) != expected);
    CHECK(state(Named("position", position)) != expected);

    StateHash hash;
    hash.add("position", std::span<const float>(position));
    CHECK(hash.arrays().at("position") == digest_of(position));
    CHECK_THROWS_AS(hash.add("position", std::span<const float>(velocity)), Error);
}

TEST_CASE("the state hash follows its specification") {
    // Written out by hand from the description at the top of hash.hpp.
    const std::vector<float> values{1.0f, -0.0f};
    Hasher array;
    const unsigned char type = 1;
    array.bytes(&type, 1).integer(1).integer(2).bytes(values.data(), 8);
    Hasher whole;
    whole.integer(1).bytes("x", 1).integer(array.digest().low).integer(array.digest().high);
    StateHash hash;
    hash.add("x", std::span<const float>(values));
    CHECK(hash.digest() == whole.digest());
}
