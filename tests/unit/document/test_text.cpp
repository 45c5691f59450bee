// Numbers as text, fractions, names: the small helpers of the document layer.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "engine/base/error.hpp"
#include "engine/base/random.hpp"
#include "engine/document/text.hpp"

using namespace hindcast;
using namespace hindcast::document;

TEST_CASE("document text: fractions are exact and rounded once") {
    CHECK(parse_fraction("1/30") == 1.0 / 30.0);  // both exact: IEEE division rounds once
    CHECK(parse_fraction("-1/3") == -1.0 / 3.0);
    CHECK(parse_fraction("0/7") == 0.0);
    CHECK(std::signbit(*parse_fraction("-0/7")));
    CHECK(parse_fraction("6/4") == 1.5);
    // 2^53 + 1 is no f64: rounding it first would give 3002399751580330.5.
    CHECK(parse_fraction("9007199254740993/3") == 3002399751580331.0);
    // 2^53 + 1 lies half way, ties to even; one more part in 2^10 tips it over.
    CHECK(parse_fraction("9007199254740993/1") == 9007199254740992.0);
    CHECK(parse_fraction("9223372036854776833/1024") == 9007199254740994.0);
    CHECK(parse_fraction("1/18446744073709551615") == 0x1p-64);
    CHECK(parse_fraction("18446744073709551615/1") == 0x1p64);
}

TEST_CASE("document text: fractions against long double") {
    // A 64-bit significand holds numerators and denominators up to 2^64 exactly; the quotient in it
    // is off by half a unit of 2^-64, which differs from one rounding only near a tie.
    if (std::numeric_limits<long double>::digits < 64) return;
    const Random random(11);
    int compared = 0;
    for (std::uint64_t k = 0; k < 4000; ++k) {
        const auto bits = random.bits(k);
        const std::uint64_t n = (std::uint64_t{bits[0]} << 32 | bits[1]) >> (k % 60);
        const std::uint64_t d = ((std::uint64_t{bits[2]} << 32 | bits[3]) >> (k % 53)) | 1;
        const long double quotient = static_cast<long double>(n) / static_cast<long double>(d);
        const auto low = static_cast<double>(quotient * (1.0L - 1e-18L));
        const auto high = static_cast<double>(quotient * (1.0L + 1e-18L));
        if (low != high) continue;
        ++compared;
        CHECK(parse_fraction(std::to_string(n) + "/" + std::to_string(d)) == low);
    }
    CHECK(compared > 3900);
}

TEST_CASE("document text: what is no fraction") {
    std::string why;
    CHECK(!parse_fraction("1/0", &why));
    CHECK(why == "its denominator is zero");
    CHECK(!parse_fraction("1/99999999999999999999", &why));
    CHECK(why == "a number in it does not fit 64 bits");
    for (const char* text :
         {"", "/", "1/", "/2", "1/-2", "+1/2", "1 / 2", "1.5/2", "1/2/3", "a/b"}) {
        CHECK_FALSE(is_fraction(text));
        CHECK_FALSE(parse_fraction(text));
    }
    CHECK(parse_whole_fraction("60/2") == 30);
    CHECK_FALSE(parse_whole_fraction("61/2"));
    CHECK_FALSE(parse_whole_fraction("18446744073709551615/1"));
}

TEST_CASE("document text: shortest numbers read back to the same bits") {
    CHECK(shortest(0.1) == "0.1");
    CHECK(shortest(1.0) == "1.0");
    CHECK(shortest(-0.0) == "-0.0");
    CHECK(shortest(1e300) == "1e+300");
    const Random random(5);
    for (std::uint64_t k = 0; k < 2000; ++k) {
        const auto bits = random.bits(k);
        const double value =
            std::ldexp(static_cast<double>(bits[0]), static_cast<int>(bits[1] % 600) - 300);
        CHECK(std::strtod(shortest(value).c_str(), nullptr) == value);
    }
}

TEST_CASE("document text: JSON pointers") {
    CHECK(split_pointer("").empty());
    CHECK(split_pointer("/a~1b/0/~0") == std::vector<std::string>{"a/b", "0", "~"});
    CHECK(split_pointer("/") == std::vector<std::string>{""});
    CHECK(pointer_token("a/b~") == "a~1b~0");
    CHECK(pointer_index("10") == 10);
    CHECK_FALSE(pointer_index("01"));
    CHECK_FALSE(pointer_index("-"));
    CHECK_FALSE(pointer_index("99999999999999999999"));
    CHECK_THROWS_AS(split_pointer("a"), Error);
    CHECK_THROWS_AS(split_pointer("/a~2"), Error);
    CHECK_THROWS_AS(split_pointer("/a~"), Error);
}

TEST_CASE("document text: UTF-8") {
    CHECK(is_utf8("plain"));
    CHECK(is_utf8("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x8C\x8D"));
    for (const char* text : {"\x80", "\xC3", "\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80",
                             "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xE2\x82"}) {
        CHECK_FALSE(is_utf8(text));
    }
    CHECK(shown("a\n\xFF") == "'a\\x0a\\xff'");
    CHECK(shown("abcdef", 3) == "'abc...'");
}

TEST_CASE("document text: the name that was meant") {
    CHECK(edit_distance("stifness", "stiffness", 3) == 1);
    CHECK(edit_distance("dmaping", "damping", 3) == 1);  // neighbors exchanged
    CHECK(edit_distance("mass", "MASS", 3) == 0);
    CHECK(edit_distance("abc", "xyz", 2) == 3);  // above the limit
    const std::vector<std::string_view> names = {"stiffness", "damping", "rest_length", "name"};
    CHECK(nearest("stifness", names) == "stiffness");
    CHECK(nearest("rest_lenght", names) == "rest_length");
    CHECK(nearest("nmae", names) == "name");
    CHECK(nearest("color", names).empty());
    CHECK(nearest(std::string(100000, 'a'), names).empty());
    CHECK(suggestion("dampin", names) == "did you mean 'damping'?");
    CHECK(suggestion("q", names) == "write one of stiffness, damping, rest_length, name");
    std::vector<std::string> keys;
    for (int k = 0; k < 50; ++k) keys.push_back("key_" + std::to_string(k));
    keys[1] = std::string(100'000, 'k');
    const std::vector<std::string_view> many(keys.begin(), keys.end());
    const std::string text = suggestion("?", many);
    CHECK(text.starts_with("write one of key_0, 'kkk"));
    CHECK(text.ends_with(", key_39 and 10 more"));
    CHECK(text.size() < 600);
}
