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

}  // namespace

Editor::Editor(const Registry& registry)
    : ObjectEdits(registry), state_(std::make_unique<State>()) {}

Editor::~Editor() = default;

Editor::State::Stamp Editor::State::stamp_of(const fs::path& file) {
    Stamp stamp;
    std::error_code error;
    if (file.empty() || !fs::is_regular_file(file, error)) return stamp;
    stamp.time = fs::last_write_time(file, error);
    stamp.size = fs::file_size(file, error);
    stamp.exists = true;
    return stamp;
}

bool Editor::unsaved() const {
    return has_scene() && (state_->file_is_gone() || state_->saved != text());
}

void Editor::live_in(const fs::path& folder) {
    if (!file().empty() || folder == home()) return;
    state_->remove_autosave();  // the next one says where the scene lives now
    set_home(folder);
}

void Editor::open(const fs::path& file) {
    if (robot::is_robot_file(file)) {
        const fs::path folder = fs::absolute(file).parent_path();
        make(robot::scene_of_model(fs::absolute(file), folder), folder);
        state_->remember(file);
        return;
    }
    Read read = read_scene(file);
    close();
    State& s = *state_;
    s.saved = read.layout->text();
    s.on_disk = State::stamp_of(file);
    start({std::make_shared<const Document>(std::move(read.document)), std::move(read.layout)},
          file, {});
    s.remember(file);
}

void Editor::make_new() { make_new(Document::parse(new_scene, "new scene")); }

void Editor::make_new(Document scene) { make(std::move(scene), {}); }

void Editor::make(Document scene, const fs::path& home) {
    auto layout = std::make_shared<const document::Layout>(scene.to_text());
    auto made = std::make_shared<const Document>(std::move(scene));
    close();
    state_->saved = layout->text();
    start({std::move(made), std::move(layout)}, {}, home);
}

void Editor::close() {
    State& s = *state_;
    s.remove_autosave();
    s.saved.reset();
    s.on_disk = {};
    s.looks_without_file = 0;
    start({}, {}, {});
}

void Editor::save() {
    if (file().empty()) throw Error("the scene has no file yet").remedy("save it under a name");
    save_as(file());
}

void Editor::save_as(const fs::path& file) {
    if (!has_scene()) throw Error("there is no scene to save");
    const fs::path from = place().parent_path(), to = file.parent_path();
    if (!place().empty() && to != from) {
        copy_files(files_named_in(*document(), from), from, to);
        if (auto moved = document::with_schema_from(*document(), from, to))
            move_to_place(*std::move(moved));
    }
    write_file_atomically(file, readable_text());
    State& s = *state_;
    s.saved = text();
    s.on_disk = State::stamp_of(file);
    s.looks_without_file = 0;
    end_merge();
    set_file(file);
    s.remove_autosave();
    s.remember(file);
}

Editor::FileNews Editor::look_at_file() {
    State& s = *state_;
    const auto now = std::chrono::steady_clock::now();
    if (file().empty() || now - s.looked < look_interval) return FileNews::none;
    s.looked = now;
    const State::Stamp stamp = State::stamp_of(file());
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
    if (file().empty()) throw Error("the scene has no file to reload");
    State& s = *state_;
    const State::Stamp stamp = State::stamp_of(file());
    Read read = read_scene(file());
    std::string text = read.layout->text();
    const bool mends = !runs && s.reloaded_revision == revision();
    const std::uint64_t before = revision();
    become(std::move(read.document), std::move(read.layout),
           "Reload " + file().filename().string());
    if (revision() != before) {
        if (mends) drop_last_step();  // the content of the file in between
        s.reloaded_revision = revision();
    }
    s.saved = std::move(text);
    s.on_disk = stamp;
    s.looks_without_file = 0;
}

}  // namespace hindcast::session
