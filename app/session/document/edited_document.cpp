#include "app/session/document/edited_document.hpp"

#include <utility>

#include "engine/base/error.hpp"

namespace hindcast::session {

namespace {

using document::Document;
using document::Node;

constexpr std::size_t most_steps = 500;

// The value without its places in the text that it was read from, which is another document's.
Node without_places(const Node& node) {
    Node result;
    if (node.is_array()) {
        result = Node::array();
        for (std::size_t k = 0; k < node.size(); ++k)
            result.push_back(without_places(node.item(k)));
    } else if (node.is_object()) {
        result = Node::object();
        for (std::size_t k = 0; k < node.size(); ++k)
            result.set(node.key(k), without_places(node.item(k)));
    } else if (node.is_boolean()) {
        result = Node(node.boolean());
    } else if (node.is_integer()) {
        result = Node(node.integer());
    } else if (node.is_real()) {
        result = Node(node.real());
    } else if (node.is_string()) {
        result = Node(node.string());
    }
    return result;
}

}  // namespace

// ---------------------------------------------------------------- undo steps

std::vector<std::string> UndoSteps::names() const {
    std::vector<std::string> names;
    for (auto step = undo_.rbegin(); step != undo_.rend(); ++step) names.push_back(step->name);
    return names;
}

void UndoSteps::add(State before, const std::string& name) {
    undo_.push_back({std::move(before), name});
    if (undo_.size() > most_steps) undo_.pop_front();
}

void UndoSteps::clear() {
    undo_.clear();
    redo_.clear();
}

UndoSteps::State UndoSteps::undo(State present) {
    Step step = std::move(undo_.back());
    undo_.pop_back();
    redo_.push_back({std::move(present), std::move(step.name)});
    return std::move(step.state);
}

UndoSteps::State UndoSteps::redo(State present) {
    Step step = std::move(redo_.back());
    redo_.pop_back();
    undo_.push_back({std::move(present), std::move(step.name)});
    return std::move(step.state);
}

// ---------------------------------------------------------------- edits

const Document& EditedDocument::needed_document() const {
    if (!document_) throw Error("there is no scene to edit").remedy("open one, or make a new one");
    return *document_;
}

void EditedDocument::replace(Document whole, const std::string& name) {
    become(std::move(whole), layout_, name);
}

void EditedDocument::become(Document whole, LayoutPointer layout, const std::string& name) {
    auto next = std::make_shared<const Document>(std::move(whole));
    if (document_ && *next == *document_ && next->to_text() == document_->to_text() &&
        (layout == layout_ || (layout && layout->with(*next) == text())))
        return;
    if (document_) steps_.add({document_, layout_}, name);
    steps_.forget_redo();
    merge_.clear();
    layout_ = std::move(layout);
    document_ = std::move(next);
    ++revision_;
}

void EditedDocument::set(const std::string& pointer, Node value, const std::string& name,
                         const std::string& merge) {
    Document changed = needed_document();
    changed.set(pointer, without_places(value));
    const bool merges =
        !merge.empty() && merge == merge_ && steps_.can_undo() && !steps_.can_redo();
    if (merges) {
        document_ = std::make_shared<const Document>(std::move(changed));
        ++revision_;
        return;
    }
    const std::uint64_t before = revision_;
    replace(std::move(changed), name);
    if (revision_ != before) merge_ = merge;
}

void EditedDocument::insert(const std::string& pointer, Node value, const std::string& name) {
    Document changed = needed_document();
    changed.insert(pointer, without_places(value));
    replace(std::move(changed), name);
}

void EditedDocument::erase(const std::string& pointer, const std::string& name) {
    Document changed = needed_document();
    changed.erase(pointer);
    replace(std::move(changed), name);
}

void EditedDocument::replace_text(const std::string& text, const std::string& name) {
    Document whole = Document::parse(text, file_.empty() ? "scene" : file_.string());
    become(std::move(whole), std::make_shared<const document::Layout>(text), name);
}

void EditedDocument::undo() {
    if (can_undo()) show(steps_.undo({document_, layout_}));
}

void EditedDocument::redo() {
    if (can_redo()) show(steps_.redo({document_, layout_}));
}

void EditedDocument::show(UndoSteps::State state) {
    merge_.clear();
    document_ = std::move(state.document);
    layout_ = std::move(state.layout);
    ++revision_;
}

// ---------------------------------------------------------------- text and place

const std::string& EditedDocument::text() const {
    if (written_revision_ != revision_) {
        written_revision_ = revision_;
        written_ = !document_ ? "" : layout_ ? layout_->with(*document_) : document_->to_text();
    }
    return written_;
}

std::string EditedDocument::readable_text() const {
    document_->require_readable();
    return text();
}

std::filesystem::path EditedDocument::place() const {
    return !file_.empty() || home_.empty() ? file_ : home_ / "new scene.json";
}

void EditedDocument::start(UndoSteps::State scene, const std::filesystem::path& file,
                           const std::filesystem::path& home) {
    steps_.clear();
    file_ = file;
    home_ = home;
    show(std::move(scene));
}

void EditedDocument::move_to_place(Document moved) {
    document_ = std::make_shared<const Document>(std::move(moved));
    ++revision_;
}

void EditedDocument::set_home(const std::filesystem::path& home) {
    home_ = home;
    ++revision_;
}

}  // namespace hindcast::session
