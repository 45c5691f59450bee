// Starts ffmpeg without a shell and feeds it raw pictures.
#include "app/render/output/video.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/base/files.hpp"

extern char** environ;

namespace hindcast::render {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* program = "ffmpeg";

std::vector<std::string> arguments_for(const std::filesystem::path& to, const std::string& ending,
                                       int width, int height, double rate) {
    std::vector<std::string> arguments = {program,
                                          "-hide_banner",
                                          "-loglevel",
                                          "error",
                                          "-y",
                                          "-f",
                                          "rawvideo",
                                          "-pixel_format",
                                          "rgba",
                                          "-video_size",
                                          fmt::format("{}x{}", width, height),
                                          "-framerate",
                                          fmt::format("{:g}", rate),
                                          "-i",
                                          "pipe:0"};
    const auto more = [&](std::initializer_list<const char*> extra) {
        arguments.insert(arguments.end(), extra.begin(), extra.end());
    };
    if (ending == ".mp4") {
        // Players want even sizes and 4:2:0.
        more({"-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-c:v", "libx264", "-preset", "medium",
              "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4"});
    } else {
        more({"-filter_complex",
              "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=bayer:"
              "bayer_scale=4",
              "-f", "gif"});
    }
    arguments.push_back(to.string());
    return arguments;
}

}  // namespace

Video::Video(std::filesystem::path file, int width, int height, double frames_per_second)
    : file_(std::move(file)), width_(width), height_(height) {
    const std::string ending = file_.extension().string();
    if (ending != ".mp4" && ending != ".gif")
        throw Error(fmt::format("'{}' is no name of a film", file_.string()))
            .remedy("let it end in .mp4 or .gif");
    part_ = file_.string() + ".part";
    log_ = file_.string() + ".log";
    start(
        arguments_for(std::filesystem::absolute(part_), ending, width, height, frames_per_second));
}

void Video::start(const std::vector<std::string>& arguments) {
    // A folder that is missing or not to be written into is told from an ffmpeg that is missing.
    const int log = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (log < 0)
        throw Error(fmt::format("cannot write '{}': {}", file_.string(), std::strerror(errno)))
            .remedy("check that its folder is there and may be written into");
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        const int why = errno;
        ::close(log);
        stop();
        throw Error(fmt::format("a pipe cannot be made: {}", std::strerror(why)));
    }
    std::vector<char*> words;
    for (const std::string& argument : arguments)
        words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO);
    pid_t process = -1;
    const int failed = ::posix_spawnp(&process, program, &actions, nullptr, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[0]);
    ::close(log);
    pipe_ = ends[1];
    ::fcntl(pipe_, F_SETFL, ::fcntl(pipe_, F_GETFL) | O_NONBLOCK);
    ::fcntl(pipe_, F_SETPIPE_SZ, 1 << 20);  // fewer turns; smaller where that is not allowed
    if (failed != 0) {
        stop();
        throw Error(
            fmt::format("'{}' cannot be made: {}", file_.string(),
                        failed == ENOENT ? "there is no ffmpeg here" : std::strerror(failed)))
            .remedy("install ffmpeg (Debian: apt-get install ffmpeg), or write PNG pictures");
    }
    process_ = process;
}

Video::~Video() { stop(); }

void Video::stop() noexcept {
    if (pipe_ >= 0) ::close(std::exchange(pipe_, -1));
    if (process_ >= 0) {
        ::kill(process_, SIGKILL);  // its file is removed too
        ::waitpid(std::exchange(process_, -1), nullptr, 0);
    }
    std::error_code ignored;
    std::filesystem::remove(part_, ignored);
    std::filesystem::remove(log_, ignored);
}

std::string Video::said() const {
    try {
        return read_file(log_, 1U << 16U);
    } catch (const Error&) {
        return "";
    }
}

void Video::fail() {
    std::string words = said();
    while (!words.empty() && words.back() == '\n') words.pop_back();
    stop();
    throw Error(fmt::format("ffmpeg could not write '{}'{}{}", file_.string(),
                            words.empty() ? "" : ": ", words))
        .remedy("see that there is room on the disk, and that this ffmpeg has libx264");
}

void Video::add(const Image& image) {
    offer(image);
    while (!take(1)) {
    }
}

void Video::offer(Image image) {
    if (image.width != width_ || image.height != height_)
        throw Error("internal: the pictures of a film differ in size");
    if (taken_ < offered_.pixels.size())
        throw Error("internal: a picture of a film is still on its way");
    offered_ = std::move(image);
    taken_ = 0;
}

bool Video::take(double seconds) {
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(seconds));
    // A broken pipe is an error here, not a signal.
    sigset_t broken, before;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken, &before);
    bool closed = false, late = false;
    while (taken_ < offered_.pixels.size() && !closed && !late) {
        const ssize_t written =
            ::write(pipe_, offered_.pixels.data() + taken_, offered_.pixels.size() - taken_);
        if (written > 0) {
            taken_ += static_cast<std::size_t>(written);
        } else if (written < 0 && errno == EAGAIN) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
            pollfd room{pipe_, POLLOUT, 0};
            late = left.count() <= 0 || ::poll(&room, 1, static_cast<int>(left.count())) == 0;
        } else {
            closed = written == 0 || errno != EINTR;
        }
    }
    if (closed) {
        const timespec at_once{};
        ::sigtimedwait(&broken, nullptr, &at_once);  // the signal that is pending
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (closed) fail();
    return taken_ == offered_.pixels.size();
}

void Video::end() {
    if (taken_ < offered_.pixels.size())
        throw Error("internal: a picture of a film is still on its way");
    ::close(std::exchange(pipe_, -1));
}

bool Video::complete() {
    if (complete_) return true;
    int status = 0;
    const pid_t ended = ::waitpid(process_, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
    has_ended(status);
    return true;
}

void Video::finish() {
    end();
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    has_ended(status);
}

void Video::has_ended(int status) {
    process_ = -1;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail();
    std::error_code failed;
    std::filesystem::rename(part_, file_, failed);
    if (failed) fail();
    complete_ = true;
    stop();
}

}  // namespace hindcast::render
