// POSIX calls, since the standard streams report neither why they failed nor that data is on disk.
#include "engine/base/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "engine/base/ended_process.hpp"
#include "engine/base/error.hpp"

namespace hindcast {

namespace {

namespace fs = std::filesystem;

class FileHandle {
public:
    explicit FileHandle(int descriptor) : descriptor_(descriptor) {}
    ~FileHandle() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    FileHandle(const FileHandle&) = delete;
    FileHandle& operator=(const FileHandle&) = delete;

    int get() const { return descriptor_; }
    bool close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

private:
    int descriptor_;
};

Error failure(const std::string& action, const fs::path& path, int code) {
    Error error("cannot " + action + " '" + path.string() +
                "': " + std::generic_category().message(code));
    switch (code) {
        case ENOENT: return error.remedy("check the path");
        case EACCES:
        case EPERM:
        case EROFS: return error.remedy("check the permissions of the file and its folder");
        case ENOSPC:
        case EDQUOT: return error.remedy("free some space, or name another folder");
        default: return error;
    }
}

// Takes the new file away again unless it was renamed.
struct NewFile {
    fs::path path;
    bool keep = false;

    ~NewFile() {
        if (!keep) ::unlink(path.c_str());
    }
};

void write_all(int descriptor, std::string_view content, const fs::path& path) {
    while (!content.empty()) {
        const ssize_t written = ::write(descriptor, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw failure("write", path, errno);
        content.remove_prefix(static_cast<std::size_t>(written));
    }
}

constexpr std::string_view new_file_prefix = ".hindcast-", new_file_suffix = ".tmp";

// Creates a file of an unused name in the folder; a negative descriptor and errno on failure.
std::pair<fs::path, int> make_new_file(const fs::path& folder) {
    static std::atomic<unsigned> counter{0};
    for (;;) {
        fs::path name =
            folder / (std::string(new_file_prefix) + std::to_string(::getpid()) + "-" +
                      std::to_string(counter.fetch_add(1)) + std::string(new_file_suffix));
        const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 || errno != EEXIST) return {std::move(name), descriptor};
    }
}

}  // namespace

std::string read_file(const fs::path& path, std::uint64_t limit) {
    // Without O_NONBLOCK, opening a pipe without a writer would wait for ever.
    const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) throw failure("read", path, errno);
    struct stat status = {};
    if (::fstat(file.get(), &status) != 0) throw failure("read", path, errno);
    if (!S_ISREG(status.st_mode)) {
        throw Error("cannot read '" + path.string() + "': " +
                    (S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a regular file"))
            .remedy("name a file");
    }
    const auto too_large = [&] {
        return Error("'" + path.string() + "' has more than " + std::to_string(limit) + " bytes")
            .remedy("make it smaller");
    };
    const auto expected = static_cast<std::uint64_t>(status.st_size);
    if (expected > limit) throw too_large();
    // The file may grow or shrink meanwhile: read to its end, one byte beyond what is expected.
    std::string content;
    std::size_t filled = 0;
    content.resize(expected + 1);
    for (;;) {
        const ssize_t got = ::read(file.get(), content.data() + filled, content.size() - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw failure("read", path, errno);
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
        if (filled > limit) throw too_large();
        if (filled == content.size()) content.resize(2 * content.size());
    }
    content.resize(filled);
    return content;
}

void write_file_atomically(const fs::path& path, std::string_view content) {
    std::error_code ignored;
    fs::path target = path;
    if (fs::is_symlink(path, ignored)) {
        target = fs::weakly_canonical(path, ignored);
        if (ignored) throw failure("write", path, ignored.value());
    }
    struct stat old = {};
    const bool replaces = ::stat(target.c_str(), &old) == 0;
    if (replaces && !S_ISREG(old.st_mode)) {
        throw Error("cannot write '" + path.string() +
                    "': " + (S_ISDIR(old.st_mode) ? "it is a folder" : "it is not a regular file"))
            .remedy("name a file");
    }
    fs::path folder = target.parent_path();
    if (folder.empty()) folder = ".";

    auto [name, descriptor] = make_new_file(folder);
    if (descriptor < 0) throw failure("write", path, errno);
    FileHandle file(descriptor);
    NewFile fresh{name};
    write_all(file.get(), content, path);
    if (replaces && ::fchmod(file.get(), old.st_mode & 07777) != 0) {
        throw failure("write", path, errno);
    }
    if (::fsync(file.get()) != 0) throw failure("write", path, errno);
    if (!file.close()) throw failure("write", path, errno);
    if (::rename(name.c_str(), target.c_str()) != 0) throw failure("write", path, errno);
    fresh.keep = true;
    // The new name reaches the disk with the folder. The file is complete either way.
    const FileHandle directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.get() >= 0) ::fsync(directory.get());
}

int open_unnamed_file(const fs::path& folder) {
    int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
    std::string name = (folder / "hindcast-unnamed-XXXXXX").string();
    file = mkostemp(name.data(), O_CLOEXEC);
    if (file >= 0) unlink(name.c_str());
    return file;
}

void remove_abandoned_files(const fs::path& folder) noexcept {
    std::error_code ignored;
    for (fs::directory_iterator entry(folder, ignored), end; entry != end;
         entry.increment(ignored)) {
        const std::string name = entry->path().filename().string();
        if (!name.starts_with(new_file_prefix) || !name.ends_with(new_file_suffix)) continue;
        const auto after =
            after_ended_process(std::string_view(name).substr(new_file_prefix.size()));
        if (!after || !after->starts_with('-')) continue;
        fs::remove(entry->path(), ignored);
    }
}

}  // namespace hindcast
