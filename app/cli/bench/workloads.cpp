// The list of all workloads, family by family.
#include "app/cli/bench/bench.hpp"

namespace hindcast::cli {

const std::vector<Workload>& bench_workloads() {
    static const std::vector<Workload> all = [] {
        std::vector<Workload> list;
        for (const auto& family :
             {overhead_workloads, spring_workloads, wave_workloads, solid_workloads,
              cloth_workloads, point_workloads, ensemble_workloads, plan_workloads, robot_workloads,
              identification_workloads, waiting_workloads})
            for (Workload& workload : family()) list.push_back(std::move(workload));
#ifdef HINDCAST_VIEW
        for (Workload& workload : window_workloads()) list.push_back(std::move(workload));
#endif
        return list;
    }();
    return all;
}

const Workload& find_workload(const std::string& name) {
    std::string names;
    for (const Workload& workload : bench_workloads()) {
        if (workload.name == name) return workload;
        names += (names.empty() ? "" : ", ") + workload.name;
    }
    throw Error("there is no workload '" + name + "'").remedy("there are " + names);
}

}  // namespace hindcast::cli
