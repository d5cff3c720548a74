// SPDX-License-Identifier: Apache-2.0
// Findings of checks, for people and for programs.
#ifndef INGOT_CLI_FINDINGS_H
#define INGOT_CLI_FINDINGS_H

#include <ingot/device.h>

typedef struct cli_findings {
    // As given by the options:
    const char *only;           // checks to do; NULL: all
    const char *suppress_path;  // of a file of rules
    const char *sarif_path;
    uint64_t limit;  // of findings that are shown; 0: 100
    // Rules, one for each line of the file: KIND [KERNEL [FILE [LINE]]], each of which may have * and ?.
    char *rules_text;
    // Counts of findings:
    size_t errors, warnings, suppressed, left_out;
    void *sarif;  // the open file
} cli_findings;

// Reads the rules and names of checks. Returns CLI_CONTINUE, or the exit code after printing an error.
int cli_findings_open(cli_findings *findings, uint32_t *checks);
void cli_findings_show(cli_findings *findings, const ig_finding *all, size_t count);
// Commits the commands and waits for them. With `check`, shows what was found, which then is not a failure.
ig_status cli_findings_run(cli_findings *findings, bool check, ig_commands *commands);
// Prints a summary; returns the exit code.
int cli_findings_close(cli_findings *findings);

#endif
