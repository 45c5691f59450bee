#include "app/session/document/compare.hpp"

#include <algorithm>
#include <map>

#include "engine/document/text.hpp"

namespace hindcast::session {

namespace {

using document::Node;

class Comparison {
public:
    Comparison(const std::vector<std::string>& pointers) {
        for (std::size_t k = 0; k < pointers.size(); ++k) quantities_.emplace(pointers[k], k);
    }

    void objects(const Node* a, const Node* b, const std::string& pointer) {
        const auto visit = [&](const Node* from, const Node* other, bool again) {
            for (std::size_t k = 0; from != nullptr && k < from->size(); ++k) {
                const std::string& key = from->key(k);
                const Node* counterpart = other != nullptr ? other->find(key) : nullptr;
                if (again && counterpart != nullptr) continue;
                const Node* const item = &from->item(k);
                node(again ? counterpart : item, again ? item : counterpart,
                     pointer + "/" + document::pointer_token(key));
            }
        };
        visit(a, b, false);
        visit(b, a, true);
    }

    Difference difference;

private:
    // Either may be absent, not both.
    void node(const Node* a, const Node* b, const std::string& pointer) {
        static constexpr const char* unread[] = {"/view",    "/description", "/$schema",
                                                 "/outputs", "/name",        "/checkpoints"};
        if (std::find(std::begin(unread), std::end(unread), pointer) != std::end(unread)) return;
        if (const auto found = quantities_.find(pointer); found != quantities_.end()) {
            if (a != nullptr && b != nullptr && *a == *b) return;
            difference.nothing = false;
            difference.quantities.push_back(found->second);
            return;
        }
        if (a != nullptr && b != nullptr && a->kind() == b->kind()) {
            if (a->is_object()) return objects(a, b, pointer);
            if (a->is_array() && a->size() == b->size() && holds_quantities(pointer)) {
                for (std::size_t k = 0; k < a->size(); ++k)
                    node(&a->item(k), &b->item(k), pointer + "/" + std::to_string(k));
                return;
            }
            if (*a == *b) return;
        }
        difference.nothing = false;
        difference.elsewhere = true;
    }

    bool holds_quantities(const std::string& pointer) const {
        const auto found = quantities_.lower_bound(pointer + "/");
        return found != quantities_.end() && found->first.starts_with(pointer + "/");
    }

    std::map<std::string, std::size_t> quantities_;
};

}  // namespace

Difference compare(const document::Document& before, const document::Document& after,
                   const std::vector<std::string>& pointers) {
    Comparison comparison(pointers);
    comparison.objects(&before.root(), &after.root(), "");
    return comparison.difference;
}

}  // namespace hindcast::session
