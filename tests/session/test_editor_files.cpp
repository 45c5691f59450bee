// The edited document's files: saved as they were written, reloaded, autosaves and what a crash
// leaves.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "tests/session/support.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace session;

namespace {

std::string text_at(const Editor& editor, const std::string& pointer) {
    return document::to_line(editor.document()->at(pointer));
}

std::string read_all(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("editor: undo does not go back to a reloaded text that did not run") {
    const test::TemporaryFolder folder;
    const auto file = folder / "scene.json";
    std::filesystem::copy_file(test::scene_file("spring_cage.json"), file);
    const std::string good = read_all(file);
    const auto write = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        text.replace(text.find(from), from.size(), to);
        std::ofstream(file) << text;
    };
    Editor editor(test::all_modules());
    editor.open(file);
    const std::string opened = editor.text();
    write("\"springs\"", "\"sprigs\"");
    editor.reload();
    write("[0, 0, 0]", "[0, 0, 1]");
    editor.reload(false);
    const std::string mended = editor.text();
    CHECK(mended.find("sprigs") == std::string::npos);
    editor.undo();
    CHECK(editor.text() == opened);
    CHECK_FALSE(editor.can_undo());
    editor.redo();
    CHECK(editor.text() == mended);
    // What ran is a step of its own.
    write("[0, 0, 0]", "[0, 0, 2]");
    editor.reload(true);
    editor.undo();
    CHECK(editor.text() == mended);
}

TEST_CASE("editor: files are saved as they were written, noticed when changed, and reloaded") {
    const test::TemporaryFolder folder;
    const auto file = folder / "scene.json";
    std::filesystem::copy_file(test::scene_file("spring_cage.json"), file);
    Editor editor(test::all_modules());
    editor.keep_in(folder / "state");
    editor.open(file);
    editor.set("/gravity/2", -2, "Gravity");
    editor.save();
    CHECK_FALSE(editor.unsaved());
    const std::string saved = read_all(file);
    // Numbers that were not touched keep their text.
    CHECK(saved.find("\"step\": \"1/30\"") != std::string::npos);
    CHECK(saved.find("[0, 0, -2]") != std::string::npos);

    editor.look_at_file();
    std::string other = saved;
    other.replace(other.find("-2]"), 3, "-30]");
    std::ofstream(file) << other;
    bool changed = false;
    for (int k = 0; k < 100 && !changed; ++k) {
        changed = editor.look_at_file() == Editor::FileNews::changed;
        ::usleep(50'000);
    }
    CHECK(changed);
    editor.reload();
    CHECK(text_at(editor, "/gravity/2") == "-30");
    CHECK_FALSE(editor.unsaved());
    editor.undo();
    CHECK(text_at(editor, "/gravity/2") == "-2");
    CHECK(editor.unsaved());

    std::ofstream(file) << "{ not a scene";
    const auto document = editor.document();
    CHECK_THROWS_AS(editor.reload(), Error);
    CHECK_THROWS_AS(editor.open(folder / "missing.json"), Error);
    CHECK(editor.document() == document);
    editor.save_as(folder / "other.json");
    CHECK(editor.file() == folder / "other.json");
    const auto recent = editor.recent();
    REQUIRE(recent.size() == 2);
    CHECK(recent.front().filename() == "other.json");
    editor.close();
    CHECK_FALSE(editor.has_scene());
}

TEST_CASE("editor: a scene whose file is gone is unsaved until the file is back or written anew") {
    const test::TemporaryFolder folder;
    const auto file = folder / "scene.json", aside = folder / "aside.json";
    std::filesystem::copy_file(test::scene_file("spring_cage.json"), file);
    Editor editor(test::all_modules());
    editor.keep_in(folder / "state");
    editor.open(file);
    using News = Editor::FileNews;
    const auto next = [&] {
        for (int k = 0; k < 100; ++k) {
            if (const News news = editor.look_at_file(); news != News::none) return news;
            ::usleep(50'000);
        }
        return News::none;
    };
    std::filesystem::rename(file, aside);
    CHECK(next() == News::gone);
    CHECK(editor.unsaved());
    CHECK(editor.document() != nullptr);
    editor.autosave();
    CHECK(std::ranges::any_of(std::filesystem::directory_iterator(folder / "state"),
                              [](const auto& entry) {
                                  const std::string name = entry.path().filename().string();
                                  return name.starts_with("autosave-") && name.ends_with(".json");
                              }));
    std::filesystem::rename(aside, file);
    CHECK(next() == News::changed);
    CHECK_FALSE(editor.unsaved());
    std::filesystem::remove(file);
    CHECK(next() == News::gone);
    editor.save();
    CHECK_FALSE(editor.unsaved());
    CHECK(read_all(file) == read_all(test::scene_file("spring_cage.json")));
}

TEST_CASE("editor: a copy elsewhere names a schema that is there, or none") {
    const test::TemporaryFolder folder;
    const auto file = folder / "a/scene.json";
    std::filesystem::create_directories(folder / "a");
    std::filesystem::create_directories(folder / "b/c");
    std::ofstream(file) << read_all(test::scene_file("spring_cage.json"));
    std::ofstream(folder / "a/scene.schema.json") << "{}";
    Editor editor(test::all_modules());
    editor.open(file);
    REQUIRE(text_at(editor, "/$schema") == "\"scene.schema.json\"");
    editor.save_as(folder / "b/c/copy.json");
    const auto of = [](const std::filesystem::path& saved) {
        const document::Document copy = document::Document::load(saved);
        const document::Node* const schema = copy.find("/$schema");
        return schema == nullptr ? std::string("none") : schema->string();
    };
    CHECK(of(folder / "b/c/copy.json") == "../../a/scene.schema.json");
    CHECK_FALSE(editor.unsaved());
    std::filesystem::remove(folder / "a/scene.schema.json");
    editor.save_as(folder / "b/other.json");
    CHECK(of(folder / "b/other.json") == "none");
    // What is no file is left alone.
    editor.set("/$schema", "https://example.org/scene.json", "Schema");
    editor.save_as(folder / "a/third.json");
    CHECK(of(folder / "a/third.json") == "https://example.org/scene.json");
    editor.make_new();
    editor.save_as(folder / "b/new.json");
    CHECK(of(folder / "b/new.json") == "none");
}

TEST_CASE("editor: comments and layout are kept by edits, undo, saving and autosaves") {
    const test::TemporaryFolder folder;
    const auto file = folder / "scene.json";
    std::string text = read_all(test::scene_file("spring_cage.json"));
    text.replace(text.find("\"gravity\""), 0, "// of the earth\n    ");
    std::ofstream(file) << text;
    const auto with = [&](const std::string& gravity) {
        std::string changed = text;
        const std::string old = "[0, 0, -9.81]";
        return changed.replace(changed.find(old), old.size(), gravity);
    };
    Editor editor(test::all_modules());
    editor.keep_in(folder / "state");
    editor.open(file);
    CHECK(editor.text() == text);
    editor.set("/gravity/2", -1.62, "Gravity");
    CHECK(editor.text() == with("[0, 0, -1.62]"));
    editor.undo();
    CHECK(editor.text() == text);
    CHECK_FALSE(editor.unsaved());
    editor.redo();
    editor.save();
    CHECK(read_all(file) == with("[0, 0, -1.62]"));
    CHECK_FALSE(editor.unsaved());
    // A comment alone is an edit, which can be undone.
    std::string noted = with("[0, 0, -1.62]  // of the moon");
    noted.replace(noted.find("[0, 0, -1.62]  // of the moon,"), 30,
                  "[0, 0, -1.62],  // of the moon");
    editor.replace_text(noted, "Text");
    CHECK(editor.unsaved());
    CHECK(editor.undo_name() == "Text");
    CHECK(editor.text() == noted);
    editor.undo();
    CHECK_FALSE(editor.unsaved());
    CHECK(editor.text() == with("[0, 0, -1.62]"));
    editor.redo();
    // What is left behind has it too, and is found by its file.
    CHECK(editor.leave_autosave());
    Editor next(test::all_modules());
    next.keep_in(folder / "state");
    CHECK_FALSE(next.find_autosave(folder / "other.json"));
    const auto found = next.find_autosave(folder / "state" / ".." / "scene.json");
    REQUIRE(found);
    next.open_autosave(*found);
    CHECK(next.text() == noted);
    CHECK(next.unsaved());
    next.save();
    CHECK(read_all(file) == noted);
    CHECK_FALSE(next.leave_autosave());
    CHECK_FALSE(next.find_autosave());
}

TEST_CASE("editor: what a crash leaves behind is rescued, and only then") {
    const test::TemporaryFolder folder;
    const auto file = test::scene_file("spring_cage.json");
    const pid_t child = ::fork();
    if (child == 0) {  // edits, and ends without leave
        Editor lost(test::all_modules());
        lost.keep_in(folder.path());
        lost.open(file);
        lost.set("/gravity/2", -3, "Gravity");
        lost.autosave();
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    Editor editor(test::all_modules());
    editor.keep_in(folder.path());
    const auto rescued = editor.find_autosave();
    REQUIRE(rescued);
    CHECK(rescued->original == file);
    CHECK(rescued->when.size() == 16);
    editor.open_autosave(*rescued);
    CHECK(text_at(editor, "/gravity/2") == "-3");
    CHECK(editor.file() == file);
    CHECK(editor.unsaved());
    CHECK_FALSE(editor.find_autosave());  // its own does not count
    editor.close();
    CHECK_FALSE(editor.find_autosave());

    {
        Editor ends(test::all_modules());
        ends.keep_in(folder.path());
        ends.open(file);
        ends.set("/gravity/2", -4, "Gravity");
        ends.autosave();
        CHECK_FALSE(editor.find_autosave());
    }
    CHECK_FALSE(editor.find_autosave());
}
