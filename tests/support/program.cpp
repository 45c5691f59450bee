#include "tests/support/program.hpp"
#include "tests/support/paths.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace hindcast::test {

namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

fs::path fresh_file() {
    std::string name = (fs::temp_directory_path() / "hindcast-output-XXXXXX").string();
    const int descriptor = ::mkstemp(name.data());
    if (descriptor < 0) throw std::runtime_error("cannot make " + name);
    ::close(descriptor);
    return name;
}

}  // namespace

bool has_program() {
    std::error_code error;
    return fs::exists(hindcast::test::program_file, error);
}

std::string test_device() {
    const char* asked = std::getenv("HINDCAST_TEST_DEVICES");
    return asked != nullptr && std::strcmp(asked, "interpreter") == 0 ? "interpreter" : "cpu";
}

Child::Child(const std::vector<std::string>& arguments, const fs::path& folder)
    : out_(fresh_file()), err_(fresh_file()) {
    std::vector<std::string> words = {hindcast::test::program_file};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    // A signal that comes before the child is the program waits until it can act as on one.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    process_ = ::fork();
    if (process_ != 0) ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (process_ < 0) throw std::runtime_error("cannot start a process");
    if (process_ > 0) return;
    // The child: only calls that are safe after fork(). A shell lets what runs in the background
    // ignore SIGINT.
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_DFL);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int out = ::open(out_.c_str(), O_WRONLY | O_CLOEXEC);
    const int err = ::open(err_.c_str(), O_WRONLY | O_CLOEXEC);
    if (in < 0 || out < 0 || err < 0 || ::chdir(folder.c_str()) != 0) ::_exit(127);
    if (::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(err, 2) < 0) ::_exit(127);
    ::execv(hindcast::test::program_file, pointers.data());
    ::_exit(127);
}

Child::~Child() {
    if (process_ > 0) {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    std::error_code ignored;
    fs::remove(out_, ignored);
    fs::remove(err_, ignored);
}

void Child::signal(int number) const {
    if (process_ > 0) ::kill(process_, number);
}

Finished Child::wait() {
    int status = 0;
    if (::waitpid(process_, &status, 0) != process_) throw std::runtime_error("no such process");
    process_ = -1;
    const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return {code, content(out_), content(err_)};
}

Finished run_program(const std::vector<std::string>& arguments, const fs::path& folder) {
    return Child(arguments, folder).wait();
}

bool grows_beyond(const fs::path& file, std::uintmax_t bytes) {
    for (int k = 0; k < 6000; ++k) {
        std::error_code error;
        const std::uintmax_t size = fs::file_size(file, error);
        if (!error && size > bytes) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

}  // namespace hindcast::test
