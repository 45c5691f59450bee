// The place of a field in the document, and its surroundings: the editors of fields read and write
// through it. Every edit is one step of undo with the field's name; a drag is one.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/gui/work/topics.hpp"
#include "app/session/document/fields/filling.hpp"

namespace hindcast::gui {

// The points that were picked in the view last, newest last, for lists that want some.
class Picks {
public:
    struct Point {
        std::string body;
        std::int64_t number = 0;  // of the body's points
        bool operator==(const Point&) const = default;
    };
    // Once for each frame: notes what is selected.
    void look(const Topics& work);
    const std::vector<Point>& points() const { return points_; }
    std::vector<std::int64_t> of(const std::string& body) const;

private:
    std::vector<Point> points_;
    std::string last_;  // selection that was seen last
};

class FieldPlace {
public:
    // `pointer` of the field, "/forces/0/connect"; `undo`: the name of its edits. `form` must live
    // as long as this.
    FieldPlace(Topics& work, std::string pointer, std::string undo, const session::Form& form,
               const session::QuantityInfo* quantity = nullptr, const Picks* picks = nullptr);

    Topics& work() const { return work_; }
    const std::string& pointer() const { return pointer_; }
    const std::string& undo() const { return undo_; }
    std::string object() const { return pointer_.substr(0, pointer_.rfind('/')); }
    const session::Form& form() const { return form_; }
    const session::QuantityInfo* quantity() const { return quantity_; }
    const Picks* picks() const { return picks_; }
    bool written() const { return root_ != nullptr; }

    // The node at a pointer below the field, as this frame began; null where there is none.
    // If the field is not written, the node of its default.
    const document::Node* find(const std::string& below) const;
    // Writes there; what is missing above it is made. With `drag` edits of the same place are one
    // step until end_drag().
    void put(const std::string& below, document::Node value, bool drag = false,
             const std::string& name = "");
    void end_drag();
    // Takes a member of an object or an item of a list away; the field itself: its default holds.
    void erase(const std::string& below);

    session::Surroundings surroundings() const;
    // The names that may stand for a text or an element of this form; empty: any.
    std::vector<std::string> names_for(const session::Form& form) const;
    // The folder that files are named in.
    std::filesystem::path folder() const;
    // The body whose points a list of the object counts: its "of", or the object itself.
    std::string body() const;

private:
    bool is_of_object() const;  // of a section

    Topics& work_;
    std::string pointer_, undo_;
    const session::Form& form_;
    const session::QuantityInfo* quantity_;
    const Picks* picks_;
    std::shared_ptr<const document::Document> document_;  // of this frame
    const document::Node* root_ = nullptr;                // null: not written
};

}  // namespace hindcast::gui
