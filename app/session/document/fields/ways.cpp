// Data for other ways to write a value: the numbers around it, and a file that it names.
#include <algorithm>

#include "app/session/document/fields/filling.hpp"
#include "engine/document/text.hpp"
#include "engine/model/element_names.hpp"

namespace hindcast::session {

Surroundings surroundings_of(const QuantityInfo& q) {
    Surroundings around;
    around.components = std::max(q.components, 1);
    const auto size = [](std::int64_t n) {
        return static_cast<std::size_t>(std::max<std::int64_t>(n, 0));
    };
    around.rows = size(q.count);
    around.low = q.low;
    around.high = q.high;
    if (q.values.size() == size(q.rows) * static_cast<std::size_t>(around.components))
        around.numbers = q.values;
    for (std::int64_t k = 0; q.names && k < q.names->count(); ++k)
        if (std::string name = q.names->name(k); !name.empty())
            around.elements.push_back(std::move(name));
    return around;
}

std::optional<WantedFile> wanted_file(const Form& form, const document::Node& value) {
    if (form.kind == FormKind::text && form.means == "file" && value == blank(form, {}))
        return WantedFile{"", form.files};
    for (std::size_t k = 0; form.kind == FormKind::object && k < form.keys.size(); ++k) {
        const document::Node* const member = value.find(form.keys[k]);
        if (member == nullptr) continue;
        if (auto found = wanted_file(form.parts[k], *member)) {
            found->place.insert(0, "/" + document::pointer_token(form.keys[k]));
            return found;
        }
    }
    return std::nullopt;
}

}  // namespace hindcast::session
