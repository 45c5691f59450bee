// Documents as a whole: files, access by JSON pointer, and edits that either happen or change
// nothing.
//
// An edit finds its seat (the parent and the last token of the pointer) first; all checks are done
// before the tree is touched.
#include "engine/document/document.hpp"

#include <fmt/format.h>

#include "engine/base/files.hpp"
#include "engine/document/text.hpp"

namespace hindcast::document {

namespace {

// The child that a pointer token names, or null.
const Node* child(const Node& node, const std::string& token) {
    if (node.is_object()) return node.find(token);
    const auto index = node.is_array() ? pointer_index(token) : std::nullopt;
    return index && *index < node.size() ? &node.item(*index) : nullptr;
}

// Walks as far as the tokens lead; `passed` counts those that did.
const Node* walk(const Node& start, const std::vector<std::string>& tokens, std::size_t& passed) {
    const Node* node = &start;
    for (passed = 0; passed < tokens.size(); ++passed) {
        const Node* next = child(*node, tokens[passed]);
        if (!next) return node;
        node = next;
    }
    return node;
}

Error too_deep(const Node& node) {
    Error error = fault(node, fmt::format("more than {} levels of nesting", max_depth));
    error.remedy("write the document flatter");
    return error;
}

Error nothing_at(const Node& node, const std::string& token, std::string_view pointer) {
    Error error = fault(node, fmt::format("there is no {} in {}, looking for {}", shown(token),
                                          describe(node), shown(pointer, 100)));
    if (node.is_object()) {
        std::vector<std::string_view> keys;
        for (std::size_t i = 0; i < node.size() && i < 1000; ++i) keys.push_back(node.key(i));
        if (keys.size() > 20 && nearest(token, keys).empty()) keys.clear();
        const std::string hint = suggestion(token, keys, "its keys are");
        if (!hint.empty()) error.remedy(hint);
    } else if (node.is_array()) {
        error.remedy(node.size() == 0
                         ? "it has no items"
                         : fmt::format("write an index from 0 to {}", node.size() - 1));
    } else {
        error.remedy("only arrays and objects have parts");
    }
    return error;
}

}  // namespace

const Node* find_below(const Node& node, std::string_view pointer) {
    const auto tokens = split_pointer(pointer);
    std::size_t passed = 0;
    const Node* found = walk(node, tokens, passed);
    return passed == tokens.size() ? found : nullptr;
}

Document::Document() : root_(std::make_unique<Node>(Node::object())) {}

Document::Document(Node root, std::string file)
    : file_(std::move(file)), root_(std::make_unique<Node>(std::move(root))) {}

Document::Document(const Document& other)
    : file_(other.file_), root_(std::make_unique<Node>(other.root())) {}

Document& Document::operator=(Document other) noexcept {
    file_ = std::move(other.file_);
    root_ = std::move(other.root_);
    return *this;
}

Document Document::load(const std::filesystem::path& path, const Limits& limits) {
    return parse(read_file(path, limits.bytes), path.string(), limits);
}

void Document::save(const std::filesystem::path& path) const {
    require_readable();
    write_file_atomically(path, to_text());
}

void Document::require_readable() const {
    if (root().levels() > max_depth) throw too_deep(root());
}

const Node* Document::find(std::string_view pointer) const { return find_below(root(), pointer); }

const Node& Document::at(std::string_view pointer) const {
    const auto tokens = split_pointer(pointer);
    std::size_t passed = 0;
    const Node* found = walk(root(), tokens, passed);
    if (passed < tokens.size()) throw nothing_at(*found, tokens[passed], pointer);
    return *found;
}

// The parent of what the pointer names (which need not exist) and the last token.
Document::Seat Document::seat(std::string_view pointer, const Node* value) {
    auto tokens = split_pointer(pointer);
    if (tokens.empty()) throw Error("the document itself cannot be inserted or erased");
    std::string last = std::move(tokens.back());
    tokens.pop_back();
    std::size_t passed = 0;
    const Node* parent = walk(root(), tokens, passed);
    if (passed < tokens.size()) throw nothing_at(*parent, tokens[passed], pointer);
    if (!parent->is_array() && !parent->is_object()) throw nothing_at(*parent, last, pointer);
    if (parent->depth() + 1 + (value ? value->levels() : 0) > max_depth) throw too_deep(*parent);
    return {const_cast<Node*>(parent), std::move(last)};
}

Node& Document::set(std::string_view pointer, Node value) {
    if (pointer.empty()) {
        if (value.levels() > max_depth) throw too_deep(root());
        return root() = std::move(value);
    }
    auto [parent, token] = seat(pointer, &value);
    if (parent->is_object()) return parent->set(token, std::move(value));
    const auto index = pointer_index(token);
    if (token == "-" || index == parent->size()) return parent->push_back(std::move(value));
    if (!index || *index > parent->size()) throw nothing_at(*parent, token, pointer);
    return parent->item(*index) = std::move(value);
}

Node& Document::insert(std::string_view pointer, Node value) {
    auto [parent, token] = seat(pointer, &value);
    if (parent->is_object()) {
        if (parent->find(token)) {
            throw fault(*parent, fmt::format("the key {} exists already", shown(token)))
                .remedy("use another key, or set its value");
        }
        return parent->set(token, std::move(value));
    }
    if (token == "-") return parent->push_back(std::move(value));
    const auto index = pointer_index(token);
    if (!index || *index > parent->size()) throw nothing_at(*parent, token, pointer);
    return parent->insert(*index, std::move(value));
}

void Document::erase(std::string_view pointer) {
    auto [parent, token] = seat(pointer, nullptr);
    if (parent->is_object()) {
        if (!parent->erase(token)) throw nothing_at(*parent, token, pointer);
        return;
    }
    const auto index = pointer_index(token);
    if (!index || *index >= parent->size()) throw nothing_at(*parent, token, pointer);
    parent->erase(*index);
}

}  // namespace hindcast::document
