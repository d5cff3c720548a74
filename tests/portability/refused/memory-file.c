// refused: call to undeclared function 'memfd_create'
#include <sys/mman.h>

int memory_file(void) {
    return memfd_create("name", 0);
}
