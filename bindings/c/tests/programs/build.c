/* Builds a filter as `lacuna build` does, to compare the bytes: build TYPE SPEC BITS SEED KEYS OUT [SECRET]
 *
 * KEYS holds a key a line, in decimal or as text; SECRET is a file as for --secret-file. */
#include <errno.h>
#include <string.h>

#include "lacuna.h"
#include "random.h"

enum { MOST_KEYS = 200000, LONGEST = 200 };

static char lines[MOST_KEYS][LONGEST];

int main(int count, char **values) {
  static LacunaBytes strings[MOST_KEYS];
  static uint64_t integers[MOST_KEYS];
  static int64_t signed_integers[MOST_KEYS];
  static double floats[MOST_KEYS];
  size_t keys = 0;
  FILE *file;
  LacunaPlan plan = {0};
  LacunaFilter *filter;
  LacunaStatus status;
  LacunaBytes bytes;
  LacunaSecret secret;
  if (count < 7 || count > 8 || (file = fopen(values[5], "r")) == NULL) return 2;
  for (; keys < MOST_KEYS && fgets(lines[keys], LONGEST, file) != NULL; keys++) {
    lines[keys][strcspn(lines[keys], "\n")] = '\0';
    strings[keys].data = (const uint8_t *)lines[keys];
    strings[keys].size = strlen(lines[keys]);
    integers[keys] = strtoull(lines[keys], NULL, 10);
    signed_integers[keys] = strtoll(lines[keys], NULL, 10);
    floats[keys] = strtod(lines[keys], NULL);
  }
  fclose(file);
  plan.spec = values[2];
  plan.bits_per_key = strtod(values[3], NULL);
  plan.seed = strtoull(values[4], NULL, 10);
  if (count == 8) {
    char text[100];
    if ((file = fopen(values[7], "r")) == NULL) return 2;
    if (lacuna_secret_read(text, fread(text, 1, sizeof text, file), &secret) != LACUNA_STATUS_OK) return 2;
    fclose(file);
    plan.secret = &secret;
  }
  if (strcmp(values[1], "u64") == 0) {
    status = lacuna_build_u64(integers, keys, &plan, &filter);
  } else if (strcmp(values[1], "i64") == 0) {
    status = lacuna_build_i64(signed_integers, keys, &plan, &filter);
  } else if (strcmp(values[1], "f64") == 0) {
    status = lacuna_build_f64(floats, keys, &plan, &filter);
  } else {
    plan.key_type = LACUNA_KEY_TYPE_TEXT;
    status = lacuna_build_bytes(strings, keys, &plan, &filter);
  }
  if (status != LACUNA_STATUS_OK) {
    fprintf(stderr, "%s\n", lacuna_last_error());
    return 1;
  }
  bytes = lacuna_bytes(filter);
  file = fopen(values[6], "wb");
  if (file == NULL || fwrite(bytes.data, 1, bytes.size, file) != bytes.size || fclose(file) != 0) return 2;
  lacuna_close(filter);
  return 0;
}
