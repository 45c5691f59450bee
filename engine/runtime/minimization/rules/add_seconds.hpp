// AddSeconds: adds the wall time of its life to a number.
#pragma once

#include <chrono>

namespace hindcast {

class AddSeconds {
public:
    explicit AddSeconds(double& to) : to_(to) {}
    AddSeconds(const AddSeconds&) = delete;
    AddSeconds& operator=(const AddSeconds&) = delete;
    ~AddSeconds() {
        to_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

private:
    double& to_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace hindcast
