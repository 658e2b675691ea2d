/*
 * The CUDA runtime as device code and its host see it, on a machine without a GPU: found before NVIDIA's
 * header of this name, it lets a C++17 compiler make the CUDA module. README.md says how device code must be
 * written for that.
 */
#pragma once

/* Before the words of CUDA, some of which the standard library uses as attributes. */
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#define SADDLE_EMULATED 1

#include "device.h"
#include "host.h"
