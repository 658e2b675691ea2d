/* See peer.h. The words between the two are those of bench/peers/peer.h. */
#include "bench/direct/peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER 1e-9 /* the largest backward error of one */

const struct peer_kind peer_kinds[PEERS] = {
    [PEER_MUMPS] = {"mumps", "peer-mumps", "default"},
    [PEER_CHOLMOD] = {"cholmod", "peer-cholmod", "default"},
    [PEER_CHOLMOD_LDLT] = {"cholmod_ldlt", "peer-cholmod", "ldlt"},
    [PEER_PARDISO] = {"pardiso", "peer-pardiso", "default"},
    [PEER_MATCHING] = {"pardiso_matching", "peer-pardiso", "matching"},
    [PEER_QDLDL] = {"qdldl", "peer-qdldl", "default"},
    [PEER_LAPACK] = {"lapack", "peer-lapack", "default"},
    [PEER_CUDSS] = {"cudss", "peer-cudss", "default"},
    [PEER_CUDSS_MATCHING] = {"cudss_matching", "peer-cudss", "matching"},
    [PEER_MUMPS_POSDEF] = {"mumps_posdef", "peer-mumps", "posdef"},
    [PEER_MUMPS_COMPRESSED] = {"mumps_compressed", "peer-mumps", "compressed"},
    [PEER_SSIDS] = {"ssids", "peer-ssids", "default"},
    [PEER_SSIDS_MATCHING] = {"ssids_matching", "peer-ssids", "matching"},
    [PEER_SUPERLU] = {"superlu", "peer-superlu", "default"},
    [PEER_SUPERLU_SYMMETRIC] = {"superlu_symmetric", "peer-superlu", "symmetric"},
};

void peers_find(const char *folder, unsigned wanted, char programs[PEERS][4096])
{
    for (int k = 0; k < PEERS; ++k) {
        const bool wants = wanted >> k & 1;
        if (!wants || !bench_driver(peer_kinds[k].driver, folder, programs[k], 4096)) programs[k][0] = 0;
    }
}

void peers_tell_missing(const char *folder, unsigned wanted, char (*programs)[4096])
{
    const bool none = folder && strcmp(folder, "none") == 0;
    bool any = false;
    for (int k = 0; k < PEERS && !none; ++k) {
        const bool first = k == 0 || strcmp(peer_kinds[k].driver, peer_kinds[k - 1].driver) != 0;
        if (!(wanted >> k & 1) || programs[k][0] || !first) continue;
        printf("%s %s", any ? "," : "not found:", peer_kinds[k].name);
        any = true;
    }
    if (any) puts(" (no driver was built: CONTRIBUTING.md, Comparison with peers)");
}

int peers_matrix(const bench_problem *problem, const char *operand, char *path, size_t path_size,
                 bool *temporary)
{
    char message[SADDLE_MESSAGE_SIZE];
    snprintf(path, path_size, "%s", operand);
    if (!problem->generated) return EXIT_DONE;
    const int status = bench_temporary(".mtx", path, path_size);
    if (status != EXIT_DONE) return status;
    *temporary = true;
    const saddle_status written = saddle_write_matrix(path, &problem->A, operand, message);
    return written == SADDLE_OK ? EXIT_DONE : fail(exit_status(written), "%s: %s", operand, message);
}

static void give_up(peer_process *p, const char *why)
{
    if (!p->error[0]) snprintf(p->error, sizeof p->error, "%s", why);
    child_end(&p->child, true);
}

/* Its next line; one that does not come is the end of it. */
static void listen(peer_process *p)
{
    const child_word word = child_line(&p->child, p->line, sizeof p->line);
    if (word == CHILD_LINE)
        p->told = p->line[0] == '{';
    else
        give_up(p, child_why(word));
}

static void ask(peer_process *p, const char *word)
{
    if (p->child.process <= 0 || p->told) return;
    if (child_tell(&p->child, word))
        listen(p);
    else
        give_up(p, child_why(CHILD_END));
}

/* The driver's environment is set by env, as this process has threads. */
void peer_start(peer_process *p, int which, char (*programs)[4096], const char *matrix, int threads,
                const arguments *a)
{
    const char *path = programs[which], *setting = peer_kinds[which].setting;
    char openmp[40], blas[48], count[16];
    snprintf(openmp, sizeof openmp, "OMP_NUM_THREADS=%d", threads);
    snprintf(blas, sizeof blas, "OPENBLAS_NUM_THREADS=%d", threads);
    snprintf(count, sizeof count, "%d", threads);
    const char *const argv[] = {"env",       openmp, blas,        path,    matrix, "--turns",
                                "--threads", count,  "--setting", setting, NULL};
    memset(p, 0, sizeof *p);
    if (!path[0]) return;
    p->limit = argument_real(a, "limit");
    if (child_start(&p->child, argv, p->limit, !argument_given(a, "verbose")))
        listen(p);
    else
        give_up(p, "cannot be started");
}

void peer_turn(peer_process *p)
{
    if (p->turns > 0 && p->child.left < 2.0 / 3.0 * p->limit) return;
    p->turns++;
    ask(p, "turn\n");
}

double peer_told_number(const char *line, const char *key)
{
    char quoted[48], *end;
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(line, quoted);
    if (!at) return NAN;
    const double number = strtod(at + strlen(quoted), &end);
    return end == at + strlen(quoted) ? NAN : number; /* null is no number */
}

bool peer_told_text(const char *line, const char *key, char *text, size_t text_size)
{
    char quoted[48];
    snprintf(quoted, sizeof quoted, "\"%s\": \"", key);
    const char *at = strstr(line, quoted);
    if (!at) return false;
    at += strlen(quoted);
    snprintf(text, text_size, "%.*s", (int)strcspn(at, "\""), at);
    return true;
}

peer_result peer_nothing(void)
{
    peer_result r = {.ran = false};
#define ROW(name) r.name = NAN;
    PEER_NUMBERS(ROW)
#undef ROW
    return r;
}

bool peer_answered(const peer_result *result)
{
    return result->ran && result->backward_error_refined <= ANSWER;
}

void peer_end(peer_process *p, peer_result *result)
{
    *result = peer_nothing();
    ask(p, "tell\n");
    if (p->told && !peer_told_text(p->line, "error", result->error, sizeof result->error)) {
        result->ran = true;
        peer_told_text(p->line, "version", result->version, sizeof result->version);
        peer_told_text(p->line, "ordering", result->ordering, sizeof result->ordering);
#define ROW(name) result->name = peer_told_number(p->line, #name);
        PEER_NUMBERS(ROW)
#undef ROW
    }
    if (p->child.process > 0 && !p->told) give_up(p, "printed nothing");
    if (p->error[0]) snprintf(result->error, sizeof result->error, "%s", p->error);
    child_end(&p->child, true); /* it has told: what it still does is to free memory */
}
