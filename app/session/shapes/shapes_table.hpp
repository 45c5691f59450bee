// The table of shapes, internal to this folder: what each needs, how large it is, and what it puts
// into the document.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "app/session/shapes/shape_place.hpp"
#include "app/session/shapes/shapes.hpp"

namespace hindcast::session {

// The chosen numbers by their keys.
class ShapeNumbers {
public:
    ShapeNumbers(const Shape& shape, std::span<const double> values);
    double operator[](std::string_view key) const;  // throws Error if the shape has no such number
    std::int64_t whole(std::string_view key) const;

private:
    const Shape& shape_;
    std::span<const double> values_;
};

// The steps that a shape needs in its scene.
enum class Steps : std::uint8_t {
    any,
    elastic,  // implicit where the scene can be; else explicit with substeps that are short enough
    barrier   // implicit: an obstacle that is an energy
};

// The document and the place to which ShapeRow::make adds its objects.
struct ShapeSite {
    document::Document& document;
    const ShapeNumbers& number;
    const std::string& name;  // of the main object
    const Room& room;
    Place low{};  // the corner of the shape's box that place_for() has found
    Place size{};
    bool implicit = false;                                          // the scene's steps
    std::string file = {};                                          // as the scene names it
    std::filesystem::path path = {};                                // and where it is
    std::function<std::string(const std::string&)> free_name = {};  // like the one given

    // A place by its distances from the low corner: to the right, to the back, upwards (m).
    document::Node at(double right, double back, double upwards) const;
    // The same as a direction or size, from no corner.
    document::Node vector(double right, double back, double upwards) const;
    void add(model::Section section, document::Node object) const;
    // The longest explicit step with which it is stable, s: the substeps are made to fit.
    void needs_step(double seconds) const;
};

struct ShapeRow {
    Shape shape;
    bool in_plane = true, in_space = true;
    std::vector<std::pair<model::Section, std::string>> needs = {};  // besides the shape's own type
    Steps steps = Steps::any;
    Aside aside = Aside::above;
    double above = 0.02;  // m over the ground or what is below
    std::function<ShapeCount(const ShapeNumbers&, int dimension)> count;
    // To the right, to the back, upwards, m; in the plane the second is not used.
    std::function<Place(const ShapeNumbers&)> size;
    std::function<void(const ShapeSite&)> make;
};

const std::vector<ShapeRow>& shape_rows();

// Short numbers: without the noise of sums of decimals.
document::Node tidy(double value);
// The numbers of a list of this size; one number stands for all of them where `alike`. None for
// anything else, and for no node.
std::optional<std::vector<double>> numbers_in(const document::Node* node, std::size_t size,
                                              bool alike = false);

// The number of that key; `otherwise` where there is none.
double number_at(const document::Node& object, const char* key, double otherwise);

// In place: obstacles that act by energies (barrier), as implicit steps need them.
void make_barriers(document::Document& document);
// Writes the response for these steps and the friction of an obstacle of the table.
void set_response(document::Node& obstacle, bool implicit, double friction);

}  // namespace hindcast::session
