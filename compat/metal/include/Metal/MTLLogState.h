// SPDX-License-Identifier: Apache-2.0
// Where messages of kernels (<metal_logging>) go.
#ifndef INGOT_METAL_LOG_STATE_H
#define INGOT_METAL_LOG_STATE_H

#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(NSInteger, MTLLogLevel) {
    MTLLogLevelUndefined,
    MTLLogLevelDebug,
    MTLLogLevelInfo,
    MTLLogLevelNotice,
    MTLLogLevelError,
    MTLLogLevelFault,
};

typedef NS_ENUM(NSUInteger, MTLLogStateError) {
    MTLLogStateErrorInvalidSize = 1,
    MTLLogStateErrorInvalid = 2,
};
MTL_EXTERN NSErrorDomain const MTLLogStateErrorDomain;

@protocol MTLLogState <NSObject>
// Handlers get each message when the dispatch that logged it has ended, on any thread. subSystem and category are nil for
// os_log_default.
- (void)addLogHandler:(void (^)(NSString *subSystem, NSString *category, MTLLogLevel logLevel, NSString *message))block;
@end

@interface MTLLogStateDescriptor : NSObject <NSCopying> {
    MTLLogLevel _level;
    NSInteger _bufferSize;
}
@property (nonatomic, assign) MTLLogLevel level;     // less important messages are dropped
@property (nonatomic, assign) NSInteger bufferSize;  // in bytes, for the messages of one dispatch; 0: 1 MiB
@end

NS_ASSUME_NONNULL_END

#endif
