#include "app/session/document/fields/filling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/document/text.hpp"

namespace hindcast::session {

namespace {

using document::Node;

constexpr std::size_t most_checked = 256;      // items of a long list whose form is looked at
constexpr int first_count = 4;                 // along each axis of a new grid
constexpr std::size_t most_written = 100'000;  // numbers of a list

bool is_real_number(const Node& value) {
    return value.is_integer() || value.is_real() ||
           (value.is_string() && document::is_fraction(value.string()));
}

std::optional<double> number_in(const Node& value) {
    if (value.is_integer()) return static_cast<double>(value.integer());
    if (value.is_real()) return value.real();
    if (value.is_string()) return document::parse_fraction(value.string());
    return std::nullopt;
}

// A number as it is written: 3, not 3.0.
Node plain(double value) {
    if (value == std::floor(value) && std::abs(value) < 1e15)
        return Node(static_cast<std::int64_t>(value));
    return Node(value);
}

// The wanted number, or one that the form allows.
double allowed(const Form& form, double wanted) {
    const double low = form.range.low, high = form.range.high;
    for (const double x : {wanted, low, 1.0, 0.1, high, 0.5 * (low + high)})
        if (std::isfinite(x) && form.range.contains(x)) return x;
    return wanted;
}

bool is_number_form(const Form& form) {
    return form.kind == FormKind::number || form.kind == FormKind::integer;
}

// A number, or one for each axis.
bool is_row_form(const Form& form) {
    return form.kind == FormKind::alternatives && form.parts.size() == 2 &&
           is_number_form(form.parts[0]) && form.parts[1].is_vector();
}

std::size_t length_of(const Form& vector, const Surroundings& around) {
    const bool known = around.components > 1 || around.rows > 0;
    const auto wanted = static_cast<std::size_t>(known ? around.components : around.dimension);
    return std::clamp(wanted, std::max<std::size_t>(vector.least, 1), vector.most);
}

// Lowest, highest, mean and deviation of each component of the numbers.
struct Spread {
    std::vector<double> low, high, mean, deviation;
};

Spread spread_of(const Surroundings& around) {
    const auto columns = static_cast<std::size_t>(std::max(around.components, 1));
    const std::size_t rows = around.numbers.size() / columns;
    Spread s;
    if (rows == 0) return s;
    for (std::size_t c = 0; c < columns; ++c) {
        double low = around.numbers[c], high = low, sum = 0, squares = 0;
        for (std::size_t r = 0; r < rows; ++r) {
            const double x = around.numbers[r * columns + c];
            low = std::min(low, x);
            high = std::max(high, x);
            sum += x;
        }
        const double mean = sum / static_cast<double>(rows);
        for (std::size_t r = 0; r < rows; ++r) {
            const double d = around.numbers[r * columns + c] - mean;
            squares += d * d;
        }
        s.low.push_back(low);
        s.high.push_back(high);
        s.mean.push_back(mean);
        s.deviation.push_back(std::sqrt(squares / static_cast<double>(rows)));
    }
    return s;
}

Node row_node(const std::vector<double>& row) {
    if (row.size() == 1) return plain(row[0]);
    Node node = Node::array();
    for (const double x : row) node.push_back(plain(x));
    return node;
}

// A number of a point or an axis, or a name in place of one.
bool is_counted(const Form& form) {
    return form.kind == FormKind::integer || form.kind == FormKind::element;
}

class Filler {
public:
    explicit Filler(const Surroundings& around) : around_(around), spread_(spread_of(around)) {}

    // `place`: which of its siblings it is; numbers of points and axes count up with it.
    Node blank(const Form& form, std::size_t place = 0) const {
        if (!form.fallback.is_null() && fits(form, form.fallback)) return form.fallback;
        switch (form.kind) {
            case FormKind::number: return plain(allowed(form, 0));
            case FormKind::integer:
            case FormKind::element:
                return Node(static_cast<std::int64_t>(allowed(form, static_cast<double>(place))));
            case FormKind::boolean: return Node(false);
            case FormKind::text:
                if (form.means == "body" && !around_.bodies.empty())
                    return Node(around_.bodies.front());
                if (form.means == "formula") return Node("0");
                return Node(form.least > 0 ? "new" : "");
            case FormKind::choice:
            case FormKind::word: return form.values.front();
            case FormKind::list: return list(form, place);
            case FormKind::tuple: return tuple(form);
            case FormKind::object: return object(form);
            case FormKind::by_name: {
                Node node = Node::object();
                const std::string name =
                    around_.elements.empty() ? "name" : around_.elements.front();
                node.set(name, blank(form.parts[0]));
                return node;
            }
            case FormKind::alternatives: return blank(form.parts.front(), place);
            case FormKind::unknown: break;
        }
        return Node();
    }

    // False: nothing of this form can say the numbers.
    bool can_write(const Form& form, const Node& old) const {
        switch (form.kind) {
            case FormKind::number: return around_.rows == 0 || around_.components == 1;
            case FormKind::by_name: return around_.rows == 0 || !around_.elements.empty();
            case FormKind::text: return form.means != "formula" || around_.components == 1;
            case FormKind::object: return form.keys.size() > 1 || can_write(form.parts[0], old);
            case FormKind::list: {
                if (around_.rows == 0 || !is_list_of_numbers(form)) return true;
                const auto components = static_cast<std::size_t>(around_.components);
                if (form.is_vector()) return form.least <= components;
                // The length of rows of single numbers is not known.
                const bool rows = form.parts[0].kind == FormKind::list;
                return rows == (components > 1) && !all_numbers(old).empty();
            }
            default: return true;
        }
    }

    Node converted(const Form& form, const Node& old) const {
        if (!old.is_null() && fits(form, old)) return old;
        switch (form.kind) {
            case FormKind::number:
            case FormKind::integer: {
                const std::optional<double> x = first_number(old);
                return x && form.range.contains(*x) && form.kind == FormKind::number ? plain(*x)
                                                                                     : blank(form);
            }
            case FormKind::text:
                if (form.means == "formula")
                    if (const auto x = first_number(old)) return Node(document::to_line(plain(*x)));
                return blank(form);
            case FormKind::list: return converted_list(form, old);
            case FormKind::object: return converted_object(form, old);
            case FormKind::by_name: return by_name(form, old);
            case FormKind::alternatives: {
                const auto which = alternative_of(form, old);
                return converted(form.parts[which.value_or(0)], old);
            }
            default: return blank(form);
        }
    }

private:
    // Zeros, or at later places the axes.
    Node list(const Form& form, std::size_t place) const {
        Node node = Node::array();
        if (form.is_vector()) {
            const bool counts = form.means == "counts" || form.means == "cells";
            const bool numbers = form.parts[0].kind == FormKind::number;
            const std::size_t length =
                form.least == form.most ? form.least : length_of(form, around_);
            for (std::size_t k = 0; k < length; ++k) {
                const double wanted = counts    ? first_count
                                      : numbers ? (place == k + 1 ? 1.0 : 0.0)
                                                : static_cast<double>(k);
                node.push_back(plain(allowed(form.parts[0], wanted)));
            }
            return node;
        }
        const std::size_t length = std::max<std::size_t>(form.least, 1);
        for (std::size_t k = 0; k < length; ++k) node.push_back(blank(form.parts[0], k));
        return node;
    }

    Node tuple(const Form& form) const {
        Node node = Node::array();
        const bool range = std::ranges::all_of(form.parts, is_row_form);
        std::size_t numbers = 0;
        for (std::size_t k = 0; k < form.parts.size(); ++k)
            if (range)
                node.push_back(plain(allowed(form.parts[k].parts[0], static_cast<double>(k))));
            else
                node.push_back(blank(form.parts[k], is_counted(form.parts[k]) ? numbers++ : 0));
        return node;
    }

    Node object(const Form& form) const {
        Node node = Node::object();
        std::size_t vectors = 0;
        for (std::size_t k = 0; k < form.keys.size(); ++k) {
            if (!form.required[k] && !first_of_a_needed_group(form, form.keys[k])) continue;
            node.set(form.keys[k], member(form, k, vectors));
        }
        // A grid begins where its numbers do.
        const auto origin = std::ranges::find(form.keys, "origin");
        if (origin != form.keys.end() &&
            std::ranges::any_of(spread_.low, [](double x) { return x != 0; }))
            node.set("origin", row_node(spread_.low));
        return node;
    }

    static bool first_of_a_needed_group(const Form& form, const std::string& key) {
        return std::ranges::any_of(form.exclusive, [&](const Form::Exclusive& group) {
            return group.needed && !group.keys.empty() && group.keys.back() == key;
        });
    }

    // `vectors`: how many of the object's vectors are made already.
    Node member(const Form& form, std::size_t k, std::size_t& vectors) const {
        const Form& part = form.parts[k];
        const std::string& key = form.keys[k];
        const bool number_or_vector =
            is_row_form(part) || (part.is_vector() && part.parts[0].kind == FormKind::number);
        if (number_or_vector && (key == "min" || key == "max" || key == "origin") &&
            (!spread_.low.empty() || key == "max")) {
            std::vector<double> low = spread_.low;
            if (low.empty()) low.assign(static_cast<std::size_t>(around_.dimension), 0.0);
            std::vector<double> row =
                key == "max" ? above(low, spread_.high.empty() ? low : spread_.high) : low;
            if (part.is_vector()) row.resize(length_of(part, around_), key == "max" ? 1.0 : 0.0);
            ++vectors;
            return row_node(row);
        }
        if (part.kind == FormKind::tuple && part.parts.size() == 2 && !spread_.low.empty() &&
            std::ranges::all_of(part.parts, is_row_form)) {
            const bool range = key == "uniform";
            return Node::array({row_node(range ? spread_.low : spread_.mean),
                                row_node(range ? above(spread_.low, spread_.high) : deviation())});
        }
        if (part.means == "counts" && around_.rows > 0) {
            Node counts = Node::array({Node(static_cast<std::int64_t>(around_.rows))});
            while (counts.size() < length_of(part, around_)) counts.push_back(Node(1));
            return counts;
        }
        if (key == "spacing" && is_number_form(part)) return Node(0.1);
        if (key == "spacing" && is_row_form(part)) {
            if (spread_.low.size() != 1) return Node(0.1);
            const double steps = static_cast<double>(std::max<std::size_t>(around_.rows, 2) - 1);
            return plain((spread_.high[0] - spread_.low[0]) / steps);
        }
        if (part.is_vector() && part.parts[0].kind == FormKind::number)
            return blank(part, vectors++);
        return blank(part);
    }

    // Numbers that are all the same stay so; places get room between them.
    std::vector<double> above(const std::vector<double>& low, std::vector<double> high) const {
        if (low.size() == 1 && !spread_.low.empty()) return high;
        for (std::size_t k = 0; k < high.size(); ++k)
            if (high[k] <= low[k] && low[k] + 1 <= around_.high) high[k] = low[k] + 1;
        return high;
    }

    // None where a normal number might lie outside the bounds.
    std::vector<double> deviation() const {
        const bool bounded = std::isfinite(around_.low) || std::isfinite(around_.high);
        return bounded ? std::vector<double>(spread_.mean.size(), 0.0) : spread_.deviation;
    }

    static std::optional<double> first_number_in(const Node& node) {
        if (const auto x = number_in(node)) return x;
        return node.is_array() && node.size() > 0 ? first_number_in(node.item(0)) : std::nullopt;
    }

    std::optional<double> first_number(const Node& old) const {
        if (!around_.numbers.empty()) return around_.numbers.front();
        return first_number_in(old);
    }

    std::vector<double> row(std::size_t r) const {
        const auto columns = static_cast<std::size_t>(std::max(around_.components, 1));
        const std::size_t rows = around_.numbers.size() / columns;
        const std::size_t at = rows == 1 ? 0 : r;
        if (at >= rows) return {};
        const auto first = around_.numbers.begin() + static_cast<std::ptrdiff_t>(at * columns);
        return {first, first + static_cast<std::ptrdiff_t>(columns)};
    }

    // Or of rows of numbers.
    static bool is_list_of_numbers(const Form& form) {
        const Form& item = form.parts[0];
        return item.kind == FormKind::number ||
               (item.kind == FormKind::list && item.parts[0].kind == FormKind::number);
    }

    static void flatten(const Node& node, std::vector<double>& numbers) {
        if (const auto x = number_in(node)) numbers.push_back(*x);
        for (std::size_t k = 0; node.is_array() && k < node.size(); ++k)
            flatten(node.item(k), numbers);
    }

    // The numbers of all elements; empty if they are not known, or too many to be written.
    std::vector<double> all_numbers(const Node& old) const {
        const std::size_t size =
            around_.rows * static_cast<std::size_t>(std::max(around_.components, 1));
        std::vector<double> row(around_.numbers.begin(), around_.numbers.end());
        if (row.empty()) flatten(old, row);
        if (size > most_written || row.empty() || size % row.size() != 0 ||
            (row.size() != size && row.size() != size / around_.rows))
            return {};
        std::vector<double> all;
        while (all.size() < size) all.insert(all.end(), row.begin(), row.end());
        return all;
    }

    Node converted_list(const Form& form, const Node& old) const {
        const Form& item = form.parts[0];
        if (form.is_vector() && item.kind == FormKind::number) {
            const std::vector<double> first = row(0);
            if (first.size() >= form.least && first.size() <= form.most && first.size() > 1) {
                Node node = Node::array();
                for (const double x : first) node.push_back(plain(x));
                return node;
            }
            if (old.is_array() && old.size() > 0 && fits(form, old.item(0))) return old.item(0);
            if (const auto x = number_in(old)) {
                Node node = Node::array();
                for (std::size_t k = 0; k < length_of(form, around_); ++k)
                    node.push_back(plain(*x));
                return node;
            }
            return blank(form);
        }
        if (around_.rows > 0 && is_list_of_numbers(form)) {
            const bool vectors = item.kind == FormKind::list;
            const std::vector<double> all = all_numbers(old);
            const auto columns = static_cast<std::size_t>(std::max(around_.components, 1));
            Node node = Node::array();
            for (std::size_t at = 0; at < all.size(); at += vectors ? columns : 1) {
                if (!vectors) {
                    node.push_back(plain(all[at]));
                    continue;
                }
                Node each = Node::array();
                for (std::size_t k = at; k < at + columns; ++k) each.push_back(plain(all[k]));
                node.push_back(std::move(each));
            }
            return !all.empty() && fits(form, node) ? node : Node();
        }
        if (item.kind == FormKind::text && item.means == "formula") {
            Node node = Node::array();
            const std::vector<double> first = row(0);
            if (old.is_string()) return Node::array({old});
            const auto length = static_cast<std::size_t>(std::max(around_.components, 1));
            for (std::size_t k = 0; k < length; ++k)
                node.push_back(Node(k < first.size() ? document::to_line(plain(first[k])) : "0"));
            return node;
        }
        if (!old.is_null() && !old.is_array() && fits(item, old)) return Node::array({old});
        if (old.is_array() && old.size() > 0 && fits(item, old)) return Node::array({old});
        return blank(form);
    }

    // Keys that both forms have keep their values.
    Node converted_object(const Form& form, const Node& old) const {
        Node node = object(form);
        const Node* from = old.is_object() ? &old : nullptr;
        // A generator keeps what the other one says: {"grid": {"counts": ...}} for a box.
        if (form.keys.size() == 1) {
            const Form& part = form.parts[0];
            const Node* inner = from != nullptr && from->size() == 1 ? &from->item(0) : &old;
            if (part.kind == FormKind::object && !inner->is_object()) inner = &old;
            // The words of one way mean nothing in another one, nor does a list of numbers.
            const Node none;
            const bool same_key = from != nullptr && from->find(form.keys[0]) == inner;
            if (!same_key && part.kind != FormKind::object && !number_in(*inner)) inner = &none;
            node.set(form.keys[0], converted(part, *inner));
            return node;
        }
        for (std::size_t k = 0; from != nullptr && k < form.keys.size(); ++k) {
            const Node* const kept = from->find(form.keys[k]);
            const bool is_there = node.find(form.keys[k]) != nullptr;
            if (kept != nullptr && fits(form.parts[k], *kept) &&
                (is_there || !in_a_group(form, form.keys[k])))
                node.set(form.keys[k], *kept);
        }
        return node;
    }

    static bool in_a_group(const Form& form, const std::string& key) {
        return std::ranges::any_of(form.exclusive, [&](const Form::Exclusive& group) {
            return std::ranges::find(group.keys, key) != group.keys.end();
        });
    }

    // The first element that has a name, with the numbers that it has.
    Node by_name(const Form& form, const Node& old) const {
        Node node = Node::object();
        if (around_.elements.empty()) return blank(form);
        const std::vector<double> first = row(0);
        Node value = first.empty() ? converted(form.parts[0], old) : row_node(first);
        node.set(around_.elements.front(), std::move(value));
        return node;
    }

    const Surroundings& around_;
    const Spread spread_;
};

}  // namespace

bool fits(const Form& form, const Node& value) {
    switch (form.kind) {
        case FormKind::number: return is_real_number(value);
        case FormKind::integer:
            return value.is_integer() ||
                   (value.is_string() && document::is_fraction(value.string()));
        case FormKind::boolean: return value.is_boolean();
        case FormKind::text:
            return (value.is_string() && value.string().size() >= form.least) ||
                   (form.or_number && (value.is_integer() || value.is_real()));
        case FormKind::choice:
        case FormKind::word:
            return std::ranges::any_of(form.values, [&](const Node& v) { return v == value; });
        case FormKind::element: return value.is_integer() || value.is_string();
        case FormKind::list: {
            if (!value.is_array() || value.size() < form.least || value.size() > form.most)
                return false;
            for (std::size_t k = 0; k < std::min(value.size(), most_checked); ++k)
                if (!fits(form.parts[0], value.item(k))) return false;
            return true;
        }
        case FormKind::tuple: {
            if (!value.is_array() || value.size() != form.parts.size()) return false;
            for (std::size_t k = 0; k < form.parts.size(); ++k)
                if (!fits(form.parts[k], value.item(k))) return false;
            return true;
        }
        case FormKind::object: {
            if (!value.is_object()) return false;
            for (std::size_t k = 0; k < value.size(); ++k) {
                const Form* const part = form.member(value.key(k));
                if (part == nullptr || !fits(*part, value.item(k))) return false;
            }
            for (std::size_t k = 0; k < form.keys.size(); ++k)
                if (form.required[k] && value.find(form.keys[k]) == nullptr) return false;
            return std::ranges::all_of(form.exclusive, [&](const Form::Exclusive& group) {
                const auto there = std::ranges::count_if(
                    group.keys, [&](const std::string& key) { return value.find(key) != nullptr; });
                return there <= 1 && (there == 1 || !group.needed);
            });
        }
        case FormKind::by_name: {
            if (!value.is_object() || value.size() == 0) return false;
            for (std::size_t k = 0; k < value.size(); ++k)
                if (!fits(form.parts[0], value.item(k))) return false;
            return true;
        }
        case FormKind::alternatives:
            return std::ranges::any_of(form.parts, [&](const Form& p) { return fits(p, value); });
        case FormKind::unknown: return true;
    }
    return false;
}

std::optional<std::size_t> alternative_of(const Form& form, const Node& value) {
    if (value.is_null()) return std::nullopt;
    for (std::size_t k = 0; k < form.parts.size(); ++k)
        if (fits(form.parts[k], value)) return k;
    // Values that are not complete or not right yet.
    for (std::size_t k = 0; k < form.parts.size(); ++k) {
        const Form& part = form.parts[k];
        if (part.kind == FormKind::object && value.is_object())
            for (std::size_t m = 0; m < value.size(); ++m)
                if (part.member(value.key(m)) != nullptr) return k;
        if ((part.kind == FormKind::list || part.kind == FormKind::tuple) && value.is_array()) {
            const bool nested = value.size() > 0 && value.item(0).is_array();
            const bool wants =
                part.parts[0].kind == FormKind::list || part.parts[0].kind == FormKind::tuple;
            if (nested == wants) return k;
        }
    }
    for (std::size_t k = 0; k < form.parts.size(); ++k) {
        const FormKind kind = form.parts[k].kind;
        if ((kind == FormKind::list && value.is_array()) ||
            (kind == FormKind::by_name && value.is_object()))
            return k;
    }
    return std::nullopt;
}

std::string title_of(const Form& f) {
    if (!f.title.empty()) return f.title;
    switch (f.kind) {
        case FormKind::number: return "one number";
        case FormKind::integer: return "one whole number";
        case FormKind::boolean: return "yes or no";
        case FormKind::text: return "text";
        case FormKind::element: return "number or name";
        case FormKind::choice: return "one of some words";
        case FormKind::word:
            return f.values[0].is_string() ? in_words(f.values[0].string())
                                           : document::to_line(f.values[0]);
        case FormKind::list:
            if (f.is_vector()) return "one vector";
            if (f.parts[0].is_vector()) return "a vector for each";
            return f.parts[0].is_scalar() ? "one for each" : "rows";
        case FormKind::tuple: return "several values";
        case FormKind::object: return f.keys.empty() ? "nothing" : in_words(f.keys.front());
        case FormKind::by_name: return "by name";
        case FormKind::alternatives: return "one of several";
        case FormKind::unknown: break;
    }
    return "text of the scene file";
}

Node blank(const Form& form, const Surroundings& around) { return Filler(around).blank(form); }

Node converted(const Form& form, const Node& old, const Surroundings& around) {
    return can_write(form, old, around) ? Filler(around).converted(form, old) : Node();
}

bool can_write(const Form& form, const Node& old, const Surroundings& around) {
    return Filler(around).can_write(form, old);
}

std::string count_text(const Form& form, const Node& value) {
    if (form.means != "counts" && form.means != "cells") return "";
    double cells = 1, points = 1;
    for (std::size_t k = 0; k < value.size(); ++k) {
        const auto count = number_in(value.item(k));
        if (!count || *count < 1) return "";
        cells *= *count;
        points *= *count + 1;
    }
    if (value.size() == 0) return "";
    if (form.means == "counts") return fmt::format("{:.0f} in all", cells);
    return fmt::format("{:.0f} points, {:.0f} cells", points, cells);
}

void set_below(Node& root, const std::string& pointer, Node value) {
    Node* at = &root;
    for (const std::string& token : document::split_pointer(pointer)) {
        if (at->is_array()) {
            const auto index = document::pointer_index(token);
            if (!index || *index > at->size())
                throw Error("there is no item '" + token + "' in " + document::describe(*at));
            if (*index == at->size()) at->push_back(Node());
            at = &at->item(*index);
            continue;
        }
        if (!at->is_object()) *at = Node::object();
        if (at->find(token) == nullptr) at->set(token, Node());
        at = at->find(token);
    }
    *at = std::move(value);
}

}  // namespace hindcast::session
