// The tree of nodes. Invariants: an array or object owns `children_`, nothing else does; `keys` is
// as long as `items` in an object and empty in an array; every child's `parent_` is the node that
// owns it.
//
// Only the top of a tree needs an origin (file and pointer in the document it came from); a part
// that was moved in from another file keeps that file's name.
#include "engine/document/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/document/text.hpp"

namespace hindcast::document {

Node::Node(double value) : kind_(Kind::Real) {
    if (!std::isfinite(value)) {
        throw Error(fmt::format("{} cannot be written in a document", value))
            .remedy("give a finite number");
    }
    real_ = value;
}

Node::Node(std::string_view value) : kind_(Kind::String), text_(value) {
    if (!is_utf8(value)) {
        throw Error("the string " + shown(value) + " is not UTF-8").remedy("give UTF-8 text");
    }
}

Node Node::array(std::vector<Node> items) {
    Node node;
    node.kind_ = Kind::Array;
    node.children_ = std::make_unique<Children>();
    for (Node& item : items) node.push_back(std::move(item));
    return node;
}

Node Node::object(std::initializer_list<std::pair<std::string_view, Node>> members) {
    Node node;
    node.kind_ = Kind::Object;
    node.children_ = std::make_unique<Children>();
    for (const auto& [key, value] : members) node.set(key, value);
    return node;
}

Node::Node(const Node& other) : origin_(other.origin_of_copy()) { copy_content(other); }

Node::Node(Node&& other) noexcept {
    origin_ = other.parent_ ? other.origin_of_copy() : other.origin_;
    take_content(other);
}

Node& Node::operator=(Node other) noexcept {
    // The old content dies last: the new one may have been part of it.
    Node old;
    old.take_content(*this);
    take_content(other);
    origin_ = std::move(other.origin_);
    if (parent_) drop_needless_origin();
    return *this;
}

Node::~Node() = default;

// Content, text and place; parent and origin stay as they are.
void Node::take_content(Node& other) noexcept {
    kind_ = std::exchange(other.kind_, Kind::Null);
    line_ = other.line_;
    column_ = other.column_;
    if (kind_ == Kind::Real) {
        real_ = other.real_;
    } else {
        integer_ = other.integer_;
    }
    text_ = std::move(other.text_);
    children_ = std::move(other.children_);
    if (children_) {
        for (const auto& item : children_->items) item->parent_ = this;
    }
}

void Node::copy_content(const Node& other) {
    kind_ = other.kind_;
    line_ = other.line_;
    column_ = other.column_;
    if (kind_ == Kind::Real) {
        real_ = other.real_;
    } else {
        integer_ = other.integer_;
    }
    text_ = other.text_;
    if (!other.children_) return;
    children_ = std::make_unique<Children>();
    children_->keys = other.children_->keys;
    children_->items.reserve(other.size());
    for (const auto& item : other.children_->items) {
        auto copy = std::make_unique<Node>();
        copy->copy_content(*item);
        copy->parent_ = this;
        copy->origin_ = item->origin_;
        children_->items.push_back(std::move(copy));
    }
}

void Node::refuse_integer() {
    throw Error("the integer does not fit 64 bits with sign").remedy("give a real number");
}

void Node::require(bool of_right_kind, const char* wanted) const {
    if (!of_right_kind) {
        throw fault(*this, fmt::format("expected {}, found {}", wanted, describe(*this)));
    }
}

bool Node::boolean() const {
    require(is_boolean(), "true or false");
    return integer_ != 0;
}

std::int64_t Node::integer() const {
    require(is_integer(), "an integer");
    return integer_;
}

double Node::real() const {
    require(is_real(), "a real number");
    return real_;
}

const std::string& Node::string() const {
    require(is_string(), "a string");
    return text_;
}

std::string_view Node::number_text() const {
    return is_integer() || is_real() ? std::string_view(text_) : std::string_view();
}

const Node& Node::item(std::size_t index) const {
    require(children_ != nullptr, "an array or an object");
    if (index >= size()) {
        throw fault(*this, fmt::format("item {} of {} was asked for", index, size()));
    }
    return *children_->items[index];
}

Node& Node::item(std::size_t index) {
    return const_cast<Node&>(static_cast<const Node&>(*this).item(index));
}

const std::string& Node::key(std::size_t index) const {
    require(is_object(), "an object");
    if (index >= size()) {
        throw fault(*this, fmt::format("key {} of {} was asked for", index, size()));
    }
    return children_->keys[index].name;
}

SourcePlace Node::key_place(std::size_t index) const {
    key(index);  // checks
    SourcePlace place = this->place();
    place.line = children_->keys[index].line;
    place.column = children_->keys[index].column;
    return place;
}

std::size_t Node::find_index(std::string_view key) const {
    if (!is_object()) return size();
    const auto& keys = children_->keys;
    const auto found =
        std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.name == key; });
    return static_cast<std::size_t>(found - keys.begin());
}

const Node* Node::find(std::string_view key) const {
    if (!is_object()) return nullptr;
    const std::size_t index = find_index(key);
    return index < size() ? children_->items[index].get() : nullptr;
}

Node* Node::find(std::string_view key) {
    return const_cast<Node*>(static_cast<const Node&>(*this).find(key));
}

// A part of another file keeps that file's name for its places; all others take the document's.
void Node::drop_needless_origin() noexcept {
    if (!origin_) return;
    const std::string* own = parent_->file();
    if (origin_->file.empty() || (own && *own == origin_->file)) origin_ = nullptr;
}

std::unique_ptr<Node> Node::seated(Node value) {
    auto node = std::make_unique<Node>(std::move(value));
    node->parent_ = this;
    node->drop_needless_origin();
    return node;
}

Node& Node::set(std::string_view key, Node value) {
    require(is_object(), "an object");
    const std::size_t index = find_index(key);
    auto node = seated(std::move(value));
    if (index < size()) {
        children_->items[index] = std::move(node);
        return *children_->items[index];
    }
    if (!is_utf8(key)) throw fault(*this, "the key " + shown(key) + " is not UTF-8");
    children_->keys.push_back({std::string(key)});
    children_->items.push_back(std::move(node));
    return *children_->items.back();
}

Node& Node::push_back(Node value) { return insert(size(), std::move(value)); }

Node& Node::insert(std::size_t index, Node value) {
    require(is_array(), "an array");
    if (index > size()) {
        throw fault(*this, fmt::format("cannot insert at {} of {} items", index, size()));
    }
    auto& items = children_->items;
    return **items.insert(items.begin() + static_cast<std::ptrdiff_t>(index),
                          seated(std::move(value)));
}

void Node::erase(std::size_t index) {
    item(index);  // checks
    const auto offset = static_cast<std::ptrdiff_t>(index);
    children_->items.erase(children_->items.begin() + offset);
    if (is_object()) children_->keys.erase(children_->keys.begin() + offset);
}

bool Node::erase(std::string_view key) {
    require(is_object(), "an object");
    const std::size_t index = find_index(key);
    if (index == size()) return false;
    erase(index);
    return true;
}

const std::string* Node::file() const {
    for (const Node* node = this; node; node = node->parent_) {
        if (node->origin_) return &node->origin_->file;
    }
    return nullptr;
}

SourcePlace Node::place() const {
    const std::string* name = file();
    return {name ? *name : std::string(), line_, column_};
}

std::string Node::pointer() const {
    std::vector<std::string> tokens;
    const Node* node = this;
    for (; node->parent_; node = node->parent_) {
        const auto& siblings = *node->parent_->children_;
        const auto found = std::find_if(siblings.items.begin(), siblings.items.end(),
                                        [&](const auto& item) { return item.get() == node; });
        const auto index = static_cast<std::size_t>(found - siblings.items.begin());
        tokens.push_back(node->parent_->is_object() ? pointer_token(siblings.keys[index].name)
                                                    : std::to_string(index));
    }
    std::string result = node->origin_ ? node->origin_->pointer : std::string();
    for (auto token = tokens.rbegin(); token != tokens.rend(); ++token) result += "/" + *token;
    return result;
}

std::shared_ptr<const Node::Origin> Node::origin_of_copy() const {
    if (!parent_) return origin_;
    const std::string* name = file();
    std::string own_pointer = pointer();
    return std::make_shared<const Origin>(Origin{name ? *name : "", std::move(own_pointer)});
}

int Node::depth() const {
    int depth = 0;
    for (const Node* node = parent_; node; node = node->parent_) ++depth;
    return depth;
}

int Node::levels() const {
    if (!children_) return 0;
    int below = 0;
    for (const auto& item : children_->items) below = std::max(below, item->levels());
    return below + 1;
}

bool operator==(const Node& a, const Node& b) {
    if (a.kind_ != b.kind_ || a.size() != b.size()) return false;
    const auto& same = [](const std::unique_ptr<Node>& p, const std::unique_ptr<Node>& q) {
        return *p == *q;
    };
    switch (a.kind_) {
        case Kind::Null: return true;
        case Kind::Boolean:
        case Kind::Integer: return a.integer_ == b.integer_;
        case Kind::Real: return a.real_ == b.real_;
        case Kind::String: return a.text_ == b.text_;
        case Kind::Array: return std::ranges::equal(a.children_->items, b.children_->items, same);
        case Kind::Object: break;
    }
    // Members in any order: compare in the order of sorted keys.
    const auto sorted = [](const Node& node) {
        std::vector<std::size_t> order(node.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::sort(order, {}, [&](std::size_t i) -> std::string_view {
            return node.children_->keys[i].name;
        });
        return order;
    };
    const auto in_a = sorted(a), in_b = sorted(b);
    for (std::size_t k = 0; k < a.size(); ++k) {
        if (a.children_->keys[in_a[k]].name != b.children_->keys[in_b[k]].name) return false;
        if (!same(a.children_->items[in_a[k]], b.children_->items[in_b[k]])) return false;
    }
    return true;
}

std::string describe(const Node& node) {
    switch (node.kind()) {
        case Kind::Null: return "null";
        case Kind::Boolean: return node.boolean() ? "true" : "false";
        case Kind::Integer: return fmt::format("the integer {}", node.integer());
        case Kind::Real: {
            const std::string_view text = node.number_text();
            const bool brief = !text.empty() && text.size() <= 40;
            return fmt::format("the number {}", brief ? std::string(text) : shortest(node.real()));
        }
        case Kind::String: return "the string " + shown(node.string());
        case Kind::Array:
            if (node.size() == 0) return "an empty array";
            return fmt::format("an array of {} item{}", node.size(), node.size() == 1 ? "" : "s");
        case Kind::Object:
            if (node.size() == 0) return "an empty object";
            return fmt::format("an object with {} member{}", node.size(),
                               node.size() == 1 ? "" : "s");
    }
    return "nothing";
}

Error fault(const Node& node, std::string happened) {
    Error error(std::move(happened));
    error.at(node.place()).at_pointer(node.pointer());
    return error;
}

Error fault_at_key(const Node& object, std::size_t index, std::string happened) {
    Error error(std::move(happened));
    error.at(object.key_place(index))
        .at_pointer(object.pointer() + "/" + pointer_token(object.key(index)));
    return error;
}

Node number_node(double value) {
    return std::isfinite(value) ? Node(value) : Node(number_text(value));
}

}  // namespace hindcast::document
