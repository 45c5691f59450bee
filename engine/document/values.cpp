// Evaluator turns one node into rows of numbers: written numbers are checked where they stand,
// computed ones afterward, with the element in the message. Sizes are checked before memory is
// taken.
#include "engine/document/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/random.hpp"
#include "engine/document/npy.hpp"
#include "engine/document/text.hpp"

namespace hindcast::document {

namespace {

std::string vector_text(int components) {
    return components == 1 ? "a number" : fmt::format("a vector of {} numbers", components);
}

std::string elements_text(std::int64_t count) {
    return fmt::format("{} element{}", count, count == 1 ? "" : "s");
}

class Evaluator {
public:
    Evaluator(const Node& node, const ValueRequest& request)
        : node_(node),
          request_(request),
          components_(static_cast<std::size_t>(request.components)) {
        result_.components = request.components;
        result_.written = node;
    }

    Values evaluate() {
        if (is_number(node_)) {
            if (components_ > 1) {
                throw mismatch(node_, vector_text(request_.components),
                               fmt::format("write {} numbers in [ ]", components_));
            }
            share({number_of(node_, request_.range)}, node_);
        } else if (node_.is_array()) {
            written_array();
        } else if (node_.is_object()) {
            generator();
        } else {
            throw mismatch(node_,
                           vector_text(request_.components) + ", one per element, or a generator",
                           "write for instance " + example());
        }
        return std::move(result_);
    }

private:
    std::string example() const {
        if (components_ == 1) return "0.5, [1, 2, 3] or {\"formula\": \"0.1*i\"}";
        return to_example_vector() + " or [" + to_example_vector() + ", ...]";
    }

    std::string to_example_vector() const {
        return fmt::format("[{}]", fmt::join(std::vector<int>(components_, 0), ", "));
    }

    // ---- results ----

    void share(std::vector<double> row, const Node& at) {
        if (!request_.count) {
            const std::string text =
                components_ == 1 ? "[" + written(row[0]) + "]" : "[[" + written(row[0]) + ", ...]]";
            throw mismatch(at, vector_text(request_.components) + " per element",
                           "put it in brackets if there is one element: " + text);
        }
        result_.shared = true;
        result_.count = *request_.count;
        result_.data = std::move(row);
    }

    static std::string written(double value) {
        std::string text = shortest(value);
        if (text.ends_with(".0")) text.resize(text.size() - 2);
        return text;
    }

    // Room for one value per element, after checking their number.
    void begin_elements(std::int64_t count, const Node& at) {
        if (request_.count && *request_.count != count) {
            throw fault(at, fmt::format("expected values for {}, found {}",
                                        elements_text(*request_.count), count))
                .remedy(fmt::format("write {} of them, or {} for all", *request_.count,
                                    vector_text(request_.components)));
        }
        if (count > request_.most_numbers / request_.components) {
            throw fault(at, fmt::format("{} of {} numbers are more than {} numbers",
                                        elements_text(count), components_, request_.most_numbers))
                .remedy("use fewer elements");
        }
        result_.count = count;
        result_.data.resize(static_cast<std::size_t>(count) * components_);
    }

    // Computed numbers are checked here; written ones are checked where they stand.
    void check_computed(const Node& at) const {
        for (std::size_t k = 0; k < result_.data.size(); ++k) {
            const double value = result_.data[k];
            if (std::isfinite(value) && request_.range.contains(value)) continue;
            std::string where = fmt::format("element {}", k / components_);
            if (components_ > 1) where += fmt::format(", component {}", k % components_);
            if (result_.shared) where = components_ > 1 ? fmt::format("component {}", k) : "it";
            Error error = fault(
                at, fmt::format("expected {}, but {} is {}",
                                std::isfinite(value) ? request_.range.describe() : "finite numbers",
                                where,
                                std::isfinite(value) ? written(value) : fmt::format("{}", value)));
            throw error.remedy("change what computes it");
        }
    }

    std::int64_t known_count(const Node& at) const {
        if (!request_.count) {
            throw fault(at, "the number of elements is not known here")
                .remedy("write the values, a grid, a box or a file, which say how many there are");
        }
        return *request_.count;
    }

    // ---- written values ----

    void written_array() {
        if (components_ > 1 && node_.size() > 0 && is_number(node_.item(0))) {
            share(numbers_of(node_, components_, request_.range), node_);
            return;
        }
        if (on_grid() && node_.size() > 0 && node_.item(0).is_array()) return written_grid();
        begin_elements(static_cast<std::int64_t>(node_.size()), node_);
        for (std::size_t i = 0; i < node_.size(); ++i) {
            const Node& item = node_.item(i);
            if (components_ == 1) {
                result_.data[i] = number_of(item, request_.range);
            } else {
                const auto row = numbers_of(item, components_, request_.range);
                std::ranges::copy(
                    row, result_.data.begin() + static_cast<std::ptrdiff_t>(i * components_));
            }
        }
    }

    bool on_grid() const { return components_ == 1 && request_.grid.size() == 2; }

    void written_grid() {
        const auto rows = static_cast<std::size_t>(request_.grid[0]);
        const auto columns = static_cast<std::size_t>(request_.grid[1]);
        array_of(node_, rows, rows);
        begin_elements(static_cast<std::int64_t>(rows * columns), node_);
        for (std::size_t i = 0; i < rows; ++i) {
            const auto row = numbers_of(node_.item(i), columns, request_.range);
            std::ranges::copy(row, result_.data.begin() + static_cast<std::ptrdiff_t>(i * columns));
        }
    }

    // ---- generators ----

    void generator() {
        static constexpr std::array<std::string_view, 6> names = {"formula", "random", "grid",
                                                                  "box",     "file",   "mesh"};
        const Node* found = nullptr;
        std::string_view name;
        for (std::size_t i = 0; i < node_.size(); ++i) {
            const std::string& key = node_.key(i);
            if (std::ranges::find(names, std::string_view(key)) == names.end()) {
                throw fault_at_key(node_, i, fmt::format("unknown generator {}", shown(key)))
                    .remedy(suggestion(key, std::span(names).first(5), "generators are"));
            }
            if (found) {
                throw fault_at_key(node_, i,
                                   fmt::format("a second generator '{}' beside '{}'", key, name))
                    .remedy("keep one of them");
            }
            found = &node_.item(i);
            name = key;
        }
        if (!found) {
            throw fault(node_, "an empty object says no values")
                .remedy("write for instance {\"formula\": \"0.1*i\"}");
        }
        if (name == "formula") formula(*found);
        if (name == "random") random(*found);
        if (name == "grid") grid(*found);
        if (name == "box") box(*found);
        if (name == "file") file(*found);
        if (name == "mesh") {
            throw fault(*found, "values from a mesh are not supported yet")
                .remedy("store the values as .npy and write {\"file\": \"x.npy\"}");
        }
    }

    void formula(const Node& node) {
        result_.form = ValueForm::Formula;
        const bool list = node.is_array();
        if (list || components_ > 1) {
            if (!list || node.size() != components_) {
                throw mismatch(node, fmt::format("an array of {} formulas", components_),
                               "write one formula for each component");
            }
        }
        const bool has_positions = !request_.positions.empty();
        std::vector<std::string_view> names = {"i", "n"};
        if (has_positions && request_.dimension == 1) {
            names.push_back("t");
        } else if (has_positions) {
            for (const std::string_view axis : {"x", "y", "z"})
                if (names.size() < 2 + static_cast<std::size_t>(request_.dimension))
                    names.push_back(axis);
        }
        struct Part {
            std::optional<Formula> formula;
            double number = 0;
        };
        std::vector<Part> parts(components_);
        bool constant = true;
        for (std::size_t c = 0; c < components_; ++c) {
            const Node& text = list ? node.item(c) : node;
            if (is_number(text)) {
                parts[c].number = number_of(text, request_.range);
            } else {
                if (!text.is_string()) throw mismatch(text, "a formula", "put it in double quotes");
                const Formula& formula = parts[c].formula.emplace(text, request_.functions, names);
                constant = constant && formula.is_constant();
            }
        }
        std::vector<double> variables(names.size());
        const auto row = [&](double* out) {
            for (std::size_t c = 0; c < components_; ++c) {
                out[c] = parts[c].formula ? (*parts[c].formula)(variables) : parts[c].number;
            }
        };
        if (constant) {
            std::vector<double> values(components_);
            row(values.data());
            share(std::move(values), node);
        } else {
            const std::int64_t count = known_count(node);
            begin_elements(count, node);
            variables[1] = static_cast<double>(count);
            const std::size_t axes = names.size() - 2;
            const auto dimension = static_cast<std::size_t>(request_.dimension);
            if (has_positions &&
                request_.positions.size() != static_cast<std::size_t>(count) * dimension) {
                throw fault(
                    node, fmt::format("{} position numbers for {} of dimension {}",
                                      request_.positions.size(), elements_text(count), dimension));
            }
            for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
                variables[0] = static_cast<double>(i);
                for (std::size_t a = 0; a < axes; ++a) {
                    variables[2 + a] = request_.positions[i * dimension + a];
                }
                row(result_.data.data() + i * components_);
            }
        }
        check_computed(node);
    }

    // One number for all components, or one each.
    std::vector<double> per_component(const Node& node, const Range& range = {}) const {
        if (is_number(node)) return std::vector<double>(components_, number_of(node, range));
        if (components_ == 1) return {number_of(node, range)};  // throws
        return numbers_of(node, components_, range);
    }

    void random(const Node& node) {
        result_.form = ValueForm::Random;
        Reader reader(node, "a random generator");
        const auto seed = reader.integer("seed", 0);
        const Node* normal = reader.find("normal");
        const Node* uniform = reader.find("uniform");
        reader.finish();
        if ((normal == nullptr) == (uniform == nullptr)) {
            throw fault(node,
                        normal ? "both 'normal' and 'uniform'" : "the distribution is missing")
                .remedy("write \"normal\": [mean, deviation] or \"uniform\": [low, high]");
        }
        const Node& pair = array_of(normal ? *normal : *uniform, 2, 2);
        const auto first = per_component(pair.item(0));
        const auto second = per_component(pair.item(1), normal ? Range::at_least(0) : Range::any());
        if (uniform) {
            for (std::size_t c = 0; c < components_; ++c) {
                if (first[c] > second[c]) {
                    throw fault(pair, fmt::format("the lower end {} lies above the upper end {}",
                                                  written(first[c]), written(second[c])))
                        .remedy("exchange them");
                }
                if (!std::isfinite(second[c] - first[c])) {
                    throw fault(pair, fmt::format("the range from {} to {} is too wide for f64",
                                                  written(first[c]), written(second[c])))
                        .remedy("narrow it");
                }
            }
        } else if (!request_.functions.log || !request_.functions.cos) {
            throw fault(pair, "normal numbers are not available here").remedy("use \"uniform\"");
        }
        begin_elements(known_count(node), node);
        const Random numbers(mixed_seed(static_cast<std::uint64_t>(seed), request_.seed));
        for (std::size_t k = 0; k < result_.data.size(); ++k) {
            const std::size_t c = k % components_;
            result_.data[k] = normal ? first[c] + second[c] * numbers.normal(k, request_.functions)
                                     : numbers.uniform(k, first[c], second[c]);
        }
        check_computed(node);
    }

    std::vector<std::int64_t> counts(Reader& reader) {
        const Node& node = reader.array("counts", components_, components_);
        std::vector<std::int64_t> result;
        std::int64_t total = 1;
        for (std::size_t c = 0; c < components_; ++c) {
            result.push_back(integer_of(node.item(c), 1, request_.most_numbers));
            // The product stays below 2^52: each factor is at most most_numbers.
            if (total <= request_.most_numbers) total *= result.back();
        }
        begin_elements(total, node);
        return result;
    }

    // Calls f(element, axis, index along that axis); the last axis runs fastest.
    template <class F>
    void for_each_index(const std::vector<std::int64_t>& counts, F&& f) {
        std::vector<std::int64_t> index(components_, 0);
        for (std::size_t i = 0; i < static_cast<std::size_t>(result_.count); ++i) {
            for (std::size_t c = 0; c < components_; ++c) {
                result_.data[i * components_ + c] = f(c, static_cast<double>(index[c]));
            }
            for (std::size_t c = components_; c-- > 0;) {
                if (++index[c] < counts[c]) break;
                index[c] = 0;
            }
        }
    }

    void grid(const Node& node) {
        result_.form = ValueForm::Grid;
        Reader reader(node, "a grid");
        const Node& spacing_node = reader.require("spacing");
        const auto spacing = per_component(spacing_node);
        const Node* origin_node = reader.find("origin");
        const Node* center_node = reader.find("center");
        const auto counts = this->counts(reader);
        reader.finish();
        if (origin_node && center_node) {
            throw fault(*center_node, "both 'origin' and 'center'").remedy("keep one of them");
        }
        std::vector<double> origin(components_, 0.0);
        if (origin_node) origin = per_component(*origin_node);
        if (center_node) {
            origin = per_component(*center_node);
            for (std::size_t c = 0; c < components_; ++c) {
                origin[c] -= 0.5 * static_cast<double>(counts[c] - 1) * spacing[c];
            }
        }
        for_each_index(counts,
                       [&](std::size_t c, double index) { return origin[c] + index * spacing[c]; });
        check_computed(node);
    }

    void box(const Node& node) {
        result_.form = ValueForm::Box;
        Reader reader(node, "a box");
        const auto low = per_component(reader.require("min"));
        const Node& high_node = reader.require("max");
        const auto high = per_component(high_node);
        const auto counts = this->counts(reader);
        reader.finish();
        std::vector<double> cell(components_);
        for (std::size_t c = 0; c < components_; ++c) {
            if (low[c] > high[c]) {
                throw fault(high_node, fmt::format("max {} lies below min {}", written(high[c]),
                                                   written(low[c])))
                    .remedy("exchange them");
            }
            cell[c] = (high[c] - low[c]) / static_cast<double>(counts[c]);
        }
        for_each_index(
            counts, [&](std::size_t c, double index) { return low[c] + (index + 0.5) * cell[c]; });
        check_computed(node);
    }

    void file(const Node& node) {
        result_.form = ValueForm::File;
        const auto path = request_.files.resolve(node);
        NpyArray array;
        std::vector<double> data;
        try {
            array =
                read_npy(path, 8 * static_cast<std::uint64_t>(request_.most_numbers) + (1 << 16));
            data = array.to_f64();
        } catch (Error& error) {
            throw error.at(node.place()).at_pointer(node.pointer());
        }
        const auto& shape = array.shape;
        const auto width = static_cast<std::int64_t>(components_);
        const bool image = on_grid() && std::ranges::equal(shape, request_.grid);
        const bool row = components_ == 1 ? shape.empty() : shape.size() == 1 && shape[0] == width;
        const bool rows =
            (shape.size() == 2 && shape[1] == width) || (components_ == 1 && shape.size() == 1);
        if (!row && !rows && !image) {
            const std::string elements =
                request_.count ? std::to_string(*request_.count) : "elements";
            throw fault(node, fmt::format("the array in {} has shape {}, expected ({}, {})",
                                          shown(node.string(), 100), shape_text(shape), elements,
                                          components_))
                .remedy("write it in that shape");
        }
        if (row) {
            share(std::move(data), node);
        } else {
            begin_elements(image ? shape[0] * shape[1] : shape[0], node);
            result_.data = std::move(data);
        }
        check_computed(node);
    }

    const Node& node_;
    const ValueRequest& request_;
    const std::size_t components_;
    Values result_;
};

}  // namespace

std::vector<double> Values::rows() const {
    if (!shared) return data;
    std::vector<double> result;
    result.reserve(static_cast<std::size_t>(count) * data.size());
    for (std::int64_t i = 0; i < count; ++i) result.insert(result.end(), data.begin(), data.end());
    return result;
}

Values evaluate(const Node& node, const ValueRequest& request) {
    return Evaluator(node, request).evaluate();
}

Node written_form(std::span<const double> data, int components, bool shared) {
    const auto width = static_cast<std::size_t>(components);
    const auto row = [&](std::size_t i) {
        if (width == 1) return Node(data[i]);
        Node vector = Node::array();
        for (std::size_t c = 0; c < width; ++c) vector.push_back(data[i * width + c]);
        return vector;
    };
    if (shared) return row(0);
    Node rows = Node::array();
    for (std::size_t i = 0; i < data.size() / width; ++i) rows.push_back(row(i));
    return rows;
}

Node saved_form(std::span<const double> data, int components, bool shared,
                const std::filesystem::path& folder, const std::string& name) {
    if (data.size() <= 1000) return written_form(data, components, shared);
    const auto width = static_cast<std::int64_t>(components);
    std::vector<std::int64_t> shape = {static_cast<std::int64_t>(data.size()) / width};
    if (width > 1) shape.push_back(width);
    write_npy(folder / name, std::span<const std::int64_t>(shape), data);
    return Node::object({{"file", name}});
}

std::uint64_t mixed_seed(std::uint64_t seed, std::uint64_t extra) {
    if (extra == 0) return seed;
    // The finalizer of SplitMix64 (Steele, Lea, Flood 2014), a bijection of 64 bits.
    extra += 0x9E3779B97F4A7C15;
    extra = (extra ^ extra >> 30) * 0xBF58476D1CE4E5B9;
    extra = (extra ^ extra >> 27) * 0x94D049BB133111EB;
    return seed ^ extra ^ extra >> 31;
}

}  // namespace hindcast::document
