// Things that a program can offer to add to a scene, in words: a cloth, a chain, a ball to fall on.
// A physics module registers an offer for each of its own:
//
//     registry.offer({.id = "point", .label = "Point", .type = "particles", ...});
//
// An offer becomes objects of the document that load at once, at a place where there is room.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/document/document.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::model {

using Place = std::array<double, 3>;  // m; in the plane without the last

// A number that is chosen before the thing is made.
struct OfferNumber {
    std::string key;          // "cells_x"
    std::string label, unit;  // "Cells along x", "m"
    std::string help;
    double value = 0, low = 0, high = 0;  // the proposal and the bounds, in the unit
    bool whole = false;
};
OfferNumber offer_length(const char* key, const char* label, double value, const char* help = "");
OfferNumber offer_whole(const char* key, const char* label, double value, double low = 1,
                        double high = 1000);
OfferNumber offer_number(const char* key, const char* label, const char* unit, double value,
                         const char* help);

struct Offer;

// The chosen numbers by their keys.
class ChosenNumbers {
public:
    // Throws Error where there are more or fewer than the offer has, or one is out of its bounds.
    ChosenNumbers(const Offer& offer, std::span<const double> values);
    double operator[](std::string_view key) const;  // throws Error if the offer has no such number
    std::int64_t whole(std::string_view key) const;

private:
    const Offer& offer_;
    std::span<const double> values_;
};

// The size of the thing in points and elements; -1 where a file says it.
struct OfferCount {
    std::int64_t points = 0, elements = 0;
    std::string what = {};      // the elements: "triangles"; "" if there are none
    std::string one = "point";  // the word for a single point
};

// The room in a scene at its start.
struct Room {
    int dimension = 3;
    std::size_t up = 2;  // the axis: 1 or 2
    struct Box {
        Place low{}, high{};
    };
    std::vector<Box> taken;        // by bodies and obstacles
    std::optional<double> ground;  // the height of the highest plane that faces up
    void raise_ground(double height) { ground = std::max(ground.value_or(height), height); }
};

// The steps that the thing wants the scene to make.
enum class Steps : std::uint8_t {
    any,
    elastic,  // implicit where the scene can be; else explicit with substeps that are short enough
    barrier   // implicit: an obstacle that is an energy
};

// The direction in which an object moves if its place is taken.
enum class Aside : std::uint8_t { above, beside };

// The document that an offer adds its objects to, and the place.
struct OfferSite {
    document::Document& document;
    const ChosenNumbers& number;
    const std::string& name;  // of the main object
    const Room& room;
    Place low{};  // the corner of the thing's box
    Place size{};
    bool implicit = false;                                          // the scene's steps
    std::string file = {};                                          // as the scene names it
    std::filesystem::path path = {};                                // where the file is
    std::function<std::string(const std::string&)> free_name = {};  // like the one given
    // Makes as many substeps as steps of this length need, s, with explicit steps.
    std::function<void(double seconds)> needs_step = {};

    // A place by its distances from the low corner: to the right, to the back, upwards (m).
    document::Node at(double right, double back, double upwards) const;
    // The same as a direction or size, from no corner.
    document::Node vector(double right, double back, double upwards) const;
    void add(Section section, document::Node object) const;
};

struct Offer {
    std::string id;           // "cloth"
    std::string label, help;  // "Cloth"
    Section section = Section::bodies;
    std::string type;  // of its main object in that section
    std::vector<OfferNumber> numbers = {};
    std::vector<std::string> endings = {};  // of the file it is read from, ".obj"; empty: none
    int rank = 0;                           // lists are in the order of ranks
    bool in_plane = true, in_space = true;
    std::vector<std::pair<Section, std::string>> needs = {};  // types besides its own
    Steps steps = Steps::any;
    Aside aside = Aside::above;
    double above = 0.02;  // m over the ground or the things below
    std::function<OfferCount(const ChosenNumbers&, int dimension)> count = {};
    // To the right, to the back, upwards, m; in the plane the second is not used.
    std::function<Place(const ChosenNumbers&)> size = {};
    std::function<void(const OfferSite&)> make = {};
    int dimension = 3;  // of the scene that it is for

    bool needs_file() const { return !endings.empty(); }
    std::vector<double> values() const;  // the proposals
};

// ---- numbers in documents ----

// Short numbers: without the noise of sums of decimals.
document::Node tidy(double value);
// The numbers of a list of this size; one number stands for all of them where `alike`. None for
// anything else, and for no node.
std::optional<std::vector<double>> numbers_in(const document::Node* node, std::size_t size,
                                              bool alike = false);
// The number of that key; `otherwise` where there is none.
double number_at(const document::Node& object, const char* key, double otherwise);

}  // namespace hindcast::model
