// Writing a document in the house form.
//
// A value that fits stands on one line: [0, 0, -9.81] and { "type": "plane", "offset": 0 }. Broken
// arrays of scalars are filled line by line, everything else gets one line per item, indented by
// two.
#include <algorithm>

#include "engine/document/document.hpp"
#include "engine/document/text.hpp"

namespace hindcast::document {

namespace {

constexpr int step = 2;

// Characters, not bytes.
int columns(std::string_view text) {
    return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

std::string scalar(const Node& node) {
    switch (node.kind()) {
        case Kind::Null: return "null";
        case Kind::Boolean: return node.boolean() ? "true" : "false";
        case Kind::Integer:
            if (!node.number_text().empty()) return std::string(node.number_text());
            return std::to_string(node.integer());
        case Kind::Real:
            if (!node.number_text().empty()) return std::string(node.number_text());
            return shortest(node.real());
        case Kind::String: return json_quoted(node.string());
        case Kind::Array: return "[]";
        case Kind::Object: return "{}";
    }
    return {};
}

// Appends the node on one line; false (and a part only) if it takes more than `limit` bytes.
bool append_line(std::string& line, const Node& node, std::size_t limit) {
    if (node.size() == 0) {
        line += scalar(node);
        return line.size() <= limit;
    }
    line += node.is_object() ? "{ " : "[";
    for (std::size_t i = 0; i < node.size(); ++i) {
        if (i > 0) line += ", ";
        if (node.is_object()) line += json_quoted(node.key(i)) + ": ";
        if (line.size() > limit || !append_line(line, node.item(i), limit)) return false;
    }
    line += node.is_object() ? " }" : "]";
    return line.size() <= limit;
}

class Writer {
public:
    explicit Writer(int width) : width_(width) {}

    // `used` columns of the line are taken, `after` will follow the value.
    void value(const Node& node, int indent, int used, int after, bool broken = false) {
        // A character has at most four bytes, so nothing that fits is given up early.
        const int room = std::max(0, width_ - used - after);
        std::string line;
        if (node.size() == 0 ||
            (!broken && append_line(line, node, 4 * static_cast<std::size_t>(room)) &&
             columns(line) <= room)) {
            text += node.size() == 0 ? scalar(node) : line;
            return;
        }
        text += node.is_object() ? '{' : '[';
        const bool filled = node.is_array() && all_scalars(node);
        int column = width_;
        for (std::size_t i = 0; i < node.size(); ++i) {
            const int comma = i + 1 < node.size() ? 1 : 0;
            if (filled) {
                const std::string item = scalar(node.item(i));
                const int taken = columns(item);
                if (column + 1 + taken + comma > width_) {
                    new_line(indent + step);
                    column = indent + step;
                } else {
                    text += ' ';
                    ++column;
                }
                text += item;
                column += taken + comma;
            } else {
                new_line(indent + step);
                const std::string key = node.is_object() ? json_quoted(node.key(i)) + ": " : "";
                text += key;
                value(node.item(i), indent + step, indent + step + columns(key), comma);
            }
            if (comma > 0) text += ',';
        }
        new_line(indent);
        text += node.is_object() ? '}' : ']';
    }

    std::string text;

private:
    static bool all_scalars(const Node& node) {
        for (std::size_t i = 0; i < node.size(); ++i) {
            const Node& item = node.item(i);
            if (item.is_array() || item.is_object()) return false;
        }
        return true;
    }

    void new_line(int indent) {
        text += '\n';
        text.append(static_cast<std::size_t>(indent), ' ');
    }

    int width_;
};

}  // namespace

std::string to_text(const Node& node, int width, int indent) {
    Writer writer(width);
    writer.value(node, indent, indent, 0);
    return std::move(writer.text);
}

std::string to_line(const Node& node) {
    std::string line;
    append_line(line, node, std::string::npos);
    return line;
}

std::string Document::to_text() const {
    Writer writer(100);
    writer.value(root(), 0, 0, 0, root().is_object());
    return std::move(writer.text) + "\n";
}

}  // namespace hindcast::document
