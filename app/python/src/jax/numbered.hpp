// Functions that compiled programs call: each has a number, by which they find it. Python's handle
// owns the number; a compiled program keeps the function itself.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

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

// What Python holds of a function.
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
