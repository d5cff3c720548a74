// SPDX-License-Identifier: Apache-2.0
// Views that are made in advance, and chosen by their ids.
#ifndef INGOT_METAL_RESOURCE_VIEW_POOL_H
#define INGOT_METAL_RESOURCE_VIEW_POOL_H

#import <Metal/MTLTypes.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;

MTL_EXPORT
@interface MTLResourceViewPoolDescriptor : NSObject <NSCopying> {
    NSUInteger _resourceViewCount;
    NSString *_label;
}
@property (nonatomic) NSUInteger resourceViewCount;
@property (nullable, nonatomic, copy) NSString *label;
@end

@protocol MTLResourceViewPool <NSObject>
// Of the view at index 0; the others follow. These ids are for argument tables. What methods of the pool return
// is for argument buffers too.
@property (readonly) MTLResourceID baseResourceID;
@property (readonly) NSUInteger resourceViewCount;
@property (readonly) id<MTLDevice> device;
@property (nullable, readonly) NSString *label;
// The id of the first that was copied; 0: the range is outside of a pool.
- (MTLResourceID)copyResourceViewsFromPool:(id<MTLResourceViewPool>)sourcePool
                               sourceRange:(NSRange)sourceRange
                          destinationIndex:(NSUInteger)destinationIndex;
@end

NS_ASSUME_NONNULL_END

#endif
