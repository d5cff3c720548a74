// SPDX-License-Identifier: Apache-2.0
#include "function-log.h"

@interface IGFunctionLog : IGObject <MTLFunctionLog, MTLFunctionLogDebugLocation> {
    NSString *_text, *_functionName, *_file;
    NSUInteger _line, _column;
}
@end

@implementation IGFunctionLog
- (id)initWithFinding:(const ig_finding *)finding {
    if (!(self = [super init])) return nil;
    const ig_finding_side *side = &finding->sides[0];
    _text = [[NSString alloc] initWithUTF8String:finding->message];
    _functionName = [[NSString alloc] initWithUTF8String:finding->kernel];
    _file = [[NSString alloc] initWithUTF8String:side->file];
    _line = side->line;
    _column = side->column;
    return self;
}

- (void)dealloc {
    [_text release];
    [_functionName release];
    [_file release];
    [super dealloc];
}

- (NSString *)description {
    return _text;
}

- (MTLFunctionLogType)type {
    return MTLFunctionLogTypeValidation;
}

- (NSString *)encoderLabel {
    return nil;
}

- (id<MTLFunction>)function {
    return nil;
}

- (id<MTLFunctionLogDebugLocation>)debugLocation {
    return _line ? self : nil;
}

- (NSString *)functionName {
    return _functionName;
}

- (NSURL *)URL {
    return [_file isAbsolutePath] ? [NSURL fileURLWithPath:_file] : nil;
}

- (NSUInteger)line {
    return _line;
}

- (NSUInteger)column {
    return _column;
}
@end

@implementation IGLogContainer
- (id)initWithCommands:(const ig_commands *)commands {
    if (!(self = [super init])) return nil;
    NSMutableArray *logs = [[NSMutableArray alloc] init];
    const ig_finding *findings;
    size_t count = commands ? ig_commands_get_findings(commands, &findings) : 0;
    for (size_t i = 0; i < count; i++) {
        IGFunctionLog *log = [[IGFunctionLog alloc] initWithFinding:&findings[i]];
        [logs addObject:log];
        [log release];
    }
    _logs = logs;
    return self;
}

- (void)dealloc {
    [_logs release];
    [super dealloc];
}

- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState *)state
                                  objects:(__unsafe_unretained id *)buffer
                                    count:(NSUInteger)count {
    return [_logs countByEnumeratingWithState:state objects:buffer count:count];
}

- (NSString *)description {
    return [_logs componentsJoinedByString:@"\n"];
}
@end
