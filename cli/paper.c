/* See paper.h. */
#include "cli/paper.h"

#include "cli/command.h"

#include <string.h>

typedef struct setting {
    const char *option, *value;
    bool swept; /* of the sweeps alone */
} setting;

static const setting settings[] = {
    {"fill", "none", false},       {"blocking", "grid", false}, {"block-size", "32", false},
    {"order", "rcm", false},       {"pairs", "off", false},     {"scaling", "mc64", false},
    {"small-pivot", "0.1", false}, {"krylov", "gmres", false},  {"restart", "25", false},
    {"maxiter", "100", false},     {"sweeps", "8", true},       {"sweep-order", "block", true},
    {"relax", "0.95", true},       {"fallback", "none", true},
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

saddle_status paper_set(saddle_options *o, bool exact, char *message)
{
    saddle_status status = saddle_options_set(o, "method", exact ? "ldlt" : "jacobi", message);
    for (int k = 0; k < SETTINGS && status == SADDLE_OK; ++k)
        if (!(exact && settings[k].swept))
            status = saddle_options_set(o, settings[k].option, settings[k].value, message);
    return status;
}

static int settle(arguments *a, const char *name, const char *value)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    if (argument_given(a, name)) return EXIT_DONE;
    for (int k = 0; k < a->option_count; ++k)
        if (strcmp(a->options[k].is.name, name) == 0) a->given[k] = value;
    if (saddle_options_set(&a->library, name, value, message) == SADDLE_OK) return EXIT_DONE;
    return usage_error(a, "--paper: %s", message);
}

int paper_settle(arguments *a)
{
    if (!argument_given(a, "paper")) return EXIT_DONE;
    int status = settle(a, "method", "jacobi");
    const int method = a->library.method;
    if (status == EXIT_DONE && method != SADDLE_METHOD_LDLT && method != SADDLE_METHOD_JACOBI)
        return usage_error(a, "--paper applies to ldlt and jacobi, not to --method %s",
                           argument_text(a, "method"));
    for (int k = 0; k < SETTINGS && status == EXIT_DONE; ++k)
        if (method == SADDLE_METHOD_JACOBI || !settings[k].swept)
            status = settle(a, settings[k].option, settings[k].value);
    return status;
}
