// Values for a form: whether one fits, a first one, and one made of another that is to be written
// in another way (a number as a list, a list as a formula), which keeps what can be kept.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/session/document/fields/form.hpp"
#include "app/session/link/values.hpp"

namespace hindcast::session {

// Facts about the surroundings of a value that is made.
struct Surroundings {
    int dimension = 3;                  // of the scene
    std::vector<std::string> bodies;    // their names
    std::vector<std::string> elements;  // names of the value's elements; may be empty
    // The numbers that the value stands for now, in rows of `components`; may be empty.
    std::span<const double> numbers = {};
    int components = 1;
    std::size_t rows = 0;  // elements, also where the numbers are one row for all of them
    // Bounds of the numbers.
    double low = -std::numeric_limits<double>::infinity(),
           high = std::numeric_limits<double>::infinity();
};

// With the numbers of a quantity, as far as all of them are known; it must live as long.
Surroundings surroundings_of(const QuantityInfo& quantity);

// True if the value and all its parts have the kinds of this form. The loader checks the bounds of
// numbers.
bool fits(const Form& form, const document::Node& value);

// The alternative that the value has, or else resembles; none for null.
std::optional<std::size_t> alternative_of(const Form& form, const document::Node& value);
// The title of an alternative in a combo: "one number", "formula", "those in a box".
std::string title_of(const Form& alternative);

// A value of the form: its default, or the simplest one.
document::Node blank(const Form& form, const Surroundings& around);
// False: the form cannot say the numbers: they are not all known, or too many to be written.
bool can_write(const Form& form, const document::Node& old, const Surroundings& around);
// A value of the form that keeps the parts of the old one for which the form has a place; null
// unless can_write().
document::Node converted(const Form& form, const document::Node& old, const Surroundings& around);

// The place within a value where it names a file that is not chosen yet.
struct WantedFile {
    std::string place;
    std::vector<std::string> files;  // Form::files
};
std::optional<WantedFile> wanted_file(const Form& form, const document::Node& value);

// The number of elements that a value makes by its "counts" or "cells": "24 in all", "35 points, 24
// cells"; "" for anything else.
std::string count_text(const Form& form, const document::Node& value);

// Writes a value below `root`, by a pointer; objects on the way that are missing are made.
void set_below(document::Node& root, const std::string& pointer, document::Node value);

}  // namespace hindcast::session
