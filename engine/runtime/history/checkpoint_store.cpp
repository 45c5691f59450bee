#include "engine/runtime/history/checkpoint_store.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "engine/base/error.hpp"
#include "engine/base/files.hpp"
#include "engine/base/pages.hpp"
#include "engine/runtime/history/checkpoint_plan.hpp"

namespace hindcast {

namespace {

[[noreturn]] void fail(const std::filesystem::path& folder, const std::string& what, int code) {
    throw Error("cannot " + what + " in " + folder.string() + ": " +
                std::generic_category().message(code))
        .remedy("name another folder with --spill, or do without it");
}

int open_unnamed(const std::filesystem::path& folder) {
    const int file = open_unnamed_file(folder);
    if (file < 0) fail(folder, "make a file for checkpoints", errno);
    return file;
}

// pread or pwrite until all is done.
template <class F, class P>
void transfer(F once, int file, P* data, std::size_t bytes, std::int64_t at,
              const std::filesystem::path& folder, const char* what) {
    while (bytes > 0) {
        const ssize_t done = once(file, data, bytes, at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) fail(folder, what, done < 0 ? errno : EIO);
        data += done;
        at += done;
        bytes -= static_cast<std::size_t>(done);
    }
}

}  // namespace

CheckpointStore::CheckpointStore(const Device& device, std::vector<Array> arrays,
                                 std::int64_t slots, const std::filesystem::path& folder)
    : device_(&device), arrays_(std::move(arrays)), slots_(slots), folder_(folder) {
    for (const Array& a : arrays_) bytes_ += static_cast<std::int64_t>(a.bytes());
    if (folder_.empty()) {
        const bool wraps = bytes_ > 0 && slots_ > INT64_MAX / bytes_;
        memory_ = device.allocate(wraps ? SIZE_MAX : static_cast<std::size_t>(bytes_ * slots_));
        return;
    }
    file_ = open_unnamed(folder_);
    const int code =
        fallocate(file_, 0, 0, std::max<std::int64_t>(bytes_ * slots_, 1)) < 0 ? errno : 0;
    if (code != 0 && code != EOPNOTSUPP && code != ENOSYS) {
        close(file_);
        fail(folder_, "reserve " + bytes_text(bytes_ * slots_) + " for checkpoints", code);
    }
}

CheckpointStore::~CheckpointStore() {
    if (file_ >= 0) close(file_);
}

CheckpointStore::CheckpointStore(CheckpointStore&& other) noexcept { *this = std::move(other); }

CheckpointStore& CheckpointStore::operator=(CheckpointStore&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(arrays_, other.arrays_);
    std::swap(slots_, other.slots_);
    std::swap(bytes_, other.bytes_);
    std::swap(memory_, other.memory_);
    std::swap(folder_, other.folder_);
    std::swap(file_, other.file_);
    return *this;
}

void CheckpointStore::populate_memory() { memory_.populate(); }

void CheckpointStore::store(std::int64_t slot) {
    std::int64_t at = slot * bytes_;
    for (const Array& a : arrays_) {
        if (file_ < 0)
            device_->save(a, memory_.data() + at);
        else
            transfer(pwrite, file_, static_cast<const char*>(a.data()), a.bytes(), at, folder_,
                     "write a checkpoint");
        at += static_cast<std::int64_t>(a.bytes());
    }
}

void CheckpointStore::restore(std::int64_t slot) {
    std::int64_t at = slot * bytes_;
    for (const Array& a : arrays_) {
        if (file_ < 0) {
            device_->restore(a, memory_.data() + at);
        } else {
            transfer(pread, file_, static_cast<char*>(a.data()), a.bytes(), at, folder_,
                     "read a checkpoint");
            a.touch();
        }
        at += static_cast<std::int64_t>(a.bytes());
    }
}

std::int64_t spill_budget(const std::filesystem::path& folder) {
    std::error_code code;
    const std::filesystem::space_info space = std::filesystem::space(folder, code);
    if (code || !std::filesystem::is_directory(folder, code))
        fail(folder, "keep checkpoints", code ? code.value() : ENOTDIR);
    close(open_unnamed(folder));
    return static_cast<std::int64_t>(space.available / 2);
}

}  // namespace hindcast
