// SPDX-License-Identifier: Apache-2.0
// Functions of one library that others call. Here they are source: a library that was compiled with
// MTLCompileOptions.libraries contains the text of those libraries. insertLibraries and preloadedLibraries of pipelines
// have no effect, because nothing is missing then.
#ifndef INGOT_METAL_DYNAMIC_LIBRARY_H
#define INGOT_METAL_DYNAMIC_LIBRARY_H

#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;

typedef NS_ENUM(NSUInteger, MTLDynamicLibraryError) {
    MTLDynamicLibraryErrorNone = 0,
    MTLDynamicLibraryErrorInvalidFile = 1,
    MTLDynamicLibraryErrorCompilationFailure = 2,
    MTLDynamicLibraryErrorUnresolvedInstallName = 3,
    MTLDynamicLibraryErrorDependencyLoadFailure = 4,
    MTLDynamicLibraryErrorUnsupported = 5,
};
MTL_EXTERN NSErrorDomain const MTLDynamicLibraryDomain;

@protocol MTLDynamicLibrary <NSObject>
@property (nullable, copy, atomic) NSString *label;
@property (readonly) id<MTLDevice> device;
@property (readonly) NSString *installName;
- (BOOL)serializeToURL:(NSURL *)url error:(NSError **)error;  // as source text
@end

NS_ASSUME_NONNULL_END

#endif
