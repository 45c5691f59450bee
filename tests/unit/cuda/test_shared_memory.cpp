// Arrays over memory that something else owns: of the host, and of a CUDA device with Vulkan.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "engine/backend/cuda/context.hpp"
#include "engine/base/aligned.hpp"
#include "engine/base/error.hpp"
#include "engine/runtime/device/stream.hpp"
#include "engine/runtime/launch/launch.hpp"
#include "tests/cuda_driver/client.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/software_cuda.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using ir::Type;

namespace {

const KernelDef twice =
    kernel("twice", {"x", "y"}, [](Int i, Read<Vec3> x, Write<Vec3> y) { y[i] = x[i] * 2.0; });

// A memory file as Mesa's software device exports it: one page that describes it, then the memory.
class MemoryFile {
public:
    explicit MemoryFile(std::size_t bytes)
        : descriptor_(::memfd_create("memory", MFD_CLOEXEC)), bytes_(4096 + bytes) {
        REQUIRE(::ftruncate(descriptor_, static_cast<off_t>(bytes_)) == 0);
        mapped_ = static_cast<std::byte*>(
            ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0));
        REQUIRE(mapped_ != MAP_FAILED);
    }
    ~MemoryFile() {
        ::munmap(mapped_, bytes_);
        ::close(descriptor_);
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    int descriptor() const { return descriptor_; }
    template <class T>
    T* at(std::size_t offset) {
        return reinterpret_cast<T*>(mapped_ + 4096 + offset);
    }

private:
    int descriptor_;
    std::size_t bytes_;
    std::byte* mapped_ = nullptr;
};

}  // namespace

TEST_CASE("shared memory: launches of every device write into an array over the host's memory") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        for (const std::int64_t n : {1, 5, 16, 37, 1000}) {
            AlignedBuffer<std::byte> memory(static_cast<std::size_t>(n) * 12 + 64);
            std::memset(memory.data(), 0x5a, memory.size());
            auto alive = std::make_shared<int>(0);
            const std::weak_ptr<int> watched = alive;
            {
                const Array y = Array::over(memory.span(), std::move(alive), Type::f32, {n, 3});
                CHECK_FALSE(watched.expired());
                CHECK(y.data() == memory.data());
                std::vector<double> values;
                for (std::int64_t k = 0; k < 3 * n; ++k)
                    values.push_back(static_cast<double>(k) / 4);
                const Array x = Array::from(values, Type::f32, {n, 3}, Layout::planar);
                Launch launch(device, twice, Precision::f32, n, {x, y});
                launch.forward().run();
                CHECK(y.data() == memory.data());  // waits for a device
            }
            CHECK(watched.expired());
            for (std::int64_t k = 0; k < 3 * n; ++k) {
                float written = 0;
                std::memcpy(&written, memory.data() + 4 * k, 4);
                CHECK(written == static_cast<float>(k) / 2);
            }
            for (std::size_t k = static_cast<std::size_t>(n) * 12; k < memory.size(); ++k)
                CHECK(memory[k] == std::byte{0x5a});
        }
    }
}

TEST_CASE("shared memory: too little or unaligned memory is an error") {
    AlignedBuffer<std::byte> memory(256);
    CHECK(test::message([&] {
              Array::over(memory.span(), {}, Type::f64, {33});
          }).find("264 bytes is laid over memory of 256") != std::string::npos);
    CHECK(test::message([&] {
              Array::over(memory.span().subspan(2), {}, Type::f32, {3});
          }).find("not aligned to 4 bytes") != std::string::npos);
}

TEST_CASE("shared memory: a CUDA device writes into memory that was exported to it") {
    // The driver in software, if that is what the devices are of.
    const test::SoftwareControl control(
        ::dlopen(hindcast::test::software_cuda_driver, RTLD_NOW | RTLD_LOCAL));
    for (const auto& device : test::devices()) {
        if (!device->cuda()) continue;
        MemoryFile file(8192);
        for (std::size_t k = 0; k < 2048; ++k) file.at<float>(0)[k] = -1;
        const long long copied = control.count("copied_to_host_bytes");
        {
            const Array y =
                Array::over(device->cuda(), {file.descriptor(), 8192, 4096}, Type::f32, {300, 3});
            std::vector<double> values(900);
            for (std::size_t k = 0; k < 900; ++k) values[k] = static_cast<double>(k) + 0.5;
            const Array x = Array::from(values, Type::f32, {300, 3});
            Launch launch(device, twice, Precision::f32, 300, {x, y});
            launch.forward().run();
            device->synchronize();
            for (std::size_t k = 0; k < 900; ++k)
                CHECK(file.at<float>(4096)[k] == 2 * static_cast<float>(k) + 1);
            CHECK(control.count("copied_to_host_bytes") == copied);
            CHECK(y.value(7, 1) == 45);  // 2 * (22 + 0.5): fetched for the host
        }
        CHECK(file.at<float>(4096)[899] == 1799);  // it outlives the array
        CHECK(file.at<float>(4096)[900] == -1);
        CHECK(file.at<float>(4096)[-1] == -1);
    }
}

TEST_CASE("shared memory: what cannot be imported is an error, and the descriptor stays open") {
    for (const auto& device : test::devices()) {
        if (!device->cuda()) continue;
        MemoryFile file(4096);
        const auto message = [&](const backend::cuda::Exported& shared) {
            return test::message([&] { Array::over(device->cuda(), shared, Type::f64, {512, 2}); });
        };
        CHECK(message({file.descriptor(), 8192, 0}).find("memory shared with Vulkan") !=
              std::string::npos);  // the file is shorter
        CHECK(message({file.descriptor(), 4096, 0}).find("a part of memory shared with Vulkan") !=
              std::string::npos);
        CHECK(message({-1, 4096, 0}).find("no file descriptor") != std::string::npos);
        CHECK(::fcntl(file.descriptor(), F_GETFD) >= 0);
    }
}

TEST_CASE("shared memory: a semaphore is raised when what was put before it is done, not before") {
    NEEDS_SOFTWARE_CUDA();
    const test::Software software("seed=5");
    const auto device = test::fresh_device();
    MemoryFile file(4096);
    const int value_file = ::memfd_create("semaphore", MFD_CLOEXEC);
    REQUIRE(::ftruncate(value_file, sizeof(std::uint64_t)) == 0);
    const auto value = [&] {
        std::uint64_t now = 99;
        CHECK(::pread(value_file, &now, sizeof now, 0) == sizeof now);
        return now;
    };
    {
        backend::cuda::Semaphore semaphore(device->cuda(), value_file);
        const Array y =
            Array::over(device->cuda(), {file.descriptor(), 4096, 0}, Type::f32, {9, 3});
        const Array x = Array::from(std::vector<double>(27, 1.5), Type::f32, {9, 3});
        Launch launch(device, twice, Precision::f32, 9, {x, y});
        const Stream other(device);      // the launch is there, the semaphore on the context's own
        launch.move_to(Stream(device));  // another than the semaphore's
        launch.forward().run();
        semaphore.raise(7);
        CHECK(value() == 0);
        CHECK(file.at<float>(0)[26] == 0);
        software.pass_time();
        CHECK(value() == 7);
        CHECK(file.at<float>(0)[26] == 3);
        semaphore.raise(8);
    }
    CHECK(value() == 8);  // it does not go before it is raised
    CHECK(test::message([&] {
              backend::cuda::Semaphore(device->cuda(), file.descriptor());
          }).find("a semaphore shared with Vulkan") != std::string::npos);
    CHECK(test::message([&] {
              backend::cuda::Semaphore(device->cuda(), -1);
          }).find("no file descriptor") != std::string::npos);
    CHECK(::fcntl(file.descriptor(), F_GETFD) >= 0);
    ::close(value_file);
}
