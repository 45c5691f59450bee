// A file of Universal Scene Description in its text form (.usda,
// https://openusd.org/release/glossary.html): objects with properties, some of which have a value at
// each frame. All objects lie below one, named "scene".
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hindcast::exporting {

class UsdFile {
public:
    // Values of frames wait in an unnamed file in that folder, so that memory does not grow with
    // their number. Throws Error if it cannot be made.
    explicit UsdFile(std::filesystem::path folder);

    // An object of that type, such as "Mesh". The name becomes an identifier that no other has.
    // Returns its number.
    std::size_t add(const std::string& type, const std::string& name);
    // A property that stays: "uniform token axis = \"Z\"".
    void set(std::size_t object, const std::string& property);
    // One with a value at each frame: "point3f[] points", and what stands behind its name in
    // parentheses. Returns its number.
    std::size_t add_sampled(std::size_t object, const std::string& property,
                            const std::string& metadata = "");
    // The frame's number need not be whole; frames come in order. Throws Error if the disk is full.
    void sample(std::size_t property, double frame, std::string_view value);

    std::size_t size() const { return objects_.size(); }

    struct Head {
        std::string title;
        char up = 'Z';
        double frames_per_second = 1;
        double last = 0;  // frame
    };
    // Throws Error if it cannot be written.
    void write(const std::filesystem::path& file, const Head& head) const;

private:
    struct Property {
        std::string declaration, metadata;
        std::string waiting;                                      // not yet in the file
        std::vector<std::pair<std::int64_t, std::size_t>> parts;  // there: place, bytes
    };
    struct Object {
        std::string type, name, shown;
        std::vector<std::string> fixed;
        std::vector<std::size_t> sampled;
    };
    void put_away(Property& property);
    [[noreturn]] void fail() const;

    std::filesystem::path folder_;
    std::shared_ptr<std::FILE> spool_;
    std::int64_t spooled_ = 0;  // bytes
    std::vector<Object> objects_;
    std::vector<Property> properties_;
};

// Values as the file has them: "(1, 2, 3)", "[(1, 2, 3), (4, 5, 6)]". Three numbers each.
std::string usd_vector(const double* values);
std::string usd_vectors(const std::vector<double>& values);
std::string usd_numbers(const std::vector<double>& values);  // "[1, 2]"
std::string usd_text(std::string_view text);                 // in quotes

}  // namespace hindcast::exporting
