/* Texts of the status and reason tables, and the version. */
#include "saddle/saddle.h"

#include "commit.h" /* made by cmake/commit.cmake */

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *saddle_version(void)
{
    return TEXT(SADDLE_VERSION_MAJOR) "." TEXT(SADDLE_VERSION_MINOR) "." TEXT(SADDLE_VERSION_PATCH);
}

const char *saddle_commit(void)
{
    return SD_COMMIT;
}

const char *saddle_status_text(saddle_status status)
{
    switch (status) {
#define ROW(name, code, text)                                                                                \
    case name: return text;
        SADDLE_STATUS_TABLE(ROW)
#undef ROW
    }
    return "unknown status";
}

const char *saddle_reason_text(saddle_reason reason)
{
    switch (reason) {
#define ROW(name, text)                                                                                      \
    case name: return text;
        SADDLE_REASON_TABLE(ROW)
#undef ROW
    }
    return "unknown reason";
}
