// Runs the built program as a child process, as a user would.
//
//     const Finished run = run_program({"run", "scene.json"});
//     CHECK(run.status == 0);
//
// A build without the program (the sanitizer builds) skips such tests: HINDCAST_NEEDS_PROGRAM().
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/skip.hpp"

namespace hindcast::test {

struct Finished {
    int status = 0;  // exit status, or 128 + signal
    std::string out, err;
};

bool has_program();
// The device that the environment asks for, see tests/run: "cpu" or "interpreter".
std::string test_device();

// Starts the program with an empty standard input, in `folder`.
class Child {
public:
    Child(const std::vector<std::string>& arguments,
          const std::filesystem::path& folder = std::filesystem::current_path());
    ~Child();  // kills it if it still runs
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    void signal(int number) const;
    Finished wait();

private:
    int process_ = -1;
    std::filesystem::path out_, err_;
};

Finished run_program(const std::vector<std::string>& arguments,
                     const std::filesystem::path& folder = std::filesystem::current_path());

// Waits until the file has more than `bytes`; false after a minute.
bool grows_beyond(const std::filesystem::path& file, std::uintmax_t bytes);

}  // namespace hindcast::test

#define HINDCAST_NEEDS_PROGRAM()                                                              \
    do {                                                                                      \
        if (!::hindcast::test::has_program()) HINDCAST_SKIP("the program is not built here"); \
    } while (false)
