/* Options as the library takes them from a caller: checked against the table in saddle.h. */
#ifndef SD_OPTIONS_H
#define SD_OPTIONS_H

#include "core/context.h"

/* Copies the caller's options (NULL: the defaults) and checks every one against its range. */
saddle_status sd_options_take(sd_context *c, const saddle_options *from, saddle_options *to);

#endif
