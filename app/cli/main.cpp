// The program `hindcast`: reads the command line and runs one command.
//
// Every failure reaches the user as one message on the error stream and a non-zero exit status.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "engine/base/version.hpp"

namespace {

void print_info() {
    std::printf("hindcast %s\n", hindcast::version());
    std::printf("build     %s, %s\n", hindcast::build_type(), hindcast::compiler());
}

int run(int argc, char** argv) {
    CLI::App app("Interactive differentiable physics", "hindcast");
    app.set_version_flag("--version", std::string("hindcast ") + hindcast::version());
    app.require_subcommand(1);
    CLI::App* info = app.add_subcommand("info", "Say what this build is and what it found");
    CLI11_PARSE(app, argc, argv);
    if (info->parsed()) print_info();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "hindcast: %s\n", error.what());
        return 1;
    }
}
