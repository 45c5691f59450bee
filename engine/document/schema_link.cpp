#include "engine/document/schema_link.hpp"

#include <string>

namespace hindcast::document {

namespace fs = std::filesystem;

std::optional<Document> with_schema_from(const Document& document, const fs::path& from,
                                         const fs::path& to) {
    const Node* const schema = document.find("/$schema");
    if (schema == nullptr || !schema->is_string() ||
        schema->string().find("://") != std::string::npos)
        return std::nullopt;
    std::error_code error;
    const fs::path name(schema->string());
    if (fs::exists(to / name, error)) return std::nullopt;
    Document moved = document;
    const fs::path target = fs::weakly_canonical(fs::absolute(from / name, error), error);
    if (fs::exists(target, error))
        moved.set("/$schema", Node(fs::proximate(target, fs::absolute(to), error).string()));
    else
        moved.erase("/$schema");
    return moved;
}

}  // namespace hindcast::document
