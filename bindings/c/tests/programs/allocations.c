/* No question allocates. The functions of glibc are replaced by some that count. */
#include <stdbool.h>
#include <stddef.h>

#include "lacuna.h"
#include "random.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *place, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static unsigned long allocations;

void *malloc(size_t size) { return allocations++, __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return allocations++, __libc_calloc(count, size); }
void *realloc(void *place, size_t size) { return allocations++, __libc_realloc(place, size); }
void *aligned_alloc(size_t alignment, size_t size) { return allocations++, __libc_memalign(alignment, size); }
int posix_memalign(void **place, size_t alignment, size_t size) {
  allocations++;
  *place = __libc_memalign(alignment, size);
  return *place == NULL ? 12 : 0;
}

enum { KEYS = 3000 };

static void ask_integers(const LacunaFilter *filter, bool is_surf) {
  uint64_t lo[KEYS], hi[KEYS], key;
  static bool answers[KEYS];
  LacunaCountBounds bounds;
  LacunaCandidate candidate;
  LacunaInfo info;
  unsigned long before;
  for (uint64_t place = 0; place < KEYS; place++) lo[place] = place * 37, hi[place] = place * 37 + place % 50;
  hi[77] = 0;
  before = allocations;
  for (uint64_t place = 0; place < KEYS; place++) {
    answers[place] = lacuna_may_contain_u64(filter, lo[place], hi[place]);
    answers[place] ^= lacuna_may_contain_key_u64(filter, place);
  }
  CHECK(lacuna_may_contain_many_u64(filter, lo, hi, KEYS, answers) == LACUNA_STATUS_OK);
  CHECK(lacuna_describe(filter, &info) == LACUNA_STATUS_OK && lacuna_bytes(filter).size > 64);
  if (is_surf) {
    CHECK(lacuna_count_u64(filter, 1, 9999, &bounds) == LACUNA_STATUS_OK);
    CHECK(lacuna_seek_u64(filter, LACUNA_DIRECTION_UP, 5, &key, &candidate) == LACUNA_STATUS_OK);
  }
  CHECK(allocations == before);
}

static void ask_strings(const LacunaFilter *filter, bool is_surf) {
  LacunaBytes lo[100], hi[100];
  bool answers[100];
  uint8_t letters[101], key[64];
  size_t size;
  LacunaCandidate candidate;
  unsigned long before;
  for (size_t place = 0; place < 101; place++) letters[place] = (uint8_t)(place + 50);
  for (size_t place = 0; place < 100; place++) lo[place].data = letters + place, lo[place].size = 1, hi[place] = lo[place];
  if (is_surf) {
    CHECK(lacuna_seek_bytes(filter, LACUNA_DIRECTION_UP, letters, 1, key, 64, &size, &candidate) == LACUNA_STATUS_OK);
  }
  before = allocations;
  for (size_t place = 0; place < 100; place++) {
    answers[place] = lacuna_may_contain_bytes(filter, letters + place, 1, letters + place + 1, 1);
    answers[place] ^= lacuna_may_contain_key_bytes(filter, letters, place);
    answers[place] ^= lacuna_may_contain_prefix(filter, letters + place, 1);
  }
  CHECK(lacuna_may_contain_many_bytes(filter, lo, hi, 100, answers) == LACUNA_STATUS_OK);
  if (is_surf) {
    CHECK(lacuna_seek_bytes(filter, LACUNA_DIRECTION_UP, letters, 1, key, 64, &size, &candidate) == LACUNA_STATUS_OK);
  }
  CHECK(allocations == before);
}

int main(void) {
  static const char *const SPECS[] = {"surf", "grafite", "ribbon", "bucketing", "bloom", "blocked_bloom", "prefix_bloom:bits=44",
                                      "rencoder", "proteus", "multi_prefix_bloom", "place_trie", "snarf", "cuckoo"};
  static uint64_t keys[KEYS];
  static uint8_t bytes[KEYS][8];
  static LacunaBytes strings[KEYS];
  for (uint64_t place = 0; place < KEYS; place++) {
    keys[place] = place * place * 101;
    for (int byte = 0; byte < 8; byte++) bytes[place][byte] = (uint8_t)(50 + ((keys[place] >> (4 * (7 - byte))) & 15));
    strings[place].data = bytes[place];
    strings[place].size = 8;
  }
  for (size_t spec = 0; spec < sizeof SPECS / sizeof *SPECS; spec++) {
    LacunaPlan plan = {.spec = SPECS[spec], .bits_per_key = 80};
    LacunaFilter *filter;
    unsigned long before = allocations;
    CHECK(lacuna_build_u64(keys, KEYS, &plan, &filter) == LACUNA_STATUS_OK);
    CHECK(allocations > before); /* the counters count */
    ask_integers(filter, spec == 0);
    lacuna_close(filter);
    CHECK(lacuna_build_bytes(strings, KEYS, &plan, &filter) == LACUNA_STATUS_OK);
    ask_strings(filter, spec == 0);
    lacuna_close(filter);
  }
  return 0;
}
