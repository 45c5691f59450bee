// One step of what a back end makes of a kernel, as text (text/kernel_text.hpp).
#pragma once

#include <string>

namespace hindcast::backend {

struct KernelStage {
    std::string name;
    std::string text;
};

}  // namespace hindcast::backend
