// Pictures to and from PNG by libpng's simplified interface.
#include "app/render/output/png.hpp"

#include <fmt/format.h>
#include <png.h>

#include <vector>

#include "engine/base/error.hpp"
#include "engine/base/files.hpp"

namespace hindcast::render {

namespace {

png_image description(const Image& image) {
    png_image about{};
    about.version = PNG_IMAGE_VERSION;
    about.width = static_cast<png_uint_32>(image.width);
    about.height = static_cast<png_uint_32>(image.height);
    about.format = PNG_FORMAT_RGB;
    return about;
}

}  // namespace

std::string png_of(const Image& image) {
    const std::size_t count = static_cast<std::size_t>(image.width) * image.height;
    std::vector<std::uint8_t> rgb(3 * count);
    for (std::size_t k = 0; k < count; ++k)
        for (std::size_t c = 0; c < 3; ++c) rgb[3 * k + c] = image.pixels[4 * k + c];
    png_image about = description(image);
    std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(about), '\0');
    png_alloc_size_t size = bytes.size();
    if (png_image_write_to_memory(&about, bytes.data(), &size, 0, rgb.data(), 0, nullptr) == 0)
        throw Error(fmt::format("a picture of {} x {} pixels cannot be made a PNG: {}", image.width,
                                image.height, about.message));
    bytes.resize(size);
    return bytes;
}

void write_png(const std::filesystem::path& file, const Image& image) {
    write_file_atomically(file, png_of(image));
}

Image read_png(const std::filesystem::path& file) {
    png_image about{};
    about.version = PNG_IMAGE_VERSION;
    const auto fail = [&](const char* why) {
        const std::string reason = why;
        png_image_free(&about);
        throw Error(fmt::format("'{}' cannot be read as a PNG: {}", file.string(), reason));
    };
    if (png_image_begin_read_from_file(&about, file.c_str()) == 0) fail(about.message);
    constexpr png_uint_32 most = 16384;
    if (about.width > most || about.height > most) fail("it is too large");
    about.format = PNG_FORMAT_RGBA;
    Image image;
    image.width = static_cast<int>(about.width);
    image.height = static_cast<int>(about.height);
    image.pixels.resize(PNG_IMAGE_SIZE(about));
    if (png_image_finish_read(&about, nullptr, image.pixels.data(), 0, nullptr) == 0)
        fail(about.message);
    return image;
}

}  // namespace hindcast::render
