/* What is printed, and where: units 6 and 0, print_level, and SADDLE_OPTIONS. */
#include "check.h"

#include <unistd.h>

static char printed[4096];

/* Runs `what` with a file in place of a stream; `printed` is what went there. */
static void capture(FILE *stream, void (*what)(void))
{
    FILE *file = tmpfile();
    fflush(stream);
    const int kept = dup(fileno(stream));
    dup2(fileno(file), fileno(stream));
    what();
    fflush(stream);
    dup2(kept, fileno(stream));
    close(kept);
    rewind(file);
    printed[fread(printed, 1, sizeof printed - 1, file)] = '\0';
    fclose(file);
}

static struct spral_ssids_options options;

/* A warning of the analysis (4), and an error of the factorization (-6). */
static void run_into_both(void)
{
    struct spral_ssids_inform inform;
    void *akeep = NULL, *fkeep = NULL;
    const int64_t ptr[3] = {0, 2, 2};
    const int row[2] = {0, 1};
    const double val[2] = {1, 1};
    spral_ssids_analyse(true, 2, NULL, ptr, row, NULL, &akeep, &options, &inform);
    spral_ssids_factor(true, NULL, NULL, val, NULL, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == -6);
    spral_ssids_free(&akeep, &fkeep);
}

static void run_well(void)
{
    struct spral_ssids_inform inform;
    void *akeep = NULL, *fkeep = NULL;
    system_of *s = five(0);
    spral_ssids_analyse(true, 5, NULL, s->ptr, s->row, NULL, &akeep, &options, &inform);
    spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == 0);
    spral_ssids_free(&akeep, &fkeep);
    free(s);
}

static void refused_word(void)
{
    struct spral_ssids_inform inform;
    void *akeep = NULL;
    system_of *s = five(0);
    spral_ssids_analyse(true, 5, NULL, s->ptr, s->row, NULL, &akeep, &options, &inform);
    CHECK(inform.flag == -99 && !akeep);
    free(s);
}

static void errors_and_warnings_go_to_their_units(void)
{
    spral_ssids_default_options(&options);
    capture(stdout, run_into_both);
    CHECK(strstr(printed, "ssids_analyse: warning 4: diagonal entries are missing"));
    CHECK(strstr(printed, "ssids_factor: error -6: the matrix is not positive definite"));
    options.unit_error = 0;
    capture(stdout, run_into_both);
    CHECK(strstr(printed, "warning 4") && !strstr(printed, "error -6"));
    capture(stderr, run_into_both);
    CHECK(strstr(printed, "error -6") && !strstr(printed, "warning"));
    options.unit_error = options.unit_warning = -1;
    capture(stdout, run_into_both);
    CHECK(!*printed);
    capture(stderr, run_into_both);
    CHECK(!*printed);
    options.unit_error = options.unit_warning = 6;
    options.print_level = -1;
    capture(stdout, run_into_both);
    CHECK(!*printed);
}

static void diagnostics_say_what_runs(void)
{
    spral_ssids_default_options(&options);
    capture(stdout, run_well);
    CHECK(!*printed);
    options.print_level = 1;
    capture(stdout, run_well);
    CHECK(strstr(printed, "Saddle ") && strstr(printed, "factored on the CPU"));
    options.print_level = 0;
    setenv("SADDLE_OPTIONS", "print=on threads=1 device=cpu", 1);
    capture(stdout, run_well);
    CHECK(strstr(printed, "factored on the CPU, 1 threads"));
    setenv("SADDLE_OPTIONS", "threads=many", 1);
    capture(stdout, refused_word);
    CHECK(strstr(printed, "error -99") && strstr(printed, "threads=many"));
    unsetenv("SADDLE_OPTIONS");
}

static void refused_words_are_named(void)
{
    static const char *const words[] = {"threads=many", "method=ic", "absolute=on", "order=user"};
    for (size_t k = 0; k < sizeof words / sizeof *words; ++k) {
        setenv("SADDLE_OPTIONS", words[k], 1);
        spral_ssids_default_options(&options);
        capture(stdout, refused_word);
        CHECK(strstr(printed, "error -99") && strstr(printed, words[k]));
        options.print_level = -1; /* the program wants silence, who set the variable an answer */
        capture(stdout, refused_word);
        CHECK(!*printed);
        capture(stderr, refused_word);
        CHECK(strstr(printed, words[k]));
    }
    unsetenv("SADDLE_OPTIONS");
}

int main(void)
{
    static const named_test tests[] = {
        {"errors and warnings go to their units", errors_and_warnings_go_to_their_units},
        {"diagnostics say what runs", diagnostics_say_what_runs},
        {"refused words are named", refused_words_are_named}};
    return run_tests(tests, 3);
}
