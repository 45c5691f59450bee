#include "engine/sim/results/results_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "engine/base/error.hpp"
#include "engine/base/files.hpp"

namespace hindcast {

namespace fs = std::filesystem;

namespace {

constexpr const char* elsewhere = "choose another folder with --output";

Error cannot_make(const fs::path& path, const std::string& why) {
    return Error("the folder " + path.string() + " cannot be made: " + why).remedy(elsewhere);
}

void make_folder(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error || !fs::is_directory(path))
        throw cannot_make(path, error ? error.message() : "a file of that name is in the way");
}

}  // namespace

ResultsFolder::ResultsFolder(fs::path path) : path_(std::move(path)) {
    make_folder(path_);
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor_ < 0) throw cannot_make(path_, std::generic_category().message(errno));
    // File systems without locks refuse otherwise; there the folder has none.
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        ::close(descriptor_);
        throw Error("another run is writing into the folder " + path_.string())
            .remedy("wait until it has ended, or choose another folder with --output");
    }
    std::error_code error;
    fs::remove(path_ / "summary.json", error);
    if (error) {
        ::close(descriptor_);
        throw Error("the earlier results in " + path_.string() +
                    " cannot be removed: " + error.message())
            .remedy(elsewhere);
    }
    remove_abandoned_files(path_);
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
    return full;
}

}  // namespace hindcast
