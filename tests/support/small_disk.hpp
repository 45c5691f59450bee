// A disk of a few kilobytes, for tests of what a full one does: a file system in memory (tmpfs) that
// only root may mount.
//
//     const SmallDisk disk(64);
//     if (!disk.is_there()) HINDCAST_SKIP("only root can mount a small disk");
#pragma once

#include <sys/mount.h>

#include <filesystem>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace hindcast::test {

class SmallDisk {
public:
    explicit SmallDisk(int kilobytes)
        : is_there_(::mount("none", folder_.path().c_str(), "tmpfs", 0,
                            ("size=" + std::to_string(kilobytes) + "k").c_str()) == 0) {}
    ~SmallDisk() {
        if (is_there_) ::umount2(folder_.path().c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    bool is_there() const { return is_there_; }
    std::string path() const { return folder_.path().string(); }

private:
    TemporaryFolder folder_;
    bool is_there_ = false;
};

}  // namespace hindcast::test
