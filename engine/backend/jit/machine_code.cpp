#include "engine/backend/jit/machine_code.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string_view>

#include "engine/backend/jit/code_cache.hpp"
#include "engine/backend/jit/interruption.hpp"
#include "engine/backend/jit/llvm.hpp"
#include "engine/base/error.hpp"
#include "engine/base/log.hpp"

namespace hindcast::backend {

namespace {

std::mutex statistics_mutex;
CodeStatistics statistics;
thread_local int timers = 0;

// What is in use, so that kernels with the same text share one code.
class CodeInUse {
public:
    std::shared_ptr<const ObjectCode> find(const Hash128& key) {
        const std::lock_guard lock(mutex_);
        const auto found = codes_.find({key.high, key.low});
        return found == codes_.end() ? nullptr : found->second.lock();
    }
    std::shared_ptr<const ObjectCode> add(const Hash128& key, std::unique_ptr<ObjectCode> code) {
        std::shared_ptr<const ObjectCode> shared = std::move(code);
        const std::lock_guard lock(mutex_);
        std::erase_if(codes_, [](const auto& entry) { return entry.second.expired(); });
        codes_[{key.high, key.low}] = shared;
        return shared;
    }

private:
    std::mutex mutex_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::weak_ptr<const ObjectCode>> codes_;
};
CodeInUse in_use;

std::unique_ptr<ObjectCode> load(const std::string& object, const std::string& name,
                                 const std::string& title) {
    auto code = std::make_unique<ObjectCode>(object, name);
    const char* const perf = std::getenv("HINDCAST_PERF_MAP");
    if (perf == nullptr || std::string_view(perf) != "1") return code;
    const std::string_view bytes = code->bytes();
    static std::mutex writing;
    const std::lock_guard lock(writing);
    std::ofstream(fmt::format("/tmp/perf-{}.map", ::getpid()), std::ios::app) << fmt::format(
        "{:x} {:x} {}\n", reinterpret_cast<std::uintptr_t>(bytes.data()), bytes.size(), title);
    return code;
}

}  // namespace

std::shared_ptr<const ObjectCode> make_machine_code(const std::string& text,
                                                    const std::string& name,
                                                    const std::string& title, std::uint64_t kind) {
    const CodeTimer timer;
    static const Hash128 target = code_target();  // asks the processor, which takes long
    Hasher hash;
    hash.integer(kind).integer(target.high).integer(target.low).text(text);
    const Hash128 key = hash.digest();
    {
        const std::lock_guard lock(statistics_mutex);
        ++statistics.functions;
    }
    if (auto shared = in_use.find(key)) return shared;
    if (const auto cached = read_cached(key)) {
        try {
            return in_use.add(key, load(*cached, name, title));
        } catch (const Error& error) {
            log_warning("kernel cache: {}", error.what());
        }
    }
    // LLVM cannot be stopped: what nobody waits for any more is there the next time.
    const auto object = std::make_shared<std::string>();
    run_interruptibly([object, text, key] {
        *object = compile_llvm(text, CodeKind::object);
        write_cached(key, *object);
    });
    {
        const std::lock_guard lock(statistics_mutex);
        ++statistics.compiled;
    }
    return in_use.add(key, load(*object, name, title));
}

CodeStatistics code_statistics() {
    const std::lock_guard lock(statistics_mutex);
    return statistics;
}

CodeTimer::CodeTimer() : start_(std::chrono::steady_clock::now()) {
    interruption_point();
    ++timers;
}

CodeTimer::~CodeTimer() {
    if (--timers > 0) return;
    const std::chrono::duration<double> lived = std::chrono::steady_clock::now() - start_;
    const std::lock_guard lock(statistics_mutex);
    statistics.seconds += lived.count();
}

}  // namespace hindcast::backend
