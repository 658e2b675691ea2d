/* Options from PETSc's database: one for each row of the library's table, and two of the door's own.
 *
 * All are read as text, which the library checks: a choice may have an argument (fill level:2), a number of
 * bytes a unit. A switch may stand alone (-pc_saddle_absolute), as PETSc's own do. */
#include "door.h"

#include <stdio.h>
#include <string.h>

static const char *const singular_words[] = {"auto", "fail", "regularise"};
static const char *const symmetric_words[] = {"no", "yes", "auto"};

void door_init(door *d)
{
    d->options = saddle_options_default();
    d->options.method = SADDLE_METHOD_DIRECT;
    d->options.krylov = SADDLE_KRYLOV_NONE;
    d->options.device = SADDLE_DEVICE_CPU;
    d->options.threads = 1;
    d->options.certify = SADDLE_OFF; /* until somebody asks for the inertia: it costs a solve */
    d->symmetric = PETSC_BOOL3_UNKNOWN;
    d->on_singular = DOOR_SINGULAR_AUTO;
    d->info = saddle_info_default();
}

/* PETSc's ways of writing a truth. */
static const char *switch_word(const char *value)
{
    static const char *const on[] = {"", "1", "true", "yes"}, *const off[] = {"0", "false", "no"};
    for (size_t k = 0; k < sizeof on / sizeof *on; ++k)
        if (!strcmp(value, on[k])) return "on";
    for (size_t k = 0; k < sizeof off / sizeof *off; ++k)
        if (!strcmp(value, off[k])) return "off";
    return value;
}

static int find_word(const char *const *words, int count, const char *value)
{
    for (int k = 0; k < count; ++k)
        if (!strcmp(words[k], value)) return k;
    return -1;
}

static const saddle_option *find_row(const char *name)
{
    const saddle_option *row = NULL;
    for (int k = 0; (row = saddle_option_at(k)); ++k)
        if (!strcmp(row->name, name)) return row;
    return NULL;
}

PetscErrorCode door_set_option(door *d, const char *name, const char *value)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    PetscFunctionBegin;
    if (!strcmp(name, "on_singular")) {
        const int k = find_word(singular_words, 3, value);
        PetscCheck(k >= 0, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
                   "saddle: on_singular is auto, fail or regularise, not \"%s\"", value);
        if (d->on_singular != (door_singular)k) door_forget(d);
        d->on_singular = (door_singular)k;
        PetscFunctionReturn(0);
    }
    if (!strcmp(name, "symmetric")) {
        const char *word = switch_word(value);
        const int k = !strcmp(word, "on")    ? 1
                      : !strcmp(word, "off") ? 0
                                             : find_word(symmetric_words, 3, word);
        PetscCheck(k >= 0, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
                   "saddle: symmetric is auto, yes or no, not \"%s\"", value);
        const PetscBool3 symmetric = k == 2 ? PETSC_BOOL3_UNKNOWN : k ? PETSC_BOOL3_TRUE : PETSC_BOOL3_FALSE;
        if (d->symmetric != symmetric) door_forget(d);
        d->symmetric = symmetric;
        PetscFunctionReturn(0);
    }
    const saddle_option *row = find_row(name);
    const char *text = row && row->words && !strncmp(row->words, "off|on", 6) ? switch_word(value) : value;
    const saddle_options before = d->options;
    PetscCheck(saddle_options_set(&d->options, name, text, message) == SADDLE_OK, PETSC_COMM_SELF,
               PETSC_ERR_USER_INPUT, "saddle: %s", message);
    if (memcmp(&before, &d->options, sizeof before) != 0) door_forget(d);
    PetscFunctionReturn(0);
}

/* Reads one option, whose value is now `now`. */
static PetscErrorCode read_one(door *d, const char *stem, const char *name, const char *now, const char *help,
                               PetscOptionItems *PetscOptionsObject)
{
    char flag[80], value[256] = "";
    PetscBool given = PETSC_FALSE;
    PetscFunctionBegin;
    snprintf(flag, sizeof flag, "-%s_saddle_%s", stem, name);
    PetscCall(PetscOptionsString(flag, help, NULL, now, value, sizeof value, &given));
    if (given) PetscCall(door_set_option(d, name, value));
    PetscFunctionReturn(0);
}

PetscErrorCode door_read_options(door *d, const char *stem, PetscOptionItems *PetscOptionsObject)
{
    char now[64], help[512];
    const saddle_option *row = NULL;
    PetscFunctionBegin;
    for (int k = 0; (row = saddle_option_at(k)); ++k) {
        saddle_options_get(&d->options, row->name, now, sizeof now);
        if (row->words)
            snprintf(help, sizeof help, "%s (%s)", row->help, row->words);
        else
            snprintf(help, sizeof help, "%s", row->help);
        PetscCall(read_one(d, stem, row->name, now, help, PetscOptionsObject));
    }
    PetscCall(read_one(
        d, stem, "symmetric", symmetric_words[d->symmetric == PETSC_BOOL3_UNKNOWN ? 2 : d->symmetric],
        "take the upper triangle of an aij matrix for all of it; auto is as MAT_SYMMETRIC says "
        "(no|yes|auto)",
        PetscOptionsObject));
    PetscCall(read_one(
        d, stem, "on_singular", singular_words[d->on_singular],
        "a singular matrix: fail with a reason, or replace its zero pivots; auto regularises where a "
        "null space is attached to the matrix (auto|fail|regularise)",
        PetscOptionsObject));
    PetscFunctionReturn(0);
}
