// Warnings as values: findings that do not stop a run, but that its author should know.
//
// A module adds them while a scene is built, or from a look at the state (model/warnings/state_looks.hpp).
// Commands print them, summaries list them, the window and Python show them. A scene accepts a
// warning by its identifier: "accepted_warnings": ["time_step"].
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/document/document.hpp"

namespace hindcast {

// The identifiers, each with one line about its meaning. A new kind of warning is a new row.
struct WarningKind {
    const char* identifier;
    const char* meaning;
};
std::span<const WarningKind> warning_kinds();
// A JSON schema of the scene's "accepted_warnings".
std::string accepted_warnings_schema();

struct Warning {
    std::string identifier;  // one of warning_kinds()
    std::string happened;    // "'box' passes through 'floor'"
    std::string remedy;      // "write ..."
    std::string pointer;     // RFC 6901, of the object it is about; "": the whole scene
    std::vector<std::pair<std::string, double>> numbers;  // by name, SI units
    std::int64_t step = -1;  // after so many whole steps; -1: when the scene was loaded

    // "WHAT HAPPENED; REMEDY [IDENTIFIER]", with the step.
    std::string text() const;
    // As an entry of "warnings" in summary.json.
    document::Node to_node() const;
};

class Warnings {
public:
    // Reads "accepted_warnings". Throws Error where it names no warning.
    static std::set<std::string> read_accepted(const document::Node* list);

    struct Options {
        std::set<std::string> accepted;             // identifiers
        bool strict = false;                        // add() throws
        std::function<void(const Warning&)> heard;  // called by add(); may be empty
    };
    void set(Options options) { options_ = std::move(options); }

    // Keeps the first warning of each identifier and pointer, unless its identifier is accepted.
    // Throws Error if the options are strict.
    void add(Warning warning);
    bool accepts(const std::string& identifier) const {
        return options_.accepted.contains(identifier);
    }
    const std::vector<Warning>& list() const { return list_; }
    bool has(std::string_view identifier) const;

private:
    Options options_;
    std::vector<Warning> list_;
};

}  // namespace hindcast
