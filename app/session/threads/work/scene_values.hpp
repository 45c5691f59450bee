// Values of the scene's numbers written into its document, as the answer to Accept and UseValues,
// and parameters as a checkpoint writes them (KeepValues).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "app/session/threads/work/optimizer.hpp"

namespace hindcast::session {

class SceneValues {
public:
    SceneValues(RunnerState& state, History& history, TrajectoryRuns& trajectories,
                Optimizer& optimizer)
        : state_(state),
          shared_(state.shared),
          history_(history),
          trajectories_(trajectories),
          optimizer_(optimizer) {}

    // Answers with the document that has the parameters shown. Only values that they
    // change are written anew. Throws Error for an iteration of an older scene.
    void accept(const Accept& command);
    // These two report an error themselves: values that do not fit change nothing, and an
    // optimization goes on.
    void keep(const KeepValues& command);
    void use(const UseValues& command);

private:
    // The values of some quantities, by their index in SceneInfo::quantities.
    using Values = std::map<std::size_t, std::vector<double>>;

    void report_errors(const std::function<void()>& work);
    std::shared_ptr<const document::Document> document_with(const Values& values) const;
    std::shared_ptr<const document::Document> changed_document(const UseValues& command) const;
    // The values that the command names. It sets those of parameters in `parameters` as well.
    Values named_values(const UseValues& command, std::vector<double>& parameters) const;
    // Goes on with these parameters at once.
    void hold(std::vector<double> parameters);

    RunnerState& state_;
    SharedState& shared_;
    History& history_;
    TrajectoryRuns& trajectories_;
    Optimizer& optimizer_;
};

}  // namespace hindcast::session
