#include "engine/model/components.hpp"

#include "engine/document/read.hpp"

namespace hindcast::model {

Array array_named(const Model& model, const document::Node& node, const std::string& owner) {
    const std::string& name = document::string_of(node);
    const std::string prefix = owner.empty() ? owner : owner + ".";
    std::vector<std::string> all;
    for (const auto& [key, published] : model.arrays()) {
        if (published.array.type() == ir::Type::i32) continue;
        if (key == prefix + name || key == name) return published.array;
        all.push_back(key.starts_with(prefix) ? key.substr(prefix.size()) : key);
    }
    const std::vector<std::string_view> names(all.begin(), all.end());
    document::choice_of(node, names, "array");  // throws, with "did you mean"
    throw document::fault(node, "there is no array '" + name + "'");
}

}  // namespace hindcast::model
