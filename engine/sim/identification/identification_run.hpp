// An identification from its beginning to its files: what `hindcast identify` and the window do.
//
//     IdentificationRun run(simulation, registry);
//     run.validate_with("other.csv");
//     run.check();
//     run.fit(run.identification().starts(5, seed), {});
//     run.save(folder, seconds);
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/sim/identification/outcome.hpp"
#include "engine/sim/results_folder.hpp"

namespace hindcast {

class IdentificationRun {
public:
    // Simulation and registry must outlive it. Throws Error as ResidualFunction does.
    IdentificationRun(Simulation& simulation, const Registry& registry);

    Identification& identification() { return identification_; }
    const IdentificationOutcome& outcome() const { return outcome_; }

    // Another recording that the result is compared with: FILE in place of the scene's file of data,
    // or OLD=FILE where it has several. Throws Error if that scene cannot be built.
    void validate_with(const std::string& text);
    // The agreement of the scene as it is, and what the data can tell. Throws Error if the run
    // diverges, or leaves physics where no fit follows.
    void check(bool fit_follows);
    // Sets the simulation's parameters to what is found. Throws Error if no start can be fitted. To
    // be checked before.
    void fit(const std::vector<Identification::Point>& starts, const Identification::Options& how);
    // All files (identification_files.hpp), and the scene with what was found. `seconds`: that it
    // took.
    void save(const ResultsFolder& folder, double seconds);

private:
    struct Other {
        std::string file;
        std::unique_ptr<Simulation> simulation;
        std::unique_ptr<Identification> identification;
    };
    void require_physics(const std::string& at) const;  // of the latest run

    Simulation& simulation_;
    const Registry& registry_;
    Identification identification_;
    std::vector<Other> others_;
    IdentificationOutcome outcome_;
};

}  // namespace hindcast
