// The place of one number of a quantity in the document, and the value that an edit writes there:
// also numbers by the names of their elements ("qpos": {"knee": 0.3}).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/session/link/values.hpp"
#include "engine/document/document.hpp"

namespace hindcast::gui {

struct EntryPlace {
    std::string pointer;  // "": it cannot be edited
    std::string why_not = {};
    // An edit writes all of these numbers, with the new one at `at`: a vector, or rows of so many
    // components. Empty: it writes the number alone.
    std::vector<double> numbers = {};
    std::size_t at = 0;
    int row = 0;            // components; 0: a vector
    std::string name = {};  // and is written under this name; "": by itself

    document::Node written(double value) const;
};

// `unwritten`: the numbers that the quantity has while the scene does not write them.
EntryPlace place_of_entry(const document::Document& document, const session::QuantityInfo& quantity,
                          std::size_t index, const std::vector<double>& unwritten);

// "3", "torso": what a list calls an element.
std::string element_label(const session::QuantityInfo& quantity, std::size_t element);

}  // namespace hindcast::gui
