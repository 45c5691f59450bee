// Documents between the window and the session, in both directions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/document/document.hpp"

namespace hindcast::session {

// The answer to a KeepValues.
struct KeptValues {
    std::uint64_t number = 0;
    document::Node values;
};

struct HandoverSnapshot {
    std::uint64_t revision = 0;  // of the document that runs now
    // The revision of the newest document tried; ReportsSnapshot::error says why it does not run.
    std::uint64_t applied_revision = 0;
    std::shared_ptr<const KeptValues> kept_values;  // the last answer

    // The document that answers a command (Accept, UseValues, Branch), and that command's number.
    std::shared_ptr<const document::Document> answer;
    std::uint64_t answer_to = 0;
    std::string answer_name;  // of the undo step: "Accept iteration 12"
};

}  // namespace hindcast::session
