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

class Search {
public:
    explicit Search(const fs::path& model)
        : root_(fs::absolute(model).lexically_normal().parent_path()), folders_{root_} {}

    void read(const fs::path& file) {
        const fs::path normal = fs::absolute(file).lexically_normal();
        if (std::ranges::find(found_, normal) != found_.end()) return;
        found_.push_back(normal);
        const std::string text =
            without_comments(with_packages_found(read_file(normal, text_limit), normal));
        each_attribute(text, [&](const std::string& element, const std::string& attribute,
                                 const std::string& value) {
            if (attribute == "meshdir" || attribute == "texturedir" || attribute == "assetdir")
                folders_.push_back((root_ / value).lexically_normal());
            else if (attribute.starts_with("file") && element == "include")
                included_.push_back(root_ / value);
            else if (attribute.starts_with("file"))  // also filename, fileright ...
                names_.push_back(value);
        });
        while (!included_.empty()) {
            const fs::path next = included_.back();
            included_.pop_back();
            if (is_file(next)) read(next);
        }
    }

    std::vector<fs::path> all() {
        for (const std::string& name : names_)
            for (const fs::path& folder : folders_)
                // With "strippath" only the name counts.
                for (const fs::path& path : {folder / name, folder / fs::path(name).filename()}) {
                    const fs::path normal = path.lexically_normal();
                    if (is_file(normal) && std::ranges::find(found_, normal) == found_.end())
                        found_.push_back(normal);
                }
        return found_;
    }

private:
    static bool is_file(const fs::path& path) {
        std::error_code unreadable;
        return fs::is_regular_file(path, unreadable);
    }

    fs::path root_;
    std::vector<fs::path> folders_, found_, included_;
    std::vector<std::string> names_;
};

}  // namespace

std::vector<fs::path> files_of_model(const fs::path& file) {
    Search search(file);
    search.read(file);
    return search.all();
}

}  // namespace hindcast::robot
