/* Questions in C against the same in Rust, over the same filter and in one run: speed KEYS ROUNDS
 *
 * Single: each question is moved by the answer before it. Batched: 1,024 ranges a call; Rust has them as pairs already, C
 * gives two columns. Rounds alternate; a line has the medians, and the median of the differences round by round. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lacuna.h"

enum { QUESTIONS = 1 << 18, AT_ONCE = 1024, MOST_ROUNDS = 101 };

typedef struct Twin Twin;
typedef struct Ranges Ranges;
Twin *twin_open(const uint8_t *bytes, size_t size);
uint64_t twin_singles(const Twin *filter, const uint64_t *lo, const uint64_t *hi, size_t count);
const Ranges *twin_ranges(const uint64_t *lo, const uint64_t *hi, size_t count);
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
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static uint64_t singles(const LacunaFilter *filter) {
  uint64_t moved = 0, maybes = 0;
  for (size_t place = 0; place < QUESTIONS; place++) {
    moved = lacuna_may_contain_u64(filter, lo[place] + moved, hi[place] + moved);
    maybes += moved;
  }
  return maybes;
}

static void batches(const LacunaFilter *filter) {
  for (size_t place = 0; place < QUESTIONS; place += AT_ONCE) {
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

static void measure(const char *spec, const uint64_t *keys, size_t count, int rounds) {
  double c[2][MOST_ROUNDS], rust[2][MOST_ROUNDS], start;
  LacunaPlan plan = {.spec = spec, .bits_per_key = 14};
  LacunaFilter *filter;
  LacunaBytes bytes;
  const Ranges *ranges = twin_ranges(lo, hi, QUESTIONS);
  Twin *twin;
  uint64_t maybes, maybes_rust;
  if (lacuna_build_u64(keys, count, &plan, &filter) != LACUNA_STATUS_OK) exit(1);
  bytes = lacuna_bytes(filter);
  twin = twin_open(bytes.data, bytes.size);
  for (int round = -2; round < rounds; round++) {
    int kept = round < 0 ? 0 : round;
    /* Who begins alternates, so that neither profits from the other's caches. */
    for (int half = 0; half < 2; half++) {
      bool is_c = (half ^ (round & 1)) == 0;
      start = now();
      if (is_c) maybes = singles(filter);
      else maybes_rust = twin_singles(twin, lo, hi, QUESTIONS);
      (is_c ? c : rust)[0][kept] = (now() - start) / QUESTIONS;
      start = now();
      if (is_c) batches(filter);
      else twin_batches(twin, ranges, QUESTIONS, AT_ONCE, by_rust);
      (is_c ? c : rust)[1][kept] = (now() - start) / QUESTIONS;
    }
    if (maybes != maybes_rust || memcmp(by_c, by_rust, sizeof by_c) != 0) {
      fprintf(stderr, "%s: C and Rust answer differently\n", spec);
      exit(1);
    }
  }
  line(spec, "single", c[0], rust[0], rounds);
  line(spec, "batched", c[1], rust[1], rounds);
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
    lo[place] = mixed(place + UINT64_C(1) << 40) >> 1;
    hi[place] = lo[place] + 31;
  }
  printf("%zu random keys, 14 bits each, %d ranges of 32, %d rounds; nanoseconds a question\n\n", key_count, QUESTIONS, rounds);
  printf("| filter | question | C | Rust | difference | ratio |\n| --- | --- | --: | --: | --: | --: |\n");
  for (size_t spec = 0; spec < sizeof SPECS / sizeof *SPECS; spec++) measure(SPECS[spec], keys, key_count, rounds);
  free(keys);
  return 0;
}
