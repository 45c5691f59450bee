// Edits of the optimization's parameters and their groups. A number of the scene belongs to at most
// one parameter, a parameter to exactly one group.
//
// A group is a name that parameters have as "group" (by default their path), and a factor on their
// rate in the optimizer's "groups". An edit that removes the last parameter of a group removes its
// factor in the same undo step, since a scene with a factor of no parameter does not run.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/session/document/edited_document.hpp"

namespace hindcast::session {

// Each edit throws Error and then changes nothing.
class ParameterEdits : public EditedDocument {
public:
    // Adds {"path": path} to "parameters", or removes every parameter of that path or of numbers
    // within it.
    void set_optimized(const std::string& path, bool on);
    bool is_optimized(const std::string& path) const;  // it or some of its numbers
    std::vector<std::string> parameters_of(const std::string& path) const;  // their pointers
    // Returns its pointer. An error if another parameter has some of its numbers.
    std::string add_parameter(const std::string& path);
    void set_parameter_path(const std::string& pointer, const std::string& path);

    struct Group {
        std::string name, pointer;            // "/optimizer/groups/NAME", also without a factor
        std::optional<double> rate;           // the factor; none: 1
        std::vector<std::string> parameters;  // pointers
    };
    // The groups that a parameter names, and those with a factor.
    std::vector<Group> groups() const;
    // Makes a group of this parameter, with the factor 1 and a new name. Returns its pointer.
    std::string add_group(const std::string& parameter);
    // Moves a parameter into a group; "": into the group of its path.
    void set_group(const std::string& parameter, const std::string& group);
    std::string rename_group(const std::string& name, const std::string& fresh);  // its pointer
    void set_group_rate(const std::string& name, double rate, const std::string& merge = {});
    void remove_group(const std::string& name);  // its parameters stay
};

// The same on a document, as parts of other edits.
std::string duplicate_parameter(document::Document& document, const std::string& pointer);
void remove_parameters(document::Document& document, const std::vector<std::string>& pointers);
std::set<std::string> groups_of_parameters(const document::Document& document);
// Removes the factors of those of the groups that have no parameter now.
void drop_unused_groups(document::Document& document, const std::set<std::string>& before);

}  // namespace hindcast::session
