/* The words of SADDLE_OPTIONS, one at a time. */
#include "adapters/common/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 128 };
static const char SEPARATORS[] = " ,\t\n";

static saddle_status refuse(const char *word, const char *why, char *message)
{
    snprintf(message, SADDLE_MESSAGE_SIZE, "SADDLE_OPTIONS: %.*s: %.*s", WORD, word,
             SADDLE_MESSAGE_SIZE - WORD - 24, why);
    return SADDLE_BAD_OPTION;
}

/* NAME=VALUE */
static saddle_status set_word(const char *word, saddle_options *options, bool *print, char *message)
{
    char name[WORD], why[SADDLE_MESSAGE_SIZE];
    snprintf(name, sizeof name, "%s", word);
    char *const equals = strchr(name, '=');
    if (!equals) return refuse(word, "expected NAME=VALUE, as in threads=1", message);
    *equals = '\0';
    const char *value = equals + 1;
    if (!strcmp(name, "print")) {
        const bool on = !strcmp(value, "on");
        if (!on && strcmp(value, "off") != 0) return refuse(word, "expected on or off", message);
        if (print) *print = on;
        return SADDLE_OK;
    }
    const saddle_status status = saddle_options_set(options, name, value, why);
    if (status) return refuse(word, why, message);
    if (!strcmp(name, "method") && options->method != SADDLE_METHOD_DIRECT)
        return refuse(word, "the host asks for factors, which only direct has", message);
    if (!strcmp(name, "absolute") && options->absolute == SADDLE_ON)
        return refuse(word, "the host asks for solutions with the matrix itself", message);
    return SADDLE_OK;
}

saddle_status door_environment(saddle_options *options, bool *print, char *message)
{
    const char *at = getenv("SADDLE_OPTIONS");
    saddle_status status = SADDLE_OK;
    if (print) *print = false;
    while (at && !status) {
        at += strspn(at, SEPARATORS);
        if (!*at) break;
        const size_t length = strcspn(at, SEPARATORS);
        char word[WORD];
        snprintf(word, sizeof word, "%.*s", (int)(length < WORD ? length : WORD - 1), at);
        status =
            length < WORD ? set_word(word, options, print, message) : refuse(word, "it is too long", message);
        at += length;
    }
    return status;
}
