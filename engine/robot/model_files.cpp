#include "engine/robot/model_files.hpp"

#include <algorithm>
#include <string>
#include <system_error>

#include "engine/base/files.hpp"
#include "engine/robot/urdf_packages.hpp"

namespace hindcast::robot {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t text_limit = 1ull << 30;

std::string without_comments(const std::string& text) {
    std::string rest;
    std::size_t done = 0;
    for (std::size_t at; (at = text.find("<!--", done)) != std::string::npos;) {
        rest.append(text, done, at - done);
        const std::size_t end = text.find("-->", at);
        if (end == std::string::npos) return rest;
        done = end + 3;
    }
    return rest.append(text, done);
}

// XML's own five references.
std::string plain(std::string text) {
    for (const auto& [name, sign] :
         {std::pair{"&quot;", "\""}, {"&apos;", "'"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}})
        for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; ++at)
            text.replace(at, std::string(name).size(), sign);
    return text;
}

// f(element, attribute, value) for each attribute of each tag.
template <class F>
void each_attribute(const std::string& text, const F& f) {
    constexpr const char* spaces = " \t\r\n";
    for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) {
        std::size_t end = std::min(text.find_first_of(" \t\r\n/>", ++at), text.size());
        const std::string element = text.substr(at, end - at);
        for (at = end;;) {
            at = std::min(text.find_first_not_of(spaces, at), text.size());
            end = std::min(text.find_first_of("=> \t\r\n", at), text.size());
            const std::string name = text.substr(at, end - at);
            at = std::min(text.find_first_not_of(spaces, end), text.size());
            if (at == text.size() || text[at] != '=') break;
            at = std::min(text.find_first_not_of(spaces, at + 1), text.size());
            if (at == text.size() || (text[at] != '"' && text[at] != '\'')) break;
            end = text.find(text[at], at + 1);
            if (end == std::string::npos) return;
            f(element, name, plain(text.substr(at + 1, end - at - 1)));
            at = end + 1;
        }
    }
}

// MuJoCo looks for a file in the model's folder (meshes: in the meshdir and so on), then in the folder
// of the file that names it.
class Search {
public:
    // `model` and what it names. A model that another attaches has folders of its own.
    void read_model(const fs::path& model) {
        const fs::path root = model.parent_path();
        Names names{{root}, {}};
        read(model, root, names);
        for (const Named& named : names.files) {
            std::vector<fs::path> folders = names.folders;
            folders.push_back(named.folder);
            for (const fs::path& folder : folders)
                // With "strippath" only the name counts.
                for (const fs::path& path :
                     {folder / named.file, folder / fs::path(named.file).filename()}) {
                    const fs::path normal = path.lexically_normal();
                    if (!is_file(normal) || std::ranges::find(found_, normal) != found_.end())
                        continue;
                    if (named.model)
                        read_model(normal);
                    else
                        found_.push_back(normal);
                }
        }
    }

    std::vector<fs::path> found() const { return found_; }

private:
    struct Named {
        std::string file;
        fs::path folder;  // of the file that names it
        bool model;
    };
    struct Names {
        std::vector<fs::path> folders;
        std::vector<Named> files;
    };

    static bool is_file(const fs::path& path) {
        std::error_code unreadable;
        return fs::is_regular_file(path, unreadable);
    }

    // The file and those that it includes; what else they name comes into `names`.
    void read(const fs::path& file, const fs::path& root, Names& names) {
        if (std::ranges::find(found_, file) != found_.end()) return;
        found_.push_back(file);
        const fs::path here = file.parent_path();
        std::vector<fs::path> included;
        const std::string text =
            without_comments(with_packages_found(read_file(file, text_limit), file));
        each_attribute(text, [&](const std::string& element, const std::string& attribute,
                                 const std::string& value) {
            if (attribute == "meshdir" || attribute == "texturedir" || attribute == "assetdir") {
                names.folders.push_back((root / value).lexically_normal());
            } else if (attribute.starts_with("file")) {  // also filename, fileright ...
                if (element == "include")
                    included.push_back(is_file(root / value) ? root / value : here / value);
                else
                    names.files.push_back({value, here, element == "model"});
            }
        });
        for (const fs::path& next : included)
            if (is_file(next)) read(next.lexically_normal(), root, names);
    }

    std::vector<fs::path> found_;
};

}  // namespace

std::vector<fs::path> files_of_model(const fs::path& file) {
    Search search;
    search.read_model(fs::absolute(file).lexically_normal());
    return search.found();
}

}  // namespace hindcast::robot
