/* Questions in C against the same in Rust, over the same filter and in one run: speed KEYS ROUNDS
 *
 * Single: each question is moved by the answer before it. Batched: 1,024 ranges a call, in two columns; and the same C
 * against Rust that has them as pairs already. Both take turns every 4,096 questions, far apart, so that neither finds what the other has brought into
 * the caches. Time is that of the thread's processor. A line has medians of rounds, and of their differences and ratios. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lacuna.h"

enum { QUESTIONS = 1 << 18, TURN = 4096, AT_ONCE = 1024, MOST_ROUNDS = 101 };

typedef struct Twin Twin;
typedef struct Ranges Ranges;
Twin *twin_open(const uint8_t *bytes, size_t size);
uint64_t twin_singles(const Twin *filter, const uint64_t *lo, const uint64_t *hi, size_t count);
const Ranges *twin_ranges(const uint64_t *lo, const uint64_t *hi, size_t count);
void twin_columns(const Twin *filter, const uint64_t *lo, const uint64_t *hi, size_t count, size_t at_once, bool *answers);
void twin_batches(const Twin *filter, const Ranges *ranges, size_t count, size_t at_once, bool *answers);

static uint64_t lo[QUESTIONS], hi[QUESTIONS];
static bool by_c[QUESTIONS], by_rust[QUESTIONS];

static uint64_t mixed(uint64_t number) {
  number = (number + UINT64_C(0x9E3779B97F4A7C15)) * UINT64_C(0xBF58476D1CE4E5B9);
  number = (number ^ (number >> 27)) * UINT64_C(0x94D049BB133111EB);
  return number ^ (number >> 31);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static uint64_t singles(const LacunaFilter *filter, size_t first) {
  uint64_t moved = 0, maybes = 0;
  for (size_t place = first; place < first + TURN; place++) {
    moved = lacuna_may_contain_u64(filter, lo[place] + moved, hi[place] + moved);
    maybes += moved;
  }
  return maybes;
}

static void batches(const LacunaFilter *filter, size_t first) {
  for (size_t place = first; place < first + TURN; place += AT_ONCE) {
    lacuna_may_contain_many_u64(filter, lo + place, hi + place, AT_ONCE, by_c + place);
  }
}

static int compare(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return a < b ? -1 : a > b;
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare);
  return values[count / 2];
}

static void line(const char *spec, const char *what, const double *c, const double *rust, int rounds) {
  double differences[MOST_ROUNDS], ratios[MOST_ROUNDS], cs[MOST_ROUNDS], rusts[MOST_ROUNDS];
  for (int round = 0; round < rounds; round++) {
    cs[round] = c[round], rusts[round] = rust[round];
    differences[round] = c[round] - rust[round];
    ratios[round] = c[round] / rust[round];
  }
  printf("| %s | %s | %.2f | %.2f | %+.2f | %.3f |\n", spec, what, median(cs, rounds), median(rusts, rounds),
         median(differences, rounds), median(ratios, rounds));
}

/* One filter twice, and the ranges as Rust has them. */
struct pair {
  const LacunaFilter *filter;
  const Twin *twin;
  const Ranges *ranges[QUESTIONS / TURN];
};

enum way { SINGLE, COLUMNS, PAIRS, WAYS };
static const char *const NAMES[] = {"single", "batched", "batched, Rust has pairs"};

/* Nanoseconds a question of C and of Rust. */
static void round_of(const struct pair *pair, enum way way, double *c, double *rust) {
  uint64_t maybes = 0, maybes_rust = 0;
  double c_time = 0, rust_time = 0, start;
  for (size_t turn = 0; turn < QUESTIONS / TURN; turn++) {
    size_t other = (turn + QUESTIONS / TURN / 2) % (QUESTIONS / TURN);
    start = now();
    if (way == SINGLE) maybes += singles(pair->filter, turn * TURN);
    else batches(pair->filter, turn * TURN);
    c_time += now() - start;
    start = now();
    if (way == SINGLE) maybes_rust += twin_singles(pair->twin, lo + other * TURN, hi + other * TURN, TURN);
    else if (way == COLUMNS) twin_columns(pair->twin, lo + other * TURN, hi + other * TURN, TURN, AT_ONCE, by_rust + other * TURN);
    else twin_batches(pair->twin, pair->ranges[other], TURN, AT_ONCE, by_rust + other * TURN);
    rust_time += now() - start;
  }
  if (maybes != maybes_rust || (way != SINGLE && memcmp(by_c, by_rust, sizeof by_c) != 0)) {
    fprintf(stderr, "C and Rust answer differently\n");
    exit(1);
  }
  *c = c_time / QUESTIONS, *rust = rust_time / QUESTIONS;
}

static void measure(const char *spec, const uint64_t *keys, size_t count, int rounds) {
  double c[MOST_ROUNDS], rust[MOST_ROUNDS];
  LacunaPlan plan = {.spec = spec, .bits_per_key = 14};
  LacunaFilter *filter;
  LacunaBytes bytes;
  struct pair pair;
  if (lacuna_build_u64(keys, count, &plan, &filter) != LACUNA_STATUS_OK) exit(1);
  bytes = lacuna_bytes(filter);
  pair.filter = filter;
  pair.twin = twin_open(bytes.data, bytes.size);
  for (size_t turn = 0; turn < QUESTIONS / TURN; turn++) pair.ranges[turn] = twin_ranges(lo + turn * TURN, hi + turn * TURN, TURN);
  for (enum way way = SINGLE; way < WAYS; way++) {
    for (int warm = 0; warm < 2; warm++) round_of(&pair, way, c, rust);
    for (int round = 0; round < rounds; round++) round_of(&pair, way, &c[round], &rust[round]);
    line(spec, NAMES[way], c, rust, rounds);
  }
  lacuna_close(filter);
}

static int compare_keys(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

int main(int count, char **values) {
  static const char *const SPECS[] = {"grafite", "bucketing", "bloom", "rencoder", "snarf"};
  size_t key_count = count > 1 ? strtoull(values[1], NULL, 10) : 1000000;
  int rounds = count > 2 ? atoi(values[2]) : 21;
  uint64_t *keys = malloc(key_count * sizeof *keys);
  if (keys == NULL || rounds < 1 || rounds > MOST_ROUNDS) return 2;
  for (size_t place = 0; place < key_count; place++) keys[place] = mixed(place);
  qsort(keys, key_count, sizeof *keys, compare_keys);
  for (size_t place = 0; place < QUESTIONS; place++) {
    lo[place] = mixed(place + (UINT64_C(1) << 40)) >> 1;
    hi[place] = lo[place] + 31;
  }
  printf("%zu random keys, 14 bits each, %d ranges of 32, %d rounds; nanoseconds a question\n\n", key_count, QUESTIONS, rounds);
  printf("| filter | question | C | Rust | difference | ratio |\n| --- | --- | --: | --: | --: | --: |\n");
  for (size_t spec = 0; spec < sizeof SPECS / sizeof *SPECS; spec++) measure(SPECS[spec], keys, key_count, rounds);
  free(keys);
  return 0;
}
