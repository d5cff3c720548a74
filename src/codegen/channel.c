// SPDX-License-Identifier: Apache-2.0
// Sockets with deadlines.
#include "codegen/channel.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/descriptors.h"

typedef union descriptor_space {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
} descriptor_space;

bool igi_codegen_channel_send_descriptor(int control, int descriptor) {
    char byte = 0;
    struct iovec data = {&byte, 1};
    descriptor_space space = {0};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = space.bytes, .msg_controllen = sizeof space.bytes};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    ssize_t sent;
    do sent = sendmsg(control, &message, IGI_SEND_FLAGS);
    while (sent < 0 && errno == EINTR);
    return sent == 1;
}

int igi_codegen_channel_receive_descriptor(int control) {
    char byte;
    struct iovec data = {&byte, 1};
    descriptor_space space = {0};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = space.bytes, .msg_controllen = sizeof space.bytes};
    ssize_t got;
    do got = recvmsg(control, &message, 0);
    while (got < 0 && errno == EINTR);
    struct cmsghdr *header = got == 1 ? CMSG_FIRSTHDR(&message) : NULL;
    if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int))) return -1;
    int descriptor;
    memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    igi_socket_keep_private(descriptor);
    return descriptor;
}

// Returns false if the deadline passed first.
static bool wait_for(int channel, short events, uint64_t deadline_ns) {
    for (;;) {
        uint64_t now = igi_now_ns();
        if (now >= deadline_ns) return false;
        uint64_t left_ms = (deadline_ns - now) / 1000000 + 1;
        struct pollfd one = {.fd = channel, .events = events};
        int ready = poll(&one, 1, left_ms > 1000 ? 1000 : (int)left_ms);
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return false;
    }
}

static bool try_again(ssize_t result) {
    return result < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK);
}

static bool send_all(int channel, const char *bytes, size_t length, uint64_t deadline_ns) {
    while (length) {
        if (!wait_for(channel, POLLOUT, deadline_ns)) return false;
        ssize_t sent = send(channel, bytes, length, IGI_SEND_FLAGS | MSG_DONTWAIT);
        if (try_again(sent)) continue;
        if (sent <= 0) return false;
        bytes += sent, length -= (size_t)sent;
    }
    return true;
}

bool igi_codegen_channel_write(int channel, const char *bytes, size_t length, uint64_t deadline_ns) {
    uint64_t head = length;
    return send_all(channel, (const char *)&head, sizeof head, deadline_ns) &&
           send_all(channel, bytes, length, deadline_ns);
}

static igi_codegen_channel_end receive_all(int channel, size_t length, uint64_t deadline_ns, igi_text *bytes) {
    char part[65536];
    while (length) {
        if (!wait_for(channel, POLLIN, deadline_ns)) return IGI_CHANNEL_LATE;
        ssize_t got = recv(channel, part, length < sizeof part ? length : sizeof part, MSG_DONTWAIT);
        if (try_again(got)) continue;
        if (got <= 0) return IGI_CHANNEL_CLOSED;
        igi_text_append(bytes, part, (size_t)got);
        if (bytes->failed) return IGI_CHANNEL_BROKEN;
        length -= (size_t)got;
    }
    return IGI_CHANNEL_MESSAGE;
}

igi_codegen_channel_end igi_codegen_channel_read(int channel, size_t most, uint64_t deadline_ns, igi_text *bytes) {
    uint64_t length;
    igi_codegen_channel_end end = receive_all(channel, sizeof length, deadline_ns, bytes);
    if (end != IGI_CHANNEL_MESSAGE) return end;
    memcpy(&length, bytes->data, sizeof length);
    bytes->length = 0;
    return length > most ? IGI_CHANNEL_BROKEN : receive_all(channel, length, deadline_ns, bytes);
}
