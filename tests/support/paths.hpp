// Absolute paths of this build. They are values, not macros: a source file that holds none of them
// is compiled alike in every clone, so that the compiler cache finds it.
#pragma once

namespace hindcast::test {

extern const char* const source_dir;            // the project's root
extern const char* const program_file;          // build/PRESET/hindcast
extern const char* const software_cuda_driver;  // tests/cuda_driver/README.md
extern const char* const picture_dir;           // window tests leave their screenshots here

}  // namespace hindcast::test
