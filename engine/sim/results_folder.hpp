// The folder that a command writes its results into.
//
// It has one writer at a time: the folder itself is locked (flock) as long as the object lives, so
// that a second run is refused at its start. summary.json is taken away first and written last: a
// folder with a summary is whole, whatever happened to an earlier run. Nothing is written through a
// symbolic link inside the folder, and a folder that was removed or replaced meanwhile is an Error
// with the next file, not a success.
//
// Only files of Hindcast are overwritten or removed. The "files" of summary.json list them; until it is
// written the list is .hindcast_files, which has one JSON string in each line. A file in the way that neither lists is an Error before anything changes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hindcast {

// Tables of numbers of parameters leave out parameters of many numbers where there are more than this.
inline constexpr std::size_t most_table_entries = 1000;

class ResultsFolder {
public:
    // Makes the folder, locks it, and removes summary.json and the new files that killed writers left
    // (files.hpp). `written`: names of files that will be written; a '*' stands for any characters, and
    // "files/*" also for folders. Throws Error if the folder cannot be made, another process writes into
    // it, or one of these files is there and was not made by Hindcast.
    explicit ResultsFolder(std::filesystem::path path,
                           const std::vector<std::string>& written = {});
    ~ResultsFolder();
    ResultsFolder(const ResultsFolder&) = delete;
    ResultsFolder& operator=(const ResultsFolder&) = delete;

    // Throws the Error of the constructor for a file in the way; changes nothing.
    static void require_free(const std::filesystem::path& path,
                             const std::vector<std::string>& written);

    const std::filesystem::path& path() const { return path_; }
    // The path of the result of this name (result_place). Throws Error as check() does, too.
    std::filesystem::path file(const std::string& name) const;
    // A folder inside, made if need be. Throws Error if something else has its name.
    std::filesystem::path subfolder(const std::string& name) const;
    // Throws Error if the path no longer leads to the folder that was locked.
    void check() const;

    // The files of Hindcast that are there, for the summary, and the end of their own list.
    std::vector<std::string> files() const;
    void end_list() const;

private:
    std::filesystem::path path_;
    int descriptor_ = -1;
};

// The path of a file of results, `name` below their folder: the folders on the way are made, and a
// ResultsFolder's list gets the name. Throws Error if one of the folders is a symbolic link, or a
// file is there that is not in the list; a link of the file's own name is removed.
std::filesystem::path result_place(const std::filesystem::path& folder,
                                   const std::filesystem::path& name);
// Throws Error if the folder of this name in a folder of results is a symbolic link.
void refuse_linked_folder(const std::filesystem::path& folder);

// The file of a quantity's values in a saved scene: "cage.stiffness" -> "cage_stiffness.npy". There is
// one for more numbers than this (document::saved_form).
constexpr std::size_t most_in_document = 1000;
std::string array_file(std::string path);

}  // namespace hindcast
