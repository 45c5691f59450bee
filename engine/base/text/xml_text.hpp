// Text inside XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace hindcast {

// As text or as an attribute's value.
inline std::string xml_text(std::string_view text) {
    std::string out;
    for (const char c : text) switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default: out += c;
        }
    return out;
}

}  // namespace hindcast
