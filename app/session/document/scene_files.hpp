// The files that a scene names: they lie beside it or below, so that the scene can be given away with
// its folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/document/document.hpp"

namespace hindcast::session {

// Relative to the folder of the scene: the files that its texts name and that are there, and those
// that robots' models among them are read from. Each once. Files outside the folder are left out.
std::vector<std::filesystem::path> files_named_in(const document::Document& scene,
                                                  const std::filesystem::path& folder);

// True if the name ends with one of these (".obj"), in letters of either case, or if there are
// none.
bool ends_with_one(const std::filesystem::path& file, const std::vector<std::string>& endings);

// The files in the folder and below, four folders deep, whose names end with one of these, relative
// to it, by name: files that a scene there may name. At most 400; the search stops after 5000
// files.
std::vector<std::string> files_below(const std::filesystem::path& folder,
                                     const std::vector<std::string>& endings);

// Copies these files from one folder to another, under the same names. Throws Error where one is there
// with other contents, before anything is copied; and where one cannot be written.
void copy_files(const std::vector<std::filesystem::path>& names, const std::filesystem::path& from,
                const std::filesystem::path& to);

// The name for a file in a scene in `folder`; none where it does not lie there or below. Symbolic links
// are followed, as where a scene reads files.
std::optional<std::string> name_below(const std::filesystem::path& file,
                                      const std::filesystem::path& folder);
// The same for any file. One that does not lie there or below is copied there, with what it is read from (a robot's meshes) at the same places relative to it. Throws Error as
// copy_files() does.
std::string brought_beside(const std::filesystem::path& file, const std::filesystem::path& folder);

}  // namespace hindcast::session
