// SchemaView: a node of a JSON schema, and the questions that editors of scenes ask about it. The
// inspector's forms (fields/form.hpp) and the text's completion (app/session/text/schema_guide.hpp)
// read the schema through it. It reads through references: the keywords beside a "$ref" come first,
// then those of its target.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/document/node.hpp"
#include "engine/document/read.hpp"

namespace hindcast::session {

// The text of a key such as "description" or "path"; "" if there is none.
const std::string& text_of(const document::Node& node, std::string_view key);

class SchemaView {
public:
    // `root`: the whole schema, which must outlive the view. Throws Error if a reference has no
    // target.
    SchemaView(const document::Node& node, const document::Node& root);

    // The value of a keyword; null if there is none.
    const document::Node* find(std::string_view keyword) const;
    const std::string& text(std::string_view keyword) const;         // "" if there is none
    std::optional<double> number(std::string_view keyword) const;    // none if it is not a number
    std::vector<std::string> names(std::string_view keyword) const;  // keys, or texts of a list
    bool lists(std::string_view keyword, std::string_view name) const;  // a list has this one
    bool has_type(std::string_view name) const;                         // it may be one of several
    bool is_object() const;                                             // also without a "type"
    bool refers_to(const std::string& definition) const;                // by its own "$ref"

    document::Range range() const;                      // of a number
    std::vector<const document::Node*> values() const;  // those that "enum" or "const" list

    // The schemas below a keyword: one ("items"; none if it is a boolean), those of a list
    // ("anyOf"), and a member of an object ("properties").
    std::optional<SchemaView> part(std::string_view keyword) const;
    std::vector<SchemaView> parts(std::string_view keyword) const;
    std::optional<SchemaView> member(const std::string& key) const;
    // The case of "if" that holds for a value with these texts by key: "then" or "else".
    std::optional<SchemaView> chosen(
        const std::function<std::string(const std::string& key)>& written) const;

    friend bool operator==(const SchemaView&, const SchemaView&) = default;

private:
    const document::Node *node_, *root_, *target_ = nullptr;  // null: it is no reference
};

}  // namespace hindcast::session
