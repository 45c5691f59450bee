// Points or elements that were chosen in the picture, and what can be made of them: each function
// gives the changed document, or throws an Error that says why not. Nothing here knows a window.
//
//     Parts parts;
//     parts.add("cloth", {0, 12});
//     Document changed = pinned(document, file, registry, parts);
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/document/document.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::session {

struct Parts {
    enum class Kind : std::uint8_t { points, elements } kind = Kind::points;
    struct Of {
        std::string name;                   // of the object
        std::vector<std::int64_t> numbers;  // within it, ascending, each once
    };
    std::vector<Of> of;  // none without numbers

    bool empty() const { return of.empty(); }
    std::int64_t count() const;
    const std::vector<std::int64_t>* find(const std::string& name) const;  // null: none of it
    void add(const std::string& name, std::vector<std::int64_t> numbers);
    void remove(const std::string& name, const std::vector<std::int64_t>& numbers);
    void toggle(const std::string& name, std::int64_t number);  // in or out
    std::string text() const;                                   // "12 points of cloth"
};

using Document = document::Document;

// True if objects of this name have points that can be fixed.
bool can_be_pinned(const Document& document, const Registry& registry, const std::string& name);

// The bodies' fixed points with these, or without them. A body whose fixed points are said by a box
// is built for that, to know which they are.
Document pinned(const Document& document, const std::filesystem::path& file,
                const Registry& registry, const Parts& parts);
Document unpinned(const Document& document, const std::filesystem::path& file,
                  const Registry& registry, const Parts& parts);

// The place at which a point of a body is shown, m.
using WhereIs = std::function<std::array<double, 3>(const std::string& body, std::int64_t point)>;

// A new object of this name, which must be free.
// Springs: the points of one body each with the next in the order of their numbers; those of
// several bodies each with the nearest one of another body.
Document connected(const Document& document, const Registry& registry, const Parts& parts,
                   const std::string& name, const WhereIs& where);
// An objective whose targets are the places where the points are shown, to be moved from there. All
// points belong to one body.
Document aimed(const Document& document, const Registry& registry, const Parts& parts,
               const std::string& name, const WhereIs& where);
// A spring from each point to where it is shown, at all times. One point.
Document pulled(const Document& document, const Registry& registry, const Parts& parts,
                const std::string& name, const WhereIs& where);

// The keys of numbers of the object that may differ from one element (or point) to the next, and
// may be optimized: "warp_stiffness".
std::vector<std::string> keys_per_element(const Document& document, const Registry& registry,
                                          const std::string& name);
// A parameter with a number of its own for each of the chosen elements of one object.
Document optimized(const Document& document, const Registry& registry, const Parts& parts,
                   const std::string& key);

}  // namespace hindcast::session
