/* What happened: filling in a caller's info, of whatever version. The table is in saddle.h. */
#pragma once

#include "core/context.h"

/* Nothing is known yet. */
extern const saddle_info sd_info_unknown;

/* Fills in a caller's info, of whatever length its size says; its history array stays where it is. */
void sd_info_give(const saddle_info *ours, saddle_info *to);

/* Whether a caller's info is long enough to keep residuals. */
bool sd_info_has_history(const saddle_info *info);
