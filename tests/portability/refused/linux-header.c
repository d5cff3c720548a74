// refused: 'linux/futex.h' file not found
#include <linux/futex.h>
