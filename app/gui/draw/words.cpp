#include "app/gui/draw/words.hpp"

#include <fmt/format.h>

#include <cmath>

namespace hindcast::gui {

std::string duration_text(double seconds) {
    if (!std::isfinite(seconds)) return "-";
    if (seconds >= 100) return fmt::format("{:.0f} s", seconds);
    if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
    if (seconds >= 1e-3) return fmt::format("{:.1f} ms", seconds * 1e3);
    if (seconds >= 1e-5 || seconds <= 0) return fmt::format("{:.0f} us", seconds * 1e6);
    return fmt::format("{:.0f} ns", seconds * 1e9);
}

std::string bytes_text(double bytes) {
    static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 1000 && unit < 4) {
        bytes /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{:.0f} B", bytes)
                     : fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string number_text(double value, int digits) {
    if (std::isnan(value)) return "-";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return fmt::format("{:.{}g}", value + 0.0, digits);  // no "-0"
}

std::string no_iteration_word(const session::Snapshot& now) {
    if (now.optimization.history && !now.optimization.history->empty() &&
        now.optimization.history->back().epoch != now.scene.epoch)
        return "edited";
    return now.optimization.unaccepted ? "changed" : "as written";
}

std::string no_iteration_text(const session::Snapshot& now) {
    const std::string word = no_iteration_word(now);
    if (word == "edited")
        return fmt::format(
            "The scene was edited after iteration {}: this is its loss as it is now.",
            now.optimization.history->back().iteration);
    return word == "changed" ? "With parameters that are of no iteration."
                             : "With the parameters as they are written in the scene.";
}

std::string object_name(const document::Document& document, const std::string& pointer) {
    const document::Node* node = document.find(pointer);
    if (node == nullptr) return "";
    if (const document::Node* name = node->find("name"); name != nullptr && name->is_string())
        return name->string();
    // An object without a name goes by its type and its number among those of the type.
    const document::Node* type = node->find("type");
    if (type == nullptr || !type->is_string() || node->parent() == nullptr) return "";
    int number = 0;
    for (std::size_t k = 0; k < node->parent()->size(); ++k) {
        const document::Node& other = node->parent()->item(k);
        const document::Node* other_type = other.find("type");
        if (other.find("name") == nullptr && other_type != nullptr && other_type->is_string() &&
            other_type->string() == type->string())
            ++number;
        if (&other == node) break;
    }
    return fmt::format("{}_{}", type->string(), number);
}

}  // namespace hindcast::gui
