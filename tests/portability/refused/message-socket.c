// refused: use of undeclared identifier 'SOCK_SEQPACKET'
#include <sys/socket.h>

int message_sockets(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends);
}
