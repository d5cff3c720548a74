// SPDX-License-Identifier: Apache-2.0
// Unwinding through Objective-C++ of the newer ABI: as C++ does it. (Its @catch sees no Objective-C exceptions.)
#include <unwind.h>

typedef _Unwind_Reason_Code personality(int version, _Unwind_Action actions, _Unwind_Exception_Class exception_class,
                                        struct _Unwind_Exception *exception, struct _Unwind_Context *context);

extern __attribute__((weak)) personality __gxx_personality_v0;
extern personality __gnu_objc_personality_v0;
__attribute__((visibility("default"))) personality __gnustep_objcxx_personality_v0;

_Unwind_Reason_Code __gnustep_objcxx_personality_v0(int version, _Unwind_Action actions,
                                                    _Unwind_Exception_Class exception_class,
                                                    struct _Unwind_Exception *exception,
                                                    struct _Unwind_Context *context) {
    personality *next = __gxx_personality_v0 ? __gxx_personality_v0 : __gnu_objc_personality_v0;
    return next(version, actions, exception_class, exception, context);
}
