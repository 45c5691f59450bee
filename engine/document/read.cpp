// Every getter is one of the free functions applied to a member, so a value is refused with the
// same words wherever it stands. Start with mismatch(), which all messages about a wrong value come
// from.
#include "engine/document/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/document/text.hpp"

namespace hindcast::document {

namespace {

constexpr const char* number_remedy = "write a number such as 0.5, or a fraction such as \"1/30\"";

// Numbers in messages: integers without ".0".
std::string plain(double value) {
    std::string text = shortest(value);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text;
}

std::optional<std::int64_t> whole(const Node& node) {
    if (node.is_integer()) return node.integer();
    if (node.is_string()) return parse_whole_fraction(node.string());
    if (node.is_real() && std::trunc(node.real()) == node.real() &&
        std::abs(node.real()) <= 0x1p53) {
        return static_cast<std::int64_t>(node.real());
    }
    return std::nullopt;
}

std::string describe_integers(std::int64_t low, std::int64_t high) {
    if (low == lowest_integer && high == highest_integer) return "an integer";
    if (high == highest_integer) return fmt::format("an integer of at least {}", low);
    if (low == lowest_integer) return fmt::format("an integer of at most {}", high);
    if (low == high) return fmt::format("the integer {}", low);
    return fmt::format("an integer from {} to {}", low, high);
}

}  // namespace

bool Range::contains(double value) const {
    return (low_open ? value > low : value >= low) && (high_open ? value < high : value <= high);
}

std::string Range::describe() const {
    std::string text = "a number";
    const bool below = !std::isinf(high), above = !std::isinf(low);
    if (above && below && !low_open && !high_open) {
        text += fmt::format(" from {} to {}", plain(low), plain(high));
    } else {
        if (above) text += fmt::format(" {} {}", low_open ? "above" : "of at least", plain(low));
        if (above && below) text += " and";
        if (below) text += fmt::format(" {} {}", high_open ? "below" : "of at most", plain(high));
    }
    if (!unit.empty()) text += fmt::format(" ({})", unit);
    return text;
}

Error mismatch(const Node& node, std::string_view expected, std::string remedy) {
    Error error = fault(node, fmt::format("expected {}, found {}", expected, describe(node)));
    if (!remedy.empty()) error.remedy(std::move(remedy));
    return error;
}

bool is_number(const Node& node) {
    return node.is_integer() || node.is_real() || (node.is_string() && is_fraction(node.string()));
}

double number_of(const Node& node, const Range& range) {
    double value = 0;
    if (node.is_integer()) {
        value = static_cast<double>(node.integer());
    } else if (node.is_real()) {
        value = node.real();
    } else if (node.is_string() && is_fraction(node.string())) {
        std::string why;
        const auto fraction = parse_fraction(node.string(), &why);
        if (!fraction) {
            throw fault(node,
                        fmt::format("{} is no usable fraction: {}", shown(node.string()), why))
                .remedy(number_remedy);
        }
        value = *fraction;
    } else if (node.is_object()) {
        throw mismatch(node, range.describe(), "one number must stand here, not a generator");
    } else {
        throw mismatch(node, range.describe(), number_remedy);
    }
    if (!range.contains(value)) {
        throw mismatch(node, range.describe(), "change the number");
    }
    return value;
}

std::int64_t integer_of(const Node& node, std::int64_t low, std::int64_t high) {
    const std::string expected = describe_integers(low, high);
    const auto value = whole(node);
    if (!value) throw mismatch(node, expected, "write digits without quotes or fraction");
    if (*value < low || *value > high) throw mismatch(node, expected, "change the number");
    return *value;
}

bool boolean_of(const Node& node) {
    if (!node.is_boolean())
        throw mismatch(node, "true or false", "write true or false, without quotes");
    return node.boolean();
}

const std::string& string_of(const Node& node) {
    if (!node.is_string()) throw mismatch(node, "a string", "put it in double quotes");
    return node.string();
}

std::size_t choice_of(const Node& node, std::span<const std::string_view> names,
                      std::string_view what) {
    if (!node.is_string()) {
        throw mismatch(node, fmt::format("a {}", what), "write one of: " + listed(names));
    }
    const auto found = std::ranges::find(names, std::string_view(node.string()));
    if (found == names.end()) {
        throw fault(node, fmt::format("unknown {} {}", what, shown(node.string())))
            .remedy(suggestion(node.string(), names));
    }
    return static_cast<std::size_t>(found - names.begin());
}

std::vector<double> numbers_of(const Node& node, std::size_t count, const Range& range) {
    if (!node.is_array() || node.size() != count) {
        throw mismatch(node, fmt::format("an array of {} numbers", count),
                       fmt::format("write {} numbers in [ ]", count));
    }
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = number_of(node.item(i), range);
    return values;
}

const Node& array_of(const Node& node, std::size_t low, std::size_t high) {
    std::string expected = "an array";
    if (low == high) {
        expected += fmt::format(" of {} item{}", low, low == 1 ? "" : "s");
    } else if (high != std::numeric_limits<std::size_t>::max()) {
        expected += fmt::format(" of {} to {} items", low, high);
    } else if (low > 0) {
        expected += fmt::format(" of at least {} item{}", low, low == 1 ? "" : "s");
    }
    if (!node.is_array()) throw mismatch(node, expected, "put the items in [ ]");
    if (node.size() < low || node.size() > high) {
        throw mismatch(node, expected, "change the number of items");
    }
    return node;
}

const Node& object_of(const Node& node) {
    if (!node.is_object()) throw mismatch(node, "an object", "write { \"key\": value }");
    return node;
}

Reader::Reader(const Node& object, std::string what) : node_(&object), what_(std::move(what)) {
    if (!object.is_object()) {
        throw mismatch(object, what_ == "this object" ? "an object" : what_ + " (an object)",
                       "write { \"key\": value }");
    }
}

void Reader::know(std::string_view key) {
    if (!knows(key)) known_.emplace_back(key);
}

bool Reader::knows(std::string_view key) const {
    return std::ranges::find(known_, key) != known_.end();
}

std::vector<std::string_view> Reader::known_keys() const { return {known_.begin(), known_.end()}; }

void Reader::allow(std::span<const std::string_view> keys) {
    for (const std::string_view key : keys) know(key);
}

const Node* Reader::find(std::string_view key) {
    know(key);
    return node_->find(key);
}

const Node& Reader::require(std::string_view key) {
    if (const Node* found = find(key)) return *found;
    // A key that is there and nearly the one wanted is the better place to point at.
    for (std::size_t i = 0; i < node_->size(); ++i) {
        if (knows(node_->key(i))) continue;
        if (!nearest(node_->key(i), std::array{key}).empty()) {
            throw fault_at_key(*node_, i,
                               fmt::format("unknown key {} in {}, which needs '{}'",
                                           shown(node_->key(i)), what_, key))
                .remedy(fmt::format("did you mean '{}'?", key));
        }
    }
    throw fault(*node_, fmt::format("the key '{}' is missing in {}", key, what_))
        .remedy(fmt::format("add \"{}\": ...", key));
}

double Reader::number(std::string_view key, const Range& range) {
    return number_of(require(key), range);
}

double Reader::number_or(std::string_view key, double fallback, const Range& range) {
    const Node* found = find(key);
    return found ? number_of(*found, range) : fallback;
}

std::int64_t Reader::integer(std::string_view key, std::int64_t low, std::int64_t high) {
    return integer_of(require(key), low, high);
}

std::int64_t Reader::integer_or(std::string_view key, std::int64_t fallback, std::int64_t low,
                                std::int64_t high) {
    const Node* found = find(key);
    return found ? integer_of(*found, low, high) : fallback;
}

bool Reader::boolean(std::string_view key) { return boolean_of(require(key)); }

bool Reader::boolean_or(std::string_view key, bool fallback) {
    const Node* found = find(key);
    return found ? boolean_of(*found) : fallback;
}

std::string Reader::string(std::string_view key) { return string_of(require(key)); }

std::string Reader::string_or(std::string_view key, std::string_view fallback) {
    const Node* found = find(key);
    return found ? string_of(*found) : std::string(fallback);
}

std::size_t Reader::choice(std::string_view key, std::span<const std::string_view> names) {
    return choice_of(require(key), names, key);
}

std::size_t Reader::choice_or(std::string_view key, std::span<const std::string_view> names,
                              std::size_t fallback) {
    const Node* found = find(key);
    return found ? choice_of(*found, names, key) : fallback;
}

std::vector<double> Reader::numbers(std::string_view key, std::size_t count, const Range& range) {
    return numbers_of(require(key), count, range);
}

const Node& Reader::array(std::string_view key, std::size_t low, std::size_t high) {
    return array_of(require(key), low, high);
}

Reader Reader::object(std::string_view key, std::string what) {
    return Reader(require(key), std::move(what));
}

void Reader::finish() const {
    for (std::size_t i = 0; i < node_->size(); ++i) {
        const std::string& key = node_->key(i);
        if (knows(key)) continue;
        // A key that already stands here cannot be the one that was meant.
        std::vector<std::string_view> candidates = known_keys();
        std::erase_if(candidates, [&](std::string_view known) { return node_->find(known); });
        if (nearest(key, candidates).empty()) candidates = known_keys();
        Error error =
            fault_at_key(*node_, i, fmt::format("unknown key {} in {}", shown(key), what_));
        const std::string hint = suggestion(key, candidates, "known keys are");
        throw error.remedy(hint.empty() ? "remove it" : hint);
    }
}

}  // namespace hindcast::document
