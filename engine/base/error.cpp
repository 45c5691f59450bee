#include "engine/base/error.hpp"

#include <utility>

#include "engine/base/text/shorten.hpp"

namespace hindcast {

SourcePlace SourcePlace::from(const std::source_location& location) {
    // Paths are shown from the project's root, wherever it was built.
    std::string file = location.file_name();
    for (const char* root : {"/engine/", "/kernels/", "/tests/", "/app/"}) {
        const auto position = file.rfind(root);
        if (position != std::string::npos) {
            file = file.substr(position + 1);
            break;
        }
    }
    return {file, static_cast<int>(location.line()), static_cast<int>(location.column())};
}

std::string to_string(const SourcePlace& place) {
    std::string text = place.file;
    if (place.line > 0) text += ":" + std::to_string(place.line);
    if (place.line > 0 && place.column > 0) text += ":" + std::to_string(place.column);
    return text;
}

Error::Error(std::string happened) : happened_(std::move(happened)) { compose(); }

Error& Error::at(SourcePlace place) {
    place_ = std::move(place);
    compose();
    return *this;
}

Error& Error::at(const std::source_location& location) { return at(SourcePlace::from(location)); }

Error& Error::at_pointer(std::string json_pointer) {
    pointer_ = std::move(json_pointer);
    compose();
    return *this;
}

Error& Error::in_kernel(std::string kernel) {
    kernel_ = std::move(kernel);
    compose();
    return *this;
}

Error& Error::at_item(std::int64_t item) {
    item_ = item;
    compose();
    return *this;
}

Error& Error::remedy(std::string what_to_do) {
    remedy_ = std::move(what_to_do);
    compose();
    return *this;
}

Error& Error::note(std::string further_fact) {
    notes_ += "\n  " + further_fact;
    compose();
    return *this;
}

void Error::compose() {
    text_.clear();
    if (place_.known()) text_ += to_string(place_) + ": ";
    if (!kernel_.empty()) text_ += "in kernel '" + shortened(kernel_) + "'";
    if (item_ >= 0) text_ += (kernel_.empty() ? "item " : ", item ") + std::to_string(item_);
    if (!kernel_.empty() || item_ >= 0) text_ += ": ";
    if (!pointer_.empty()) text_ += "at " + shortened(pointer_) + ": ";
    text_ += shortened(happened_);
    if (!remedy_.empty()) text_ += "; " + shortened(remedy_);
    text_ += shortened(notes_);
}

}  // namespace hindcast
