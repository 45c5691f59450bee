#include "engine/runtime/program/tape.hpp"

#include <algorithm>
#include <utility>

#include "engine/backend/cuda/context.hpp"
#include "engine/runtime/array/memory.hpp"

namespace hindcast {

namespace {

std::string name_of(const Launch::Replay& backward, const Need& need) {
    return "'" + backward.kernel().parameter(need.parameter).name + "'";
}

// Sends a launch's work, and the copies kept for it, to its stream, even while that is captured.
class OnStreamOf {
public:
    explicit OnStreamOf(const Launch& launch) : launch_(launch) {
        if (launch.stream()) following_.emplace(*launch.device()->cuda(), launch.stream().get());
    }
    void settle() const {
        if (!launch_.stream()) launch_.device()->settle();
    }

private:
    const Launch& launch_;
    std::optional<backend::cuda::Context::Following> following_;
};

}  // namespace

Tape::Entry Tape::entry_for(const Launch& launch) {
    Entry entry;
    entry.is_launch = true;
    entry.differentiable = launch.has_derivative();
    entry.bindings_version = launch.bindings_version();
    entry.forward = launch.forward();
    if (!entry.differentiable) return entry;
    entry.backward = launch.adjoint();
    entry.needs = primal_needs(entry.backward);
    entry.versions.resize(entry.needs.size());
    entry.kept.assign(entry.needs.size(), -1);
    return entry;
}

void Tape::launch(const Launch& launch) {
    Entry entry = entry_for(launch);
    if (stream_) move(entry);
    record(std::move(entry));
}

// To the tape's stream.
void Tape::move(Entry& entry) {
    if (!entry.is_launch) return;
    Launch launch = entry.forward.launch();
    if (!stream_) {
        launch.move_to(launch.device());
    } else {
        const auto known = std::find_if(streams_.begin(), streams_.end(), [&](const Stream& s) {
            return s.device() == launch.device();
        });
        launch.move_to(
            known != streams_.end() ? *known : streams_.emplace_back(stream_->of(launch.device())));
    }
    entry.bindings_version = launch.bindings_version();
}

void Tape::move_to(const std::optional<Stream>& stream) {
    if (rebound())
        throw Error("a launch was bound to another array after the tape ran")
            .remedy("run forward() again before it goes to another stream");
    if (stream)
        for (const Entry& entry : entries_)
            if (entry.is_launch) stream->of(entry.forward.launch().device());  // or an error
    stream_ = stream;
    streams_.clear();
    for (Entry& entry : entries_) move(entry);
}

void Tape::record(Entry entry) {
    const std::size_t position = entries_.size(), kept = kept_.size();
    entries_.push_back(std::move(entry));
    try {
        keep_what_is_overwritten(position);
        run(position);
    } catch (...) {
        entries_.pop_back();
        kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(kept), kept_.end());
        for (Entry& earlier : entries_)
            for (int& k : earlier.kept)
                if (k >= static_cast<int>(kept)) k = -1;
        throw;
    }
}

void Tape::copy(const std::shared_ptr<Device>& device, const Array& to, const Array& from) {
    Program program;
    program.add_copy(device, to, from);
    launch(program.launches().front());
}

void Tape::host(std::function<void()> callback) {
    if (!callback) throw Error("a tape is given an empty host callback");
    callback();
    Entry entry;
    entry.callback = std::move(callback);
    entries_.push_back(std::move(entry));
}

// The launch at `position` is about to write: keep what earlier adjoints, or its own, still need.
// Values that its own adjoint needs as it leaves them are overwritten only by a later launch.
void Tape::keep_what_is_overwritten(std::size_t position) {
    for (const Array& target : primal_writes(entries_[position].forward)) {
        int copy = -1;
        for (std::size_t e = 0; e <= position; ++e) {
            Entry& entry = entries_[e];
            for (std::size_t n = 0; n < entry.needs.size(); ++n) {
                if (entry.kept[n] >= 0 || !entry.needs[n].array.same_memory(target)) continue;
                if (e == position && entry.needs[n].after) continue;
                if (e < position && entry.versions[n] != target.version())
                    continue;  // host wrote since: backward() throws
                if (policy_ == OverwritePolicy::error)
                    throw Error("the launch '" + entries_[position].forward.launch().description() +
                                "' overwrites " + name_of(entry.backward, entry.needs[n]) +
                                ", which the adjoint of '" + entry.backward.launch().description() +
                                "' still needs")
                        .remedy(
                            "write to another array, or let the tape keep the value "
                            "(OverwritePolicy::keep)");
                if (target.layout() == Layout::strided ||
                    entry.needs[n].array.layout() == Layout::strided)
                    throw Error("the launch '" + entries_[position].forward.launch().description() +
                                "' overwrites " + name_of(entry.backward, entry.needs[n]) +
                                ", and strided memory from elsewhere is not kept")
                        .remedy("write to another array, or copy it into an array of its own");
                if (copy < 0) {
                    copy = static_cast<int>(kept_.size());
                    kept_.push_back({target, target.clone(), position});
                }
                entry.kept[n] = copy;
            }
        }
    }
}

void Tape::run(std::size_t position) {
    Entry& entry = entries_[position];
    if (!entry.is_launch) {
        entry.callback();
        return;
    }
    const OnStreamOf on(entry.forward.launch());
    for (const Kept& kept : kept_)
        if (kept.before == position) kept.copy.copy_from(kept.source);
    for (std::size_t n = 0; n < entry.needs.size(); ++n)
        entry.versions[n] = entry.needs[n].array.version();
    entry.forward.run();
    for (std::size_t n = 0; n < entry.needs.size(); ++n)
        if (entry.needs[n].after) entry.versions[n] = entry.needs[n].array.version();
    on.settle();
}

bool Tape::rebound() const {
    for (const Entry& entry : entries_)
        if (entry.is_launch && entry.bindings_version != entry.forward.launch().bindings_version())
            return true;
    return false;
}

void Tape::forward() {
    complete_ = false;
    if (!rebound()) {
        for (std::size_t e = 0; e < entries_.size(); ++e) run(e);
        complete_ = true;
        return;
    }
    const std::vector<Entry> recorded = std::exchange(entries_, {});
    kept_.clear();
    try {
        for (const Entry& entry : recorded)
            record(entry.is_launch ? entry_for(entry.forward.launch()) : entry);
    } catch (...) {
        entries_ = recorded;  // still out of date: the next forward() plans again
        throw;
    }
    complete_ = true;
}

void Tape::check_needs(const Entry& entry) const {
    for (std::size_t n = 0; n < entry.needs.size(); ++n)
        if (entry.kept[n] < 0 && entry.versions[n] != entry.needs[n].array.version())
            throw Error(name_of(entry.backward, entry.needs[n]) +
                        " was changed after the launch '" + entry.forward.launch().description() +
                        "' read it, and its adjoint needs the old value")
                .remedy("run backward() before changing it, or run forward() again");
}

void Tape::backward() {
    if (rebound())
        throw Error("a launch was bound to another array after the tape ran")
            .remedy("run forward() again before backward()");
    if (!complete_)
        throw Error("the last forward() of the tape did not reach the end")
            .remedy("run forward() again before backward()");
    for (const Entry& entry : entries_) check_needs(entry);
    const auto use_own_memory = [](const Entry& entry) {
        for (const Need& need : entry.needs) entry.backward.bind_memory(need.parameter, nullptr);
    };
    for (std::size_t e = entries_.size(); e-- > 0;) {
        const Entry& entry = entries_[e];
        if (!entry.differentiable) continue;
        check_needs(entry);  // an adjoint may have changed what another one reads
        const OnStreamOf on(entry.backward.launch());
        const auto& cuda = entry.backward.launch().device()->cuda();
        for (std::size_t n = 0; n < entry.needs.size(); ++n)
            if (entry.kept[n] >= 0) {
                const Array& copy = kept_[static_cast<std::size_t>(entry.kept[n])].copy;
                entry.backward.bind_memory(entry.needs[n].parameter,
                                           cuda ? copy.memory().on(cuda) : copy.data());
            }
        try {
            entry.backward.run();
            on.settle();
        } catch (...) {
            use_own_memory(entry);
            throw;
        }
        use_own_memory(entry);
    }
}

void Tape::clear_gradients() {
    for (const Entry& entry : entries_) {
        if (!entry.is_launch) continue;
        for (const Argument& argument : entry.forward.launch().arguments())
            if (argument.is_array() && argument.array().has_gradient())
                argument.array().gradient().clear();
        entry.forward.launch().clear_gradients_of_numbers();
    }
}

std::int64_t Tape::kept_bytes() const {
    std::int64_t bytes = 0;
    for (const Kept& kept : kept_) bytes += static_cast<std::int64_t>(kept.copy.bytes());
    return bytes;
}

}  // namespace hindcast
