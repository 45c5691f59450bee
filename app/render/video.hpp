// Films through an ffmpeg process that pictures are piped into.
//
//     Video video("out.mp4", 1280, 720, 30);     // or out.gif
//     for (...) video.add(image);
//     video.finish();
//
// The film is written beside and renamed when it is complete; an unfinished one leaves nothing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/render/stage.hpp"

namespace hindcast::render {

class Video {
public:
    // Throws Error if there is no ffmpeg, or the ending is neither .mp4 nor .gif.
    Video(std::filesystem::path file, int width, int height, double frames_per_second);
    ~Video();  // not finished: stops ffmpeg and removes what was written
    Video(const Video&) = delete;
    Video& operator=(const Video&) = delete;

    // Waits where ffmpeg is slower. Throws Error, with what ffmpeg said, if it failed.
    void add(const Image& image);
    void finish();

private:
    void start(const std::vector<std::string>& arguments);
    void stop() noexcept;
    [[noreturn]] void fail();
    std::string said() const;

    std::filesystem::path file_, part_, log_;
    int width_, height_, pipe_ = -1, process_ = -1;
};

}  // namespace hindcast::render
