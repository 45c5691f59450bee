// Menus of things to add, in words: offers first, then the module types that have no offer. Used by
// the tree's "Add", the picture's menu and the palette.
#pragma once

#include "app/gui/work/context.hpp"
#include "app/session/making/offers.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::gui {

// The items of one section, within a menu that is open.
void add_items(const EditedScene& scene, Adding& adding, Requests& requests,
               model::Section section);
// A menu for each section.
void add_items_of_all(Context& context);
// Menu items for the selected object: copies, mirror, size, grid.
void object_items(Context& context);
// A new scene of each template.
void template_items(const EditedScene& scene, Opening& opening);
const char* title_of(model::Section section);

// The dialog of an offer's numbers, with how many points and elements that makes; and those of
// copies and of size. Drawn once a frame.
class MakingDialogs {
public:
    void draw(Topics& work);

private:
    void offer(Topics& work);
    void array(Topics& work);
    void size(Topics& work);

    model::Offer offer_;
    std::vector<double> numbers_;
    std::vector<std::string> files_;  // beside the scene, of the offer's endings
    std::string file_, brought_;      // chosen; from elsewhere, for the dialog that opens next
    int count_ = 3;
    std::array<double, 3> offset_{1, 0, 0};
    double factor_ = 2;
};

}  // namespace hindcast::gui
