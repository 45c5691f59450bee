// Streams and events of a context, and the order between them: its own streams, those of other
// libraries, and the work of the host.
#include <algorithm>
#include <utility>

#include "engine/backend/cuda/context.hpp"
#include "engine/base/error.hpp"

namespace hindcast::backend::cuda {

// ---------------------------------------------------------------- handles

Stream::Stream(std::shared_ptr<Context> context) : context_(std::move(context)) {
    const Context::Lock held = context_->lock();
    context_->check(context_->here().StreamCreate(&handle_, non_blocking_stream), "a stream");
    context_->others_.push_back(handle_);
    context_->hold_others();
}

Stream::Stream(std::shared_ptr<Context> context, StreamHandle theirs, std::shared_ptr<void> alive)
    : context_(std::move(context)), handle_(theirs), is_own_(false), alive_(std::move(alive)) {
    const Context::Lock held = context_->lock();
    context_->check(context_->here().EventCreate(&done_, untimed_event), "an event");
    context_->theirs_.push_back(this);
}

Stream::~Stream() {
    const Context::Lock held = context_->lock();
    context_->forget(*this);
    const Driver& d = context_->here();
    if (done_ != nullptr) d.EventDestroy(done_);
    if (!is_own_) return;
    d.StreamSynchronize(handle_);
    d.StreamDestroy(handle_);
}

Event::Event(std::shared_ptr<Context> context, StreamHandle stream) : context_(std::move(context)) {
    const Context::Lock held = context_->lock();
    const Driver& d = context_->here();
    context_->check(d.EventCreate(&handle_, untimed_event), "an event");
    context_->check(d.EventRecord(handle_, stream), "recording an event");
}

Event::~Event() {
    const Context::Lock held = context_->lock();
    context_->here().EventDestroy(handle_);
}

bool Event::done() const {
    const Context::Lock held = context_->lock();
    const int result = context_->here().EventQuery(handle_);
    if (result != not_ready) context_->check(result, "an event's state");
    return result == success;
}

void Event::hold_back(StreamHandle stream) const {
    const Context::Lock held = context_->lock();
    context_->check(context_->here().StreamWaitEvent(stream, handle_, 0), "waiting for an event");
}

// ---------------------------------------------------------------- threads

Context::Lock::Lock(const Context& context) : held_(context.mutex_) {
    ContextHandle current = nullptr;
    driver().CtxGetCurrent(&current);
    if (current != context.handle_) theirs_ = current;
}

Context::Lock::~Lock() {
    if (theirs_ != nullptr) driver().CtxSetCurrent(theirs_);
}

// ---------------------------------------------------------------- order

void Context::join(StreamHandle stream) {
    const Driver& d = here();
    check(d.EventRecord(order_, stream), "recording an event");
    check(d.StreamWaitEvent(stream_, order_, 0), "waiting for an event");
}

void Context::join_others() {
    if (capturing_ || captured_ != nullptr) return;  // the graph itself waits
    for (const StreamHandle other : others_) join(other);
    for (const Stream* stream : theirs_)
        if (stream->is_used_)
            check(here().StreamWaitEvent(stream_, stream->done_, 0), "waiting for an event");
    if (followed_ != nullptr) join(followed_);
}

void Context::hold(StreamHandle stream) {
    check(here().StreamWaitEvent(stream, order_, 0), "waiting for an event");
}

void Context::hold_others() {
    if ((others_.empty() && followed_ == nullptr) || capturing_ || captured_ != nullptr) return;
    check(here().EventRecord(order_, stream_), "recording an event");
    for (const StreamHandle other : others_) hold(other);
    if (followed_ != nullptr) hold(followed_);
}

// Work on the stream still comes before the host's next work.
void Context::forget(const Stream& stream) noexcept {
    try {
        if (stream.is_own_ || stream.is_used_) join_others();
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): whoever waits next is told
    }
    std::erase(others_, stream.handle_);
    std::erase(theirs_, &stream);
}

void Context::wait_for(StreamHandle theirs) {
    const Lock held = lock();
    const Driver& d = here();
    check(d.EventRecord(order_, theirs), "recording an event on a stream of another library");
    check(d.StreamWaitEvent(stream_, order_, 0), "waiting for an event");
    hold_others();
}

void Context::let_wait(StreamHandle theirs) {
    const Lock held = lock();
    join_others();
    const Driver& d = here();
    check(d.EventRecord(order_, stream_), "recording an event");
    check(d.StreamWaitEvent(theirs, order_, 0), "letting a stream of another library wait");
}

bool Context::is_captured(StreamHandle theirs) const {
    const Lock held = lock();
    int status = 0;
    check(here().StreamIsCapturing(theirs, &status), "the state of a stream of another library");
    return status != 0;
}

Context::Following::Following(Context& context, const Stream* stream)
    : lock_(context.lock()),
      context_(context),
      captured_before_(context.captured_),
      followed_before_(context.followed_) {
    if (stream == nullptr || stream->is_own()) return;
    if (context.is_captured(stream->handle())) {
        context.captured_ = stream->handle();
        return;
    }
    context.followed_ = stream->handle();
    try {
        context.hold_others();
    } catch (...) {
        context.followed_ = followed_before_;
        throw;
    }
    stream_ = stream;
}

Context::Following::~Following() {
    context_.captured_ = captured_before_;
    context_.followed_ = followed_before_;
    if (stream_ == nullptr) return;
    context_.here().EventRecord(stream_->done_, stream_->handle());
    stream_->is_used_ = true;
}

void Context::refuse_while_captured() const {
    if (captured_ == nullptr || rehearsing_) return;
    throw Error("the stream is captured, and this needs code, memory or values of the host")
        .remedy("run it once before the capture begins");
}

}  // namespace hindcast::backend::cuda
