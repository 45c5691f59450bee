#include "app/session/document/checkpoints.hpp"

#include <algorithm>
#include <cmath>

#include "engine/document/read.hpp"
#include "engine/sim/values/checkpoint.hpp"

namespace hindcast::session {

using document::Document;
using document::Node;

namespace {

std::size_t numbers_in(const Node& node) {
    if (!node.is_array() && !node.is_object()) return 1;
    if (node.is_object() && node.find("file") != nullptr) return 1;
    std::size_t count = 0;
    for (std::size_t k = 0; k < node.size(); ++k) count += numbers_in(node.item(k));
    return count;
}

const CheckpointInfo* find(const std::vector<CheckpointInfo>& list, const std::string& name) {
    const auto found = std::ranges::find(list, name, &CheckpointInfo::name);
    return found == list.end() ? nullptr : &*found;
}

void need_name(const std::string& name) {
    if (name.empty()) throw Error("a checkpoint needs a name");
}

}  // namespace

std::vector<CheckpointInfo> checkpoints_of(const Document& scene) {
    std::vector<CheckpointInfo> all;
    const Node* const list = scene.root().find("checkpoints");
    if (list == nullptr || !list->is_array()) return all;
    for (std::size_t k = 0; k < list->size(); ++k) {
        const Node& node = list->item(k);
        const Node* const name = node.is_object() ? node.find("name") : nullptr;
        const Node* const values = node.is_object() ? node.find("values") : nullptr;
        if (name == nullptr || !name->is_string() || values == nullptr) continue;
        CheckpointInfo info{name->string(), "/checkpoints/" + std::to_string(k), {}, 0};
        if (const Node* const loss = node.find("loss");
            loss != nullptr && document::is_number(*loss))
            info.loss = document::number_of(*loss);
        info.numbers = numbers_in(*values);
        all.push_back(std::move(info));
    }
    return all;
}

Document with_checkpoint(const Document& scene, const std::string& name, const Node& values,
                         double loss) {
    need_name(name);
    Node fresh = Node::object({{"name", name}});
    if (std::isfinite(loss)) fresh.set("loss", loss);
    fresh.set("values", values);
    Document changed = scene;
    const std::vector<CheckpointInfo> list = checkpoints_of(scene);
    if (const CheckpointInfo* const old = find(list, name)) {
        changed.set(old->pointer, std::move(fresh));
        return changed;
    }
    if (changed.find("/checkpoints") == nullptr) changed.set("/checkpoints", Node::array());
    changed.set("/checkpoints/-", std::move(fresh));
    return changed;
}

Document with_checkpoint_renamed(const Document& scene, const std::string& name,
                                 const std::string& fresh) {
    checkpoint_named(scene, name);
    need_name(fresh);
    if (fresh == name) return scene;
    const std::vector<CheckpointInfo> list = checkpoints_of(scene);
    if (find(list, fresh) != nullptr)
        throw Error("there is a checkpoint '" + fresh + "'").remedy("choose another name");
    Document changed = scene;
    changed.set(find(list, name)->pointer + "/name", Node(fresh));
    return changed;
}

Document without_checkpoint(const Document& scene, const std::string& name) {
    checkpoint_named(scene, name);
    const std::vector<CheckpointInfo> list = checkpoints_of(scene);
    Document changed = scene;
    changed.erase(scene.at("/checkpoints").size() > 1 ? find(list, name)->pointer : "/checkpoints");
    return changed;
}

std::string unused_checkpoint_name(const Document& scene, const std::string& wanted) {
    const std::vector<CheckpointInfo> list = checkpoints_of(scene);
    std::string name = wanted;
    for (int number = 2; find(list, name) != nullptr; ++number)
        name = wanted + " " + std::to_string(number);
    return name;
}

}  // namespace hindcast::session
