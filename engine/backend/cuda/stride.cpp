#include "engine/backend/cuda/emit.hpp"
#include "engine/base/error.hpp"

namespace hindcast::backend::cuda {

namespace {
constexpr std::string_view items_per_thread =
    "    const unsigned threads = gridDim.x * blockDim.x;\n"
    "#pragma unroll 1\n"
    "    for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < (unsigned)items; "
    "at += threads) {\n"
    "        const int item = at;\n";
}  // namespace

std::string with_stride(const std::string& name, const std::string& text) {
    const std::size_t head = text.find(name, text.find("__global__")),
                      begin = text.find(item_per_thread);
    if (head == std::string::npos || begin == std::string::npos)
        throw Error("internal: " + name + " has no item per thread");
    std::string out = text.substr(0, head + name.size()) + stride_suffix +
                      text.substr(head + name.size(), begin - head - name.size());
    out += items_per_thread;
    // By one level, but for what the preprocessor reads.
    for (std::size_t at = begin + item_per_thread.size(); at < text.size();) {
        const std::size_t end = text.find('\n', at) + 1;
        if (text[at] != '#') out += "    ";
        out.append(text, at, end - at);
        at = end;
    }
    return out + "}\n";
}

}  // namespace hindcast::backend::cuda
