/* A filter beside a sorted file: built from its keys, written, mapped into memory and asked where it lies.
 *
 * Exits with 1 and a line if anything is not as it should be. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lacuna.h"

enum { KEYS = 100000, QUERIES = 100000, LENGTH = 64 };

static void check(LacunaStatus status, const char *what) {
  if (status != LACUNA_STATUS_OK) {
    fprintf(stderr, "%s: %s\n", what, lacuna_last_error());
    exit(1);
  }
}

static uint64_t key(uint64_t place) { return place * place * 1000003; }

/* Writes the filter of the keys to a file. */
static void write_filter(const char *path) {
  uint64_t *keys = malloc(KEYS * sizeof *keys);
  LacunaPlan plan = {.spec = "grafite", .rate = 0.01, .max_range_len = LENGTH, .seed = 7};
  LacunaFilter *filter;
  LacunaBytes bytes;
  FILE *file = fopen(path, "wb");
  if (keys == NULL || file == NULL) exit(1);
  for (uint64_t place = 0; place < KEYS; place++) keys[place] = key(place);
  check(lacuna_build_u64(keys, KEYS, &plan, &filter), "building");
  bytes = lacuna_bytes(filter);
  if (fwrite(bytes.data, 1, bytes.size, file) != bytes.size || fclose(file) != 0) exit(1);
  printf("%s", lacuna_explain(filter));
  lacuna_close(filter);
  free(keys);
}

/* Files that need not be read, of those that hold no key of the range. */
static unsigned skipped(const LacunaFilter *filter) {
  unsigned skipped = 0;
  for (uint64_t query = 0; query < QUERIES; query++) {
    uint64_t before = key(query % (KEYS - 1)), lo = before + 1 + query % 1000;
    if (!lacuna_may_contain_u64(filter, lo, lo + LENGTH - 1)) skipped++;
    if (!lacuna_may_contain_key_u64(filter, before)) exit(1); /* "No" is always true. */
  }
  return skipped;
}

int main(void) {
  char path[] = "/tmp/sorted-file-XXXXXX";
  int file = mkstemp(path);
  struct stat about;
  LacunaFilter *filter;
  void *map;
  if (file < 0) return 1;
  write_filter(path);

  if (fstat(file, &about) != 0) return 1;
  map = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (map == MAP_FAILED) return 1;
  /* A program would read the data without a filter that does not open; here it must. */
  check(lacuna_open_borrowed(map, (size_t)about.st_size, LACUNA_VERIFY_ALL, &filter), "opening");
  printf("skipped %u of %d reads for nothing\n", skipped(filter), QUERIES);
  if (skipped(filter) < QUERIES / 100 * 98) return 1;

  lacuna_close(filter); /* before its bytes go */
  munmap(map, (size_t)about.st_size);
  close(file);
  unlink(path);
  return 0;
}
