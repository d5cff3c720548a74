// SPDX-License-Identifier: Apache-2.0
// What the encoders have in common.
#include "commands.h"

@implementation IGEncoder
- (id)initWithCommandBuffer:(IGCommandBuffer *)owner {
    if (!(self = [super init])) return nil;
    _owner = [owner retain];
    _commands = owner->_commands;
    return self;
}

- (void)dealloc {
    if (_commands) {
        [_owner fail:@"an encoder was released before its endEncoding"];
        [_owner encoder:self endedWithBuffers:0 threadgroups:0];
    }
    [_owner release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return [_owner device];
}

- (BOOL)isOpen {
    if (!_commands) [_owner fail:@"an encoder was used after its endEncoding"];
    return _commands != NULL;
}

- (void)endEncoding {
    if (![self isOpen]) return;
    if (_debugDepth) [_owner fail:@"endEncoding came before the popDebugGroup of a debug group"];
    _commands = NULL;
    [_owner encoder:self endedWithBuffers:0 threadgroups:0];
}

- (void)insertDebugSignpost:(NSString *)string {
}

- (void)pushDebugGroup:(NSString *)string {
    _debugDepth++;
}

- (void)popDebugGroup {
    if (_debugDepth == 0)
        [_owner fail:@"popDebugGroup without a pushDebugGroup"];
    else
        _debugDepth--;
}
@end
