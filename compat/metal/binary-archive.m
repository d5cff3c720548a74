// SPDX-License-Identifier: Apache-2.0
// Binary archives. Compiled kernels are already in Ingot's cache; an archive is only a list of the pipelines added to
// it.
#include <stdio.h>

#include "library.h"
#include "residency-set.h"

#define FIRST_LINE @"Ingot binary archive 1"

@implementation MTLBinaryArchiveDescriptor
@synthesize url = _url;

- (void)dealloc {
    [_url release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLBinaryArchiveDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.url = _url;
    return copy;
}
@end

// Foundation's own functions for files log errors.
static NSString *text_of_file(NSString *path) {
    NSFileHandle *file = [NSFileHandle fileHandleForReadingAtPath:path];
    NSData *data = [file readDataToEndOfFile];
    return data ? [[[NSString alloc] initWithData:data encoding:NSUTF8StringEncoding] autorelease] : nil;
}

static BOOL write_file(const char *path, const char *text) {
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return NO;
    BOOL written = fputs(text, file) >= 0;
    return fclose(file) == 0 && written;
}

@implementation IGBinaryArchive
- (id)initWithDevice:(IGDevice *)device url:(NSURL *)url error:(NSError **)error {
    igi_clear_error(error);
    if (!(self = [super init])) return nil;
    igi_ensure_pool();
    _device = [device retain];
    _names = [[NSMutableArray alloc] init];
    if (url && ![self readURL:url]) {
        igi_refuse(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInvalidFile,
                   [NSString stringWithFormat:@"'%@' is not a binary archive of Ingot", [url path]]);
        [self release];
        return nil;
    }
    return self;
}

- (void)dealloc {
    [_names release];
    [_device release];
    [super dealloc];
}

- (BOOL)readURL:(NSURL *)url {
    NSString *text = [url isFileURL] ? text_of_file([url path]) : nil;
    NSArray *lines = [text componentsSeparatedByString:@"\n"];
    if (![[lines firstObject] isEqual:FIRST_LINE]) return NO;
    for (NSUInteger i = 1; i < [lines count]; i++)
        if ([[lines objectAtIndex:i] length]) [_names addObject:[lines objectAtIndex:i]];
    return YES;
}

- (id<MTLDevice>)device {
    return _device;
}

- (void)remember:(NSString *)name {
    @synchronized(self) {
        if (![_names containsObject:name]) [_names addObject:name];
    }
}

// Creating the pipeline once puts it into the cache.
- (BOOL)addComputePipelineFunctionsWithDescriptor:(MTLComputePipelineDescriptor *)descriptor error:(NSError **)error {
    igi_clear_error(error);
    NSError *why = nil;
    IGPipeline *pipeline = [[IGPipeline alloc] initWithDevice:_device descriptor:descriptor error:&why];
    if (!pipeline) {
        igi_refuse(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorCompilationFailure, [why localizedDescription]);
        return NO;
    }
    [self remember:descriptor.computeFunction.name];
    [pipeline release];
    return YES;
}

- (BOOL)addFunctionWithDescriptor:(MTLFunctionDescriptor *)descriptor
                          library:(id<MTLLibrary>)library
                            error:(NSError **)error {
    igi_clear_error(error);
    NSError *why = nil;
    id<MTLFunction> function = [library newFunctionWithDescriptor:descriptor error:&why];
    if (!function) {
        igi_refuse(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorCompilationFailure,
                   why ? [why localizedDescription] : @"there is no library");
        return NO;
    }
    [self remember:function.name];
    [function release];
    return YES;
}

- (BOOL)serializeToURL:(NSURL *)url error:(NSError **)error {
    igi_clear_error(error);
    igi_ensure_pool();
    NSString *text;
    @synchronized(self) {
        text = [NSString stringWithFormat:@"%@\n%@\n", FIRST_LINE, [_names componentsJoinedByString:@"\n"]];
    }
    if ([url isFileURL] && write_file(igi_text([url path]), igi_text(text))) return YES;
    igi_refuse(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInternalError,
               [NSString stringWithFormat:@"'%@' cannot be written", url]);
    return NO;
}
@end
