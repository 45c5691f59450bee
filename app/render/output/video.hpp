// Films through an ffmpeg process that pictures are piped into.
//
//     Video video("out.mp4", 1280, 720, 30);     // or out.gif
//     for (...) video.add(image);
//     video.finish();
//
// A thread that must not wait offers a picture, and then polls until it is taken, and until the
// film is complete:
//
//     video.offer(image);
//     if (video.take(0.01)) ...       // at most 10 ms
//     video.end();
//     if (video.complete()) ...
//
// The film is written beside and renamed when it is complete; an unfinished one leaves nothing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/exchange/stage.hpp"

namespace hindcast::render {

class Video {
public:
    // Throws Error if there is no ffmpeg, the folder cannot be written into, or the ending is
    // neither .mp4 nor .gif.
    Video(std::filesystem::path file, int width, int height, double frames_per_second);
    ~Video();  // not finished: stops ffmpeg and removes the file
    Video(const Video&) = delete;
    Video& operator=(const Video&) = delete;

    // Waits where ffmpeg is slower. Throws Error, with what ffmpeg said, if it failed.
    void add(const Image& image);
    void finish();

    // The same in steps; each throws Error likewise. One picture at a time is on its way.
    void offer(Image image);
    bool take(double seconds);  // true if all of it was taken, after waiting so long at most
    void end();                 // no more pictures: ffmpeg finishes
    bool complete();            // does not wait; true once the film lies under its name

private:
    void start(const std::vector<std::string>& arguments);
    void stop() noexcept;
    [[noreturn]] void fail();
    std::string said() const;
    void has_ended(int status);

    std::filesystem::path file_, part_, log_;
    int width_, height_, pipe_ = -1, process_ = -1;
    Image offered_;
    std::size_t taken_ = 0;  // bytes of it
    bool complete_ = false;
};

}  // namespace hindcast::render
