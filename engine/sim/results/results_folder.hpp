// The folder that a command writes its results into.
//
// It has one writer at a time: the folder itself is locked (flock) as long as the object lives, so
// that a second run is refused at its start. summary.json is taken away first and written last: a
// folder with a summary is whole, whatever happened to an earlier run. Nothing is written through a
// symbolic link inside the folder, and a folder that was removed or replaced meanwhile is an Error
// with the next file, not a success.
#pragma once

#include <filesystem>
#include <string>

namespace hindcast {

class ResultsFolder {
public:
    // Makes the folder, locks it, and removes summary.json and what writers that were killed left
    // (files.hpp). Throws Error if it cannot be made or another process writes into it.
    explicit ResultsFolder(std::filesystem::path path);
    ~ResultsFolder();
    ResultsFolder(const ResultsFolder&) = delete;
    ResultsFolder& operator=(const ResultsFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    // Where the result of this name goes. A symbolic link of that name is removed. Throws Error as
    // check() does.
    std::filesystem::path file(const std::string& name) const;
    // A folder inside, made if need be. Throws Error if something else has its name.
    std::filesystem::path subfolder(const std::string& name) const;
    // Throws Error if the path no longer leads to the folder that was locked.
    void check() const;

private:
    std::filesystem::path path_;
    int descriptor_ = -1;
};

// Where a file of results goes, `name` below their folder: the folders on the way are made. Throws
// Error if one of them is a symbolic link; one of the file's own name is removed.
std::filesystem::path result_place(const std::filesystem::path& folder,
                                   const std::filesystem::path& name);
// Throws Error if the folder of this name in a folder of results is a symbolic link.
void refuse_linked_folder(const std::filesystem::path& folder);

}  // namespace hindcast
