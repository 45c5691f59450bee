#include "engine/sim/results_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <system_error>

#include "engine/base/error.hpp"
#include "engine/base/files.hpp"
#include "engine/document/document.hpp"

namespace hindcast {

namespace fs = std::filesystem;

namespace {

using document::Node;

constexpr const char* elsewhere = "choose another folder with --output";

Error in_the_way(const fs::path& file) {
    return Error("the file " + file.string() +
                 " would be overwritten or removed, and no earlier results list it")
        .remedy("choose another folder with --output, or move the file elsewhere");
}

Error cannot_make(const fs::path& path, const std::string& why) {
    return Error("the folder " + path.string() + " cannot be made: " + why).remedy(elsewhere);
}

void make_folder(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error || !fs::is_directory(path))
        throw cannot_make(path, error ? error.message() : "a file of that name is in the way");
}

// ---------------------------------------------------------------- files of Hindcast

constexpr const char* list_name = ".hindcast_files";
constexpr const char* summary_name = "summary.json";
using Names = std::set<std::string>;

bool is_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(fs::symlink_status(path, ignored));
}

std::string line_of(const std::string& name) { return document::to_line(Node(name)) + "\n"; }

std::string list_in(const fs::path& folder) {
    return is_file(folder / list_name) ? read_file(folder / list_name) : "";
}

void append(const fs::path& file, const std::string& line) {
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    const bool written = descriptor >= 0 && ::write(descriptor, line.data(), line.size()) ==
                                                static_cast<ssize_t>(line.size());
    const int why = errno;
    if (descriptor >= 0) ::close(descriptor);
    if (!written)
        throw Error("cannot write " + file.string() + ": " + std::generic_category().message(why))
            .remedy("free some space, or " + std::string(elsewhere));
}

bool has_line(const std::string& list, const std::string& line) {
    return list.starts_with(line) || list.find("\n" + line) != std::string::npos;
}

void add_strings(const Node* list, Names& names) {
    for (std::size_t k = 0; list != nullptr && list->is_array() && k < list->size(); ++k)
        if (list->item(k).is_string()) names.insert(list->item(k).string());
}

// The folder's summary; nothing if the file is not one of Hindcast's.
std::optional<document::Document> summary_in(const fs::path& folder) {
    try {
        document::Document summary = document::Document::load(folder / summary_name);
        const Node* const program = summary.find("/program");
        if (program != nullptr && program->is_string() &&
            program->string().starts_with("hindcast "))
            return summary;
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): some other program's file
    }
    return std::nullopt;
}

// The files in the folder that the name stands for.
Names matching(const fs::path& folder, const std::string& name) {
    const std::size_t star = name.rfind('*');
    if (star == std::string::npos) return is_file(folder / name) ? Names{name} : Names{};
    const std::string begin = name.substr(0, star), end = name.substr(star + 1);
    const fs::path inner = (folder / begin).parent_path();
    Names found;
    std::error_code ignored;
    // Nothing goes through a link (refuse_linked_folder).
    if (begin.find('/') != std::string::npos && fs::is_symlink(inner, ignored)) return found;
    fs::recursive_directory_iterator entry(inner, ignored);
    for (; !ignored && entry != fs::recursive_directory_iterator(); entry.increment(ignored)) {
        if (!end.empty()) entry.disable_recursion_pending();
        const std::string inside = entry->path().lexically_relative(folder).generic_string();
        if (inside.size() >= begin.size() + end.size() && inside.starts_with(begin) &&
            inside.ends_with(end) && is_file(entry->path()))
            found.insert(inside);
    }
    return found;
}

// The files that earlier results list. Throws Error for one of `written` that is there and not listed.
Names earlier_files(const fs::path& folder, const std::vector<std::string>& written) {
    Names listed;
    const std::string list = list_in(folder);
    for (std::size_t at = 0, end; (end = list.find('\n', at)) != std::string::npos; at = end + 1)
        listed.insert(
            document::Document::parse(list.substr(at, end - at), list_name).root().string());
    const auto summary = summary_in(folder);
    if (summary) {
        listed.insert(summary_name);
        add_strings(summary->find("/files"), listed);
        add_strings(summary->find("/states/files"), listed);
    }
    // Summaries of earlier versions have no list; their files had fixed names, but for state
    // arrays.
    const bool without_list = summary && summary->find("/files") == nullptr;
    std::vector<std::string> names{summary_name};
    names.insert(names.end(), written.begin(), written.end());
    for (const std::string& name : names)
        for (const std::string& found : matching(folder, name)) {
            if (without_list && !name.starts_with("states/")) listed.insert(found);
            if (!listed.contains(found)) throw in_the_way(folder / found);
        }
    std::erase_if(listed, [&](const std::string& name) { return !is_file(folder / name); });
    return listed;
}

// Removes files that killed processes left in the folder and in its sub-folders for results.
void remove_abandoned(const fs::path& folder) {
    remove_abandoned_files(folder);
    for (const char* name : {"states", "gradient", "export", "files"}) {
        const fs::path inside = folder / name;
        std::error_code ignored;
        if (!fs::is_directory(fs::symlink_status(inside, ignored))) continue;
        remove_abandoned_files(inside);
        fs::recursive_directory_iterator entry(inside, ignored);
        for (; !ignored && entry != fs::recursive_directory_iterator(); entry.increment(ignored))
            if (entry->is_directory(ignored) && !entry->is_symlink(ignored))
                remove_abandoned_files(entry->path());
    }
}

}  // namespace

void ResultsFolder::require_free(const fs::path& path, const std::vector<std::string>& written) {
    earlier_files(path, written);
}

ResultsFolder::ResultsFolder(fs::path path, const std::vector<std::string>& written)
    : path_(std::move(path)) {
    make_folder(path_);
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor_ < 0) throw cannot_make(path_, std::generic_category().message(errno));
    try {
        // Other errors come from file systems without locks; there the folder is not locked.
        if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
            throw Error("another run is writing into the folder " + path_.string())
                .remedy("wait until it has ended, or choose another folder with --output");
        std::string list;
        for (const std::string& name : earlier_files(path_, written))
            if (name != summary_name) list += line_of(name);
        std::error_code error;
        if (fs::is_symlink(path_ / list_name, error)) fs::remove(path_ / list_name, error);
        write_file_atomically(path_ / list_name, list);
        fs::remove(path_ / summary_name, error);
        if (error)
            throw Error("the earlier results in " + path_.string() +
                        " cannot be removed: " + error.message())
                .remedy(elsewhere);
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
    remove_abandoned(path_);
}

ResultsFolder::~ResultsFolder() { ::close(descriptor_); }

void ResultsFolder::check() const {
    struct stat locked = {}, found = {};
    if (::fstat(descriptor_, &locked) == 0 && ::stat(path_.c_str(), &found) == 0 &&
        locked.st_dev == found.st_dev && locked.st_ino == found.st_ino)
        return;
    throw Error("the folder " + path_.string() +
                " was removed or replaced while results were written into it")
        .remedy("run again, and leave the folder alone until the run has ended");
}

fs::path ResultsFolder::file(const std::string& name) const {
    check();
    return result_place(path_, name);
}

fs::path ResultsFolder::subfolder(const std::string& name) const {
    check();
    fs::path full = path_ / name;
    refuse_linked_folder(full);
    make_folder(full);
    return full;
}

std::vector<std::string> ResultsFolder::files() const {
    std::vector<std::string> names;
    for (const std::string& name : earlier_files(path_, {}))
        if (name != summary_name) names.push_back(name);
    return names;
}

void ResultsFolder::end_list() const {
    std::error_code ignored;  // beside a summary it does no harm
    fs::remove(path_ / list_name, ignored);
}

void refuse_linked_folder(const fs::path& folder) {
    std::error_code ignored;
    if (fs::is_symlink(folder, ignored))
        throw Error(folder.string() + " is a symbolic link, and results stay in their folder")
            .remedy("remove the link, or choose another folder with --output");
}

fs::path result_place(const fs::path& folder, const fs::path& name) {
    fs::path inside = folder;
    for (const fs::path& part : name.parent_path()) {
        inside /= part;
        refuse_linked_folder(inside);
        make_folder(inside);
    }
    fs::path full = folder / name;
    std::error_code error;
    if (fs::is_symlink(full, error)) fs::remove(full, error);
    if (error && error != std::errc::no_such_file_or_directory)
        throw Error("the link " + full.string() + " cannot be removed: " + error.message())
            .remedy(elsewhere);
    // A folder without a list is not one of results: Python, for example, saves a scene anywhere.
    if (const fs::path list = folder / list_name; is_file(list)) {
        const std::string line = line_of(name.lexically_normal().generic_string());
        if (has_line(list_in(folder), line)) return full;
        if (is_file(full)) throw in_the_way(full);
        append(list, line);
    }
    return full;
}

std::string array_file(std::string path) {
    std::ranges::replace(path, '.', '_');
    return path + ".npy";
}

}  // namespace hindcast
