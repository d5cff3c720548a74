// refused: implicit conversion from nullable pointer 'NSString * _Nullable' to non-nullable pointer type
#import <Foundation/Foundation.h>

NSURL *place_of(const char *path) {
    return [NSURL fileURLWithPath:[NSString stringWithUTF8String:path]];
}
