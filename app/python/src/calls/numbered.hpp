// Functions that compiled programs call: each has a number, by which they find it. Python's handle
// owns the number; a compiled program keeps the function itself.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "app/python/src/bindings.hpp"
#include "engine/base/error.hpp"

namespace hindcast::python {

template <class T>
class Numbered {
public:
    std::int64_t add(std::shared_ptr<T> function) {
        const std::lock_guard lock(mutex_);
        functions_[++last_] = std::move(function);
        return last_;
    }
    void forget(std::int64_t number) {
        std::shared_ptr<T> last;  // goes without the lock
        const std::lock_guard lock(mutex_);
        if (const auto found = functions_.find(number); found != functions_.end()) {
            last = std::move(found->second);
            functions_.erase(found);
        }
    }
    // Null: its owner is gone.
    std::shared_ptr<T> find(std::int64_t number) {
        const std::lock_guard lock(mutex_);
        const auto found = functions_.find(number);
        return found == functions_.end() ? nullptr : found->second;
    }
    std::size_t count() {
        const std::lock_guard lock(mutex_);
        return functions_.size();
    }

private:
    std::mutex mutex_;
    std::map<std::int64_t, std::shared_ptr<T>> functions_;
    std::int64_t last_ = 0;
};

template <class T>
struct NumberedHandle;

// The function of a program that was exported (hindcast/_exports.py), one for all that have the same
// text and live at once. Throws Error.
template <class T>
std::shared_ptr<T> made_again(std::string_view text) {
    static auto* const all = new std::map<std::string, std::weak_ptr<T>, std::less<>>;
    const nb::gil_scoped_acquire lock;  // of them, too
    if (const auto found = all->find(text); found != all->end())
        if (std::shared_ptr<T> function = found->second.lock()) return function;
    try {
        const nb::object handle = nb::module_::import_("hindcast._exports")
                                      .attr("function_of")(nb::str(text.data(), text.size()));
        std::shared_ptr<T> function = nb::cast<const NumberedHandle<T>&>(handle).function;
        std::erase_if(*all, [](const auto& entry) { return entry.second.expired(); });
        all->insert_or_assign(std::string(text), function);
        return function;
    } catch (const std::exception& error) {
        throw Error(error.what());
    }
}

// Python's handle of a function.
template <class T>
struct NumberedHandle {
    std::shared_ptr<T> function;
    Numbered<T>& all;
    std::int64_t number;
    NumberedHandle(std::shared_ptr<T> f, Numbered<T>& functions)
        : function(std::move(f)), all(functions), number(all.add(function)) {}
    ~NumberedHandle() { all.forget(number); }
    NumberedHandle(const NumberedHandle&) = delete;
    NumberedHandle& operator=(const NumberedHandle&) = delete;
};

}  // namespace hindcast::python
