// The program `hindcast`: reads the command line and runs one command.
//
// Every failure reaches the user as one message on the error stream and a non-zero exit status: 1
// when a command failed, 2 when the command line is wrong.
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/cli/command.hpp"
#include "app/cli/interrupt.hpp"
#include "app/cli/progress.hpp"
#include "engine/backend/jit/machine_code.hpp"
#include "engine/base/log.hpp"
#include "engine/base/text/shorten.hpp"
#include "engine/base/version.hpp"
#include "engine/document/text.hpp"

namespace hindcast::cli {

namespace {

constexpr int usage_error = 2;

// The number of a stream that is closed would be that of the next file that is opened, and what is
// printed would go there.
void open_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF)
            ::open("/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY);
}

int report(const std::string& message) {
    complain(shortened(message));
    return 1;
}

// After everything was printed: output that did not arrive is a failure.
int finish_output(int status) {
    const int error = std::fflush(stdout) != 0 ? errno : 0;
    if (error == 0 && std::ferror(stdout) == 0) return status;
    if (pipe_is_closed()) return interrupted_status();
    const int failed = report("the output stream cannot be written" +
                              (error != 0 ? ": " + std::generic_category().message(error) : ""));
    return std::max(status, failed);
}

// The fault of the command line. Unknown arguments are named one by one, with advice on `--` if it
// matters.
std::string usage_message(const CLI::App* app, const CLI::Error& error) {
    std::vector<std::string> rest = app->remaining(true);
    const bool marked = std::erase(rest, "--") > 0;
    std::string names;
    bool options = false, single = false;  // begin with - or --, with - alone
    for (const std::string& argument : rest) {
        names += (names.empty() ? "" : ", ") + document::shown(argument, 100);
        options |= argument.starts_with('-');
        single |= argument.starts_with('-') && !argument.starts_with("--");
    }
    std::string text = error.what();
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError))
        text = "not expected: " + names;
    else if (options)
        text += "; not expected: " + names;
    if (options && marked)
        text += "; options stand before --, after it everything is a file name";
    else if (single)
        text += "; a file name that begins with - stands after --";
    return shortened(text) + "\nRun with --help for more information.\n";
}

// A slip in the command's name deserves better than a complaint about an extra argument.
bool is_unknown_command(const std::vector<Command>& commands, std::string_view name) {
    std::vector<std::string> names;
    for (const Command& command : commands) names.push_back(command.app->get_name());
    if (name.starts_with('-') || std::ranges::find(names, name) != names.end()) return false;
    const std::vector<std::string_view> views(names.begin(), names.end());
    report(fmt::format("there is no command {}; {}", document::shown(name),
                       document::suggestion(name, views, "commands are")));
    return true;
}

// Why the program without a command does not open the window; null: it does.
const char* why_no_window() {
#ifdef HINDCAST_VIEW
    for (const char* const name : {"DISPLAY", "WAYLAND_DISPLAY"})
        if (const char* const value = std::getenv(name); value != nullptr && *value != '\0')
            return nullptr;
    return "there is no display (DISPLAY or WAYLAND_DISPLAY) to open the window on";
#else
    return "this build has no window";
#endif
}

int run(int argc, char** argv) {
    CLI::App app("Interactive differentiable physics: runs, differentiates and optimizes scenes.",
                 "hindcast");
    app.set_version_flag("--version", std::string("hindcast ") + version(), "Print the version");
    app.set_help_flag("-h,--help", "Print this help");
    app.require_subcommand(1);
    app.failure_message(usage_message);
    app.footer(
        "hindcast COMMAND --help says more about a command; without one, the window opens.\n"
        "Example: hindcast optimize scenes/spring_cage.json");
    std::vector<Command> commands = {add_run(app),   add_optimize(app), add_identify(app),
                                     add_check(app), add_batch(app),    add_test(app),
                                     add_bench(app), add_info(app),     add_import(app)};
#ifdef HINDCAST_VIEW
    commands.push_back(add_render(app));
    commands.push_back(add_view(app));
#else
    if (argc > 1 && (argv[1] == std::string_view("view") || argv[1] == std::string_view("render")))
        return report(std::string("this build has no 'hindcast ") + argv[1] +
                      "': it was made without renderer and window; build with -DHINDCAST_VIEW=ON");
#endif
    std::vector<const char*> arguments(argv, argv + argc);
    if (argc == 1) {
        if (const char* const why = why_no_window(); why != nullptr) {
            complain(std::string(why) +
                     "; give a command. For example:\n"
                     "  hindcast run scenes/spring_cage.json\n"
                     "  hindcast optimize scenes/spring_cage.json\n"
                     "  hindcast --help");
            return usage_error;
        }
        arguments.push_back("view");
    }
    if (argc > 1 && is_unknown_command(commands, argv[1])) return usage_error;
    try {
        app.parse(static_cast<int>(arguments.size()), arguments.data());
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : usage_error;
    }
    catch_signals();
    const backend::CodeListener compiling([](const std::string& text) {
        if (log_level() <= LogLevel::info) show_status(text);
    });
    for (const Command& command : commands)
        if (command.app->parsed()) return command.action();
    return usage_error;
}

int run_and_report(int argc, char** argv) {
    open_standard_streams();
    try {
        return finish_output(run(argc, argv));
    } catch (const std::bad_alloc&) {
        return report("the machine has too little memory for this; try fewer elements or steps");
    } catch (const std::exception& error) {
        if (std::ferror(stdout) != 0) return finish_output(1);
        return report(error.what());
    }
}

// ---- the stack ----

// Compilers and nested scenes are made for the usual size of a stack. Under a smaller limit
// (ulimit -s) the program runs on a thread of that size, and so do all threads that it starts.
constexpr rlim_t usual_stack = rlim_t{8} << 20;

struct Started {
    int argc;
    char** argv;
    int status = 1;
};

void* run_on_thread(void* started) {
    auto* const program = static_cast<Started*>(started);
    program->status = run_and_report(program->argc, program->argv);
    return nullptr;
}

int run_on_usual_stack(int argc, char** argv, rlim_t limit) {
    Started program{argc, argv};
    pthread_attr_t attributes;
    pthread_t thread{};
    int error = ::pthread_attr_init(&attributes);
    if (error == 0) error = ::pthread_attr_setstacksize(&attributes, usual_stack);
    if (error == 0) error = ::pthread_setattr_default_np(&attributes);
    if (error == 0) error = ::pthread_create(&thread, &attributes, run_on_thread, &program);
    if (error == 0) error = ::pthread_join(thread, nullptr);
    if (error == 0) return program.status;
    return report(fmt::format(
        "the stack is limited to {} KiB, and a thread of {} KiB cannot be made: "
        "{}; allow more with ulimit -s {}",
        limit >> 10, usual_stack >> 10, std::generic_category().message(error), usual_stack >> 10));
}

}  // namespace

}  // namespace hindcast::cli

int main(int argc, char** argv) {
    using namespace hindcast::cli;
    rlimit stack{};
    if (::getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < usual_stack)
        return run_on_usual_stack(argc, argv, stack.rlim_cur);
    return run_and_report(argc, argv);
}
