// SPDX-License-Identifier: Apache-2.0
// Routes between kernels.
#include "ring/rings.h"

static bool fits(const uint32_t grid[3]) {
    uint64_t cells = 1;
    for (int i = 0; i < 3; i++)
        if (!grid[i] || !igi_mul(cells, grid[i], &cells) || cells > UINT32_MAX) return false;
    return true;
}

static ig_status fail_grid(const char *call, const uint32_t grid[3]) {
    return igi_fail(IG_STATUS_INVALID_ARGUMENT,
                    "%s: the grid is %u x %u x %u; every side must be at least 1, and all kernels fewer than 2^32",
                    call, grid[0], grid[1], grid[2]);
}

static void add_route(ig_k2k_routing_table *table, uint32_t dest, uint32_t inbox_size) {
    table->routes[table->route_count++] = (ig_k2k_route){
        .dest = dest, .inbox_offset = dest * inbox_size, .is_active = 1, .hops = 1, .bandwidth_hint = 16};
}

// Steps to a neighbour along one axis; false at the edge.
static bool step(uint32_t at, int by, uint32_t extent, bool periodic, uint32_t *result) {
    int64_t moved = (int64_t)at + by;
    if (!periodic && (moved < 0 || moved >= extent)) return false;
    *result = (uint32_t)((moved + extent) % extent);
    return true;
}

typedef struct grid_walk {
    ig_k2k_routing_table *table;
    const uint32_t *grid;
    uint32_t at[3], first, inbox_size;
    bool periodic;
} grid_walk;

// A narrow periodic grid can have the same neighbour on two sides: it is listed once. A kernel is never its own
// neighbour.
static void add_neighbour(grid_walk *walk, int dx, int dy, int dz) {
    const int by[3] = {dx, dy, dz};
    uint32_t to[3];
    for (int i = 0; i < 3; i++)
        if (!step(walk->at[i], by[i], walk->grid[i], walk->periodic, &to[i])) return;
    uint32_t dest = walk->first + (to[2] * walk->grid[1] + to[1]) * walk->grid[0] + to[0];
    if (dest == walk->table->self_id) return;
    for (uint32_t i = 0; i < walk->table->route_count; i++)
        if (walk->table->routes[i].dest == dest) return;
    add_route(walk->table, dest, walk->inbox_size);
}

static void add_faces(grid_walk *walk) {
    static const int plane[4][2] = {{0, -1}, {0, 1}, {-1, 0}, {1, 0}};
    if (walk->grid[2] == 1) {
        for (int i = 0; i < 4; i++) add_neighbour(walk, plane[i][0], plane[i][1], 0);
        return;
    }
    for (int axis = 0; axis < 3; axis++)
        for (int by = -1; by <= 1; by += 2)
            add_neighbour(walk, axis == 0 ? by : 0, axis == 1 ? by : 0, axis == 2 ? by : 0);
}

static void add_rest(grid_walk *walk) {
    int deep = walk->grid[2] > 1;
    for (int dz = -deep; dz <= deep; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                if ((dx != 0) + (dy != 0) + (dz != 0) >= 2) add_neighbour(walk, dx, dy, dz);
}

ig_status ig_k2k_routing_table_grid(ig_k2k_routing_table *table, uint32_t self, uint32_t first, const uint32_t grid[3],
                                    ig_neighbourhood neighbourhood, bool periodic, uint32_t inbox_size) {
    if (!table || !grid)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "routing_table_grid: table and grid must not be NULL");
    if (!fits(grid)) return fail_grid("routing_table_grid", grid);
    if (self >= grid[0] * grid[1] * grid[2])
        return igi_fail(IG_STATUS_INVALID_ARGUMENT, "routing_table_grid: a grid of %u x %u x %u has no kernel %u",
                        grid[0], grid[1], grid[2], self);
    *table = (ig_k2k_routing_table){.self_id = first + self, .grid_x = grid[0], .grid_y = grid[1], .grid_z = grid[2]};
    grid_walk walk = {.table = table,
                      .grid = grid,
                      .at = {self % grid[0], self / grid[0] % grid[1], self / grid[0] / grid[1]},
                      .first = first,
                      .inbox_size = inbox_size,
                      .periodic = periodic};
    add_faces(&walk);
    if (neighbourhood == IG_NEIGHBOURS_ALL) add_rest(&walk);
    return IG_STATUS_OK;
}

// ---- Kernels ----

// Routes may change while the kernel runs: the count grows last.
static void set_routes(ig_ring_kernel *kernel, const ig_k2k_routing_table *table) {
    ig_k2k_routing_table *own = &kernel->block->routes;
    igi_ring_store_release(&own->route_count, 0);
    memcpy(own->routes, table->routes, sizeof own->routes);
    own->grid_x = table->grid_x, own->grid_y = table->grid_y, own->grid_z = table->grid_z;
    igi_ring_store_release(&own->route_count, table->route_count);
}

static ig_status check_k2k(const char *call, const ig_ring_kernel *kernel) {
    if (kernel->k2k) return IG_STATUS_OK;
    return igi_fail(IG_STATUS_WRONG_STATE, "%s: ring kernel '%s' was launched without the option k2k", call,
                    kernel->name);
}

static ig_status check_pair(const char *call, const ig_ring_kernel *from, const ig_ring_kernel *to) {
    if (!from || !to) return igi_fail(IG_STATUS_INVALID_ARGUMENT, "%s: neither kernel may be NULL", call);
    if (from == to)
        return igi_fail(IG_STATUS_INVALID_ARGUMENT, "%s: ring kernel '%s' cannot have a route to itself", call,
                        from->name);
    if (from->runtime != to->runtime)
        return igi_fail(IG_STATUS_INVALID_ARGUMENT,
                        "%s: ring kernels '%s' and '%s' belong to different runtimes, which ig_ring_runtime_join joins",
                        call, from->name, to->name);
    ig_status status = check_k2k(call, from);
    if (status == IG_STATUS_OK) status = check_k2k(call, to);
    if (status == IG_STATUS_OK && atomic_load(&((ig_ring_kernel *)to)->state) == IG_RING_TERMINATED)
        return igi_fail(IG_STATUS_WRONG_STATE, "%s: ring kernel '%s' is terminated", call, to->name);
    return status;
}

ig_status ig_ring_connect(ig_ring_kernel *from, ig_ring_kernel *to) {
    ig_status status = check_pair("ring_connect", from, to);
    if (status != IG_STATUS_OK) return status;
    pthread_mutex_lock(&from->lock);
    ig_k2k_routing_table *routes = &from->block->routes;
    ig_k2k_route *free_route = NULL;
    for (uint32_t i = 0; i < igi_ring_route_count(routes) && !free_route; i++)
        if (routes->routes[i].dest == to->index || !routes->routes[i].is_active) free_route = &routes->routes[i];
    if (free_route) {
        free_route->inbox_offset = to->index * from->runtime->inbox_size;
        igi_ring_store_release(&free_route->dest, to->index);
        igi_ring_store_release(&free_route->is_active, 1);
    } else if (igi_ring_route_count(routes) < IG_K2K_MAX_ROUTES) {
        ig_k2k_routing_table longer = *routes;
        add_route(&longer, to->index, from->runtime->inbox_size);
        routes->routes[routes->route_count] = longer.routes[routes->route_count];
        igi_ring_store_release(&routes->route_count, longer.route_count);
    } else {
        status = igi_fail(IG_STATUS_OVERFLOW, "ring_connect: ring kernel '%s' has %d routes, the maximum", from->name,
                          IG_K2K_MAX_ROUTES);
    }
    pthread_mutex_unlock(&from->lock);
    return status;
}

ig_status ig_ring_disconnect(ig_ring_kernel *from, ig_ring_kernel *to) {
    ig_status status = check_pair("ring_disconnect", from, to);
    if (status != IG_STATUS_OK) return status;
    status = IG_STATUS_NOT_FOUND;
    pthread_mutex_lock(&from->lock);
    ig_k2k_routing_table *routes = &from->block->routes;
    for (uint32_t i = 0; i < igi_ring_route_count(routes); i++) {
        if (routes->routes[i].dest != to->index || !routes->routes[i].is_active) continue;
        igi_ring_store_release(&routes->routes[i].is_active, 0);
        status = IG_STATUS_OK;
    }
    pthread_mutex_unlock(&from->lock);
    if (status == IG_STATUS_OK) return status;
    return igi_fail(status, "ring_disconnect: ring kernel '%s' has no route to '%s'", from->name, to->name);
}

ig_status ig_ring_connect_grid(ig_ring_kernel *const *kernels, const uint32_t grid[3], ig_neighbourhood neighbourhood,
                               bool periodic) {
    if (!kernels || !grid)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "connect_grid: kernels and grid must not be NULL");
    if (!fits(grid)) return fail_grid("connect_grid", grid);
    uint32_t count = grid[0] * grid[1] * grid[2];
    for (uint32_t i = 0; i < count; i++) {
        const ig_ring_kernel *kernel = kernels[i];
        if (!kernel || kernel->runtime != kernels[0]->runtime || kernel->index != kernels[0]->index + i)
            return igi_fail(IG_STATUS_INVALID_ARGUMENT,
                            "connect_grid: kernel %u of %u is NULL, of another runtime, or its id does not follow that "
                            "of the one before",
                            i, count);
        ig_status status = check_k2k("connect_grid", kernel);
        if (status != IG_STATUS_OK) return status;
    }
    for (uint32_t i = 0; i < count; i++) {
        ig_k2k_routing_table table;
        ig_k2k_routing_table_grid(&table, i, kernels[0]->index, grid, neighbourhood, periodic,
                                  kernels[0]->runtime->inbox_size);
        pthread_mutex_lock(&kernels[i]->lock);
        set_routes(kernels[i], &table);
        pthread_mutex_unlock(&kernels[i]->lock);
    }
    return IG_STATUS_OK;
}

void ig_ring_get_routes(const ig_ring_kernel *kernel, ig_k2k_routing_table *table) {
    ig_ring_kernel *mutable = (ig_ring_kernel *)kernel;
    pthread_mutex_lock(&mutable->lock);
    *table = kernel->block->routes;
    table->route_count = igi_ring_route_count(table);
    pthread_mutex_unlock(&mutable->lock);
}
