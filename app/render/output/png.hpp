// PNG files: 8 bits per channel, red, green, blue and alpha.
#pragma once

#include <filesystem>
#include <string>

#include "app/exchange/stage.hpp"

namespace hindcast::render {

// Without its alpha: what is drawn is opaque. The same pixels give the same bytes.
std::string png_of(const Image& image);
// Written beside and renamed, so that a failure keeps what was there. Throws Error.
void write_png(const std::filesystem::path& file, const Image& image);
// Any PNG, turned into 8-bit RGBA. Throws Error, also for pictures of more than 16384 x 16384.
Image read_png(const std::filesystem::path& file);

}  // namespace hindcast::render
