// Autosave and recent files. Each editor that has something unsaved writes it to a file of its own
// in the folder, which it holds a lock on; a file without a lock was left by a crash.
//
//     autosave-PID-N.json    the document
//     autosave-PID-N.info    the original's path, or with "/" at its end the folder it lives in
//     recent.json            a list of paths, newest first
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "app/session/document/editor_state.hpp"
#include "engine/base/files.hpp"
#include "engine/base/log.hpp"

namespace hindcast::session {

namespace {

namespace fs = std::filesystem;
using document::Document;
using document::Node;

constexpr std::size_t most_recent = 20;

fs::path info_of(const fs::path& autosave) { return fs::path(autosave).replace_extension(".info"); }

// A lock on the file, or -1 where another one holds it (or there is none).
int lock_file(const fs::path& file, bool make) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC | (make ? O_CREAT : 0), 0600);
    if (descriptor < 0) return -1;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
    ::close(descriptor);
    return -1;
}

void remove_files(const fs::path& autosave) {
    std::error_code ignored;
    fs::remove(autosave, ignored);
    fs::remove(info_of(autosave), ignored);
}

std::string when_written(const fs::path& file) {
    std::error_code error;
    const auto time = fs::last_write_time(file, error);
    if (error) return "";
    const auto age = fs::file_time_type::clock::now() - time;
    const auto system = std::chrono::system_clock::now() -
                        std::chrono::duration_cast<std::chrono::system_clock::duration>(age);
    return fmt::format("{:%Y-%m-%d %H:%M}",
                       fmt::localtime(std::chrono::system_clock::to_time_t(system)));
}

}  // namespace

Editor::State::~State() { remove_autosave(); }

void Editor::State::remove_autosave() {
    if (!autosave_file.empty()) remove_files(autosave_file);
    if (lock >= 0) ::close(lock);
    lock = -1;
    autosave_file.clear();
    autosaved_revision = 0;
}

void Editor::keep_in(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    state_->folder = folder;
}

// The lock lies on the .info file: the document's own is replaced with each autosave.
void Editor::autosave() {
    State& s = *state_;
    if (s.folder.empty() || s.autosaved_revision == revision()) return;
    if (!unsaved()) {
        s.remove_autosave();
        return;
    }
    if (s.autosave_file.empty()) {
        static std::atomic<int> count = 0;
        const fs::path kept = s.folder / fmt::format("autosave-{}-{}.json", ::getpid(), ++count);
        s.lock = lock_file(info_of(kept), true);
        if (s.lock < 0)
            throw Error("no autosave can be written to " + s.folder.string())
                .remedy("make the folder writable");
        s.autosave_file = kept;
        std::error_code error;
        const std::string original = !file().empty()   ? fs::absolute(file(), error).string()
                                     : !home().empty() ? (home() / "").string()
                                                       : "";
        if (::write(s.lock, original.data(), original.size()) !=
            static_cast<ssize_t>(original.size()))
            throw Error("no autosave can be written to " + s.folder.string());
    }
    write_file_atomically(s.autosave_file, readable_text());
    s.autosaved_revision = revision();
}

bool Editor::leave_autosave() {
    State& s = *state_;
    if (s.folder.empty() || !unsaved()) return false;
    autosave();
    if (s.lock >= 0) ::close(s.lock);
    s.lock = -1;
    s.autosave_file.clear();
    s.autosaved_revision = revision();
    return true;
}

std::optional<Editor::Autosave> Editor::find_autosave(const fs::path& original) const {
    const State& s = *state_;
    std::optional<Autosave> newest;
    fs::file_time_type newest_time;
    std::error_code error;
    if (s.folder.empty()) return newest;
    const auto place = [&](const fs::path& path) {
        return fs::weakly_canonical(fs::absolute(path, error), error);
    };
    const fs::path wanted = original.empty() ? fs::path() : place(original);
    for (const auto& entry : fs::directory_iterator(s.folder, error)) {
        const fs::path& file = entry.path();
        const std::string name = file.filename().string();
        if (!name.starts_with("autosave-") || file.extension() != ".json") continue;
        const int lock = lock_file(info_of(file), true);
        if (lock < 0) continue;  // its editor lives
        ::close(lock);
        const auto time = fs::last_write_time(file, error);
        if (newest && time < newest_time) continue;
        Autosave found{file, {}, {}, when_written(file)};
        try {
            found.original = read_file(info_of(file), 1 << 16);
        } catch (const Error&) {
            found.original.clear();
        }
        if (found.original.string().ends_with('/'))
            found.home = std::exchange(found.original, {}).parent_path();
        if (!wanted.empty() && (found.original.empty() || place(found.original) != wanted))
            continue;
        newest_time = time;
        newest = std::move(found);
    }
    return newest;
}

void Editor::open_autosave(const Autosave& found) {
    const std::string text = read_file(found.file, document::Limits{}.bytes);
    auto opened = std::make_shared<const Document>(Document::parse(text, found.original.string()));
    close();
    start({std::move(opened), std::make_shared<const document::Layout>(text)}, found.original,
          found.home);
    state_->on_disk = State::stamp_of(file());
    autosave();  // before the older one goes
    remove_files(found.file);
}

void Editor::discard_autosave(const Autosave& found) { remove_files(found.file); }

// ---------------------------------------------------------------- recent files

void Editor::State::remember(const fs::path& file) const {
    if (folder.empty()) return;
    std::error_code error;
    const std::string path = fs::weakly_canonical(fs::absolute(file, error), error).string();
    Node list = Node::array({Node(path)});
    try {
        const fs::path old = folder / "recent.json";
        if (fs::exists(old, error)) {
            const Document before = Document::load(old);
            for (std::size_t k = 0; k < before.root().size() && list.size() < most_recent; ++k)
                if (before.root().item(k).is_string() && before.root().item(k).string() != path)
                    list.push_back(before.root().item(k).string());
        }
    } catch (const Error&) {  // a list that cannot be read begins anew
        log_debug("the list of recent files could not be read");
    }
    try {
        Document(list).save(folder / "recent.json");
    } catch (const Error& failure) {
        log_debug("the list of recent files could not be written: {}", failure.what());
    }
}

std::vector<fs::path> Editor::recent() const {
    std::vector<fs::path> list;
    std::error_code error;
    const fs::path file = state_->folder / "recent.json";
    if (state_->folder.empty() || !fs::exists(file, error)) return list;
    try {
        const Document document = Document::load(file);
        for (std::size_t k = 0; k < document.root().size(); ++k) {
            const Node& item = document.root().item(k);
            if (item.is_string() && fs::is_regular_file(item.string(), error))
                list.emplace_back(item.string());
        }
    } catch (const Error&) {
        list.clear();
    }
    return list;
}

}  // namespace hindcast::session
