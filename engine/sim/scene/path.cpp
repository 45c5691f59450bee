#include "engine/sim/scene/path.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "engine/base/error.hpp"
#include "engine/document/document.hpp"
#include "engine/document/read.hpp"
#include "engine/document/text.hpp"

namespace hindcast {

namespace {

bool is_digits(std::string_view text) {
    return !text.empty() &&
           std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
}

bool is_component(std::string_view key) {
    return key == "x" || key == "y" || key == "z" || key == "w" || is_digits(key);
}

// The position at which the bracket that opens at `open` closes; npos if it does not.
std::size_t closing_bracket(std::string_view text, std::size_t open) {
    std::size_t at = open + 1;
    if (at < text.size() && text[at] == '"') {
        for (++at; at < text.size() && text[at] != '"'; ++at)
            if (text[at] == '\\') ++at;
    }
    return text.find(']', std::min(at, text.size()));
}

}  // namespace

Path Path::parse(const std::string& text) {
    const auto fail = [&](const std::string& why) {
        return Error("'" + text + "' is not a path: " + why)
            .remedy(
                "paths look like cage.stiffness, ball.velocity[0].z, gravity.z or "
                "robot.body_mass[torso]");
    };
    Path path;
    const auto read_index = [&](const std::string& index) {
        if (index.empty()) throw fail("an index or a name is missing between the brackets");
        if (path.has_element() || !path.component.empty()) throw fail("one index at most");
        if (index.front() == '"') {
            try {
                path.name = document::string_of(document::Document::parse(index).root());
            } catch (const Error&) {
                throw fail("a name in quotes is written as in JSON");
            }
            if (path.name->empty()) throw fail("a name is empty");
        } else if (is_digits(index)) {
            std::int64_t number = 0;
            const auto [stop, error] =
                std::from_chars(index.data(), index.data() + index.size(), number);
            if (error != std::errc()) throw fail("its index is too large");
            path.element = number;
        } else if (in_brackets(index) != "[" + index + "]") {
            throw fail("write this name in quotes: " + in_brackets(index));
        } else {
            path.name = index;
        }
    };
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find_first_of(".[", at), text.size());
        if (end == at) throw fail("a name is missing");
        const std::string key = text.substr(at, end - at);
        at = end;
        if (!path.component.empty()) throw fail("nothing follows a component");
        if (is_component(key) && !path.keys.empty()) {
            path.component = key;
        } else {
            if (path.has_element())
                throw fail("after an element only .x, .y, .z, .w or a number may follow");
            path.keys.push_back(key);
        }
        if (at < text.size() && text[at] == '[') {
            const std::size_t close = closing_bracket(text, at);
            if (close == std::string::npos) throw fail("a ']' is missing");
            read_index(text.substr(at + 1, close - at - 1));
            at = close + 1;
        }
        if (at < text.size()) {
            if (text[at] != '.') throw fail("'.' is expected");
            if (++at == text.size()) throw fail("it ends with '.'");
        }
    }
    if (path.keys.empty()) throw fail("it is empty");
    return path;
}

std::size_t Path::end(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '=') return at;
        if (text[at] == '[') at = std::min(closing_bracket(text, at), text.size());
    }
    return std::string::npos;
}

std::string Path::in_brackets(std::string_view name) {
    const bool plain = !name.empty() && name.front() != '"' && !is_digits(name) &&
                       std::ranges::none_of(name, [](unsigned char c) {
                           return c == '[' || c == ']' || c < 0x20 || c == 0x7f;
                       });
    return "[" + (plain ? std::string(name) : document::json_quoted(name)) + "]";
}

std::string Path::base() const {
    std::string joined;
    for (const std::string& key : keys) joined += (joined.empty() ? "" : ".") + key;
    return joined;
}

std::string Path::owner() const {
    std::string joined;
    for (std::size_t k = 0; k + 1 < keys.size(); ++k)
        joined += (joined.empty() ? "" : ".") + keys[k];
    return joined;
}

std::string Path::index() const {
    if (name) return in_brackets(*name);
    return element ? "[" + std::to_string(*element) + "]" : "";
}

std::optional<int> Path::component_of(int components) const {
    int number = 0;
    if (is_digits(component)) {
        const auto [stop, error] =
            std::from_chars(component.data(), component.data() + component.size(), number);
        if (error != std::errc()) return std::nullopt;
    } else {
        const std::string_view letters = components == 4 ? "wxyz" : "xyz";
        const std::size_t place = letters.find(component);
        if (place == std::string_view::npos) return std::nullopt;
        number = static_cast<int>(place);
    }
    if (number >= components) return std::nullopt;
    return number;
}

std::string component_name(int component, int components) {
    if (components > 4) return std::to_string(component);
    return std::string(1, (components == 4 ? "wxyz" : "xyz")[component]);
}

}  // namespace hindcast
