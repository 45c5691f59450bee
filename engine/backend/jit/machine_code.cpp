#include "engine/backend/jit/machine_code.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

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
thread_local CodeListener* listener = nullptr;  // the innermost one

// Code in use, which kernels with the same text share; and the latest code, since a launch that is recorded for one run
// is often recorded again.
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
        kept_bytes_ += shared->bytes().size();
        kept_.push_back(shared);
        for (; kept_bytes_ > most_kept_bytes; kept_.pop_front())
            kept_bytes_ -= kept_.front()->bytes().size();
        return shared;
    }

    void drop_kept() {
        const std::lock_guard lock(mutex_);
        kept_.clear();
        kept_bytes_ = 0;
    }

private:
    static constexpr std::size_t most_kept_bytes = std::size_t{8} << 20;
    std::mutex mutex_;
    std::deque<std::shared_ptr<const ObjectCode>> kept_;
    std::size_t kept_bytes_ = 0;
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

void count(std::int64_t CodeStatistics::*number) {
    const std::lock_guard lock(statistics_mutex);
    ++(statistics.*number);
}

}  // namespace

// CodeQueue: requests to compile, and threads that serve them until the queue is empty.
class CodeQueue {
public:
    // The request, or one of the same key that is at work.
    std::shared_ptr<CodeRequest> add(const std::shared_ptr<CodeRequest>& request) {
        std::unique_lock lock(mutex_);
        std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
        auto& known = known_[{request->key_.high, request->key_.low, request->wants_quick_}];
        if (auto same = known.lock(); same != nullptr && same->error_ == nullptr) return same;
        known = request;
        // One that has quick code by the cache only waits to be optimized.
        const bool urgent = request->codes_.empty();
        (urgent ? waiting_ : later_).push_back(request);
        if (urgent) ++asked_;
        if (!start_thread()) {
            lock.unlock();
            const LeftBehind left;
            work();
        }
        return request;
    }

    void wait_for(CodeRequest& request) {
        using namespace std::chrono_literals;
        constexpr auto soon = 500ms;  // of silence
        const CodeTimer timer;
        const auto begin = std::chrono::steady_clock::now();
        std::int64_t told = -1;
        const auto tell = [](const std::string& text) {
            if (listener != nullptr) listener->show_(text);
        };
        std::unique_lock lock(mutex_);
        const auto at = std::ranges::find(waiting_, &request, &std::shared_ptr<CodeRequest>::get);
        if (at != waiting_.end()) std::rotate(waiting_.begin(), at, at + 1);
        wait_until(
            lock, [&] { return !request.codes_.empty() || request.error_ != nullptr; },
            [&](std::int64_t compiled, std::int64_t asked) {
                if (compiled == told || std::chrono::steady_clock::now() - begin < soon) return;
                tell(fmt::format("compiling kernel {} of {}", compiled + 1, asked));
                told = compiled;
            });
        const std::exception_ptr error = request.codes_.empty() ? request.error_ : nullptr;
        lock.unlock();
        if (told >= 0) tell("");
        if (error) std::rethrow_exception(error);
    }

    void wait_for_all() {
        std::unique_lock lock(mutex_);
        wait_until(
            lock, [this] { return threads_ == 0; }, [](std::int64_t, std::int64_t) {});
    }

private:
    static int most_threads() {
        return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    }
    // Simulations want processors too.
    static int most_optimizing() { return std::max(1, most_threads() / 2); }

    // Waits at interruption points (interruption.hpp), and reports the progress.
    template <class Done, class Tell>
    void wait_until(std::unique_lock<std::mutex>& lock, Done done, Tell tell) {
        while (!made_.wait_for(lock, std::chrono::milliseconds(20), done)) {
            const std::int64_t compiled = compiled_, asked = asked_;
            lock.unlock();
            tell(compiled, asked);
            interruption_point();
            lock.lock();
        }
    }

    // False if there is none, and none can be made.
    bool start_thread() {
        if (threads_ == most_threads()) return true;
        ++threads_;
        try {
            // LLVM must be open before LeftBehind is made: at the end of the process its own clean-up then comes later.
            llvm_info();
            start_without_signals([this, left = std::make_shared<LeftBehind>()] {
                std::thread([this, left] { work(); }).detach();
            });
        } catch (const std::system_error&) {
            if (threads_ == 1) return false;  // the caller works instead
            --threads_;
        }
        return true;
    }

    // LLVM cannot be stopped, and the end of the process does not wait for it.
    void work() {
        std::unique_lock lock(mutex_);
        while (!waiting_.empty() || (!later_.empty() && optimizing_ < most_optimizing())) {
            const bool urgent = !waiting_.empty();
            auto& list = urgent ? waiting_ : later_;
            const std::shared_ptr<CodeRequest> request = std::move(list.front());
            list.pop_front();
            if (request.use_count() > 1) {
                optimizing_ += urgent ? 0 : 1;
                lock.unlock();
                make(*request, urgent && request->wants_quick_, lock);
                optimizing_ -= urgent ? 0 : 1;
                if (urgent && request->wants_quick_ && !request->error_) later_.push_back(request);
            }
            if (urgent && ++compiled_ == asked_) compiled_ = asked_ = 0;
            made_.notify_all();
        }
        --threads_;
        made_.notify_all();
    }

    // Takes the lock.
    static void make(CodeRequest& request, bool quick, std::unique_lock<std::mutex>& lock) {
        std::shared_ptr<const ObjectCode> code;
        std::exception_ptr error;
        try {
            const std::string object =
                compile_llvm(request.text_, quick ? CodeKind::quick_object : CodeKind::object);
            const Hash128& key = quick ? request.quick_key_ : request.key_;
            write_cached(key, object);
            code = in_use.add(key, load(object, request.name_, request.title_));
            if (request.codes_.empty()) count(&CodeStatistics::compiled);
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        if (!quick) request.text_.clear();
        request.error_ = error;
        if (code == nullptr) return;
        request.codes_.push_back(code);
        request.best_.store(code.get(), std::memory_order_release);
    }

    std::mutex mutex_;
    std::condition_variable made_;
    std::deque<std::shared_ptr<CodeRequest>> waiting_, later_;  // later_: to be optimized
    std::map<std::tuple<std::uint64_t, std::uint64_t, bool>, std::weak_ptr<CodeRequest>> known_;
    int threads_ = 0, optimizing_ = 0;
    std::int64_t compiled_ = 0, asked_ = 0;  // since nothing was waiting
};

namespace {

// Its threads may be at work when the process ends.
CodeQueue& queue() {
    static CodeQueue* const one = new CodeQueue;
    return *one;
}

std::shared_ptr<const ObjectCode> find_code(const Hash128& key, const std::string& name,
                                            const std::string& title) {
    if (auto code = in_use.find(key)) return code;
    const auto cached = read_cached(key);
    if (!cached) return nullptr;
    try {
        return in_use.add(key, load(*cached, name, title));
    } catch (const Error& error) {
        log_warning("kernel cache: {}", error.what());
        return nullptr;
    }
}

}  // namespace

const ObjectCode& CodeRequest::wait() {
    queue().wait_for(*this);
    return *best_.load();
}

std::shared_ptr<CodeRequest> request_machine_code(const std::string& text, const std::string& name,
                                                  const std::string& title, std::uint64_t kind,
                                                  Haste haste) {
    constexpr std::size_t long_text = 100000;  // about 50 ms
    const CodeTimer timer;
    static const Hash128 target = code_target();  // asks the processor, which takes long
    const auto key_of = [&](bool quick) {
        Hasher hash;
        hash.integer(kind).integer(target.high).integer(target.low).text(text);
        if (quick) hash.text("quick");
        return hash.digest();
    };
    count(&CodeStatistics::functions);
    auto request = std::make_shared<CodeRequest>();
    const auto found = [&request](std::shared_ptr<const ObjectCode> code) {
        if (code == nullptr) return false;
        request->best_ = code.get();
        request->codes_ = {std::move(code)};
        return true;
    };
    request->key_ = key_of(false);
    if (found(find_code(request->key_, name, title))) return request;
    request->text_ = text, request->name_ = name, request->title_ = title;
    if (haste == Haste::quick && text.size() > long_text) {
        request->wants_quick_ = true;
        request->quick_key_ = key_of(true);
        found(find_code(request->quick_key_, name, title));
    }
    return queue().add(request);
}

void drop_kept_code() { in_use.drop_kept(); }

void wait_for_all_code() { queue().wait_for_all(); }

CodeListener::CodeListener(std::function<void(const std::string&)> show)
    : show_(std::move(show)), outer_(std::exchange(listener, this)) {}

CodeListener::~CodeListener() { listener = outer_; }

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
