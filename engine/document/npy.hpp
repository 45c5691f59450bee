// Arrays in NumPy's .npy files (format versions 1.0 to 3.0).
//
// Read: f4 f8 i4 i8 u4 u8 b1, little endian, C or Fortran order; everything else is refused with
// the reason. Sizes are checked against the file's length before anything is allocated. In memory
// arrays are always in C order.
//
// NpyWriter appends frames to one array: the leading dimension in the header counts them and is
// patched after each frame's data has been handed to the system, so a killed run keeps its frames.
// Any number of readers may open the file meanwhile: numpy.load("x.npy") reads the rows so far.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.hpp"

namespace hindcast::document {

enum class NpyType : std::uint8_t { F4, F8, I4, I8, U4, U8, B1 };

std::size_t size_of(NpyType type);          // bytes
std::string_view descriptor(NpyType type);  // "<f8"

template <class T>
constexpr NpyType npy_type() {
    if constexpr (std::same_as<T, float>) {
        return NpyType::F4;
    } else if constexpr (std::same_as<T, double>) {
        return NpyType::F8;
    } else if constexpr (std::same_as<T, std::int32_t>) {
        return NpyType::I4;
    } else if constexpr (std::same_as<T, std::int64_t>) {
        return NpyType::I8;
    } else if constexpr (std::same_as<T, std::uint32_t>) {
        return NpyType::U4;
    } else if constexpr (std::same_as<T, std::uint64_t>) {
        return NpyType::U8;
    } else {
        static_assert(std::same_as<T, bool>, "no .npy type for this element type");
        return NpyType::B1;
    }
}

struct NpyArray {
    NpyType type = NpyType::F8;
    std::vector<std::int64_t> shape;  // empty for a single value
    std::vector<std::byte> bytes;     // C order

    std::int64_t count() const;  // elements

    // The elements as f64; throws Error where an integer is not exact in f64.
    std::vector<double> to_f64() const;
    // The elements; throws Error if the file holds another type.
    template <class T>
    requires(!std::same_as<T, bool>) std::vector<T> values()
    const {
        require(npy_type<T>());
        std::vector<T> result(bytes.size() / sizeof(T));
        copy_to(result.data());
        return result;
    }

private:
    void require(NpyType wanted) const;
    void copy_to(void* target) const;
};

// "(3, 4)"
std::string shape_text(std::span<const std::int64_t> shape);

// `name` is the file's name in messages.
NpyArray parse_npy(std::string_view content, const std::string& name);
// Throws Error if the file has more than `limit` bytes.
NpyArray read_npy(const std::filesystem::path& path, std::uint64_t limit = 1ull << 32);

// The whole file: written beside the target and renamed. Throws Error if the sizes do not match.
void write_npy(const std::filesystem::path& path, NpyType type, std::span<const std::int64_t> shape,
               std::span<const std::byte> bytes);
template <class T>
void write_npy(const std::filesystem::path& path, std::span<const std::int64_t> shape,
               std::span<const T> values) {
    write_npy(path, npy_type<T>(), shape, std::as_bytes(values));
}

class NpyWriter {
public:
    // A new file with no frames yet; an old one is overwritten.
    static NpyWriter create(const std::filesystem::path& path, NpyType type,
                            std::vector<std::int64_t> frame_shape);
    // Goes on with a file that a writer of the same type and frame shape made. Throws Error if
    // type, shape or file length disagree; a frame that was cut off is dropped.
    static NpyWriter append(const std::filesystem::path& path, NpyType type,
                            std::vector<std::int64_t> frame_shape);

    NpyWriter(NpyWriter&& other) noexcept;
    NpyWriter& operator=(NpyWriter&& other) noexcept;
    ~NpyWriter();  // the rows so far are in the file already

    void write(std::span<const std::byte> frame);
    template <class T>
    void write(std::span<const T> frame) {
        require(npy_type<T>());
        write(std::as_bytes(frame));
    }
    // Keeps the first `frames` frames (resuming at an earlier one).
    void truncate(std::int64_t frames);
    void sync();  // waits until the data is on the disk

    std::int64_t frames() const { return frames_; }
    const std::filesystem::path& path() const { return path_; }

private:
    NpyWriter(std::filesystem::path path, NpyType type, std::vector<std::int64_t> frame_shape);
    void require(NpyType type) const;
    std::string header() const;
    void patch_header();
    void put(std::string_view bytes, std::uint64_t offset);
    void set_length();
    void close() noexcept;

    std::filesystem::path path_;
    NpyType type_;
    std::vector<std::int64_t> frame_shape_;
    std::size_t frame_bytes_ = 0, data_offset_ = 0;
    std::int64_t frames_ = 0;
    int descriptor_ = -1;
};

}  // namespace hindcast::document
