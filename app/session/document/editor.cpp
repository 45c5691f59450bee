// Edits, undo and files. Every change makes a new document; the old one stays with undo and with
// runs that still use it.
#include "app/session/document/editor.hpp"

#include "app/session/document/editor_state.hpp"
#include "app/session/document/scene_files.hpp"
#include "engine/base/files.hpp"
#include "engine/document/schema_link.hpp"
#include "engine/robot/robot_scene.hpp"
#include "engine/sim/scene/scene.hpp"

namespace hindcast::session {

namespace {

namespace fs = std::filesystem;
using document::Document;
using document::Node;

constexpr std::size_t most_steps = 500;
constexpr auto look_interval = std::chrono::milliseconds(500);

constexpr const char* new_scene = R"({
    "format": 1,
    "name": "new scene",
    "description": "A ball is thrown: its first velocity is to carry it to the target.",
    "time": { "step": "1/60", "steps": 60 },
    "gravity": [0, 0, -9.81],
    "bodies": [
        { "type": "particles", "name": "ball", "positions": [[0, 0, 1]], "velocity": [1, 0, 5] }
    ],
    "objective": [
        { "type": "point_target", "name": "target", "of": "ball", "target": [2, 0.5, 2] }
    ],
    "parameters": [{ "path": "ball.velocity" }],
    "optimizer": { "type": "adam", "rate": 0.2, "iterations": 100 }
})";

struct Read {
    Document document;
    LayoutPointer layout;
};

Read read_scene(const fs::path& file) {
    std::string text = read_file(file, document::Limits{}.bytes);
    Document document = Document::parse(text, file.string());
    Scene::of(document, file);  // its global keys and its objects' names are right
    return {std::move(document), std::make_shared<const document::Layout>(std::move(text))};
}

// The value without the places of the text that it was read from: they are none of this document.
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

Editor::Editor(const Registry& registry) : state_(std::make_shared<State>(registry)) {}

Editor::State::Stamp Editor::State::stamp_of(const fs::path& file) {
    Stamp stamp;
    std::error_code error;
    if (file.empty() || !fs::is_regular_file(file, error)) return stamp;
    stamp.time = fs::last_write_time(file, error);
    stamp.size = fs::file_size(file, error);
    stamp.exists = true;
    return stamp;
}

// ---------------------------------------------------------------- edits

void Editor::replace(Document whole, const std::string& name) {
    become(std::move(whole), state_->layout, name);
}

// Every change goes through here.
void Editor::become(Document whole, LayoutPointer layout, const std::string& name) {
    auto next = std::make_shared<const Document>(std::move(whole));
    State& s = *state_;
    if (document_ && *next == *document_ && next->to_text() == document_->to_text() &&
        (layout == s.layout || (layout && layout->with(*next) == text())))
        return;
    if (document_) {
        s.undo.push_back({document_, name, s.layout});
        if (s.undo.size() > most_steps) s.undo.pop_front();
    }
    s.redo.clear();
    s.merge.clear();
    s.layout = std::move(layout);
    document_ = std::move(next);
    ++revision_;
}

void Editor::set(const std::string& pointer, Node value, const std::string& name,
                 const std::string& merge) {
    if (!document_) throw Error("there is no scene to edit").remedy("open one, or make a new one");
    Document changed = *document_;
    changed.set(pointer, without_places(value));
    State& s = *state_;
    const bool merges = !merge.empty() && merge == s.merge && !s.undo.empty() && s.redo.empty();
    if (merges) {
        document_ = std::make_shared<const Document>(std::move(changed));
        ++revision_;
        return;
    }
    const std::uint64_t before = revision_;
    replace(std::move(changed), name);
    if (revision_ != before) s.merge = merge;
}

void Editor::insert(const std::string& pointer, Node value, const std::string& name) {
    if (!document_) throw Error("there is no scene to edit").remedy("open one, or make a new one");
    Document changed = *document_;
    changed.insert(pointer, without_places(value));
    replace(std::move(changed), name);
}

void Editor::erase(const std::string& pointer, const std::string& name) {
    if (!document_) throw Error("there is no scene to edit").remedy("open one, or make a new one");
    Document changed = *document_;
    changed.erase(pointer);
    replace(std::move(changed), name);
}

void Editor::replace_text(const std::string& text, const std::string& name) {
    Document whole = Document::parse(text, file_.empty() ? "scene" : file_.string());
    become(std::move(whole), std::make_shared<const document::Layout>(text), name);
}

void Editor::end_merge() { state_->merge.clear(); }

// ---------------------------------------------------------------- undo

bool Editor::can_undo() const { return !state_->undo.empty(); }
bool Editor::can_redo() const { return !state_->redo.empty(); }
std::string Editor::undo_name() const { return can_undo() ? state_->undo.back().name : ""; }
std::string Editor::redo_name() const { return can_redo() ? state_->redo.back().name : ""; }

void Editor::undo() {
    State& s = *state_;
    if (s.undo.empty()) return;
    State::Step step = std::move(s.undo.back());
    s.undo.pop_back();
    s.merge.clear();
    s.redo.push_back({document_, step.name, s.layout});
    document_ = std::move(step.document);
    s.layout = std::move(step.layout);
    ++revision_;
}

void Editor::redo() {
    State& s = *state_;
    if (s.redo.empty()) return;
    State::Step step = std::move(s.redo.back());
    s.redo.pop_back();
    s.merge.clear();
    s.undo.push_back({document_, step.name, s.layout});
    document_ = std::move(step.document);
    s.layout = std::move(step.layout);
    ++revision_;
}

std::vector<std::string> Editor::undo_names() const {
    std::vector<std::string> names;
    for (auto step = state_->undo.rbegin(); step != state_->undo.rend(); ++step)
        names.push_back(step->name);
    return names;
}

// ---------------------------------------------------------------- files

const std::string& Editor::text() const {
    const State& s = *state_;
    if (s.written_revision != revision_) {
        s.written_revision = revision_;
        s.written = !document_ ? "" : s.layout ? s.layout->with(*document_) : document_->to_text();
    }
    return s.written;
}

std::string Editor::readable_text() const {
    document_->require_readable();
    return text();
}

bool Editor::unsaved() const {
    return document_ && (state_->file_is_gone() || state_->saved != text());
}

fs::path Editor::place() const {
    return !file_.empty() || home_.empty() ? file_ : home_ / "new scene.json";
}

void Editor::live_in(const fs::path& folder) {
    if (!file_.empty() || folder == home_) return;
    state_->remove_autosave();  // the next one says where the scene lives now
    home_ = folder;
    ++revision_;
}

void Editor::open(const fs::path& file) {
    if (robot::is_robot_file(file)) {
        const fs::path folder = fs::absolute(file).parent_path();
        make_new(robot::scene_of_model(fs::absolute(file), folder));
        home_ = folder;
        state_->remember(file);
        return;
    }
    Read read = read_scene(file);
    close();
    State& s = *state_;
    document_ = std::make_shared<const Document>(std::move(read.document));
    s.saved = read.layout->text();
    s.layout = std::move(read.layout);
    file_ = file;
    s.on_disk = State::stamp_of(file);
    ++revision_;
    s.remember(file);
}

void Editor::make_new() { make_new(Document::parse(new_scene, "new scene")); }

void Editor::make_new(Document scene) {
    const std::string text = scene.to_text();
    auto made = std::make_shared<const Document>(std::move(scene));
    close();
    document_ = std::move(made);
    state_->layout = std::make_shared<const document::Layout>(text);
    state_->saved = state_->layout->text();
    ++revision_;
}

void Editor::close() {
    State& s = *state_;
    s.remove_autosave();
    s.undo.clear();
    s.redo.clear();
    s.merge.clear();
    s.saved.reset();
    s.layout = nullptr;
    s.on_disk = {};
    s.looks_without_file = 0;
    document_ = nullptr;
    file_.clear();
    home_.clear();
    ++revision_;
}

void Editor::save() {
    if (file_.empty()) throw Error("the scene has no file yet").remedy("save it under a name");
    save_as(file_);
}

void Editor::save_as(const fs::path& file) {
    if (!document_) throw Error("there is no scene to save");
    const fs::path from = place().parent_path(), to = file.parent_path();
    if (!place().empty() && to != from) {
        copy_files(files_named_in(*document_, from), from, to);
        if (auto moved = document::with_schema_from(*document_, from, to)) {
            document_ = std::make_shared<const Document>(*std::move(moved));
            ++revision_;
        }
    }
    write_file_atomically(file, readable_text());
    State& s = *state_;
    s.saved = text();
    s.on_disk = State::stamp_of(file);
    s.looks_without_file = 0;
    s.merge.clear();
    file_ = file;
    s.remove_autosave();
    s.remember(file);
}

Editor::FileNews Editor::look_at_file() {
    State& s = *state_;
    const auto now = std::chrono::steady_clock::now();
    if (file_.empty() || now - s.looked < look_interval) return FileNews::none;
    s.looked = now;
    const State::Stamp stamp = State::stamp_of(file_);
    if (!stamp.exists) {
        if (s.file_is_gone()) return FileNews::none;
        ++s.looks_without_file;
        return s.file_is_gone() ? FileNews::gone : FileNews::none;
    }
    const bool back = s.file_is_gone();
    s.looks_without_file = 0;
    if (stamp == s.on_disk && !back) return FileNews::none;
    s.on_disk = stamp;
    return FileNews::changed;
}

void Editor::reload(bool runs) {
    if (file_.empty()) throw Error("the scene has no file to reload");
    State& s = *state_;
    const State::Stamp stamp = State::stamp_of(file_);
    Read read = read_scene(file_);
    std::string text = read.layout->text();
    const bool mends = !runs && s.reloaded_revision == revision_;
    const std::uint64_t before = revision_;
    become(std::move(read.document), std::move(read.layout), "Reload " + file_.filename().string());
    if (revision_ != before) {
        if (mends) s.undo.pop_back();  // the file's content in between
        s.reloaded_revision = revision_;
    }
    s.saved = std::move(text);
    s.on_disk = stamp;
    s.looks_without_file = 0;
}

}  // namespace hindcast::session
