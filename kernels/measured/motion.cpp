#include "kernels/measured/motion.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/model/measured_motion.hpp"

namespace hindcast::measured {

using namespace lang;
using articulated::Robot;
using model::Model;

namespace {

// A channel of positions: which number of qpos it is, its number and its samples.
struct Track {
    int qpos = 0, channel = 0;
    std::int32_t first = 0, last = 0;  // the last sample, not behind it
};

std::vector<Track> tracks_of(const std::vector<Channel>& channels, const Samples& samples) {
    std::vector<Track> tracks;
    for (std::size_t c = 0; c < channels.size(); ++c) {
        const int qpos = channels[c].qpos;
        if (qpos < 0 || std::ranges::find(tracks, qpos, &Track::qpos) != tracks.end()) continue;
        tracks.push_back({qpos, static_cast<int>(c), static_cast<std::int32_t>(samples.first[c]),
                          static_cast<std::int32_t>(samples.first[c + 1] - 1)});
    }
    return tracks;
}

// Rounding must not hide the first and the last sample: so many steps from them are still the record.
constexpr double allowance = 1e-3;

KernelDef measured_positions(const std::vector<Track>& tracks, int nq) {
    return kernel(
        "measured_positions",
        {"step", "sample_step", "sample_part", "sample", "delay", "scale", "offset", "h", "qpos",
         "pose", "known"},
        [tracks, nq](Int, Param<Int> step, Read<Int> sample_step, Read<Float> sample_part,
                     Read<Float> sample, Property<Float> delay, Property<Float> scale,
                     Property<Float> offset, Param<Float> h, Read<Float> qpos,
                     WriteSlice<Float> pose, WriteSlice<Float> known) {
            const Float late = delay[0] / h.value();
            // The number of steps from now until the time of the sample.
            const auto ahead = [&](const Int& s) {
                return Float(sample_step[s] - step.value()) + (sample_part[s] - late);
            };
            Float all_known = 1.0;
            for (int i = 0; i < nq; ++i) {
                const auto track = std::ranges::find(tracks, i, &Track::qpos);
                if (track == tracks.end()) {
                    pose.store_once(i, qpos[i]);
                    continue;
                }
                const Int first = track->first, last = track->last;
                all_known = select(ahead(first) <= allowance, all_known, 0.0);
                all_known = select(ahead(last) >= -allowance, all_known, 0.0);
                Float measured = sample[first];
                for_(track->first, track->last, [&](Int s) {
                    const Float a = ahead(s), b = ahead(s + 1);
                    const Float part = min(-a / max(b - a, 1e-9), 1.0);
                    measured =
                        select(a <= 0.0, sample[s] + part * (sample[s + 1] - sample[s]), measured);
                });
                pose.store_once(i, scale[track->channel] * measured + offset[track->channel]);
            }
            known.store_once(Int(0), all_known);
        });
}

}  // namespace

std::vector<NamedArgument> SampleArrays::with(std::vector<NamedArgument> others) const {
    for (const auto& [name, argument] : {std::pair<const char*, Argument>("sample_step", step),
                                         {"sample_part", part},
                                         {"sample", value},
                                         {"delay", delay},
                                         {"scale", scale},
                                         {"offset", offset}})
        others.emplace_back(name, argument);
    return others;
}

void show_motion(Model& model, const std::string& owner, const Robot& robot,
                 const std::vector<Channel>& channels, const Samples& samples,
                 const SampleArrays& arrays) {
    const std::vector<Track> tracks = tracks_of(channels, samples);
    if (tracks.empty()) return;
    const int nq = robot.tree->nq;
    const auto bodies = static_cast<std::int64_t>(robot.tree->bodies.size());
    model::MeasuredMotion motion;
    motion.owner = owner;
    motion.body = robot.name;
    motion.is_partial = static_cast<int>(tracks.size()) < nq;
    motion.places = Array(model.real(), {bodies, 3});
    motion.orientations = Array(model.real(), {bodies, 4});
    motion.known = Array(model.real(), {1});
    motion.launches = [&model, tracks, nq, owner, arrays, name = robot.name,
                       placed_as = robot.placed_as, xpos = motion.places,
                       xquat = motion.orientations, known = motion.known] {
        const Array pose(model.real(), {nq, 1});
        std::vector<Launch> all = {model.launch(measured_positions(tracks, nq), 1,
                                                arrays.with({{"step", model.step_counter()},
                                                             {"h", model.step()},
                                                             {"qpos", model.array(name + ".qpos")},
                                                             {"pose", pose},
                                                             {"known", known}}),
                                                owner + ": measured positions")};
        for (Launch& launch : placed_as(pose, xpos, xquat)) all.push_back(std::move(launch));
        return all;
    };
    model.shared<model::MeasuredMotions>().list.push_back(std::move(motion));
}

}  // namespace hindcast::measured
