// SchemaGuide: the JSON schema of scenes (engine/sim/scene/schema.hpp) at a place of a text: the
// keys and values allowed there and their meanings. The text around the place decides among
// references, alternatives and the cases of "type".
#pragma once

#include <string>
#include <vector>

#include "app/session/document/schema_view.hpp"
#include "app/session/text/text_tree.hpp"
#include "engine/document/document.hpp"

namespace hindcast::session {

// A key, as a line of help says it.
struct KeyHelp {
    std::string key;
    std::string facts;          // "number, N/m, >= 0, required"
    std::string documentation;  // of the field's row
    bool required = false;
    bool written = false;
};

class SchemaGuide {
public:
    explicit SchemaGuide(document::Document schema);

    using Schemas = std::vector<SchemaView>;
    // The schemas that the value of the entry may follow, references and alternatives resolved: none
    // if the schema does not know the place. Schemas that the text contradicts are left out.
    Schemas at(const TextTree& tree, int entry) const;
    // The schemas of a new item of the array, or of a new member with this key.
    Schemas at_new(const TextTree& tree, int container, const std::string& key = {}) const;

    // The keys of this object, required ones first, in the schema's order.
    std::vector<KeyHelp> keys(const TextTree& tree, int object) const;
    // Help on one member; an empty `key` if there is none.
    KeyHelp help(const TextTree& tree, int entry) const;

    // The values that can be listed, as JSON: words of choices, constants, true and false, the
    // default.
    static std::vector<std::string> values(const Schemas& schemas);
    // A value to begin with, as JSON: the default, else the least that fits.
    static std::string sample(const Schemas& schemas, const TextTree& tree);
    std::string sample_of_key(const TextTree& tree, int object, const std::string& key) const;
    // True if one of the schemas is, or refers to, this definition.
    bool refers_to(const TextTree& tree, int entry, const std::string& definition) const;
    // The description of the entry's key, else of the nearest key around it that has one.
    std::string description(const TextTree& tree, int entry) const;
    // The same of a new member or item.
    std::string description_of_new(const TextTree& tree, int container,
                                   const std::string& key) const;

private:
    Schemas rows(const TextTree& tree, int container, const std::string& key) const;
    Schemas rows(const TextTree& tree, int entry) const;

    document::Document schema_;
};

}  // namespace hindcast::session
