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

void count(std::int64_t CodeStatistics::*number) {
    const std::lock_guard lock(statistics_mutex);
    ++(statistics.*number);
}

}  // namespace

// What is to be compiled, and the threads that do it. They end when nothing is left.
class CodeQueue {
public:
    std::shared_ptr<CodeRequest> add(const std::string& text, const std::string& name,
                                     const std::string& title, const Hash128& key) {
        std::unique_lock lock(mutex_);
        std::weak_ptr<CodeRequest>& known = known_[{key.high, key.low}];
        if (auto request = known.lock(); request != nullptr && request->error_ == nullptr)
            return request;
        std::erase_if(known_, [&](const auto& entry) {
            return entry.second.expired() && &entry.second != &known;
        });
        auto request = std::make_shared<CodeRequest>();
        known = request;
        request->text_ = text, request->name_ = name, request->title_ = title;
        request->key_ = key;
        waiting_.push_back(request);
        ++asked_;
        if (threads_ < most_threads()) {
            ++threads_;
            try {
                start_without_signals([this] { std::thread([this] { work(); }).detach(); });
            } catch (const std::system_error&) {  // no more threads
                if (threads_ > 1) return --threads_, request;
                lock.unlock();
                work();
            }
        }
        return request;
    }

    void wait_for(CodeRequest& request) {
        using namespace std::chrono_literals;
        constexpr auto between = 20ms, soon = 500ms;  // questions of whoever waits; silence
        const CodeTimer timer;
        const auto begin = std::chrono::steady_clock::now();
        std::int64_t told = -1;
        const auto tell = [&](const std::string& text) {
            if (listener != nullptr) listener->show_(text);
        };
        std::unique_lock lock(mutex_);
        const auto at = std::ranges::find(waiting_, &request, &std::shared_ptr<CodeRequest>::get);
        if (at != waiting_.end()) std::rotate(waiting_.begin(), at, at + 1);
        const auto is_done = [&] { return request.state_ == CodeRequest::State::done; };
        while (!made_.wait_for(lock, between, is_done)) {
            const std::int64_t compiled = compiled_, asked = asked_;
            lock.unlock();
            if (compiled != told && std::chrono::steady_clock::now() - begin > soon) {
                tell(fmt::format("compiling kernel {} of {}", compiled + 1, asked));
                told = compiled;
            }
            interruption_point();
            lock.lock();
        }
        lock.unlock();
        if (told >= 0) tell("");
        if (request.error_) std::rethrow_exception(request.error_);
    }

private:
    static int most_threads() {
        return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    }
    // LLVM cannot be stopped, and nobody waits for it at the end of the process.
    void work() {
        const LeftBehind left;
        std::unique_lock lock(mutex_);
        while (!waiting_.empty()) {
            const std::shared_ptr<CodeRequest> request = std::move(waiting_.front());
            waiting_.pop_front();
            if (request.use_count() > 1) {
                request->state_ = CodeRequest::State::at_work;
                lock.unlock();
                std::shared_ptr<const ObjectCode> code;
                std::exception_ptr error;
                try {
                    const std::string object = compile_llvm(request->text_, CodeKind::object);
                    write_cached(request->key_, object);
                    code = in_use.add(request->key_, load(object, request->name_, request->title_));
                    count(&CodeStatistics::compiled);
                } catch (...) {
                    error = std::current_exception();
                }
                lock.lock();
                request->text_.clear();
                request->code_ = code;
                request->is_made_ = code != nullptr;
                request->error_ = error;
                request->state_ = CodeRequest::State::done;
            }
            if (++compiled_ == asked_) compiled_ = asked_ = 0;
            made_.notify_all();
        }
        --threads_;
    }

    std::mutex mutex_;
    std::condition_variable made_;
    std::deque<std::shared_ptr<CodeRequest>> waiting_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::weak_ptr<CodeRequest>> known_;
    int threads_ = 0;
    std::int64_t compiled_ = 0, asked_ = 0;  // since nothing was waiting or at work
};

namespace {

// Its threads may be at work when the process ends.
CodeQueue& queue() {
    static CodeQueue* const one = new CodeQueue;
    return *one;
}

}  // namespace

const ObjectCode& CodeRequest::get() {
    if (!is_made_) queue().wait_for(*this);
    return *code_;
}

std::shared_ptr<CodeRequest> request_machine_code(const std::string& text, const std::string& name,
                                                  const std::string& title, std::uint64_t kind) {
    const CodeTimer timer;
    static const Hash128 target = code_target();  // asks the processor, which takes long
    Hasher hash;
    hash.integer(kind).integer(target.high).integer(target.low).text(text);
    const Hash128 key = hash.digest();
    count(&CodeStatistics::functions);
    std::shared_ptr<const ObjectCode> code = in_use.find(key);
    if (code == nullptr)
        if (const auto cached = read_cached(key)) {
            try {
                code = in_use.add(key, load(*cached, name, title));
            } catch (const Error& error) {
                log_warning("kernel cache: {}", error.what());
            }
        }
    if (code == nullptr) return queue().add(text, name, title, key);
    return std::make_shared<CodeRequest>(code);
}

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
