// Ctrl-C, polite termination, and the end of the terminal or of the pipe that is written to: the
// first signal sets a flag, which long commands ask for between steps; they stop, save and exit with
// 128 + signal. A second one ends the program at once. As long as a command has not asked there is
// nothing to save (kernels are compiled, say): a signal then ends the program at once as well.
#pragma once

namespace hindcast::cli {

// From now on SIGINT, SIGTERM, SIGHUP and SIGPIPE are handled that way; what the caller of the
// program ignores (nohup) stays ignored.
void catch_signals();
bool interrupted();
// For a backend::Interruptible (interruption.hpp): throws Stopped if the end of the step
// or iteration has not come soon after a signal. Call interrupted() before.
void stop_if_interrupted();
// 128 + the signal that came; call only if interrupted().
int interrupted_status();
// True if the signal was that of a pipe without a reader: no output is possible.
bool pipe_is_closed();

}  // namespace hindcast::cli
