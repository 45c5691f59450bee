// Values: how a document writes the numbers of an array, and their evaluation.
//
//     0.5   "1/30"                        one number for all elements (one component)
//     [0, 0, 1]                           one vector for all elements (three components)
//     [1, 2, 3]   [[0,0,0], [1,0,0]]      one number or one vector per element
//     {"formula": "sin(3*x) + 0.1*i"}     i: element, n: their number, x y z or t, if there are any
//     {"formula": ["0", "x", "-y"]}       one formula or number per component
//     {"random": {"seed": 7, "normal": [0, 0.1]}}     mean and standard deviation
//     {"random": {"seed": 7, "uniform": [a, b]}}      from a on, below b
//     {"grid": {"counts": [4, 4, 1], "spacing": 0.1, "origin": [0, 0, 0]}}
//         element (i, j, k) lies at origin + (i, j, k) * spacing. Spacing: one number or one per
//         axis. Instead of "origin" (default 0), "center" puts the middle of the grid there.
//     {"box": {"min": [0, 0, 0], "max": [1, 1, 1], "counts": [8, 8, 8]}}
//         the centers of the cells: min + ((i, j, k) + 1/2) * (max - min) / counts.
//     {"file": "x.npy"}                   shape (elements, components), or one row for all elements
//     [[1, 2], [3, 4]]                    of numbers on a grid: row by row, and so a file
//
// Order of grid and box: the last index runs fastest, element (i*ny + j)*nz + k. Random number i of
// a seed goes to component i % components of element i / components.
//
// Everything is evaluated once, in f64. A written number or vector, a formula that names no
// variable and a file with one row are one shared value; all else is one value per element.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/document/file_access.hpp"
#include "engine/document/formula.hpp"
#include "engine/document/node.hpp"
#include "engine/document/read.hpp"

namespace hindcast::document {

// Requirements on the values, and the names that they may refer to.
struct ValueRequest {
    std::optional<std::int64_t> count;  // elements; absent: the value says how many
    int components = 1;
    Range range = {};  // of every number

    ElementaryTable functions = {};           // for formulas and normal numbers
    std::span<const double> positions = {};   // count x dimension: x y z, or times: t; may be empty
    std::span<const std::int64_t> grid = {};  // rows, columns: of numbers (one component) on a grid
    int dimension = 3;                        // of the positions; 1: they are times
    std::uint64_t seed = 0;                   // of the command line, mixed into every seed
    FileAccess files = {};
    std::int64_t most_numbers = std::int64_t{1} << 26;  // 512 MiB
};

enum class ValueForm : std::uint8_t { Written, Formula, Random, Grid, Box, File };

struct Values {
    std::vector<double> data;  // C order; one row if shared, else `count` rows
    std::int64_t count = 0;    // elements
    int components = 1;
    bool shared = false;  // written as one value for all elements
    ValueForm form = ValueForm::Written;
    Node written;  // as it stands in the document, with its place

    // One row per element, also if shared.
    std::vector<double> rows() const;
};

// Throws Error at the node, with the element where it is a computed one.
Values evaluate(const Node& node, const ValueRequest& request);

// The data as a document writes them: a number or vector if shared, else an array of them.
Node written_form(std::span<const double> data, int components, bool shared);

// For saving: the form above up to 1000 numbers; beyond, the array is written to `folder/name` as
// .npy and the result is {"file": name}.
Node saved_form(std::span<const double> data, int components, bool shared,
                const std::filesystem::path& folder, const std::string& name);

// The seed that is used for `seed` in a document when the command line says `extra`; extra 0
// changes nothing.
std::uint64_t mixed_seed(std::uint64_t seed, std::uint64_t extra);

}  // namespace hindcast::document
