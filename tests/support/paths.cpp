#include "tests/support/paths.hpp"

namespace hindcast::test {

const char* const source_dir = HINDCAST_SOURCE_DIR;
const char* const program_file = HINDCAST_BINARY_DIR "/hindcast";
const char* const software_cuda_driver = HINDCAST_BINARY_DIR "/libhindcast_test_cuda_driver.so";
const char* const picture_dir = HINDCAST_BINARY_DIR "/gui";

}  // namespace hindcast::test
