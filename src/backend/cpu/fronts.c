/*
 * The CPU's kernels on fronts for one instruction set: compiled once for every processor and once more for
 * each of AVX2 and AVX-512 (CMakeLists.txt), as SD_FRONT_TABLE; cpu.c chooses. Results may differ in their
 * last bits between instruction sets, never between runs on one processor.
 */
#include "backend/cpu/cpu.h"
#include "backend/front.h"

const sd_front_kernels SD_FRONT_TABLE[2] = {{0}};
