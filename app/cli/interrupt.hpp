// Ctrl-C and polite termination: the first signal sets a flag, which long commands ask for between
// steps; they stop, save and exit with 128 + signal. A second one ends the program at once.
#pragma once

namespace hindcast::cli {

// From now on SIGINT and SIGTERM only set the flag, once.
void catch_signals();
bool interrupted();
// 128 + the signal that came; call only if interrupted().
int interrupted_status();

}  // namespace hindcast::cli
