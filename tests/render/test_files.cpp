// PNG pictures and films.
#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "app/render/output/png.hpp"
#include "app/render/output/video.hpp"
#include "engine/base/error.hpp"
#include "engine/base/files.hpp"
#include "tests/render/studio.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/installed.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::render;
using namespace hindcast::test;

namespace {

Image gradient(int width, int height, int shift) {
    Image image{width, height, {}};
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (const int value : {x + shift, y, 7 * x * y, 255})
                image.pixels.push_back(static_cast<std::uint8_t>(value));
    return image;
}

}  // namespace

TEST_CASE("png: what is written is read, pixel by pixel") {
    const TemporaryFolder folder;
    const Image image = gradient(61, 43, 0);
    write_png(folder / "a.png", image);
    const Image read = read_png(folder / "a.png");
    CHECK(read.width == 61);
    CHECK(read.height == 43);
    CHECK(read.pixels == image.pixels);
    CHECK(png_of(image) == png_of(read));
}

TEST_CASE("png: what is no picture, or cannot be written, is an error") {
    const TemporaryFolder folder;
    std::ofstream(folder / "b.png") << "no picture";
    CHECK_THROWS_AS(read_png(folder / "b.png"), Error);
    CHECK_THROWS_AS(read_png(folder / "none.png"), Error);
    CHECK_THROWS_AS(write_png(folder / "nowhere" / "c.png", gradient(2, 2, 0)), Error);
}

TEST_CASE("video: mp4 and gif, also of odd sizes") {
    if (!is_installed("ffmpeg")) HINDCAST_SKIP("there is no ffmpeg here");
    const TemporaryFolder folder;
    for (const char* const name : {"a.mp4", "b.gif"}) {
        Video video(folder / name, 61, 43, 25);
        for (int k = 0; k < 10; ++k) video.add(gradient(61, 43, 9 * k));
        CHECK_FALSE(std::filesystem::exists(folder / name));
        video.finish();
        CHECK(std::filesystem::file_size(folder / name) > 500);
    }
    // Nothing else is left.
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("video: in steps, for who must not wait; given up at any of them") {
    if (!is_installed("ffmpeg")) HINDCAST_SKIP("there is no ffmpeg here");
    const TemporaryFolder folder;
    constexpr int width = 320, height = 240, pictures = 12;
    {
        Video at_once(folder / "at_once.gif", width, height, 25);
        for (int k = 0; k < pictures; ++k) at_once.add(gradient(width, height, 9 * k));
        at_once.finish();
    }
    {
        Video video(folder / "in_steps.gif", width, height, 25);
        for (int k = 0; k < pictures; ++k) {
            video.offer(gradient(width, height, 9 * k));
            if (k == 0)
                CHECK_THROWS_AS(video.offer(gradient(width, height, 0)), Error);  // one at a time
            while (!video.take(0.001)) {
            }
        }
        video.end();
        while (!video.complete()) {
            CHECK_FALSE(std::filesystem::exists(folder / "in_steps.gif"));
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        CHECK(video.complete());
    }
    CHECK(read_file(folder / "in_steps.gif") == read_file(folder / "at_once.gif"));
    {
        Video offered(folder / "a.gif", width, height, 25);
        offered.offer(gradient(width, height, 0));
        Video ended(folder / "b.gif", width, height, 25);
        ended.add(gradient(width, height, 0));
        ended.end();
    }
    // Of those that were given up there is nothing.
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("video: one that is given up leaves nothing; failures say what to do") {
    const TemporaryFolder folder;
    CHECK_THROWS_AS(Video(folder / "a.avi", 64, 64, 25), Error);
    {
        const Environment empty("PATH", folder.path().string());
        try {
            const Video video(folder / "a.mp4", 64, 64, 25);
            FAIL("ffmpeg was found");
        } catch (const Error& error) {
            CHECK(std::string(error.what()).find("no ffmpeg") != std::string::npos);
            CHECK(error.what_to_do().find("apt-get install ffmpeg") != std::string::npos);
        }
    }
    CHECK(std::filesystem::is_empty(folder.path()));
    if (!is_installed("ffmpeg")) return;
    {
        Video video(folder / "a.mp4", 64, 64, 25);
        video.add(gradient(64, 64, 0));
    }
    CHECK(std::filesystem::is_empty(folder.path()));
    // A folder that is not there: not ffmpeg's fault.
    try {
        Video video(folder / "none" / "a.mp4", 64, 64, 25);
        FAIL("the folder was found");
    } catch (const Error& error) {
        CHECK(std::string(error.what()).find("No such file or directory") != std::string::npos);
        CHECK(std::string(error.what()).find("ffmpeg") == std::string::npos);
        CHECK(error.what_to_do().find("folder") != std::string::npos);
    }
}
