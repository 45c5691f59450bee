// Multi-start: one optimization from many starts, all of them together.
//
// Each start is an Optimization (optimization.hpp) of its own, on a thread that is paused whenever
// it wants a roll-out; what all of them wait for runs as an ensemble, and only one thread runs at a
// time. So every start has the result that it would have alone, bit for bit, whatever the update
// rule; Hessian products are made one after the other.
//
//     MultiStart search(simulation, MultiStart::starts(simulation, 32, seed));
//     const auto found = search.run();
//     found[MultiStart::best(found)].outcome.best.parameters
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/sim/optimization/optimization.hpp"

namespace hindcast {

class MultiStart {
public:
    using Point = std::vector<double>;

    // The parameters as they stand, then count - 1 random points: uniform between the bounds of
    // each parameter (in the logarithm where that is its scale). Throws Error for a parameter
    // without two finite bounds, unless count is 1.
    static std::vector<Point> starts(Simulation& simulation, std::size_t count, std::uint64_t seed);

    static constexpr std::size_t most_starts = 1024;  // a thread each

    // `iterations` as for Optimization. `interrupt` is asked before each roll-out: true stops all
    // starts. The simulation must be left alone while run() runs. `others`: see EnsembleOptions.
    MultiStart(Simulation& simulation, std::vector<Point> starts, std::int64_t iterations = -1,
               const std::function<bool()>& interrupt = {}, std::vector<Simulation*> others = {});
    ~MultiStart();

    struct Result {
        Point start;
        std::string failure;                 // why a run failed; "" if none did
        Optimization::Outcome outcome;       // unless one failed
        std::optional<double> initial_loss;  // of its first row
    };
    // `watch` is told after each row how many all starts have made; false stops all of them.
    std::vector<Result> run(const std::function<bool(std::int64_t rows)>& watch = {});
    // Told of every row, before run().
    void watch_rows(std::function<void(std::size_t start, const Optimization::Row& row)> watch);
    // The result with the lowest loss, the first of equals. Throws Error if there is none.
    static std::size_t best(const std::vector<Result>& results);

    std::int64_t iterations() const;  // of each start
    std::string report() const;       // how the roll-outs went, see Ensemble
    std::string describe() const;     // the update rule

private:
    class Member;
    void answer(std::vector<Member*>& waiting, bool gradient);

    Simulation& simulation_;
    Ensemble ensemble_;
    std::vector<std::unique_ptr<Member>> members_;
    std::function<void(std::size_t start, const Optimization::Row& row)> row_watch_;
    bool stop_ = false;
};

}  // namespace hindcast
