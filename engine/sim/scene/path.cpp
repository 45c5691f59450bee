#include "engine/sim/scene/path.hpp"

#include <algorithm>
#include <charconv>

#include "engine/base/error.hpp"

namespace hindcast {

Path Path::parse(const std::string& text) {
    const auto fail = [&](const std::string& why) {
        return Error("'" + text + "' is not a path: " + why)
            .remedy("paths look like cage.stiffness, ball.velocity[0].z or gravity.z");
    };
    Path path;
    std::size_t at = 0;
    const auto component_of = [](const std::string& key) {
        return key == "x" ? 0 : key == "y" ? 1 : key == "z" ? 2 : -1;
    };
    while (at < text.size()) {
        const std::size_t end = std::min(text.find_first_of(".[", at), text.size());
        if (end == at) throw fail("a name is missing");
        const std::string key = text.substr(at, end - at);
        at = end;
        if (path.component) throw fail("nothing follows a component");
        if (component_of(key) >= 0 && !path.keys.empty()) {
            path.component = component_of(key);
        } else {
            if (path.element) throw fail("after an element only .x, .y or .z may follow");
            path.keys.push_back(key);
        }
        if (at < text.size() && text[at] == '[') {
            const std::size_t close = text.find(']', at);
            std::int64_t index = -1;
            if (close == std::string::npos) throw fail("a ']' is missing");
            const auto [stop, error] =
                std::from_chars(text.data() + at + 1, text.data() + close, index);
            if (error != std::errc() || stop != text.data() + close || index < 0)
                throw fail("an index is a whole number from 0");
            if (path.element || path.component) throw fail("one index at most");
            path.element = index;
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

}  // namespace hindcast
