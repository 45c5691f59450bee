// Names of elements, such as the bodies and joints of a robot. Elements of a quantity or of a
// published array have them by its path:
//
//     robot.body_mass[torso]    robot.xpos[torso].z
//     "body_mass": {"torso": 3.2}     by name; the others keep what they have without this key
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/model.hpp"

namespace hindcast::model {

struct ElementRange {
    std::int64_t first = 0, count = 0;
};

class ElementNames {
public:
    explicit ElementNames(std::int64_t elements)
        : thing_of_(static_cast<std::size_t>(elements), -1) {}

    // The next elements belong to one thing; "": it has no name. Its single numbers are called
    // "root:0", "root:1" and so on where there are several. Names differ.
    void add(const std::string& name, std::int64_t count = 1);

    std::int64_t count() const { return static_cast<std::int64_t>(thing_of_.size()); }
    // "torso", "root:3"; "" where it has none.
    std::string name(std::int64_t element) const;
    std::optional<ElementRange> find(std::string_view name) const;
    // Throws Error, with "did you mean", where nothing has that name. `owner`: of the elements, for
    // the message.
    ElementRange at(const std::string& owner, std::string_view name) const;

    // The numbers, in rows, of elements that a value by name leaves out. Empty if no scene writes
    // the values.
    std::vector<double> otherwise;
    // A scene that does not write the values has those numbers, and is the same in all else.
    bool may_be_left_out = true;

private:
    struct Thing {
        std::string name;
        ElementRange elements;
    };
    const Thing* thing(std::string_view name) const;

    std::vector<Thing> things_;
    std::vector<std::int64_t> thing_of_;
    std::int64_t next_ = 0;
};

// Names the elements of "robot.body_mass" from now on.
void name_elements(Model& model, const std::string& path, ElementNames names);
// Null: its elements have no names.
const ElementNames* element_names(Model& model, const std::string& path);

// True if a value is written by name: an object that is not a generator.
bool is_by_name(const document::Node& value);
// document::evaluate(), and values by name where there are names; each of those is a value of the
// elements that it names. Throws Error at the node or its key.
document::Values evaluate(const document::Node& value, const document::ValueRequest& request,
                          const ElementNames* names);

}  // namespace hindcast::model
