// The one exception type: what happened, where, and what to do about it.
//
// An Error is built up as it travels: the place that finds the fault states the fact and the
// remedy, the places that it passes on its way out add what they know (kernel, JSON pointer, work
// item).
//
//     throw Error("stiffness must be positive, got -3")
//         .at_pointer("/forces/0/stiffness")
//         .remedy("write a number above 0");
#pragma once

#include <cstdint>
#include <exception>
#include <source_location>
#include <string>

namespace hindcast {

// A position in the text of a program or of a scene. Lines and columns count from 1; 0 means
// unknown.
struct SourcePlace {
    std::string file;
    int line = 0;
    int column = 0;

    static SourcePlace from(const std::source_location& location);
    bool known() const { return line > 0 || !file.empty(); }
};

// "file:line:column", as far as known.
std::string to_string(const SourcePlace& place);

class Error : public std::exception {
public:
    explicit Error(std::string happened);

    Error& at(SourcePlace place);                     // source file of a kernel, or the scene file
    Error& at(const std::source_location& location);  // the same, from C++
    Error& at_pointer(std::string json_pointer);      // RFC 6901 pointer into the scene
    Error& in_kernel(std::string kernel);             // name of the kernel or launch
    Error& at_item(std::int64_t item);                // work item of the launch
    Error& remedy(std::string what_to_do);
    Error& note(std::string further_fact);  // one more line, kept in order

    const std::string& happened() const { return happened_; }
    const std::string& what_to_do() const { return remedy_; }
    const SourcePlace& place() const { return place_; }
    const std::string& json_pointer() const { return pointer_; }
    const std::string& kernel() const { return kernel_; }
    std::int64_t item() const { return item_; }

    // The whole message: "place: in kernel 'k', item i, at /pointer: what happened; remedy".
    const char* what() const noexcept override { return text_.c_str(); }

private:
    void compose();

    std::string happened_, remedy_, pointer_, kernel_, notes_, text_;
    SourcePlace place_;
    std::int64_t item_ = -1;
};

}  // namespace hindcast
