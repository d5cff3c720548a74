// SPDX-License-Identifier: Apache-2.0
// The peer `caf` of `ingot bench ring`: two event-based actors with a pinned thread each; or, if no CPUs are given, on
// a scheduler of two threads that places them itself.
#include "peer.h"

#include <caf/all.hpp>

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sealed)

using namespace caf;

static uint64_t trips, messages, started;
static uint64_t *samples;
static int cpus[2];

static behavior echo(event_based_actor *) {
    pin(cpus[1]);
    return {[](uint64_t number, uint64_t value) -> result<uint64_t, uint64_t> { return {number, value}; }};
}

static behavior ask(event_based_actor *self, actor other) {
    pin(cpus[0]);
    started = now_ns();
    self->send(other, uint64_t{0}, uint64_t{0});
    return {[=](uint64_t number, uint64_t value) {
        samples[number] = now_ns() - started;
        if (number + 1 == trips) return self->quit();
        started = now_ns();
        self->send(other, number + 1, value);
    }};
}

// As between ring kernels: the source sends while few messages are in flight; the sink reports its progress now and
// then.
static const uint64_t batch = 64, most_under_way = 24 * batch;

static behavior drain(event_based_actor *self) {
    pin(cpus[1]);
    auto arrived = std::make_shared<uint64_t>(0);
    return {[=](uint64_t number, uint64_t value) {
        *arrived += number == *arrived;
        bool last = number + 1 == messages;
        if (last && *arrived != messages) exit(1);
        if (last || number % batch == batch - 1) self->send(actor_cast<actor>(self->current_sender()), number, value);
        if (last) self->quit();
    }};
}

static behavior pour(event_based_actor *self, actor sink) {
    pin(cpus[0]);
    auto sent = std::make_shared<uint64_t>(0);
    auto fill = [=](uint64_t arrived) {
        for (; *sent < messages && *sent - arrived < most_under_way; ++*sent) self->send(sink, *sent, messages);
    };
    fill(0);
    return {[=](uint64_t number, uint64_t) {
        fill(number + 1);
        if (number + 1 == messages) self->quit();
    }};
}

// The same with the contract of ring kernels.
static behavior drain_sealed(event_based_actor *self) {
    pin(cpus[1]);
    auto arrived = std::make_shared<uint64_t>(0);
    auto clock = std::make_shared<hybrid_clock>();
    return {[=](const sealed &message) {
        check_seal(clock.get(), &message);
        uint64_t number = message.payload.number;
        *arrived += number == *arrived;
        bool last = number + 1 == messages;
        if (last && *arrived != messages) exit(1);
        if (last || number % batch == batch - 1) self->send(actor_cast<actor>(self->current_sender()), number);
        if (last) self->quit();
    }};
}

static behavior pour_sealed(event_based_actor *self, actor sink) {
    pin(cpus[0]);
    auto message = std::make_shared<sealed>();
    auto clock = std::make_shared<hybrid_clock>();
    auto fill = [=](uint64_t arrived) {
        for (uint64_t &n = message->payload.number; n < messages && n - arrived < most_under_way; ++n) {
            seal(clock.get(), message.get());
            self->send(sink, *message);
        }
    };
    fill(0);
    return {[=](uint64_t number) {
        fill(number + 1);
        if (number + 1 == messages) self->quit();
    }};
}

template <class... Arguments>
static actor start(actor_system &system, Arguments... arguments) {
    return cpus[0] < 0 ? system.spawn(arguments...) : system.spawn<detached>(arguments...);
}

int main(int count, char **arguments) {
    if (count < 5) return 1;
    trips = strtoull(arguments[1], NULL, 10), messages = strtoull(arguments[2], NULL, 10);
    cpus[0] = atoi(arguments[3]), cpus[1] = atoi(arguments[4]);
    samples = (uint64_t *)calloc(trips, sizeof *samples);
    actor_system_config config;
    config.set("scheduler.max-threads", 2);
    actor_system system{config};
    auto other = start(system, echo);
    auto asking = start(system, ask, other);
    {
        scoped_actor self{system};
        self->wait_for(asking);
    }
    anon_send_exit(other, exit_reason::user_shutdown);
    make_crc_tables();
    uint64_t begin = now_ns();
    start(system, pour, start(system, drain));
    system.await_all_actors_done();
    double rate = (double)messages / ((double)(now_ns() - begin) * 1e-9);
    begin = now_ns();
    start(system, pour_sealed, start(system, drain_sealed));
    system.await_all_actors_done();
    report(samples, trips, rate, (double)messages / ((double)(now_ns() - begin) * 1e-9));
    return 0;
}
