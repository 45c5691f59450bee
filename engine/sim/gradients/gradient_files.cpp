#include "engine/sim/gradients/gradient_files.hpp"

#include <cctype>
#include <system_error>

#include "engine/base/files.hpp"
#include "engine/document/npy.hpp"
#include "engine/document/text.hpp"
#include "engine/sim/results_folder.hpp"

namespace hindcast {

using document::csv_field;
using document::number_text;

namespace fs = std::filesystem;
using document::Node;

namespace {

constexpr const char* table = "gradient.csv";
constexpr const char* subfolder = "gradient";

// "cloud.velocity" -> "cloud_velocity"
std::string file_name(const std::string& path) {
    std::string name = path;
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    return name;
}

}  // namespace

void remove_gradients(const fs::path& folder) {
    std::error_code ignored;
    fs::remove(folder / table, ignored);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder / subfolder, ignored))
        if (entry.path().extension() == ".npy") fs::remove(entry.path(), ignored);
}

Node write_gradients(const fs::path& folder, const Parameters& parameters,
                     const Optimization::Outcome& outcome) {
    std::vector<std::pair<std::string, const std::vector<double>*>> columns;
    if (outcome.best.gradient.size() == parameters.size())
        columns.emplace_back("best", &outcome.best.gradient);
    if (outcome.last.gradient.size() == parameters.size())
        columns.emplace_back("last", &outcome.last.gradient);
    if (columns.empty()) return {};
    Node names = Node::array(), arrays = Node::array();
    std::string text = "parameter";
    for (const auto& [name, gradient] : columns) {
        text += "," + name;
        names.push_back(name);
    }
    text += "\n";
    std::size_t first = 0;
    for (std::size_t p = 0; p < parameters.list().size(); ++p) {
        const Parameter& parameter = parameters.list()[p];
        const std::size_t count = parameter.entries.size();
        if (count <= most_table_entries) {
            for (std::size_t k = 0; k < count; ++k) {
                text += csv_field(parameter.names[k]);
                for (const auto& [name, gradient] : columns)
                    text += "," + number_text((*gradient)[first + k]);
                text += "\n";
            }
        } else {
            const std::string file = std::string(subfolder) + "/" + file_name(parameter.path) +
                                     "_" + std::to_string(p) + ".npy";
            std::vector<double> values;
            for (const auto& [name, gradient] : columns) {
                const auto begin = gradient->begin() + static_cast<std::ptrdiff_t>(first);
                values.insert(values.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
            }
            const std::int64_t shape[] = {static_cast<std::int64_t>(columns.size()),
                                          static_cast<std::int64_t>(count)};
            document::write_npy<double>(result_place(folder, file), shape, values);
            arrays.push_back(Node::object({{"parameter", parameter.path}, {"file", file}}));
        }
        first += count;
    }
    write_file_atomically(result_place(folder, table), text);
    return Node::object(
        {{"file", table}, {"columns", std::move(names)}, {"arrays", std::move(arrays)}});
}

}  // namespace hindcast
