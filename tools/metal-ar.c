// SPDX-License-Identifier: Apache-2.0
// metal-ar: archives of the files that `metal -c` wrote, which metallib links.
#include <stdio.h>
#include <string.h>

#include "archive.h"
#include "console/output.h"
#include "core/file.h"
#include "files.h"
#include "tools.h"

static const char help[] =
    "usage: metal-ar {r|q|t|x|d|p}[csuvDU] ARCHIVE [FILE...]\n"
    "\n"
    "  r, q    put files into the archive, in place of those of the same name (q: r)\n"
    "  t       list the names in it\n"
    "  x, p    write its files into the current directory, or to standard output\n"
    "  d       delete files from it\n"
    "\n"
    "The other letters are accepted: archives have no index, times or owners.\n";

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_wanted(const cli_list *names, const char *member) {
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(base_name(names->items[i]), member) == 0) return true;
    return names->count == 0;
}

static bool save(const tool_archive *archive, const char *path) {
    igi_text bytes = {0};
    tool_archive_write(archive, &bytes);
    bool saved = bytes.failed ? (tool_error("out of memory"), false) : tool_write(path, bytes.data, bytes.length);
    igi_text_free(&bytes);
    return saved;
}

static bool put_files(tool_archive *archive, const char *path, const cli_list *files) {
    for (size_t i = 0; i < files->count; i++) {
        char *bytes = NULL;
        size_t length = 0;
        if (!tool_read(files->items[i], &bytes, &length)) return false;
        tool_keep(bytes);
        if (!tool_archive_put(archive, base_name(files->items[i]), bytes, length))
            return tool_error("out of memory"), false;
    }
    return save(archive, path);
}

static bool delete_files(tool_archive *archive, const char *path, const cli_list *files) {
    for (size_t i = archive->count; i-- > 0;)
        if (files->count && is_wanted(files, archive->members[i].name)) tool_archive_remove(archive, i);
    return save(archive, path);
}

// A name in an archive could lead anywhere: only plain ones are written.
static bool write_member(const tool_member *member, bool prints) {
    if (prints) return tool_write("-", member->bytes, member->length);
    if (strchr(member->name, '/') || strcmp(member->name, "..") == 0)
        return tool_error("'%s' is not the name of a file in the current directory", member->name), false;
    return tool_write(member->name, member->bytes, member->length);
}

static bool show(const tool_archive *archive, char operation, const cli_list *names) {
    for (size_t i = 0; i < names->count; i++)
        if (!tool_archive_find(archive, base_name(names->items[i])))
            return tool_error("'%s' was not found", names->items[i]), false;
    bool ok = true;
    for (size_t i = 0; ok && i < archive->count; i++) {
        const tool_member *member = &archive->members[i];
        if (!is_wanted(names, member->name)) continue;
        if (operation == 't')
            puts(cli_visible(member->name));
        else
            ok = write_member(member, operation == 'p');
    }
    return ok;
}

// An archive that is to be written need not exist.
static bool load(const char *path, bool must_exist, tool_archive *archive) {
    char *bytes = NULL;
    size_t length = 0;
    ig_error error = {0};
    *archive = (tool_archive){0};
    if (!must_exist && !igi_file_exists(path)) return true;
    if (!tool_read(path, &bytes, &length)) return false;
    tool_keep(bytes);
    ig_status status = tool_archive_read(bytes, length, path, archive, &error);
    if (status != IG_STATUS_OK) tool_report(status, &error);
    return status == IG_STATUS_OK;
}

static bool work(char operation, const char *path, const cli_list *names) {
    tool_archive archive;
    bool puts_files = operation == 'r' || operation == 'q';
    if (!load(path, !puts_files, &archive)) return false;
    bool ok = puts_files         ? put_files(&archive, path, names)
              : operation == 'd' ? delete_files(&archive, path, names)
                                 : show(&archive, operation, names);
    tool_archive_free(&archive);
    return ok;
}

// The letter that says what to do; 0 if there is none, or one that is not known.
static char read_letters(const char *letters) {
    char operation = 0;
    for (letters += *letters == '-'; *letters; letters++) {
        if (strchr("rqtxdp", *letters))
            operation = operation ? operation : *letters;
        else if (!strchr("csuvDUST", *letters))
            return 0;
    }
    return operation;
}

int tool_metal_ar(int argc, char **argv) {
    cli_list arguments = {0}, names = {0};
    if (!tool_expand_arguments(argc, argv, &arguments)) return 1;
    const char *first = arguments.count ? arguments.items[0] : "";
    bool version = strcmp(first, "--version") == 0, helps = strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0;
    char operation = read_letters(first);
    int result = 0;
    for (size_t i = 2; i < arguments.count; i++) cli_list_add(&names, arguments.items[i]);
    if (version)
        tool_print_version("metal-ar");
    else if (helps)
        fputs(help, stdout);
    else if (!operation)
        result = tool_error("give one of r, q, t, x, d and p, not '%s'", first);
    else if (arguments.count < 2)
        result = tool_error("an archive name must be specified");
    else
        result = !work(operation, arguments.items[1], &names);
    cli_list_free(&arguments), cli_list_free(&names);
    return result;
}
