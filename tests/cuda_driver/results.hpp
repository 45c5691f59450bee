// The results that the driver gives, with NVIDIA's numbers, names and words.
#pragma once

namespace software_cuda {

#define SOFTWARE_CUDA_RESULTS(R)                                                        \
    R(success, 0, "CUDA_SUCCESS", "no error")                                           \
    R(invalid_value, 1, "CUDA_ERROR_INVALID_VALUE", "invalid argument")                 \
    R(out_of_memory, 2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory")                    \
    R(not_initialized, 3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error")         \
    R(device_unavailable, 46, "CUDA_ERROR_DEVICE_UNAVAILABLE",                          \
      "CUDA-capable device(s) is/are busy or unavailable")                              \
    R(no_device, 100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected")     \
    R(invalid_device, 101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal")       \
    R(invalid_image, 200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid") \
    R(invalid_context, 201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context")     \
    R(no_binary, 209, "CUDA_ERROR_NO_BINARY_FOR_GPU",                                   \
      "no kernel image is available for execution on the device")                       \
    R(invalid_handle, 400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle")      \
    R(illegal_state, 401, "CUDA_ERROR_ILLEGAL_STATE",                                   \
      "the operation cannot be performed in the present state")                         \
    R(not_found, 500, "CUDA_ERROR_NOT_FOUND", "named symbol not found")                 \
    R(not_ready, 600, "CUDA_ERROR_NOT_READY", "device not ready")                       \
    R(illegal_address, 700, "CUDA_ERROR_ILLEGAL_ADDRESS",                               \
      "an illegal memory access was encountered")                                       \
    R(launch_out_of_resources, 701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",               \
      "too many resources requested for launch")                                        \
    R(capture_unsupported, 900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",                \
      "operation not permitted when stream is capturing")                               \
    R(capture_invalidated, 901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",                \
      "operation failed due to a previous error during capture")                        \
    R(capture_merge, 902, "CUDA_ERROR_STREAM_CAPTURE_MERGE",                            \
      "operation would result in a merge of separate capture sequences")                \
    R(capture_unmatched, 903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",                    \
      "capture was not ended in the same stream as it began")                           \
    R(capture_unjoined, 904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",                      \
      "capturing stream has unjoined work")                                             \
    R(capture_isolation, 905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",                    \
      "dependency created on uncaptured work in another stream")                        \
    R(capture_implicit, 906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",                      \
      "operation would make the legacy stream depend on a capturing blocking stream")   \
    R(captured_event, 907, "CUDA_ERROR_CAPTURED_EVENT",                                 \
      "operation not permitted on an event last recorded in a capturing stream")        \
    R(graph_update_failure, 910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",                \
      "the graph update was not performed because it included changes which violated "  \
      "constraints specific to instantiated graph update")                              \
    R(unknown, 999, "CUDA_ERROR_UNKNOWN", "unknown error")

enum Result : int {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name, not an expression
#define SOFTWARE_CUDA_RESULT(result, number, name, words) result = number,
    SOFTWARE_CUDA_RESULTS(SOFTWARE_CUDA_RESULT)
#undef SOFTWARE_CUDA_RESULT
};

}  // namespace software_cuda
