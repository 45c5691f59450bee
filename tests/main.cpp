// Entry point of the test program. The listener counts test cases and closes the output with one
// line that tests/run reads and adds up:
//
//     hindcast_tests: 12 passed, 0 failed, 1 skipped
//
// A failed case also prints a line that starts with "failed: ", with the first assertion that did
// not hold; tests/run repeats these lines at its end.
//
// A case is skipped when it states a reason (tests/support/skip.hpp); a case that checked something
// and failed counts as failed even if it was skipped afterward.
//
// The CUDA device of the tests is the driver in software (tests/cuda_driver), unless
// HINDCAST_CUDA_DRIVER and HINDCAST_NVRTC name others.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

#include "tests/support/paths.hpp"
#include "tests/support/skip.hpp"

namespace {

// One test case runs at a time, on the main thread.
std::string current_test;
bool current_skipped = false;

class Counter : public doctest::IReporter {
public:
    explicit Counter(const doctest::ContextOptions& options) : options_(options) {}

    void test_case_start(const doctest::TestCaseData& data) override {
        current_test = data.m_name;
        current_skipped = false;
        std::lock_guard lock(first_failure_mutex_);
        first_failure_.clear();
    }

    void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
        // Cases filtered out on the command line never get here.
        if (!stats.testCaseSuccess) {
            ++failed_;
            std::lock_guard lock(first_failure_mutex_);
            std::printf("failed: %s: %s\n", current_test.c_str(), first_failure_.c_str());
        } else if (current_skipped) {
            ++skipped_;
        } else {
            ++passed_;
        }
        if (stats.seconds > slow_seconds) {
            std::printf("slow: %.1f s: %s\n", stats.seconds, current_test.c_str());
        }
    }

    void test_run_end(const doctest::TestRunStats&) override {
        if (options_.count || options_.list_test_cases || options_.list_test_suites) return;
        std::printf("hindcast_tests: %d passed, %d failed, %d skipped\n", passed_, failed_,
                    skipped_);
        std::fflush(stdout);
    }

    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_exception(const doctest::TestCaseException& exception) override {
        note_failure(exception.error_string.c_str());
    }
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData& data) override {
        if (!data.m_failed) return;
        std::string text = data.m_file;
        text += ":" + std::to_string(data.m_line) + ": " + data.m_expr;
        if (data.m_decomp.size() > 0) text += std::string(", ") + data.m_decomp.c_str();
        if (data.m_exception.size() > 0) text += std::string(": ") + data.m_exception.c_str();
        note_failure(text);
    }
    void log_message(const doctest::MessageData& data) override {
        if (data.m_severity & doctest::assertType::is_warn) return;
        note_failure(std::string(data.m_file) + ":" + std::to_string(data.m_line) + ": " +
                     data.m_string.c_str());
    }
    void test_case_skipped(const doctest::TestCaseData&) override {}

private:
    // Only the first failure of a case is kept, on one line. Other threads may assert, too.
    void note_failure(std::string text) {
        std::lock_guard lock(first_failure_mutex_);
        if (!first_failure_.empty()) return;
        std::replace(text.begin(), text.end(), '\n', ' ');
        first_failure_ = std::move(text);
    }

    static constexpr double slow_seconds = 5.0;
    const doctest::ContextOptions& options_;
    int passed_ = 0, failed_ = 0, skipped_ = 0;
    std::mutex first_failure_mutex_;
    std::string first_failure_;
};

}  // namespace

void hindcast::test::skip(const std::string& reason) {
    current_skipped = true;
    std::printf("skipped: %s: %s\n", current_test.c_str(), reason.c_str());
}

DOCTEST_REGISTER_LISTENER("counter", 1, Counter);

int main(int argc, char** argv) {
    constexpr int keep = 0;
    ::setenv("HINDCAST_CUDA_DRIVER", hindcast::test::software_cuda_driver, keep);
    ::setenv("HINDCAST_NVRTC", hindcast::test::software_cuda_driver, keep);
    return doctest::Context(argc, argv).run();
}
