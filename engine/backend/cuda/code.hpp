// Code: the functions that are loaded into a context.
//
//     const Function& f = context.code().declare(name, text);
//     context.code().make();      // all that were declared until then, together
//     context.launch(f, ...);
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend/cuda/driver.hpp"
#include "engine/backend/cuda/tuner.hpp"

namespace hindcast::backend::cuda {

class Context;

// A function of the device; without a handle until Code::make().
struct Function {
    std::string name;
    std::string text = {};  // of what is tuned
    FunctionHandle handle = nullptr;
    int threads = 0, blocks = 0;  // by occupancy: of a block, and as many as run at once
    std::unique_ptr<Tuner> tuner = {};
    std::unique_ptr<Function> strided = {};  // once it is tried
};

class Code {
public:
    explicit Code(Context& context) : context_(context) {}
    Code(const Code&) = delete;
    Code& operator=(const Code&) = delete;
    void unload();  // while the context is there

    // The function of this name (emit.hpp), its code made with the next make(). Names stand for
    // texts: a known name keeps its first text.
    const Function& declare(const std::string& name, const std::string& text);
    void make();
    // Told of what is about to be compiled, by name; an Error that it throws goes through.
    using Look = std::function<void(const std::map<std::string, std::string>& texts)>;
    void look_at(Look look) { look_ = std::move(look); }
    const Function& phase(const std::string& name);     // one of phases.hpp
    const Function& strided(const Function& function);  // compiled when it is first tried

private:
    ModuleHandle load(const std::string& text);
    void find(Function& function, ModuleHandle module) const;

    Context& context_;
    std::map<std::string, std::unique_ptr<Function>> functions_;
    std::map<std::string, std::string> declared_;  // texts without code yet
    Look look_;
    std::vector<ModuleHandle> modules_;
    ModuleHandle phases_ = nullptr;
};

}  // namespace hindcast::backend::cuda
