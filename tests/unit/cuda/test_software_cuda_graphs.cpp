// The CUDA driver in software (tests/cuda_driver): capture and graphs.
#include <set>
#include <string>
#include <vector>

#include "tests/cuda_driver/machine.hpp"

using namespace hindcast;
using namespace hindcast::test;
using backend::cuda::GraphNode;
using backend::cuda::GraphUpdate;

namespace {

// A machine with streams to capture.
struct Capturing : Machine {
    StreamHandle s, t;
    EventHandle forked, joined;
    Address at;

    explicit Capturing(const std::string& settings = "")
        : Machine(settings),
          s(stream()),
          t(stream()),
          forked(event()),
          joined(event()),
          at(memory(8, s)) {
        driver.MemsetD8Async(at, 0, 8, s);
        driver.StreamSynchronize(s);
    }
    void begin() const { REQUIRE(driver.StreamBeginCapture(s, 2) == 0); }
    GraphHandle end() const {
        GraphHandle graph = nullptr;
        REQUIRE(driver.StreamEndCapture(s, &graph) == 0);
        return graph;
    }
    GraphExecHandle instantiate(GraphHandle graph) const {
        GraphExecHandle made = nullptr;
        REQUIRE(driver.GraphInstantiate(&made, graph, 0) == 0);
        return made;
    }
    std::size_t nodes(GraphHandle graph) const {
        std::size_t count = 0;
        REQUIRE(driver.GraphGetNodes(graph, nullptr, &count) == 0);
        return count;
    }
    void append(StreamHandle in, int digit) { REQUIRE(one_thread("append", in, at, digit) == 0); }
    void fork() const {
        REQUIRE(driver.EventRecord(forked, s) == 0);
        REQUIRE(driver.StreamWaitEvent(t, forked, 0) == 0);
    }
    void join() const {
        REQUIRE(driver.EventRecord(joined, t) == 0);
        REQUIRE(driver.StreamWaitEvent(s, joined, 0) == 0);
    }
    long long value() { return read<long long>(at, 1, s)[0]; }
};

}  // namespace

TEST_CASE("Software CUDA: what is captured runs when its graph is launched, as often as that") {
    HINDCAST_NEEDS_COMPILER();
    Capturing m;
    int* const in = m.host<int>(2);
    int* const out = m.host<int>(1);
    m.begin();
    CHECK(m.driver.StreamBeginCapture(m.s, 2) == 401);
    m.append(m.s, 1);
    CHECK(m.driver.MemcpyHtoDAsync(m.at + 4, in, 4, m.s) == 0);
    m.append(m.s, 2);
    CHECK(m.driver.MemcpyDtoHAsync(out, m.at, 4, m.s) == 0);
    const GraphHandle graph = m.end();
    CHECK(m.nodes(graph) == 4);
    std::size_t room = 6;
    std::vector<GraphNode> nodes(room, reinterpret_cast<GraphNode>(in));
    CHECK(m.driver.GraphGetNodes(graph, nodes.data(), &room) == 0);
    CHECK(room == 4);
    CHECK(std::set<GraphNode>(nodes.begin(), nodes.begin() + 4).size() == 4);
    CHECK(nodes[5] == nullptr);
    CHECK(m.value() == 0);
    const GraphExecHandle executable = m.instantiate(graph);
    CHECK(m.driver.GraphDestroy(graph) == 0);
    CHECK(m.driver.GraphDestroy(graph) == 1);
    *in = 0;
    for (int k = 0; k < 3; ++k) CHECK(m.driver.GraphLaunch(executable, m.s) == 0);
    m.driver.StreamSynchronize(m.s);
    CHECK(*out == 121212);
    CHECK(m.count("launches") == 0);
    CHECK(m.count("graph_launches") == 3);
    CHECK(m.count("nodes") == 12);
    *in = 1;  // is read by each launch
    CHECK(m.driver.GraphLaunch(executable, m.s) == 0);
    CHECK(m.driver.GraphExecDestroy(executable) == 0);  // what was launched runs
    CHECK(m.driver.GraphLaunch(executable, m.s) == 400);
    CHECK(m.value() == ((1ll << 32) + 1212121) * 10 + 2);
    CHECK(m.driver.StreamEndCapture(m.s, nullptr) == 1);
    GraphHandle none = nullptr;
    CHECK(m.driver.StreamEndCapture(m.s, &none) == 401);
}

TEST_CASE("Software CUDA: launches of one graph follow one another, in whatever streams") {
    HINDCAST_NEEDS_COMPILER();
    for (int seed = 1; seed <= 20; ++seed) {
        Capturing m("seed=" + std::to_string(seed));
        m.begin();
        for (int digit = 1; digit < 4; ++digit) m.append(m.s, digit);
        const GraphExecHandle executable = m.instantiate(m.end());
        for (int k = 0; k < 4; ++k) m.driver.GraphLaunch(executable, k % 2 == 0 ? m.s : m.t);
        m.driver.CtxSynchronize();
        CHECK(m.value() == 123123123123);
    }
}

TEST_CASE("Software CUDA: an update changes arguments, addresses and sizes, and nothing else") {
    HINDCAST_NEEDS_COMPILER();
    Capturing m;
    const Address other = m.memory(8, m.s);
    const auto capture = [&](Address at, int digit, unsigned value) {
        m.begin();
        m.driver.MemsetD32Async(at, value, 2, m.s);
        m.one_thread("append", m.s, at, digit);
        return m.end();
    };
    const GraphHandle first = capture(m.at, 1, 0), second = capture(other, 2, 1);
    const GraphExecHandle executable = m.instantiate(first);
    GraphUpdate result;
    CHECK(m.driver.GraphLaunch(executable, m.s) == 0);  // is not changed any more
    CHECK(m.driver.GraphExecUpdate(executable, second, &result) == 0);
    CHECK(result.result == 0);
    CHECK(m.driver.GraphLaunch(executable, m.s) == 0);
    CHECK(m.value() == 1);
    CHECK(m.read<long long>(other, 1, m.s)[0] == ((1ll << 32) + 1) * 10 + 2);

    m.begin();  // one more node
    m.driver.MemsetD32Async(m.at, 0, 2, m.s);
    m.append(m.s, 1);
    m.append(m.s, 1);
    CHECK(m.driver.GraphExecUpdate(executable, m.end(), &result) == 910);
    CHECK(result.result == 2);

    m.begin();  // other dependencies
    m.fork();
    m.driver.MemsetD32Async(m.at, 0, 2, m.t);
    m.append(m.s, 1);
    m.join();
    CHECK(m.driver.GraphExecUpdate(executable, m.end(), &result) == 910);
    CHECK(result.result == 2);
    CHECK(result.node != nullptr);

    m.begin();  // another kind
    m.append(m.s, 1);
    m.append(m.s, 1);
    CHECK(m.driver.GraphExecUpdate(executable, m.end(), &result) == 910);
    CHECK(result.result == 3);

    m.begin();  // another function
    m.driver.MemsetD32Async(m.at, 0, 2, m.s);
    m.one_thread("put", m.s, m.at, 5);
    CHECK(m.driver.GraphExecUpdate(executable, m.end(), &result) == 910);
    CHECK(result.result == 4);

    CHECK(m.driver.GraphLaunch(executable, m.s) == 0);  // as it was
    CHECK(m.read<long long>(other, 1, m.s)[0] == ((1ll << 32) + 1) * 10 + 2);
}

TEST_CASE("Software CUDA: a capture takes in the streams that wait for it") {
    HINDCAST_NEEDS_COMPILER();
    std::set<long long> values;
    for (int seed = 1; seed <= 20; ++seed) {
        Capturing m("seed=" + std::to_string(seed));
        m.begin();
        m.append(m.s, 1);
        m.fork();
        m.append(m.t, 2);  // these two in any order
        m.append(m.s, 3);
        m.join();
        m.append(m.s, 4);
        const GraphHandle graph = m.end();
        CHECK(m.nodes(graph) == 4);
        CHECK(m.driver.GraphLaunch(m.instantiate(graph), m.s) == 0);
        values.insert(m.value());
        m.append(m.t, 5);  // its capture is over
        m.driver.StreamSynchronize(m.t);
        CHECK(m.value() % 10 == 5);
        CHECK(m.driver.StreamWaitEvent(m.t, m.forked, 0) == 907);
        CHECK(m.driver.EventQuery(m.forked) == 907);
        CHECK(m.driver.EventRecord(m.forked, m.t) == 0);
        CHECK(m.driver.EventSynchronize(m.forked) == 0);
    }
    CHECK(values == std::set<long long>{1234, 1324});
}

TEST_CASE("Software CUDA: a capture ends in its stream, with all others joined") {
    HINDCAST_NEEDS_COMPILER();
    Capturing m;
    GraphHandle graph = nullptr;
    m.begin();
    m.fork();
    m.append(m.t, 1);
    CHECK(m.driver.StreamEndCapture(m.s, &graph) == 904);
    CHECK(graph == nullptr);

    m.begin();  // joined, and then more
    m.fork();
    m.append(m.t, 1);
    m.join();
    m.append(m.t, 1);
    CHECK(m.driver.StreamEndCapture(m.s, &graph) == 904);

    m.begin();
    m.fork();
    m.append(m.t, 1);
    CHECK(m.driver.StreamEndCapture(m.t, &graph) == 903);
    CHECK(m.driver.StreamEndCapture(m.s, &graph) == 901);

    m.begin();  // without work there is nothing to join
    m.fork();
    CHECK(m.nodes(m.end()) == 0);
    m.append(m.s, 7);
    CHECK(m.value() == 7);
}

TEST_CASE("Software CUDA: what no captured stream can have ends the capture") {
    HINDCAST_NEEDS_COMPILER();
    Capturing m;
    GraphHandle graph = nullptr;
    int host = 0;
    Address more = 0;
    const EventHandle outside = m.event();
    const StreamHandle other = m.stream(), blocking = m.stream(0);
    m.one_thread("put", other, m.at, 0);
    m.driver.EventRecord(outside, other);
    m.begin();
    m.append(m.s, 1);
    const GraphExecHandle executable = m.instantiate(m.end());
    const auto ends_with = [&](int result, const auto& action) {
        m.begin();
        m.append(m.s, 1);
        CHECK(action() == result);
        CHECK(m.one_thread("append", m.s, m.at, 2) == 901);
        CHECK(m.driver.StreamEndCapture(m.s, &graph) == 901);
        CHECK(graph == nullptr);
    };
    ends_with(900, [&] { return m.driver.StreamSynchronize(m.s); });
    ends_with(900, [&] { return m.driver.CtxSynchronize(); });
    ends_with(900, [&] { return m.driver.MemcpyDtoHAsync(&host, m.at, 4, m.s); });
    ends_with(900, [&] { return m.driver.MemcpyHtoDAsync(m.at, &host, 4, m.s); });
    ends_with(900, [&] { return m.driver.MemAllocAsync(&more, 4, m.s); });
    ends_with(900, [&] { return m.driver.MemFreeAsync(m.at, m.s); });
    ends_with(900, [&] { return m.driver.GraphLaunch(executable, m.s); });
    ends_with(900, [&] { return m.driver.StreamDestroy(m.s); });
    ends_with(905, [&] { return m.driver.StreamWaitEvent(m.s, outside, 0); });
    ends_with(907, [&] {
        m.driver.EventRecord(m.forked, m.s);
        return m.driver.EventQuery(m.forked);
    });
    ends_with(907, [&] {
        m.driver.EventRecord(m.forked, m.s);
        return m.driver.EventSynchronize(m.forked);
    });
    CHECK(m.driver.StreamBeginCapture(nullptr, 2) == 900);

    // Other streams work on, and their events.
    m.begin();
    CHECK(m.driver.StreamSynchronize(other) == 0);
    CHECK(m.driver.EventSynchronize(outside) == 0);
    CHECK(m.driver.MemAllocAsync(&more, 4, other) == 0);
    CHECK(m.driver.StreamWaitEvent(m.s, m.event(), 0) == 0);  // never recorded
    m.append(m.s, 1);
    m.end();

    // Two captures cannot be one, and the default stream cannot wait for one.
    m.begin();
    CHECK(m.driver.StreamBeginCapture(m.t, 2) == 0);
    m.driver.EventRecord(m.forked, m.s);
    CHECK(m.driver.StreamWaitEvent(m.t, m.forked, 0) == 902);
    CHECK(m.driver.StreamEndCapture(m.s, &graph) == 901);
    CHECK(m.driver.StreamEndCapture(m.t, &graph) == 901);
    CHECK(m.driver.StreamBeginCapture(blocking, 2) == 0);
    CHECK(m.one_thread("append", nullptr, m.at, 2) == 906);
    CHECK(m.driver.StreamEndCapture(blocking, &graph) == 901);
    CHECK(m.value() == 0);
}

TEST_CASE("Software CUDA: a graph whose memory is gone, and one with a launch that fails") {
    HINDCAST_NEEDS_COMPILER();
    {
        Capturing m;
        const Address brief = m.memory(8, m.s);
        m.begin();
        m.driver.MemsetD8Async(brief, 0, 8, m.s);
        const GraphExecHandle executable = m.instantiate(m.end());
        m.driver.MemFreeAsync(brief, m.s);
        CHECK(m.driver.GraphLaunch(executable, m.s) == 0);
        CHECK(m.driver.StreamSynchronize(m.s) == 700);
    }
    Capturing m("sticky=2");
    m.begin();
    for (int k = 0; k < 3; ++k) m.append(m.s, 1);
    const GraphExecHandle executable = m.instantiate(m.end());
    CHECK(m.driver.GraphLaunch(executable, m.s) == 0);
    CHECK(m.driver.StreamSynchronize(m.s) == 700);
    CHECK(m.count("executed_launches") == 2);
    CHECK(m.driver.GraphLaunch(executable, m.s) == 700);
}
