#include "kernels/measured/channels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/document/read.hpp"
#include "engine/document/text.hpp"
#include "engine/model/element_names.hpp"
#include "kernels/articulated/robots.hpp"

namespace hindcast::measured {

using articulated::Robot;
using articulated::Robots;
using document::Node;
using model::Model;
using model::Settings;

namespace {

// Arrays that a step leaves as those of its end.
constexpr std::string_view states[] = {"qpos", "qvel", "act",    "xpos",     "xquat",   "xipos",
                                       "cdof", "cvel", "cinert", "position", "velocity"};

const Robot* robot_named(Model& model, const std::string& name) {
    const auto& robots = model.shared<Robots>().by_name;
    const auto found = robots.find(name);
    return found == robots.end() ? nullptr : &found->second;
}

// The velocity whose integral the number is; empty for a part of a quaternion.
std::optional<std::int64_t> velocity_of(const Robot& robot, std::int64_t row) {
    for (const articulated::Joint& joint : robot.tree->joints)
        if (row >= joint.qpos && row < joint.qpos + joint.scalars())
            return joint.dof + row - joint.qpos;
    return std::nullopt;
}

class ChannelReader {
public:
    ChannelReader(const Settings& settings, Model& model, Recording& recording)
        : model_(model), recording_(recording) {
        const Node& of = *settings.find("of");
        body_ = document::string_of(of);
        robot_ = robot_named(model, body_);
        if (robot_ == nullptr) points_ = settings.points(model, "of");
    }

    Channel read(const Node& item) {
        document::Reader reader(item, "a channel");
        Channel channel;
        channel.column = reader.string("column");
        const std::string array_name = reader.string("array");
        const Array array = find_array(reader.require("array"), array_name);
        const std::int64_t row = find_row(reader, array_name, array);
        const int component =
            static_cast<int>(reader.integer_or("component", 0, 0, array.components() - 1));
        const Array* const velocity = slope_array(array_name);
        std::optional<std::int64_t> slope_row;
        if (velocity != nullptr)
            slope_row = robot_ != nullptr ? velocity_of(*robot_, row) : std::optional(row);
        channel.is_state =
            std::ranges::find(states, std::string_view(array_name)) != std::end(states);
        channel.between = !channel.is_state ? Between::hold
                          : slope_row       ? Between::cubic
                                            : Between::linear;
        if (reader.has("between")) {
            channel.between =
                static_cast<Between>(reader.choice("between", {"hold", "linear", "cubic"}));
            if (!channel.is_state && channel.between != Between::hold)
                throw document::fault(*item.find("between"),
                                      "'" + array_name +
                                          "' has what was at the begin of each step, and nothing "
                                          "to go to from there")
                    .remedy("write \"hold\"; make steps as short as the samples ask");
            if (channel.between == Between::cubic && !slope_row)
                throw document::fault(*item.find("between"),
                                      "the velocity of this number is not there to be its slope")
                    .remedy("write \"linear\"; cubic is for positions of points, hinges, slides");
        }
        reader.finish();
        if (robot_ != nullptr && array_name == "qpos") channel.qpos = static_cast<int>(row);
        channel.value = recording_.column(array, row, component);
        if (channel.between == Between::cubic)
            channel.slope = recording_.column(*velocity, *slope_row, component);
        return channel;
    }

private:
    Array find_array(const Node& node, const std::string& name) {
        std::vector<std::string> all;
        const std::string prefix = body_ + ".";
        const std::string wanted = robot_ != nullptr ? prefix + name : name;
        for (const auto& [key, published] : model_.arrays()) {
            if (published.array.type() == ir::Type::i32) continue;
            if (robot_ != nullptr && !key.starts_with(prefix)) continue;
            if (robot_ == nullptr && published.array.shape()[0] != model_.point_count()) continue;
            if (key == wanted) return published.array;
            all.push_back(robot_ != nullptr ? key.substr(prefix.size()) : key);
        }
        throw no_array(node, name, {all.begin(), all.end()});
    }

    Error no_array(const Node& node, const std::string& name,
                   const std::vector<std::string_view>& names) const {
        Error error = document::fault(node, "'" + body_ + "' has no array '" + name + "'");
        const bool of_points = name == "position" || name == "velocity";
        if (robot_ == nullptr || (!of_points && !name.starts_with("site")))
            return error.remedy(document::suggestion(name, names));
        return error
            .remedy("compare joints (\"qpos\", \"qvel\"), bodies (\"xpos\") or sensors of sites")
            .note(
                "for the place of a site: <framepos name=\"tip\" objtype=\"site\" "
                "objname=\"tip\"/> "
                "in the model (for its velocity framelinvel), \"sensors\": [\"tip\"] in the body, "
                "and here \"array\": \"sensordata\", \"index\": \"tip:0\" for x");
    }

    // The velocities whose integrals are in the array, if they are there.
    const Array* slope_array(const std::string& name) {
        const std::string wanted = robot_ != nullptr && name == "qpos"       ? body_ + ".qvel"
                                   : robot_ == nullptr && name == "position" ? "velocity"
                                                                             : "";
        const auto found = model_.arrays().find(wanted);
        return found == model_.arrays().end() ? nullptr : &found->second.array;
    }

    std::int64_t find_row(document::Reader& reader, const std::string& name, const Array& array) {
        const Node* const index = reader.find("index");
        if (index != nullptr && index->is_string()) return named_row(name, *index);
        const std::int64_t count = robot_ != nullptr ? array.shape()[0] : points_.count;
        return points_.first + (index == nullptr ? 0 : document::integer_of(*index, 0, count - 1));
    }

    std::int64_t named_row(const std::string& array, const Node& node) {
        const std::string path = robot_ != nullptr ? body_ + "." + array : array;
        const model::ElementNames* const names = model::element_names(model_, path);
        if (names == nullptr)
            throw document::fault(node, "the elements of '" + array + "' have no names")
                .remedy("write the number of the element");
        try {
            const model::ElementRange range = names->at(path, node.string());
            if (range.count == 1) return range.first;
            throw document::fault(node, "'" + node.string() + "' has " +
                                            std::to_string(range.count) + " numbers there")
                .remedy("name one of them, like \"" + names->name(range.first) + "\"");
        } catch (Error& error) {
            if (error.json_pointer().empty()) error.at_pointer(node.pointer());
            throw;
        }
    }

    Model& model_;
    Recording& recording_;
    std::string body_;
    const Robot* robot_ = nullptr;
    model::Range points_;  // of a body that is not a robot
};

}  // namespace

std::vector<Channel> read_channels(const Settings& settings, Model& model, Recording& recording) {
    ChannelReader reader(settings, model, recording);
    std::vector<Channel> channels;
    const Node& list = document::array_of(*settings.find("channels"), 1);
    for (std::size_t c = 0; c < list.size(); ++c) channels.push_back(reader.read(list.item(c)));
    return channels;
}

Samples read_samples(const document::CsvTable& table, const std::string& time,
                     const std::vector<Channel>& channels, double start, double from, double until,
                     double step, std::int64_t steps) {
    const std::vector<double> stamps = document::increasing(table, time);
    Samples samples;
    samples.first.push_back(0);
    for (const Channel& channel : channels) {
        const std::size_t column = table.column(channel.column);
        for (std::size_t r = 0; r < stamps.size(); ++r) {
            const double t = stamps[r] - start;
            if (t < from || t > until || table.is_empty(r, column)) continue;
            // A time that is that of a step but for rounding is that of the step.
            double place = t / step;
            if (const double whole = std::round(place);
                std::fabs(place - whole) <= 1e-9 * std::max(1.0, whole))
                place = whole;
            // Forces at the end of the run belong to a step that is not made.
            if (!channel.is_state && place >= static_cast<double>(steps)) continue;
            const auto in = std::clamp(static_cast<std::int64_t>(std::floor(place)),
                                       std::int64_t{0}, steps - 1);
            samples.times.push_back(t);
            samples.values.push_back(table.number(r, column));
            samples.steps.push_back(in);
            samples.parts.push_back(place - static_cast<double>(in));
        }
        if (samples.count() == samples.first.back()) {
            std::string what = fmt::format("{} has no sample of column {} between {} s and {} s",
                                           document::shown(table.name(), 200),
                                           document::shown(channel.column), from, until);
            if (!stamps.empty())
                what += fmt::format(" of the scene; its times go from {} s to {} s",
                                    stamps.front() - start, stamps.back() - start);
            throw Error(what).remedy(
                "set \"start\" to the time of the file that is the scene's 0, or widen \"from\" "
                "and \"until\"");
        }
        samples.first.push_back(samples.count());
    }
    const auto [low, high] = std::ranges::minmax(samples.times);
    samples.earliest = low;
    samples.latest = high;
    return samples;
}

}  // namespace hindcast::measured
