// SPDX-License-Identifier: Apache-2.0
// ingot info --ops: which implementation runs each op and type, and why.
#include "info-ops.h"

#include <ingot/ops.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "console/output.h"
#include "core/nearest.h"
#include "format.h"

// Enough for every implementation that is chosen by size.
static const uint64_t much_work = UINT64_C(1) << 62;

static const ig_type types[] = {IG_TYPE_F32, IG_TYPE_F16, IG_TYPE_BF16, IG_TYPE_I64,
                                IG_TYPE_I32, IG_TYPE_I8,  IG_TYPE_U8,   IG_TYPE_BOOL};
enum { TYPES = sizeof types / sizeof *types };

typedef struct op_facts {
    ig_op_explanation told;
    ig_backend chosen[TYPES];  // for much work; IG_BACKEND_ANY: the op does not support the type
} op_facts;

static bool has_type(const ig_op_choice *choice, ig_type type) {
    return choice->types >> type & 1;
}

// Choosing validates the candidates; others are not tried, because kernels would have to be compiled.
static ig_status collect_facts(ig_stream *stream, ig_op op, op_facts *facts) {
    ig_status status = ig_stream_explain(stream, op, false, &facts->told);
    if (status != IG_STATUS_OK) return status;
    for (int i = 0; i < TYPES; i++) {
        bool known = has_type(&facts->told.backends[IG_BACKEND_SCALAR], types[i]);
        facts->chosen[i] = known ? ig_stream_choice(stream, op, types[i], much_work) : IG_BACKEND_ANY;
        if (known) ig_stream_choice(stream, op, types[i], 1);
    }
    return ig_stream_explain(stream, op, false, &facts->told);
}

// ---- Words ----

static const char *state_name(ig_op_state state) {
    static const char *const names[] = {"absent", "untried", "validated", "rejected"};
    return names[state];
}

static const char *threshold_text(const ig_op_choice *choice, char text[CLI_FORMAT_TEXT]) {
    if (choice->threshold == UINT64_MAX) return "never";
    snprintf(text, CLI_FORMAT_TEXT, "%" PRIu64, choice->threshold);
    return text;
}

static const char *reason(const op_facts *facts, ig_backend backend) {
    const ig_op_choice *choice = &facts->told.backends[backend];
    if (choice->reason[0]) return choice->reason;
    if (backend == IG_BACKEND_SCALAR) return "the reference, for calls that no other backend takes";
    if (choice->state == IG_OP_ABSENT) return "does not have this op";
    if (facts->told.forced == backend) return "asked for";
    if (choice->threshold == UINT64_MAX) return "only when asked for: slower on this device";
    return choice->state == IG_OP_UNTRIED ? "not needed so far" : "agrees with the reference";
}

// ---- All ops ----

static void add_heading(cli_table *table) {
    cli_table_add(table, "op");
    for (int i = 0; i < TYPES; i++) cli_table_add(table, "%s", ig_type_name(types[i]));
    cli_table_add(table, "least work");
}

static void add_op(cli_table *table, const op_facts *facts) {
    char text[256] = "", number[CLI_FORMAT_TEXT];
    cli_table_add(table, "%s", facts->told.name);
    for (int i = 0; i < TYPES; i++)
        cli_table_add(table, "%s", facts->chosen[i] == IG_BACKEND_ANY ? "-" : ig_backend_name(facts->chosen[i]));
    for (const ig_backend *b = facts->told.order; *b != IG_BACKEND_ANY; b++) {
        const ig_op_choice *choice = &facts->told.backends[*b];
        if (*b == IG_BACKEND_SCALAR || choice->state == IG_OP_ABSENT) continue;
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s %s%s", used ? ", " : "", ig_backend_name(*b),
                 threshold_text(choice, number), choice->state == IG_OP_REJECTED ? " (rejected)" : "");
    }
    cli_table_add(table, "%s", text[0] ? text : "-");
}

// ---- One op ----

static void print_types(const ig_op_choice *choice, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < TYPES && used < size; i++)
        if (has_type(choice, types[i]))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "", ig_type_name(types[i]));
}

static void print_detail(const op_facts *facts) {
    char number[CLI_FORMAT_TEXT], list[128];
    printf("%s%s%s: %s, work counts %s\n", cli_escape(stdout, CLI_BOLD), facts->told.name,
           cli_escape(stdout, CLI_PLAIN), facts->told.family, facts->told.work);
    cli_table table = {.columns = 5};
    static const char *const headings[] = {"asked in turn", "least work", "state", "types", "why"};
    for (int i = 0; i < 5; i++) cli_table_add(&table, "%s", headings[i]);
    for (const ig_backend *b = facts->told.order; *b != IG_BACKEND_ANY; b++) {
        const ig_op_choice *choice = &facts->told.backends[*b];
        print_types(choice, list, sizeof list);
        cli_table_add(&table, "%s", ig_backend_name(*b));
        cli_table_add(&table, "%s", choice->state == IG_OP_ABSENT ? "-" : threshold_text(choice, number));
        cli_table_add(&table, "%s", *b == IG_BACKEND_SCALAR ? "reference" : state_name(choice->state));
        cli_table_add(&table, "%s", list[0] ? list : "-");
        cli_table_add(&table, "%s", reason(facts, *b));
    }
    cli_table_print(&table, 2);
}

// ---- JSON ----

static void put_backend(igi_json *row, const op_facts *facts, ig_backend backend) {
    const ig_op_choice *choice = &facts->told.backends[backend];
    igi_json_key(row, ig_backend_name(backend));
    igi_json_begin_object(row);
    igi_json_put_string(row, "state", backend == IG_BACKEND_SCALAR ? "reference" : state_name(choice->state));
    igi_json_key(row, "threshold");
    if (choice->threshold == UINT64_MAX || choice->state == IG_OP_ABSENT)
        igi_json_null(row);
    else
        igi_json_u64(row, choice->threshold);
    igi_json_key(row, "types");
    igi_json_begin_array(row);
    for (int i = 0; i < TYPES; i++)
        if (has_type(choice, types[i])) igi_json_string(row, ig_type_name(types[i]));
    igi_json_end_array(row);
    igi_json_put_string(row, "why", reason(facts, backend));
    igi_json_end_object(row);
}

static void put_op(const op_facts *facts) {
    igi_json *row = cli_begin_row();
    igi_json_put_string(row, "op", facts->told.name);
    igi_json_put_string(row, "family", facts->told.family);
    igi_json_put_string(row, "work", facts->told.work);
    igi_json_put_string(row, "forced", facts->told.forced ? ig_backend_name(facts->told.forced) : NULL);
    igi_json_key(row, "served_by");
    igi_json_begin_object(row);
    for (int i = 0; i < TYPES; i++)
        if (facts->chosen[i]) igi_json_put_string(row, ig_type_name(types[i]), ig_backend_name(facts->chosen[i]));
    igi_json_end_object(row);
    igi_json_key(row, "order");
    igi_json_begin_array(row);
    for (const ig_backend *b = facts->told.order; *b != IG_BACKEND_ANY; b++) igi_json_string(row, ig_backend_name(*b));
    igi_json_end_array(row);
    igi_json_key(row, "backends");
    igi_json_begin_object(row);
    for (int b = IG_BACKEND_SCALAR; b < IG_BACKEND_COUNT; b++) put_backend(row, facts, (ig_backend)b);
    igi_json_end_object(row);
    cli_end_row();
}

// ---- The command ----

static int find_op(const char *name, ig_op *op) {
    const char *names[IG_OP_COUNT];
    for (int i = 0; i < IG_OP_COUNT; i++) {
        names[i] = ig_op_name((ig_op)i);
        *op = (ig_op)i;
        if (strcmp(names[i], name) == 0) return CLI_CONTINUE;
    }
    const char *nearest = igi_nearest(name, names, IG_OP_COUNT);
    if (nearest) return cli_usage_error("unknown op '%s'; did you mean '%s'?", name, nearest);
    return cli_usage_error("unknown op '%s'", name);
}

static ig_status show_all(ig_stream *stream) {
    cli_table table = {.columns = TYPES + 2};
    ig_status status = IG_STATUS_OK;
    if (!cli_json) add_heading(&table);
    for (int op = 0; op < IG_OP_COUNT && status == IG_STATUS_OK; op++) {
        op_facts facts;
        status = collect_facts(stream, (ig_op)op, &facts);
        if (status == IG_STATUS_OK && cli_json) put_op(&facts);
        if (status == IG_STATUS_OK && !cli_json) add_op(&table, &facts);
    }
    cli_table_print(&table, 0);
    return status;
}

static int show_named(ig_stream *stream, const cli_list *names) {
    for (size_t i = 0; i < names->count; i++) {
        op_facts facts;
        ig_op op;
        int result = find_op(names->items[i], &op);
        if (result != CLI_CONTINUE) return result;
        ig_status status = collect_facts(stream, op, &facts);
        if (status != IG_STATUS_OK) return cli_report(status, NULL);
        (cli_json ? put_op : print_detail)(&facts);
    }
    return CLI_OK;
}

int info_ops(const cli_list *names) {
    ig_device *device = NULL;
    ig_stream *stream = NULL;
    ig_error error = {0};
    ig_status status = ig_device_create(NULL, &device, &error);
    if (status == IG_STATUS_OK) status = ig_stream_create(device, NULL, &stream, &error);
    if (status == IG_STATUS_OK && names->count == 0) status = show_all(stream);
    int result = status == IG_STATUS_OK ? show_named(stream, names) : cli_report(status, &error);
    ig_stream_release(stream);
    ig_device_release(device);
    ig_error_clear(&error);
    return result;
}
