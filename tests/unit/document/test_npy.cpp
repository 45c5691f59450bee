// .npy files against bytes made by hand, hostile files, and the writer that appends frames.
#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "engine/base/error.hpp"
#include "engine/base/files.hpp"
#include "engine/document/npy.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::document;
namespace fs = std::filesystem;

namespace {

std::string with_header(const std::string& dictionary, const std::string& data, int version = 1) {
    std::string text = "\x93NUMPY";
    text += static_cast<char>(version);
    text += '\0';
    const std::size_t length = dictionary.size();
    for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte) {
        text += static_cast<char>(length >> (8 * byte) & 0xFF);
    }
    return text + dictionary + data;
}

std::string header(const std::string& descr, const std::string& shape, bool fortran = false) {
    return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
           ", 'shape': " + shape + ", }\n";
}

template <class T>
std::string bytes_of(std::initializer_list<T> values) {
    std::string text(values.size() * sizeof(T), '\0');
    std::memcpy(text.data(), std::data(values), text.size());
    return text;
}

using Shape = std::vector<std::int64_t>;

std::string message(const std::string& content) {
    try {
        parse_npy(content, "x.npy");
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("npy: reading bytes made by hand") {
    // 1.5 and -2 as f64, byte by byte.
    const std::string data("\x00\x00\x00\x00\x00\x00\xF8\x3F\x00\x00\x00\x00\x00\x00\x00\xC0", 16);
    for (const int version : {1, 2, 3}) {
        const NpyArray array = parse_npy(with_header(header("<f8", "(2,)"), data, version), "x");
        CHECK(array.type == NpyType::F8);
        CHECK(array.shape == Shape{2});
        CHECK(array.count() == 2);
        CHECK(array.values<double>() == std::vector<double>{1.5, -2});
    }
    const auto read = [](const char* descr, const std::string& bytes) {
        return parse_npy(with_header(header(descr, "(2,)"), bytes), "x").to_f64();
    };
    CHECK(read("<f4", bytes_of<float>({1.5F, -2})) == std::vector<double>{1.5, -2});
    CHECK(read("<i4", bytes_of<std::int32_t>({7, -2})) == std::vector<double>{7, -2});
    CHECK(read("<i8", bytes_of<std::int64_t>({1LL << 53, -2})) == std::vector<double>{0x1p53, -2});
    CHECK(read("<u4", bytes_of<std::uint32_t>({7, 4294967295U})) ==
          std::vector<double>{7, 4294967295.0});
    CHECK(read("<u8", bytes_of<std::uint64_t>({7, 1ULL << 63})) == std::vector<double>{7, 0x1p63});
    CHECK(read("|b1", std::string("\x01\x00", 2)) == std::vector<double>{1, 0});

    const NpyArray single =
        parse_npy(with_header(header("<i4", "()"), bytes_of<std::int32_t>({5})), "x");
    CHECK(single.shape.empty());
    CHECK(single.values<std::int32_t>() == std::vector<std::int32_t>{5});
    CHECK(parse_npy(with_header(header("<f8", "(0, 3)"), ""), "x").count() == 0);
    // Keys in another order, other quotes, a long of Python 2, no last comma.
    CHECK(parse_npy(with_header("{\"shape\": (2L,1), \"fortran_order\": False, \"descr\": \"<i4\"}",
                                bytes_of<std::int32_t>({5, 6})),
                    "x")
              .shape == Shape{2, 1});
}

TEST_CASE("npy: Fortran order becomes C order") {
    // The 2 x 3 array [[1, 2, 3], [4, 5, 6]] by columns, and a 2 x 3 x 2 one.
    const std::string columns = bytes_of<std::int32_t>({1, 4, 2, 5, 3, 6});
    CHECK(parse_npy(with_header(header("<i4", "(2, 3)", true), columns), "x")
              .values<std::int32_t>() == std::vector<std::int32_t>{1, 2, 3, 4, 5, 6});
    std::string data;
    for (std::int32_t k = 0; k < 2; ++k) {
        for (std::int32_t j = 0; j < 3; ++j) {
            for (std::int32_t i = 0; i < 2; ++i)
                data += bytes_of<std::int32_t>({100 * i + 10 * j + k});
        }
    }
    const auto values =
        parse_npy(with_header(header("<i4", "(2, 3, 2)", true), data), "x").values<std::int32_t>();
    CHECK(values == std::vector<std::int32_t>{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121});
    CHECK(parse_npy(with_header(header("<i4", "(2, 0, 3)", true), ""), "x").count() == 0);
}

TEST_CASE("npy: what is refused, and why") {
    const std::string eight(8, '\0');
    const auto refused = [&](const std::string& content, const char* part) {
        const std::string got = message(content);
        INFO(got);
        CHECK(got.find(part) != std::string::npos);
    };
    refused("", "it is no .npy file");
    refused("PK\x03\x04", "it is no .npy file");
    refused("\x93NUMPY", "it ends within its header");
    refused(std::string("\x93NUMPY\x01\x00\xFF", 9), "it ends within its header");
    refused(with_header(header("<f8", "(1,)"), eight, 4), "it has format version 4.0");
    refused(std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF", 12) + eight,
            "its header claims 4294967295 bytes");
    refused(with_header(header(">f8", "(1,)"), eight),
            "its numbers are big endian; write it with "
            "numpy.save(path, array.astype('<f8'))");
    refused(with_header(header(">i4", "(1,)"), eight), "array.astype('<i4')");
    refused(with_header(header("<c8", "(1,)"), eight), "it holds complex numbers");
    refused(with_header(header("|O", "(1,)"), eight), "it holds Python objects");
    refused(with_header(header("<U2", "(1,)"), eight), "it holds text");
    refused(with_header(header("<f2", "(4,)"), eight), "its element type '<f2' is not supported");
    refused(
        with_header("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", eight),
        "it holds records with named fields");
    refused(with_header(header("<f8", "(2,)"), eight),
            "its shape (2,) needs 16 bytes, 8 follow the header; the file was cut off");
    refused(with_header(header("<f8", "(1000000000000,)"), eight),
            "needs 8000000000000 bytes, 8 follow");
    refused(with_header(header("<f8", "(4294967296, 4294967296, 4294967296)"), eight),
            "needs more than 2^63 bytes");
    refused(with_header(header("<f8", "(9223372036854775807,)"), eight),
            "needs more than 2^63 bytes");
    refused(with_header(header("<f8", "(99999999999999999999,)"), eight),
            "a shape that is not made of counts");
    refused(with_header(header("<f8", "(-1,)"), eight), "a shape that is not made of counts");
    refused(with_header(header("<f8", "3"), eight), "its header is damaged ('(' is missing)");
    refused(with_header("{'descr': '<f8'}", eight),
            "its header lacks descr, fortran_order or shape");
    refused(with_header("{'descr': '<f8", eight), "a string is not closed");
    refused(with_header("{'descr': '<f8', 'descr': '<f8'}", eight), "unexpected key 'descr'");
    refused(with_header(header("<f8", "(1,)") + "x", eight), "text after the dictionary");
    std::string ones = "(";
    for (int i = 0; i < 40; ++i) ones += "1,";
    refused(with_header(header("<f8", ones + ")"), eight), "more than 32 dimensions");
    refused(with_header(header("|b1", "(1,)"), "\x02"), "a boolean is neither 0 nor 1");
    // Every beginning of a good file but the file itself is refused.
    const std::string good = with_header(header("<f8", "(1,)"), eight);
    for (std::size_t size = 0; size < good.size(); ++size) {
        CHECK(message(good.substr(0, size)) != "accepted");
    }
    CHECK(message(good) == "accepted");

    const NpyArray large = parse_npy(
        with_header(header("<i8", "(1,)"), bytes_of<std::int64_t>({(1LL << 53) + 1})), "x");
    CHECK_THROWS_WITH_AS(large.to_f64(), doctest::Contains("9007199254740993"), Error);
    const NpyArray largest = parse_npy(
        with_header(header("<u8", "(1,)"), bytes_of({std::numeric_limits<std::uint64_t>::max()})),
        "x");
    CHECK_THROWS_AS(largest.to_f64(), Error);
    CHECK_THROWS_WITH_AS(large.values<double>(),
                         doctest::Contains("'<f8' was expected, found '<i8'"), Error);
}

TEST_CASE("npy: writing, byte by byte") {
    const test::TemporaryFolder folder;
    const fs::path path = folder / "a.npy";
    const std::vector<double> values = {1.5, -2};
    write_npy(path, Shape{1, 2}, std::span<const double>(values));
    const std::string content = read_file(path);
    std::string dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }";
    dictionary.resize(117, ' ');
    dictionary += '\n';
    CHECK(content ==
          std::string("\x93NUMPY\x01\x00\x76\x00", 10) + dictionary +
              std::string("\x00\x00\x00\x00\x00\x00\xF8\x3F\x00\x00\x00\x00\x00\x00\x00\xC0", 16));
    CHECK(read_npy(path).values<double>() == values);
    CHECK(shape_text(Shape{}) == "()");
    CHECK(shape_text(Shape{3}) == "(3,)");
    write_npy(path, Shape{}, std::span<const double>(values).first(1));
    CHECK(read_npy(path).shape.empty());
    CHECK_THROWS_AS(write_npy(path, Shape{3}, std::span<const double>(values)), Error);
    CHECK_THROWS_AS(write_npy(path, Shape{-2}, std::span<const double>(values)), Error);
    CHECK_THROWS_AS(read_npy(path, 100), Error);
    CHECK_THROWS_AS(read_npy(folder / "missing.npy"), Error);
}

TEST_CASE("npy writer: the file is readable after every frame") {
    const test::TemporaryFolder folder;
    const fs::path path = folder / "x.npy";
    NpyWriter writer = NpyWriter::create(path, NpyType::F4, {2, 3});
    CHECK(read_npy(path).shape == Shape{0, 2, 3});
    std::vector<float> all;
    for (int frame = 0; frame < 12; ++frame) {
        std::vector<float> values(6, static_cast<float>(frame));
        values[5] = 0.5F;
        writer.write(std::span<const float>(values));
        all.insert(all.end(), values.begin(), values.end());
        const NpyArray seen = read_npy(path);
        CHECK(seen.shape == Shape{frame + 1, 2, 3});
        CHECK(seen.values<float>() == all);
    }
    CHECK(writer.frames() == 12);
    CHECK_THROWS_AS(writer.write(std::span<const float>(all).first(5)), Error);
    CHECK_THROWS_AS(writer.write(std::span<const double>(std::vector<double>(6))), Error);
    CHECK(fs::file_size(path) % 64 == 12 * 24 % 64);  // data begins at a multiple of 64
    writer.sync();

    // Going back to an earlier frame.
    writer.truncate(3);
    CHECK(read_npy(path).shape == Shape{3, 2, 3});
    CHECK(fs::file_size(path) == 128 + 3 * 24);
    CHECK_THROWS_AS(writer.truncate(4), Error);
    NpyWriter moved = std::move(writer);
    moved.write(std::span<const float>(all).first(6));
    CHECK(moved.frames() == 4);
}

TEST_CASE("npy writer: a killed run keeps its frames and can go on") {
    const test::TemporaryFolder folder;
    const fs::path path = folder / "x.npy";
    const std::vector<double> frame = {1, 2, 3};
    {
        NpyWriter writer = NpyWriter::create(path, NpyType::F8, {3});
        writer.write(std::span<const double>(frame));
        writer.write(std::span<const double>(frame));
    }
    {  // killed while the third frame was written
        std::ofstream file(path, std::ios::binary | std::ios::app);
        file << "partial";
    }
    CHECK(read_npy(path).shape == Shape{2, 3});
    {
        NpyWriter writer = NpyWriter::append(path, NpyType::F8, {3});
        CHECK(writer.frames() == 2);
        CHECK(fs::file_size(path) == 128 + 48);
        writer.write(std::span<const double>(frame));
    }
    CHECK(read_npy(path).values<double>() == std::vector<double>{1, 2, 3, 1, 2, 3, 1, 2, 3});

    const auto refused = [&](NpyType type, Shape shape, const char* part) {
        CHECK_THROWS_WITH_AS(NpyWriter::append(path, type, shape), doctest::Contains(part), Error);
    };
    refused(NpyType::F4, {3}, "it holds '<f8', not '<f4'");
    refused(NpyType::F8, {4}, "it holds an array of shape (3, 3), not frames of shape (4,)");
    refused(NpyType::F8, {}, "not frames of shape ()");
    fs::resize_file(path, 150);
    refused(NpyType::F8, {3}, "it is shorter than its 3 frames");
    fs::resize_file(path, 20);
    refused(NpyType::F8, {3}, "it ends within its header");
    write_file_atomically(path, with_header(header("<f8", "(1, 3)"), std::string(24, '\0')));
    refused(NpyType::F8, {3}, "its header leaves no room to count frames");
    CHECK_THROWS_AS(NpyWriter::append(folder / "none.npy", NpyType::F8, {3}), Error);
    CHECK_THROWS_AS(NpyWriter::append(folder.path(), NpyType::F8, {3}), Error);
    CHECK_THROWS_AS(NpyWriter::create(folder / "no" / "x.npy", NpyType::F8, {3}), Error);
    CHECK_THROWS_AS(NpyWriter::create(path, NpyType::F8, {-1}), Error);

    // Frames of one number, and frames without any.
    NpyWriter losses = NpyWriter::create(path, NpyType::F8, {});
    losses.write(std::span<const double>(frame).first(1));
    CHECK(read_npy(path).shape == Shape{1});
    NpyWriter none = NpyWriter::create(path, NpyType::F8, {0, 3});
    none.write(std::span<const double>());
    CHECK(read_npy(path).shape == Shape{1, 0, 3});
}
