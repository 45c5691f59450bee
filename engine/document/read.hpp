// Reading typed values out of a document, with errors that say place, pointer, what was found, what
// was expected, and what to do.
//
// Free functions read one node. A Reader goes over an object: each getter takes a key, `finish()`
// refuses the keys that no getter took:
//
//     Reader reader(node, "a spring force");
//     const double k = reader.number("stiffness", Range::positive("N/m"));
//     const double c = reader.number_or("damping", 0.0, Range::at_least(0, "N s/m"));
//     const auto n = reader.vector_or<3>("axis", {0, 0, 1});
//     const auto kind = reader.choice("kind", {"linear", "cubic"});   // index
//     reader.finish();
//
// Where a number may stand, the string "integer/integer" may stand too and is its exact quotient,
// rounded once.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/document/node.hpp"

namespace hindcast::document {

// The range that a number must lie in. `unit` is for messages only.
struct Range {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    bool low_open = false, high_open = false;  // an open end does not belong to the range
    std::string_view unit = {};

    static Range any(std::string_view unit = {}) { return {.unit = unit}; }
    static Range positive(std::string_view unit = {}) {
        return {.low = 0, .low_open = true, .unit = unit};
    }
    static Range at_least(double low, std::string_view unit = {}) {
        return {.low = low, .unit = unit};
    }
    static Range between(double low, double high, std::string_view unit = {}) {
        return {.low = low, .high = high, .unit = unit};
    }
    bool contains(double value) const;
    std::string describe() const;  // "a number above 0 (N/m)"
};

using Names = std::initializer_list<std::string_view>;
constexpr std::int64_t lowest_integer = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest_integer = std::numeric_limits<std::int64_t>::max();

// True for integers, reals and fractions.
bool is_number(const Node& node);

double number_of(const Node& node, const Range& range = {});
// Integers; also reals and fractions whose value is an integer, like 1e3.
std::int64_t integer_of(const Node& node, std::int64_t low = lowest_integer,
                        std::int64_t high = highest_integer);
bool boolean_of(const Node& node);
const std::string& string_of(const Node& node);
// The index of the string among the names; `what` names the thing in messages ("type of force").
std::size_t choice_of(const Node& node, std::span<const std::string_view> names,
                      std::string_view what = "name");
// An array of exactly `count` numbers.
std::vector<double> numbers_of(const Node& node, std::size_t count, const Range& range = {});
// The node itself after checking that it is an array with a number of items in [low, high], or an
// object.
const Node& array_of(const Node& node, std::size_t low = 0,
                     std::size_t high = std::numeric_limits<std::size_t>::max());
const Node& array_of(const Node&&, std::size_t = 0, std::size_t = 0) = delete;
const Node& object_of(const Node& node);
const Node& object_of(const Node&&) = delete;

// "expected E, found F" at the node, with a remedy.
Error mismatch(const Node& node, std::string_view expected, std::string remedy = {});

// work(), whose errors without a place are at the node.
template <class F>
auto at_node(const Node& node, F work) {
    try {
        return work();
    } catch (const Error& error) {
        if (error.place().line > 0) throw;
        Error placed = fault(node, error.happened());
        throw placed.remedy(error.what_to_do());
    }
}

class Reader {
public:
    // `what` names the object in messages, with its article. Throws Error if the node is not an
    // object. The node must outlive the reader.
    explicit Reader(const Node& object, std::string what = "this object");

    const Node& node() const { return *node_; }
    const std::string& what() const { return what_; }

    // Take a key. Each of these also makes the key known, whether present or not.
    const Node* find(std::string_view key);     // null if absent
    const Node& require(std::string_view key);  // throws Error if absent
    bool has(std::string_view key) { return find(key) != nullptr; }
    // Keys that are known but read elsewhere.
    void allow(std::span<const std::string_view> keys);
    void allow(Names keys) { allow(std::span(keys.begin(), keys.size())); }

    double number(std::string_view key, const Range& range = {});
    double number_or(std::string_view key, double fallback, const Range& range = {});
    std::int64_t integer(std::string_view key, std::int64_t low = lowest_integer,
                         std::int64_t high = highest_integer);
    std::int64_t integer_or(std::string_view key, std::int64_t fallback,
                            std::int64_t low = lowest_integer, std::int64_t high = highest_integer);
    bool boolean(std::string_view key);
    bool boolean_or(std::string_view key, bool fallback);
    std::string string(std::string_view key);
    std::string string_or(std::string_view key, std::string_view fallback);
    std::size_t choice(std::string_view key, std::span<const std::string_view> names);
    std::size_t choice(std::string_view key, Names names) {
        return choice(key, std::span(names.begin(), names.size()));
    }
    std::size_t choice_or(std::string_view key, std::span<const std::string_view> names,
                          std::size_t fallback);
    std::size_t choice_or(std::string_view key, Names names, std::size_t fallback) {
        return choice_or(key, std::span(names.begin(), names.size()), fallback);
    }
    std::vector<double> numbers(std::string_view key, std::size_t count, const Range& range = {});
    template <std::size_t N>
    std::array<double, N> vector(std::string_view key, const Range& range = {}) {
        return to_array<N>(numbers(key, N, range));
    }
    template <std::size_t N>
    std::array<double, N> vector_or(std::string_view key, const std::array<double, N>& fallback,
                                    const Range& range = {}) {
        return has(key) ? vector<N>(key, range) : fallback;
    }
    const Node& array(std::string_view key, std::size_t low = 0,
                      std::size_t high = std::numeric_limits<std::size_t>::max());
    Reader object(std::string_view key, std::string what);

    // Refuses the first key that no getter asked for: "unknown key 'stifness' in a spring force;
    // did you mean 'stiffness'?".
    void finish() const;

private:
    template <std::size_t N>
    static std::array<double, N> to_array(const std::vector<double>& values) {
        std::array<double, N> result;
        for (std::size_t i = 0; i < N; ++i) result[i] = values[i];
        return result;
    }
    void know(std::string_view key);
    bool knows(std::string_view key) const;
    std::vector<std::string_view> known_keys() const;

    const Node* node_;
    std::string what_;
    std::vector<std::string> known_;
};

}  // namespace hindcast::document
