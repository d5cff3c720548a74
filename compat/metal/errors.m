// SPDX-License-Identifier: Apache-2.0
// From Ingot's statuses to Metal's errors.
#include "object.h"

NSErrorDomain const MTLLibraryErrorDomain = @"MTLLibraryErrorDomain";
NSErrorDomain const MTLCommandBufferErrorDomain = @"MTLCommandBufferErrorDomain";
NSErrorDomain const MTLBinaryArchiveDomain = @"MTLBinaryArchiveDomain";
NSErrorDomain const MTLCaptureErrorDomain = @"MTLCaptureErrorDomain";
NSErrorDomain const MTLCounterErrorDomain = @"MTLCounterErrorDomain";
NSString *const MTLCommandBufferEncoderInfoErrorKey = @"MTLCommandBufferEncoderInfoErrorKey";

NSError *igi_error(NSErrorDomain domain, NSInteger code, NSString *text) {
    igi_ensure_pool();
    NSDictionary *info = [NSDictionary dictionaryWithObject:text forKey:NSLocalizedDescriptionKey];
    return [NSError errorWithDomain:domain code:code userInfo:info];
}

id igi_refuse(NSError **error, NSErrorDomain domain, NSInteger code, NSString *text) {
    if (error) *error = igi_error(domain, code, text);
    return nil;
}

static NSString *text_of(ig_status status, const ig_error *error) {
    const char *text = error->log ? error->log : error->message;
    NSString *string = text ? [NSString stringWithUTF8String:text] : nil;
    return string ? string : [NSString stringWithUTF8String:ig_status_text(status)];
}

static MTLLibraryError library_code(ig_status status) {
    switch (status) {
        case IG_STATUS_COMPILE_FAILED:
        case IG_STATUS_WRONG_CONSTANT: return MTLLibraryErrorCompileFailure;
        case IG_STATUS_UNSUPPORTED: return MTLLibraryErrorUnsupported;
        case IG_STATUS_NOT_FOUND: return MTLLibraryErrorFunctionNotFound;
        case IG_STATUS_IO: return MTLLibraryErrorFileNotFound;
        default: return MTLLibraryErrorInternal;
    }
}

static MTLCommandBufferError command_code(ig_status status) {
    switch (status) {
        case IG_STATUS_TIMEOUT: return MTLCommandBufferErrorTimeout;
        case IG_STATUS_KERNEL_FAULT:
        case IG_STATUS_CHECK_FAILED: return MTLCommandBufferErrorPageFault;
        case IG_STATUS_OUT_OF_MEMORY: return MTLCommandBufferErrorOutOfMemory;
        case IG_STATUS_UNSUPPORTED: return MTLCommandBufferErrorNotPermitted;
        case IG_STATUS_INVALID_ARGUMENT:
        case IG_STATUS_OVERFLOW:
        case IG_STATUS_OUT_OF_RANGE:
        case IG_STATUS_UNBOUND_ARGUMENT:
        case IG_STATUS_BUFFER_TOO_SMALL:
        case IG_STATUS_THREADGROUP_TOO_LARGE:
        case IG_STATUS_WRONG_STATE: return MTLCommandBufferErrorInvalidResource;
        default: return MTLCommandBufferErrorInternal;
    }
}

NSError *igi_library_error(ig_status status, const ig_error *error) {
    igi_ensure_pool();
    return igi_error(MTLLibraryErrorDomain, library_code(status), text_of(status, error));
}

NSError *igi_command_error(ig_status status, const ig_error *error) {
    igi_ensure_pool();
    return igi_error(MTLCommandBufferErrorDomain, command_code(status), text_of(status, error));
}
