// A CUDA driver in software, for tests: HINDCAST_CUDA_DRIVER names this library.
//
// It has the entry points of the driver that the engine uses. HINDCAST_SOFTWARE_CUDA says what it
// pretends, as words with commas between them:
//     version=12080     what cuDriverGetVersion tells (default 13000)
//     devices=2         how many devices there are (default 1)
//     fail=NAME:RESULT  the function NAME returns RESULT
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

// The value of a word, or an empty string.
std::string setting(const std::string& key) {
    const char* const all = std::getenv("HINDCAST_SOFTWARE_CUDA");
    const std::string text = "," + std::string(all != nullptr ? all : "") + ",";
    const std::size_t at = text.find("," + key);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + 1 + key.size();
    return text.substr(begin, text.find(',', begin) - begin);
}
int number(const std::string& key, int otherwise) {
    const std::string value = setting(key + "=");
    return value.empty() ? otherwise : std::atoi(value.c_str());
}
int failure(const char* function) {
    const std::string value = setting(std::string("fail=") + function + ":");
    return value.empty() ? 0 : std::atoi(value.c_str());
}
bool exists(int device) { return device >= 0 && device < number("devices", 1); }

struct Name {
    int result;
    const char *name, *text;
};
constexpr Name names[] = {{0, "CUDA_SUCCESS", "no error"},
                          {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
                          {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
                          {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
                          {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
                          {999, "CUDA_ERROR_UNKNOWN", "unknown error"}};

}  // namespace

extern "C" {

int cuDriverGetVersion(int* version) {
    *version = number("version", 13000);
    return failure("cuDriverGetVersion");
}
int cuGetErrorName(int result, const char** name) {
    for (const Name& n : names)
        if (n.result == result) return *name = n.name, 0;
    *name = nullptr;
    return 1;
}
int cuGetErrorString(int result, const char** text) {
    for (const Name& n : names)
        if (n.result == result) return *text = n.text, 0;
    *text = nullptr;
    return 1;
}
int cuInit(unsigned flags) { return flags != 0 ? 1 : failure("cuInit"); }
int cuDeviceGetCount(int* count) {
    *count = number("devices", 1);
    return failure("cuDeviceGetCount");
}
int cuDeviceGet(int* device, int ordinal) {
    *device = ordinal;
    return exists(ordinal) ? failure("cuDeviceGet") : 101;
}
int cuDeviceGetName(char* name, int length, int device) {
    if (!exists(device)) return 101;
    std::snprintf(name, static_cast<std::size_t>(length), "software device %d", device);
    return failure("cuDeviceGetName");
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
    *bytes = std::size_t{8} << 30;
    return exists(device) ? failure("cuDeviceTotalMem_v2") : 101;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
    if (!exists(device)) return 101;
    switch (attribute) {
        case 16: *value = 4; break;
        case 75: *value = 9; break;
        case 76: *value = 0; break;
        default: return 1;
    }
    return failure("cuDeviceGetAttribute");
}

}  // extern "C"
