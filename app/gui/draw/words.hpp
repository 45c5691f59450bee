// Names and numbers as the window says them.
#pragma once

#include <string>

#include "app/session/link/snapshot.hpp"
#include "engine/document/document.hpp"

namespace hindcast::gui {

// The name of the object at this pointer of a document; an object without a name goes by its type and
// its number among those of the type. "" if there is nothing there.
std::string object_name(const document::Document& document, const std::string& pointer);

// Why what is shown is no iteration, though there are some; and the same in a word or two.
std::string no_iteration_text(const session::Snapshot& now);
std::string no_iteration_word(const session::Snapshot& now);

// "12.3 ms", "1.5 GiB", "3.42e-05": short numbers for people.
std::string duration_text(double seconds);
std::string bytes_text(double bytes);
std::string number_text(double value, int digits = 5);

}  // namespace hindcast::gui
