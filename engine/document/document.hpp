// A JSON document: text in, a tree of nodes with places, text out.
//
// Reading is strict about everything but comments (// and /* */), which are skipped: duplicate
// keys, nesting beyond 64, NaN and Infinity, numbers beyond f64, invalid UTF-8 and anything after
// the value are refused with file:line:column, JSON pointer and remedy. Columns count characters.
//
// Writing uses the house form: what fits into 100 columns stands on one line, the rest is broken;
// keys keep their order, numbers that were read keep their text, all others are written with the
// fewest digits that read back to the same bits. Comments are not kept; layout.hpp does.
//
//     Document scene = Document::load("scene.json");
//     scene.set("/gravity/2", -1.62);
//     scene.save("scene.json");
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "engine/document/node.hpp"

namespace hindcast::document {

inline constexpr int max_depth = 64;  // levels of arrays and objects, in reading and in editing

struct Limits {
    std::size_t bytes = std::size_t{64} << 20;
    std::size_t values = 2'000'000;  // nodes, of some 200 bytes each
};

class Document {
public:
    Document();  // an empty object
    explicit Document(Node root, std::string file = {});
    Document(const Document& other);
    Document(Document&&) noexcept = default;
    Document& operator=(Document other) noexcept;
    ~Document() = default;

    // `file` is the name that error messages and places show.
    static Document parse(std::string_view text, std::string file = {}, const Limits& limits = {});
    static Document load(const std::filesystem::path& path, const Limits& limits = {});

    const Node& root() const { return *root_; }
    Node& root() { return *root_; }
    const std::string& file() const { return file_; }

    // Access by JSON pointer. `find` gives null if there is nothing, `at` throws Error.
    const Node* find(std::string_view pointer) const;
    const Node& at(std::string_view pointer) const;

    // Editing by JSON pointer; a failed edit changes nothing. The parent must exist.
    //   set     replaces the value, or adds a member, or appends ("/bodies/-")
    //   insert  places the value before an array's item, or adds a member that must be new
    //   erase   takes the value away
    Node& set(std::string_view pointer, Node value);
    Node& insert(std::string_view pointer, Node value);
    void erase(std::string_view pointer);

    std::string to_text() const;
    // Written beside the target and renamed, so a failed save keeps what was there. Throws Error
    // also as require_readable() does.
    void save(const std::filesystem::path& path) const;
    // Throws Error if editing single nodes has made the document deeper than can be read.
    void require_readable() const;

    friend bool operator==(const Document& a, const Document& b) { return a.root() == b.root(); }

private:
    struct Seat {
        Node* parent;
        std::string token;
    };
    Seat seat(std::string_view pointer, const Node* value);

    std::string file_;
    std::unique_ptr<Node> root_;
};

// The node at a pointer below `node`, or null.
const Node* find_below(const Node& node, std::string_view pointer);

// House form of a node, without newline at the end; `indent` columns are taken on each new line.
std::string to_text(const Node& node, int width = 100, int indent = 0);
// All on one line.
std::string to_line(const Node& node);

}  // namespace hindcast::document
