#include "engine/runtime/tape.hpp"

namespace hindcast {

void Tape::launch(const Launch& launch) {
    Entry entry;
    entry.forward = launch.forward();
    entry.backward = launch.adjoint();
    entry.is_launch = true;
    entry.needs = primal_needs(entry.backward);
    entry.versions.resize(entry.needs.size());
    entry.kept.assign(entry.needs.size(), -1);
    entries_.push_back(std::move(entry));
    try {
        keep_what_is_overwritten(entries_.size() - 1);
        run(entries_.size() - 1);
    } catch (...) {
        entries_.pop_back();
        throw;
    }
}

void Tape::copy(const std::shared_ptr<Device>& device, const Array& to, const Array& from) {
    Program program;
    program.add_copy(device, to, from);
    launch(program.launches().front());
}

void Tape::host(std::function<void()> callback) {
    Entry entry;
    entry.callback = std::move(callback);
    entries_.push_back(std::move(entry));
    entries_.back().callback();
}

// The launch at `position` is about to write: keep what earlier adjoints, or its own, still need.
void Tape::keep_what_is_overwritten(std::size_t position) {
    for (const Array& target : primal_writes(entries_[position].forward)) {
        int copy = -1;
        for (std::size_t e = 0; e <= position; ++e) {
            Entry& entry = entries_[e];
            for (std::size_t n = 0; n < entry.needs.size(); ++n) {
                if (entry.kept[n] >= 0 || !entry.needs[n].array.same_memory(target)) continue;
                if (e < position && entry.versions[n] != target.version()) continue;  // host wrote since: backward() says so
                if (policy_ == OverwritePolicy::error)
                    throw Error("the launch '" + entries_[position].forward.launch().description() + "' overwrites '" +
                                entry.backward.kernel().parameter(entry.needs[n].parameter).name + "', which the adjoint of '" +
                                entry.forward.launch().description() + "' still needs")
                        .remedy("write to another array, or let the tape keep the value (OverwritePolicy::keep)");
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
    for (const Kept& kept : kept_)
        if (kept.before == position) kept.copy.copy_from(kept.source);
    for (std::size_t n = 0; n < entry.needs.size(); ++n) entry.versions[n] = entry.needs[n].array.version();
    entry.forward.run();
}

void Tape::forward() {
    for (std::size_t e = 0; e < entries_.size(); ++e) run(e);
}

void Tape::backward() {
    for (const Entry& entry : entries_)
        for (std::size_t n = 0; n < entry.needs.size(); ++n)
            if (entry.kept[n] < 0 && entry.versions[n] != entry.needs[n].array.version())
                throw Error("'" + entry.backward.kernel().parameter(entry.needs[n].parameter).name + "' was changed after the launch '" +
                            entry.forward.launch().description() + "' read it, and its adjoint needs the old value")
                    .remedy("run backward() before changing it, or run forward() again");
    for (std::size_t e = entries_.size(); e-- > 0;) {
        const Entry& entry = entries_[e];
        if (!entry.is_launch) continue;
        for (std::size_t n = 0; n < entry.needs.size(); ++n)
            entry.backward.bind_memory(entry.needs[n].parameter, entry.kept[n] < 0 ? nullptr : kept_[static_cast<std::size_t>(entry.kept[n])].copy.data());
        entry.backward.run();
    }
    for (const Entry& entry : entries_)
        for (const Need& need : entry.needs) entry.backward.bind_memory(need.parameter, nullptr);
}

void Tape::clear_gradients() {
    for (const Entry& entry : entries_) {
        if (!entry.is_launch) continue;
        for (const Argument& argument : entry.forward.launch().arguments())
            if (argument.is_array() && argument.array().has_gradient()) argument.array().gradient().clear();
        entry.forward.launch().clear_gradients_of_numbers();
    }
}

std::int64_t Tape::kept_bytes() const {
    std::int64_t bytes = 0;
    for (const Kept& kept : kept_) bytes += static_cast<std::int64_t>(kept.copy.bytes());
    return bytes;
}

}  // namespace hindcast
