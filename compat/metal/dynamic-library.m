// SPDX-License-Identifier: Apache-2.0
#include "dynamic-library.h"

NSErrorDomain const MTLDynamicLibraryDomain = @"MTLDynamicLibraryDomain";

// The first line of a file; the install name follows it.
static NSString *const heading = @"// Ingot dynamic library: ";

NSData *igi_linked_source(const char *source, size_t length, NSArray *libraries) {
    NSMutableData *text = [NSMutableData dataWithBytes:source length:length];
    for (IGDynamicLibrary *library in libraries) {
        [text appendBytes:"\n" length:1];
        [text appendData:library->_source];
    }
    return text;
}

@implementation IGDynamicLibrary
- (id)initWithDevice:(IGDevice *)device source:(NSData *)source installName:(NSString *)installName {
    if (!(self = [super init])) return nil;
    _device = [device retain];
    _source = [source retain];
    _installName = [installName copy];
    return self;
}

- (void)dealloc {
    [_source release];
    [_installName release];
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (NSString *)installName {
    return _installName;
}

- (BOOL)serializeToURL:(NSURL *)url error:(NSError **)error {
    igi_clear_error(error);
    igi_ensure_pool();
    NSString *first = [NSString stringWithFormat:@"%@%@\n", heading, _installName];
    NSMutableData *text = [NSMutableData dataWithData:[first dataUsingEncoding:NSUTF8StringEncoding]];
    [text appendData:_source];
    if ([url isFileURL] && [text writeToFile:[url path] atomically:YES]) return YES;
    igi_refuse(error, MTLDynamicLibraryDomain, MTLDynamicLibraryErrorInvalidFile,
               [NSString stringWithFormat:@"'%@' cannot be written", url]);
    return NO;
}
@end

// ---- The device's calls ----

@implementation IGDevice (DynamicLibraries)
- (id<MTLDynamicLibrary>)newDynamicLibrary:(id<MTLLibrary>)library error:(NSError **)error {
    igi_clear_error(error);
    igi_ensure_pool();
    NSData *source = [(IGLibrary *)library source];
    if (library.type != MTLLibraryTypeDynamic || ![library.installName length])
        return igi_refuse(error, MTLDynamicLibraryDomain, MTLDynamicLibraryErrorUnresolvedInstallName,
                          @"a dynamic library is made of a library that was compiled with libraryType "
                          @"MTLLibraryTypeDynamic and an installName");
    if (!source)
        return igi_refuse(error, MTLDynamicLibraryDomain, MTLDynamicLibraryErrorUnsupported,
                          @"a .metallib cannot be a dynamic library here: only source text can");
    return [[IGDynamicLibrary alloc] initWithDevice:self source:source installName:library.installName];
}

- (id<MTLDynamicLibrary>)newDynamicLibraryWithURL:(NSURL *)url error:(NSError **)error {
    igi_clear_error(error);
    igi_ensure_pool();
    NSData *source = [url isFileURL] ? [NSData dataWithContentsOfFile:[url path]] : nil;
    NSString *text = source ? [[[NSString alloc] initWithData:source encoding:NSUTF8StringEncoding] autorelease] : nil;
    if (![text hasPrefix:heading])
        return igi_refuse(error, MTLDynamicLibraryDomain, MTLDynamicLibraryErrorInvalidFile,
                          [NSString stringWithFormat:@"'%@' is not a dynamic library that serializeToURL: wrote", url]);
    NSUInteger end = [text rangeOfString:@"\n"].location;
    NSString *name = [text substringWithRange:NSMakeRange([heading length], end - [heading length])];
    return [[IGDynamicLibrary alloc] initWithDevice:self source:source installName:name];
}
@end
