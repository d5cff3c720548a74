// SPDX-License-Identifier: Apache-2.0
// One file per entry, written under a temporary name and renamed; the oldest are deleted when the limit is exceeded.
#include "core/disk-cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/memory.h"
#include "core/settings.h"
#include "core/trust.h"

enum { DEFAULT_BYTES = 512 << 20, LARGEST_PART = 4 };
static const char suffix[] = ".igc";

typedef struct header {
    char magic[8];
    uint64_t length;
    igi_hash key, content;
} header;

static const char magic[8] = "ingot\0\1\n";

struct igi_disk_cache {
    char *directory;
    uint64_t max_bytes;
    pthread_mutex_t lock;
    uint64_t written;  // since the directory was last scanned
    bool looked, warned;
};

static char *choose_dir(const char *wanted) {
    if (!wanted) wanted = igi_setting_text(IGI_SETTING_CACHE_DIR);
    if (wanted) return *wanted ? igi_strdup(wanted) : NULL;
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (base && base[0] == '/') return igi_format("%s/ingot", base);
    return home && *home ? igi_format("%s/.cache/ingot", home) : NULL;
}

// Entries are machine code that will run: everyone who can write them must be trusted.
char *igi_cache_dir(const char *wanted) {
    char *directory = choose_dir(wanted), *why = NULL;
    if (!directory) return NULL;
    char *trusted = igi_trusted_directory(directory, &why);
    if (!trusted)
        igi_log(IG_LOG_WARNING,
                "cache directory %s is not used, because %s; remove that permission (chmod go-w) or set "
                "INGOT_CACHE_DIR to a directory that only you can write",
                directory, why ? why : "its owner is not known");
    free(directory), free(why);
    return trusted;
}

igi_disk_cache *igi_disk_cache_create(const char *directory, uint64_t max_bytes) {
    igi_disk_cache *cache = directory ? igi_calloc(1, sizeof *cache) : NULL;
    if (!cache) return NULL;
    cache->directory = igi_strdup(directory);
    cache->max_bytes = max_bytes ? max_bytes : DEFAULT_BYTES;
    pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

void igi_disk_cache_destroy(igi_disk_cache *cache) {
    if (!cache) return;
    pthread_mutex_destroy(&cache->lock);
    free(cache->directory);
    free(cache);
}

static char *entry_path(const igi_disk_cache *cache, igi_hash key) {
    char hex[33];
    igi_hash_hex(key, hex);
    return cache->directory ? igi_format("%s/%s%s", cache->directory, hex, suffix) : NULL;
}

static bool is_intact(const char *file, size_t length, igi_hash key) {
    header head;
    if (length < sizeof head) return false;
    memcpy(&head, file, sizeof head);
    return memcmp(head.magic, magic, sizeof magic) == 0 && head.length == length - sizeof head &&
           igi_hash_equal(head.key, key) &&
           igi_hash_equal(head.content, igi_hash_bytes(file + sizeof head, length - sizeof head));
}

bool igi_disk_cache_get(igi_disk_cache *cache, igi_hash key, char **data, size_t *length) {
    if (!cache || !igi_hash_valid(key)) return false;
    char *path = entry_path(cache, key), *file = NULL;
    size_t file_length = 0;
    bool found = path && igi_file_read_within(path, IGI_FILE_MAX_BYTES, IGI_FILE_NO_LINK, &file, &file_length, NULL) ==
                             IG_STATUS_OK;
    if (found && !is_intact(file, file_length, key)) {
        igi_log(IG_LOG_WARNING, "cache entry %s is damaged; it will be generated again", path);
        unlink(path);
        free(file);
        found = false;
    }
    if (found) {
        utimensat(AT_FDCWD, path, NULL, 0);  // the oldest are deleted first, and this one is in use
        *length = file_length - sizeof(header);
        memmove(file, file + sizeof(header), *length + 1);
        *data = file;
    }
    free(path);
    return found;
}

// ---- Bound ----

typedef struct entry {
    char *path;
    struct timespec used;
    uint64_t bytes;
} entry;

static struct timespec changed_at(const struct stat *info) {
#ifdef IGI_HAS_ST_MTIMESPEC
    return info->st_mtimespec;
#else
    return info->st_mtim;
#endif
}

static int older_first(const void *a, const void *b) {
    const entry *left = a, *right = b;
    if (left->used.tv_sec != right->used.tv_sec) return left->used.tv_sec < right->used.tv_sec ? -1 : 1;
    return left->used.tv_nsec < right->used.tv_nsec ? -1 : left->used.tv_nsec > right->used.tv_nsec;
}

static entry *list_entries(const igi_disk_cache *cache, size_t *count, uint64_t *total) {
    entry *entries = NULL;
    size_t capacity = 0;
    DIR *directory = opendir(cache->directory);
    struct dirent *item;
    *count = 0, *total = 0;
    while (directory && (item = readdir(directory))) {
        struct stat info;
        if (!strstr(item->d_name, suffix)) continue;  // temporary files of killed writers contain it too
        char *path = igi_path_join(cache->directory, item->d_name);
        if (!path || lstat(path, &info) != 0 || !igi_grow((void **)&entries, &capacity, *count + 1, sizeof *entries)) {
            free(path);
            continue;
        }
        entries[(*count)++] = (entry){path, changed_at(&info), (uint64_t)info.st_size};
        *total += (uint64_t)info.st_size;
    }
    if (directory) closedir(directory);
    return entries;
}

// Down to four fifths, so that a full cache is not cleaned at every write.
static void shrink(const igi_disk_cache *cache) {
    size_t count;
    uint64_t total;
    entry *entries = list_entries(cache, &count, &total);
    if (total > cache->max_bytes) {
        qsort(entries, count, sizeof *entries, older_first);
        for (size_t i = 0; i < count && total > cache->max_bytes / 5 * 4; i++) {
            if (unlink(entries[i].path) == 0) total -= entries[i].bytes;
        }
    }
    for (size_t i = 0; i < count; i++) free(entries[i].path);
    free(entries);
}

static void account(igi_disk_cache *cache, uint64_t bytes) {
    pthread_mutex_lock(&cache->lock);
    cache->written += bytes;
    bool look = !cache->looked || cache->written > cache->max_bytes / 8;
    cache->looked = true;
    if (look) {
        cache->written = 0;
        shrink(cache);
    }
    pthread_mutex_unlock(&cache->lock);
}

static void warn_once(igi_disk_cache *cache) {
    pthread_mutex_lock(&cache->lock);
    if (!cache->warned)
        igi_log(IG_LOG_WARNING, "cannot write to the cache directory %s; compiled kernels will not be kept",
                cache->directory);
    cache->warned = true;
    pthread_mutex_unlock(&cache->lock);
}

void igi_disk_cache_put(igi_disk_cache *cache, igi_hash key, const char *data, size_t length) {
    if (!cache || !cache->directory || !igi_hash_valid(key)) return;
    // An entry that takes up most of the cache would evict all others.
    if (length > cache->max_bytes / LARGEST_PART) return;
    header head = {.length = length, .key = key, .content = igi_hash_bytes(data, length)};
    memcpy(head.magic, magic, sizeof magic);
    char *path = entry_path(cache, key), *file = igi_alloc(sizeof head + length);
    if (path && file) {
        memcpy(file, &head, sizeof head);
        memcpy(file + sizeof head, data, length);
        if (igi_make_dirs(cache->directory) && igi_file_write_atomic(path, file, sizeof head + length) == IG_STATUS_OK)
            account(cache, sizeof head + length);
        else
            warn_once(cache);
    }
    free(path), free(file);
}
