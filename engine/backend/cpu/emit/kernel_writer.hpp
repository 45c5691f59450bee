// KernelWriter: a planned kernel as LLVM text: its pure ops, its branches and loops.
//
// Six layers lie below, each a class that knows only those under it:
//     TextWriter      lines, blocks, variables             text_writer.cpp
//     LaneWriter      vectors: masks, shuffles, memory     lane_writer.cpp
//     ValueWriter     values of the kernel, bindings       value_writer.cpp
//     ElementWriter   elements of buffers                  elements.cpp, by_lane.cpp, stencil.cpp
//     FixedWriter     accumulation in fixed point          fixed.cpp
//     SumWriter       other sums, local arrays             sums.cpp
//     KernelWriter    pure ops; branches and loops         kernel_writer.cpp; control.cpp
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/backend/cpu/emit/sum_writer.hpp"

namespace hindcast::backend::cpu {

class KernelWriter : protected SumWriter {
public:
    explicit KernelWriter(const Plan& plan, const Embedding* embedding = nullptr)
        : SumWriter(plan, embedding) {}
    std::string module();
    EmbeddedFunction function();

private:
    void record();
    void op(Value v, const Op& op);
    void pure_op(Value v, const Op& op);
    bool keeps_consecutive(Value v, const Op& op);
    std::string from_table(const char* row, const Op& op, bool as_scalar);
    std::string convert(const Op& op, bool as_scalar);
    std::string divide(const Op& op, bool as_scalar);

    void region(int r, std::size_t from = 0, std::size_t to = SIZE_MAX);
    void if_uniform(const Op& op);
    void if_varying(const Op& op);
    void for_loop(Value v, const Op& op);
    void while_loop(Value v, const Op& op);
    bool is_cheap(int r) const;
    std::vector<Variable> carried(const Op& op);
    void read_arguments(const Op& op, const std::vector<Variable>& variables);
    void write_yields(const Op& op, const std::vector<Variable>& variables, bool masked);
    void define_results(const Op& op, const std::vector<Variable>& variables);
};

}  // namespace hindcast::backend::cpu
