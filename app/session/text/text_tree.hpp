// TextTree: the places of entries in the text of a scene while it is being typed. Any text has a
// tree: a missing comma, bracket, quote or value is taken as the shortest one that could be meant,
// so that an entry is found and the cursor has a place in every state of the text. Document::parse,
// not this tree, tells if the text is right.
//
//     const TextTree tree(text);
//     tree.find("/forces/0/stiffness");       // -> entry -> its bytes in the text
//     tree.spot(cursor);                      // what the cursor is in, and in which object
//
// Offsets are bytes of the text. Lines and columns count from 0, columns in characters: those of an
// editor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hindcast::session {

struct TextPosition {
    std::size_t line = 0, column = 0;
    friend bool operator==(const TextPosition&, const TextPosition&) = default;
};

class TextTree {
public:
    enum class Kind : std::uint8_t { object, array, string, word, missing };

    // One value, with its key if it is a member of an object.
    struct Entry {
        Kind kind = Kind::missing;
        int parent = -1;
        std::vector<int> parts = {};
        std::string key = {};                    // of a member
        std::size_t key_begin = 0, key_end = 0;  // with its quotes; equal: it has no key
        bool has_colon = false;                  // behind the key
        std::size_t begin = 0, end = 0;          // of the value; equal: it is missing
        bool closed = true;                      // the bracket or quote is there
        std::string text = {};                   // a string's content, or the word: 12, true
        bool has_key() const { return key_end > key_begin; }
        std::size_t from() const { return has_key() ? key_begin : begin; }
    };

    // `cursor`: a string without an end that the cursor is in ends there, not at the line's end.
    explicit TextTree(std::string text, std::optional<std::size_t> cursor = {});

    const std::string& text() const { return text_; }
    const std::vector<Entry>& entries() const { return entries_; }  // a parent before its parts
    const Entry& operator[](int entry) const { return entries_[static_cast<std::size_t>(entry)]; }
    static constexpr int root = 0;  // Kind::missing in an empty text
    static constexpr int none = -1;

    int find(std::string_view pointer) const;  // none if nothing stands there
    // The member of an object, or none.
    int member(int object, std::string_view key) const;
    std::string pointer(int entry) const;
    // The text of a member that is a string; "" if there is none.
    std::string string_at(int object, std::string_view key) const;
    // The name of a section's object as in Scene::objects(): its "name", or its type and its place
    // among those of the type.
    std::string object_name(int object) const;
    // The objects of the sections, in the scene's order: pairs of section and entry.
    std::vector<std::pair<std::string, int>> objects() const;

    enum class In : std::uint8_t {
        nothing,  // outside of the scene
        comment,
        key,   // a key, or where one may begin
        value  // a value, or where one may begin
    };
    struct Spot {
        In in = In::nothing;
        int container = none;  // the object or array around it
        int entry = none;      // the member or item that the cursor is in; none: a new one
        std::size_t begin = 0, end = 0;  // of the key or value; the cursor where there is none
    };
    Spot spot(std::size_t cursor) const;
    // The entry that the cursor is in or behind on its line: what an editor tells of. The root's
    // members and deeper, else none.
    int entry_at(std::size_t cursor) const;

    TextPosition position(std::size_t offset) const;
    std::size_t offset(TextPosition position) const;

    // The last byte before `offset`, or the first one from it on, that is neither white space nor
    // in a comment; 0 if there is none.
    char before(std::size_t offset, std::size_t* at = nullptr) const;
    char behind(std::size_t offset, std::size_t* at = nullptr) const;

private:
    friend class TextTreeBuilder;
    bool in_comment(std::size_t offset) const;

    std::string text_;
    std::vector<Entry> entries_;
    std::vector<std::pair<std::size_t, std::size_t>> comments_;  // sorted
    std::vector<std::size_t> lines_;                             // where each begins
};

}  // namespace hindcast::session
