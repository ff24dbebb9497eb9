/* Random numbers from a seed (splitmix64), and what a test does when something does not hold. C99 and C++17. */
#ifndef LACUNA_TESTS_RANDOM_H
#define LACUNA_TESTS_RANDOM_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The seed of the run and the number of the program, for the line that is printed on failure. */
static uint64_t run_seed, program_number, random_state;

static inline uint64_t random_u64(void) {
  uint64_t mixed = random_state += UINT64_C(0x9E3779B97F4A7C15);
  mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
  return mixed ^ (mixed >> 31);
}

/* A number below `bound`. */
static inline uint64_t random_below(uint64_t bound) { return random_u64() % bound; }

/* Starts a program: it is the same whatever ran before. */
static inline void begin_program(uint64_t number) {
  program_number = number;
  random_state = run_seed * UINT64_C(0x2545F4914F6CDD1D) + number;
}

/* Ends the test with 1 and a line unless it holds. */
#define CHECK(holds)                                                                                               \
  do {                                                                                                             \
    if (!(holds)) {                                                                                                \
      fprintf(stderr, "%s:%d: does not hold: %s; seed %" PRIu64 ", program %" PRIu64 ", last error: %s\n",         \
              __FILE__, __LINE__, #holds, run_seed, program_number, lacuna_last_error());                          \
      exit(1);                                                                                                     \
    }                                                                                                              \
  } while (0)

/* How many programs to run, from the arguments `PROGRAMS SEED [FIRST]`; the number of the first goes to `first`. */
static inline uint64_t arguments(int count, char **values, uint64_t *first) {
  uint64_t programs = count > 1 ? strtoull(values[1], NULL, 10) : 1000;
  run_seed = count > 2 ? strtoull(values[2], NULL, 10) : 1;
  *first = count > 3 ? strtoull(values[3], NULL, 10) : 0;
  printf("%s: %" PRIu64 " programs, seed %" PRIu64 "\n", values[0], programs, run_seed);
  return programs;
}

#endif
