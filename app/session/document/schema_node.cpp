#include "app/session/document/schema_node.hpp"

namespace hindcast::session {

using document::Node;

const std::string& text_of(const Node& node, const char* key) {
    static const std::string nothing;
    const Node* const text = node.find(key);
    return text != nullptr && text->is_string() ? text->string() : nothing;
}

bool has_type(const Node& schema, const char* name) {
    const Node* const type = schema.find("type");
    if (type == nullptr) return false;
    if (type->is_string()) return type->string() == name;
    for (std::size_t k = 0; k < type->size(); ++k)
        if (type->item(k).is_string() && type->item(k).string() == name) return true;
    return false;
}

}  // namespace hindcast::session
