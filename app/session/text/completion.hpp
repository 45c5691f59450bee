// Completions at the cursor, and the text that each inserts: keys that the object does not have
// yet, words of choices, whole objects by their type, names of the scene's things, paths of its
// numbers, files.
//
//     const TextTree tree(text, cursor);
//     for (const Suggestion& s : complete(tree, cursor, {guide, registry, folder}))
//         ...                                        // s.label, s.facts, s.documentation
//     const TextChange change = accepted(tree, s);   // replaces bytes of the text
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "app/session/text/schema_guide.hpp"
#include "app/session/text/text_tree.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::session {

// The sources of suggestions besides the text. `guide` and `registry` must outlive it.
struct CompletionSource {
    const SchemaGuide& guide;
    const Registry& registry;
    std::filesystem::path folder = {};     // of the scene's file; empty: no files are suggested
    std::vector<std::string> paths = {};   // of numbers that only the built scene knows
    std::vector<std::string> colors = {};  // that the view can show
    std::vector<std::string> arrows = {};  // alike
};

struct Suggestion {
    std::string label;  // stiffness
    std::string facts;  // "number, N/m, >= 0"
    std::string documentation;
    bool required = false;  // a key without which the object does not load
    std::string json;       // "\"stiffness\": 1": takes the place of [begin, end)
    std::size_t begin = 0, end = 0;
    // The part of `json` that is selected after the insertion, to be typed over; equal: the cursor.
    std::size_t select_begin = 0, select_end = 0;
    bool is_member = false;  // needs commas around it
};

// In the order in which they are shown. Those whose label begins with what is typed before the
// cursor, then those that contain it.
std::vector<Suggestion> complete(const TextTree& tree, std::size_t cursor,
                                 const CompletionSource& source);

// One change of the text: [begin, end) becomes `text`, of which a part is then selected (offsets in
// the new text).
struct TextChange {
    std::size_t begin = 0, end = 0;
    std::string text;
    std::size_t select_begin = 0, select_end = 0;
};
// With the commas that are missing before and behind it.
TextChange accepted(const TextTree& tree, const Suggestion& suggestion);
// Writes a key that the object does not have, with its default or a value to begin with, as its last
// member. Precondition: the entry is an object.
TextChange with_key(const TextTree& tree, int object, const std::string& key,
                    const CompletionSource& source);

}  // namespace hindcast::session
