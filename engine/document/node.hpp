// A value of a JSON document: null, boolean, integer, real, string, array or object.
//
// Objects keep the order in which keys were written. Integers (exact int64) stay distinct from
// reals, and a number that was read keeps its text, so saving does not alter what the user wrote. A
// node knows where it stands: `place()` is file:line:column, `pointer()` its RFC 6901 pointer, also
// in a copy taken out of its document. Nodes are values: copies are deep, equality is by content.
// Children live at fixed addresses until they are replaced or erased.
//
//     Node spring = Node::object({{"type", "springs"}, {"stiffness", 100}});
//     spring.set("rest_length", "initial");
//     spring.find("stiffness")->integer();    // 100
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.hpp"

namespace hindcast::document {

enum class Kind : std::uint8_t { Null, Boolean, Integer, Real, String, Array, Object };

class Node {
public:
    Node() = default;  // null
    template <std::same_as<bool> T>
    Node(T value) : kind_(Kind::Boolean) {
        integer_ = value ? 1 : 0;
    }
    template <std::integral T>
    requires(!std::same_as<T, bool>) Node(T value) : kind_(Kind::Integer) {
        if (!std::in_range<std::int64_t>(value)) refuse_integer();
        integer_ = static_cast<std::int64_t>(value);
    }
    Node(double value);            // throws Error unless finite
    Node(std::string_view value);  // throws Error unless UTF-8
    Node(const std::string& value) : Node(std::string_view(value)) {}
    Node(const char* value) : Node(std::string_view(value)) {}

    static Node array(std::vector<Node> items = {});
    static Node object(std::initializer_list<std::pair<std::string_view, Node>> members = {});

    Node(const Node& other);
    Node(Node&& other) noexcept;
    Node& operator=(Node other) noexcept;  // keeps its seat in the document, takes the content
    ~Node();

    Kind kind() const { return kind_; }
    bool is_null() const { return kind_ == Kind::Null; }
    bool is_boolean() const { return kind_ == Kind::Boolean; }
    bool is_integer() const { return kind_ == Kind::Integer; }
    bool is_real() const { return kind_ == Kind::Real; }
    bool is_string() const { return kind_ == Kind::String; }
    bool is_array() const { return kind_ == Kind::Array; }
    bool is_object() const { return kind_ == Kind::Object; }

    // The content; throws Error if the node is of another kind. Reading with ranges, fractions and
    // remedies is in read.hpp.
    bool boolean() const;
    std::int64_t integer() const;
    double real() const;
    const std::string& string() const;
    // The user's text for this number; empty if it was not read from a text.
    std::string_view number_text() const;

    // Arrays and objects: number of items or members, 0 for all other kinds.
    std::size_t size() const { return children_ ? children_->items.size() : 0; }
    const Node& item(std::size_t index) const;  // by position, also within an object
    Node& item(std::size_t index);
    const std::string& key(std::size_t index) const;
    SourcePlace key_place(std::size_t index) const;
    // The member's value, or null if there is none or the node is not an object.
    const Node* find(std::string_view key) const;
    Node* find(std::string_view key);
    std::size_t find_index(std::string_view key) const;  // size() if absent

    // Editing. A key that exists keeps its position, a new one goes to the end. References to other
    // children stay valid. Throws Error for the wrong kind or an index out of range.
    Node& set(std::string_view key, Node value);
    Node& push_back(Node value);
    Node& insert(std::size_t index, Node value);  // arrays: before the item at `index`
    void erase(std::size_t index);
    bool erase(std::string_view key);  // false if absent

    SourcePlace place() const;    // line 0 if the node was not read from a text
    std::string pointer() const;  // "" at the root
    const Node* parent() const { return parent_; }
    int depth() const;   // 0 at the root
    int levels() const;  // of arrays and objects: 0 for a scalar, 1 for [] and [1]

    // Same kinds and values, members in any order; the text of numbers and places do not count.
    friend bool operator==(const Node& a, const Node& b);

private:
    friend class TreeBuilder;  // parse.cpp

    struct Key {
        std::string name;
        std::int32_t line = 0, column = 0;
    };
    struct Children {
        std::vector<std::unique_ptr<Node>> items;
        std::vector<Key> keys;  // objects only
    };
    // The document that the top of a tree came from.
    struct Origin {
        std::string file, pointer;
    };

    [[noreturn]] static void refuse_integer();
    void require(bool of_right_kind, const char* wanted) const;
    void take_content(Node& other) noexcept;
    void copy_content(const Node& other);
    void drop_needless_origin() noexcept;
    std::unique_ptr<Node> seated(Node value);
    std::shared_ptr<const Origin> origin_of_copy() const;
    const std::string* file() const;

    Kind kind_ = Kind::Null;
    std::int32_t line_ = 0, column_ = 0;
    union {
        std::int64_t integer_ = 0;  // booleans too
        double real_;
    };
    std::string text_;  // of a string its content, of a number its original text
    std::unique_ptr<Children> children_;
    Node* parent_ = nullptr;
    std::shared_ptr<const Origin> origin_;
};

// "an object with 3 members", "the string 'abc'", "the number 7": for messages.
std::string describe(const Node& node);

// An error at the node: its place and pointer are filled in.
Error fault(const Node& node, std::string happened);
// The same at the key of the member at `index` of an object.
Error fault_at_key(const Node& object, std::size_t index, std::string happened);

// A number as JSON has it: "nan", "inf" and "-inf" are strings.
Node number_node(double value);

}  // namespace hindcast::document
