// SPDX-License-Identifier: Apache-2.0
#include "log-state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

NSErrorDomain const MTLLogStateErrorDomain = @"MTLLogStateErrorDomain";

@implementation MTLLogStateDescriptor
@synthesize level = _level, bufferSize = _bufferSize;

- (id)copyWithZone:(NSZone *)zone {
    MTLLogStateDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.level = _level;
    copy.bufferSize = _bufferSize;
    return copy;
}
@end

// ---- Without handlers ----

// As in a Mac's unified log, but only if the program asks for it.
static BOOL prints(void) {
    const char *wanted = getenv("MTL_LOG_TO_STDERR");
    return wanted && *wanted && strcmp(wanted, "0") != 0;
}

// Text from a kernel may contain control sequences of a terminal.
static void print_visible(const char *text) {
    for (; *text; text++) fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, stderr);
}

static void print_entry(const ig_kernel_log_entry *entry, void *user) {
    if (!prints()) return;
    if (*entry->subsystem || *entry->category) {
        fputc('[', stderr), print_visible(entry->subsystem);
        fputc(':', stderr), print_visible(entry->category);
        fputs("] ", stderr);
    }
    print_visible(entry->text);
    fputc('\n', stderr);
}

static ig_kernel_log_level level_of(MTLLogLevel level) {
    return level > MTLLogLevelDebug ? (ig_kernel_log_level)(level - 1) : IG_KERNEL_LOG_DEBUG;
}

static MTLLogLevel level_named(const char *name) {
    static const char *const names[] = {"MTLLogLevelUndefined", "MTLLogLevelDebug", "MTLLogLevelInfo",
                                        "MTLLogLevelNotice",    "MTLLogLevelError", "MTLLogLevelFault"};
    for (int i = 0; name && i < 6; i++)
        if (strcmp(names[i], name) == 0) return (MTLLogLevel)i;
    return MTLLogLevelUndefined;
}

ig_kernel_log_desc igi_metal_default_log(void) {
    const char *size = getenv("MTL_LOG_BUFFER_SIZE");
    return (ig_kernel_log_desc){.callback = print_entry,
                                .level = level_of(level_named(getenv("MTL_LOG_LEVEL"))),
                                .buffer_bytes = size ? strtoull(size, NULL, 10) : 0};
}

// ---- With them ----

typedef void (^log_handler)(NSString *subSystem, NSString *category, MTLLogLevel level, NSString *message);

// Bytes that are not UTF-8 stand for themselves.
static NSString *string_of(const char *text) {
    NSString *string = [NSString stringWithUTF8String:text];
    if (string) return string;
    string = [[NSString alloc] initWithBytes:text length:strlen(text) encoding:NSISOLatin1StringEncoding];
    return [string autorelease];
}

static NSString *name_of(const char *text) {
    return *text ? string_of(text) : nil;
}

@implementation IGLogState
- (id)initWithDescriptor:(MTLLogStateDescriptor *)descriptor {
    if (!(self = [super init])) return nil;
    _level = descriptor.level;
    _bufferSize = (NSUInteger)descriptor.bufferSize;
    _handlers = [[NSMutableArray alloc] init];
    return self;
}

- (void)dealloc {
    [_handlers release];
    [super dealloc];
}

- (void)addLogHandler:(void (^)(NSString *, NSString *, MTLLogLevel, NSString *))block {
    id copy = [block copy];
    @synchronized(self) {
        if (copy) [_handlers addObject:copy];
    }
    [copy release];
}

- (NSArray *)handlers {
    @synchronized(self) {
        return igi_autoreleased([_handlers copy]);
    }
}

static void deliver(const ig_kernel_log_entry *entry, void *user) {
    @autoreleasepool {
        NSArray *handlers = [(IGLogState *)user handlers];
        if (![handlers count]) print_entry(entry, NULL);
        for (id handler in handlers)
            ((log_handler)handler)(name_of(entry->subsystem), name_of(entry->category), (MTLLogLevel)(entry->level + 1),
                                   string_of(entry->text));
    }
}

- (ig_kernel_log_desc)desc {
    return (ig_kernel_log_desc){
        .callback = deliver, .user = self, .level = level_of(_level), .buffer_bytes = _bufferSize};
}
@end
