// Reading whole files with clear errors, and writing that never harms what was there.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "engine/base/error.hpp"
#include "engine/base/files.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
namespace fs = std::filesystem;

namespace {

template <class Action>
std::string message_of(Action&& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

auto entries_in(const fs::path& folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

// No file of this process may grow beyond `bytes` while it lives; writing more fails with EFBIG.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &old_);
        rlimit limit = old_;
        limit.rlim_cur = bytes;
        handler_ = ::signal(SIGXFSZ, SIG_IGN);
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &old_);
        ::signal(SIGXFSZ, handler_);
    }

private:
    rlimit old_{};
    sighandler_t handler_;
};

}  // namespace

TEST_CASE("what is written is read back") {
    const test::TemporaryFolder folder;
    for (const std::size_t size : {0u, 1u, 4096u, 300000u}) {
        std::string content(size, '\0');
        for (std::size_t i = 0; i < size; ++i) content[i] = static_cast<char>(i * 7 % 256);
        write_file_atomically(folder / "file", content);
        CHECK(read_file(folder / "file") == content);
    }
    CHECK(entries_in(folder.path()) == 1);
}

TEST_CASE("a relative path without a folder works") {
    const test::TemporaryFolder folder;
    const fs::path before = fs::current_path();
    fs::current_path(folder.path());
    write_file_atomically("plain", "text");
    const std::string content = read_file("plain");
    fs::current_path(before);
    CHECK(content == "text");
}

TEST_CASE("reading says why it failed") {
    const test::TemporaryFolder folder;
    const std::string name = (folder / "missing").string();
    CHECK(message_of([&] { read_file(name); }) ==
          "cannot read '" + name + "': No such file or directory; check the path");
    CHECK(message_of([&] { read_file(folder.path()); }) ==
          "cannot read '" + folder.path().string() + "': it is a folder; name a file");
    CHECK(message_of([&] { read_file("/dev/zero"); }) ==
          "cannot read '/dev/zero': it is not a regular file; name a file");
    const fs::path pipe = folder / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(message_of([&] { read_file(pipe); }).find("not a regular file") != std::string::npos);
}

TEST_CASE("reading stops at its limit") {
    const test::TemporaryFolder folder;
    write_file_atomically(folder / "file", std::string(100, 'x'));
    CHECK(read_file(folder / "file", 100).size() == 100);
    CHECK(message_of([&] { read_file(folder / "file", 99); }) ==
          "'" + (folder / "file").string() + "' has more than 99 bytes; make it smaller");
    // Files of the kernel state no size; they are read to their end, up to the limit.
    CHECK(read_file("/proc/self/status").size() > 100);
    CHECK_THROWS_AS(read_file("/proc/self/status", 100), Error);
}

TEST_CASE("a failed write keeps the old file and leaves nothing beside it") {
    const test::TemporaryFolder folder;
    const fs::path file = folder / "file";
    write_file_atomically(file, "old");
    std::string message;
    {
        const FileSizeLimit limit(4096);
        message = message_of([&] { write_file_atomically(file, std::string(10000, 'n')); });
    }
    CHECK(message.find("cannot write '" + file.string() + "': File too large") == 0);
    CHECK(read_file(file) == "old");
    CHECK(entries_in(folder.path()) == 1);
}

TEST_CASE("writing says why it failed") {
    const test::TemporaryFolder folder;
    const std::string name = (folder / "missing/file").string();
    CHECK(message_of([&] { write_file_atomically(name, "x"); }) ==
          "cannot write '" + name + "': No such file or directory; check the path");
    CHECK(message_of([&] { write_file_atomically(folder.path(), "x"); }).find("it is a folder") !=
          std::string::npos);
    CHECK_THROWS_AS(write_file_atomically("/dev/null", "x"), Error);
    CHECK(entries_in(folder.path()) == 0);
}

TEST_CASE("permissions and symbolic links are kept") {
    const test::TemporaryFolder folder;
    const fs::path file = folder / "file", link = folder / "link";
    write_file_atomically(file, "one");
    const mode_t mask = ::umask(0);
    ::umask(mask);
    CHECK(fs::status(file).permissions() == fs::perms(0666 & ~mask));
    fs::permissions(file, fs::perms(0640));
    fs::create_symlink("file", link);
    write_file_atomically(link, "two");
    CHECK(fs::is_symlink(link));
    CHECK(read_file(file) == "two");
    CHECK(fs::status(file).permissions() == fs::perms(0640));
}

TEST_CASE("a reader sees the old content or the new one, never a part") {
    const test::TemporaryFolder folder;
    const fs::path file = folder / "file";
    const std::string first(50000, 'a'), second(70000, 'b');
    write_file_atomically(file, first);
    std::thread writer([&] {
        for (int i = 0; i < 50; ++i) write_file_atomically(file, i % 2 == 0 ? second : first);
    });
    int torn = 0;
    for (int i = 0; i < 200; ++i) {
        const std::string content = read_file(file);
        if (content != first && content != second) ++torn;
    }
    writer.join();
    CHECK(torn == 0);
}
