/* map.c - a table from numbers and addresses to numbers, for what would otherwise be searched. */
#include "base.h"

static size_t spot(const struct sim_map *map, uint64_t key) {
    size_t i = (size_t)((key * 0x9E3779B97F4A7C15ull) >> 20) & (map->room - 1);
    while (map->at[i].key && map->at[i].key != key) i = (i + 1) & (map->room - 1);
    return i;
}

bool sim_map_get(const struct sim_map *map, uint64_t key, uint32_t *value) {
    const struct sim_map_entry *e = map->room ? &map->at[spot(map, key)] : NULL;
    if (!e || !e->key) return false;
    *value = e->value;
    return true;
}

bool sim_map_put(struct sim_map *map, uint64_t key, uint32_t value) {
    if (2 * (map->n + 1) > map->room) {
        struct sim_map more = { .n = map->n, .room = map->room ? 2 * map->room : 8 };
        if (!(more.at = calloc(more.room, sizeof *more.at))) return false;
        for (size_t i = 0; i < map->room; i++)
            if (map->at[i].key) more.at[spot(&more, map->at[i].key)] = map->at[i];
        free(map->at);
        *map = more;
    }
    struct sim_map_entry *e = &map->at[spot(map, key)];
    map->n += !e->key;
    *e = (struct sim_map_entry){ key, value };
    return true;
}
