// A live optimization (command Live): it has no end. When it has reached a minimum, or finds no way
// down, it rests until an edit (RunnerState::rests). It may be limited to some rows per second.
#pragma once

#include <cstdint>
#include <string>

#include "app/session/threads/running/runner_state.hpp"

namespace hindcast::session {

class LiveMode {
public:
    explicit LiveMode(RunnerState& state) : state_(state), shared_(state.shared) {}

    bool is_on() const { return live_.on; }
    void set(const Live& live);
    void turn_off();  // under the shared lock

    // Begins or ends the rest. The end also forgets the progress so far.
    void rest(bool on);
    // Notes the loss of a row. True: nothing can be gained any more, and end() says why.
    bool at_minimum(double loss);
    const std::string& end() const { return progress_.end; }

    bool has_rate() const { return live_.on && live_.rate > 0; }
    Clock::time_point next_row() const;  // when it is due, with a rate
    void note_row() { last_row_ = Clock::now(); }

private:
    // Since the optimization began or was edited. An update rule without an end of its own rests by
    // it.
    struct Progress {
        double greatest = 0;    // loss, in absolute value
        double mark = 0;        // the loss that the rows since have not beaten
        std::int64_t rows = 0;  // since then; 0: there is no mark yet
        std::string end;        // why it rests; empty: it goes on
    };

    RunnerState& state_;
    SharedState& shared_;
    Live live_{.on = false};
    Progress progress_;
    Clock::time_point last_row_;
};

}  // namespace hindcast::session
