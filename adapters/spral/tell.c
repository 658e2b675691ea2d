/* Flags, and what is printed: on the units of Fortran that the options name. */
#include "adapters/spral/keep.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

static const char *text_of(int flag)
{
#define SSIDS_TEXT_ROW(name, number, text)                                                                   \
    case number: return text;
    switch (flag) {
        SSIDS_FLAG_TABLE(SSIDS_TEXT_ROW)
    default: return "";
    }
#undef SSIDS_TEXT_ROW
}

int ssids_flag_of(saddle_status status)
{
    switch (status) {
    case SADDLE_OK: return SSIDS_SUCCESS;
    case SADDLE_OUT_OF_MEMORY:
    case SADDLE_MEMORY_LIMIT: return SSIDS_ALLOCATION;
    case SADDLE_BAD_MATRIX: return SSIDS_PTR;
    case SADDLE_SINGULAR: return SSIDS_SINGULAR;
    case SADDLE_NOT_DEFINITE: return SSIDS_NOT_DEFINITE;
    case SADDLE_WRONG_ORDER: return SSIDS_CALL_SEQUENCE;
    case SADDLE_NO_DEVICE:
    case SADDLE_DEVICE_FAILED: return SSIDS_CUDA;
    default: return SSIDS_UNKNOWN;
    }
}

int ssids_int(int64_t count)
{
    return count > INT_MAX ? INT_MAX : (int)count;
}

/* Other units are files to Fortran; here they are standard error. */
static FILE *stream_of(int unit)
{
    return unit < 0 ? NULL : unit == 6 ? stdout : stderr;
}

void ssids_tell(const char *call, const ssids_options *options, int flag, const char *message,
                ssids_inform *inform)
{
    inform->flag = flag;
    if (flag == SSIDS_ALLOCATION) inform->stat = ENOMEM;
    FILE *const to = stream_of(flag < 0 ? options->unit_error : options->unit_warning);
    if (flag == 0 || options->print_level < 0 || !to) return;
    const bool more = message && *message;
    fprintf(to, "%s: %s %d: %s%s%s\n", call, flag < 0 ? "error" : "warning", flag, text_of(flag),
            more ? ": " : "", more ? message : "");
}

void ssids_note(const ssids_options *options, bool print, const char *format, ...)
{
    FILE *const to = stream_of(options->unit_diagnostics);
    va_list items;
    if (!to || (options->print_level < 1 && !print)) return;
    va_start(items, format);
    fprintf(to, "Saddle %s, SSIDS interface: ", saddle_version());
    vfprintf(to, format, items);
    fputc('\n', to);
    va_end(items);
}
