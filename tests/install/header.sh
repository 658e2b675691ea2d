#!/usr/bin/env bash
# The public header compiles alone, without a warning, as C11 and as C++17.
#
#     header.sh INCLUDE_FOLDER
set -euo pipefail
echo '#include <saddle/saddle.h>' |
    cc -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$1" -fsyntax-only -x c -
echo '#include <saddle/saddle.h>' |
    c++ -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$1" -fsyntax-only -x c++ -
