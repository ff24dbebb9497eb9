/* Random programs of build, ask, serialise and open in C, against a model: random PROGRAMS SEED [FIRST]
 *
 * The model is an array of numbers. Each stands for a key of the program's kind, in the same order: an unsigned or signed
 * integer, a day, a moment, a floating-point number or a byte string. */
#include <stdbool.h>
#include <string.h>

#include "lacuna.h"
#include "random.h"

enum { MOST_KEYS = 300, STEPS = 24, MANY = 300, ROOM = 64 };
enum kind { UNSIGNED, SIGNED, FLOATS, STRINGS, KINDS };

/* Keys of the model are below 2^40, and ends of ranges below 2^42: FLOATS and STRINGS hold them exactly. */
static const uint64_t DOMAIN = UINT64_C(1) << 40;

static const char *const SPECS[] = {NULL, "grafite", "ribbon", "bucketing", "bloom", "blocked_bloom", "prefix_bloom:bits=44",
                                    "rencoder", "rencoder:ss", "surf", "surf:real=4", "surf:cut", "proteus",
                                    "multi_prefix_bloom", "snarf", "cuckoo", "auto", "ribbon:secret", "grafite:secret"};

struct program {
  enum kind kind;
  LacunaKeyType type;
  uint64_t keys[MOST_KEYS];
  size_t count;
  uint64_t spread; /* numbers are below it */
  char prefix[12]; /* of STRINGS */
  const char *spec;
  LacunaFilter *filter;
  uint8_t *borrowed; /* bytes that the filter lies over, and where they begin */
  size_t sealed_size;
};

/* What was asked of ranges without a key, and answered "no", where a filter is able to. */
static uint64_t empty_asked, empty_denied;

struct string {
  uint8_t bytes[24];
  size_t size;
};

/* The program's prefix, and six big-endian bytes without the zeros at their end: as ordered as the numbers. */
static struct string string_of(const struct program *p, uint64_t number) {
  struct string key;
  size_t prefix = strlen(p->prefix), size = 6;
  memcpy(key.bytes, p->prefix, prefix);
  for (size_t place = 0; place < 6; place++) key.bytes[prefix + place] = (uint8_t)(number >> (8 * (5 - place)));
  while (size > 0 && key.bytes[prefix + size - 1] == 0) size--;
  key.size = prefix + size;
  return key;
}

static int64_t signed_of(uint64_t number) { return (int64_t)number - (int64_t)(DOMAIN / 2); }
static double float_of(uint64_t number) { return (double)signed_of(number) * 0.125; }

static int compare(const void *left, const void *right) {
  uint64_t a, b;
  memcpy(&a, left, sizeof a);
  memcpy(&b, right, sizeof b);
  return a < b ? -1 : a > b;
}

/* Keys of the model from lo to hi. */
static size_t model_count(const struct program *p, uint64_t lo, uint64_t hi) {
  size_t count = 0;
  for (size_t place = 0; place < p->count; place++) {
    bool repeated = place > 0 && p->keys[place] == p->keys[place - 1];
    if (!repeated && lo <= p->keys[place] && p->keys[place] <= hi) count++;
  }
  return count;
}

static bool ask_range(const struct program *p, uint64_t lo, uint64_t hi) {
  struct string from, to;
  switch (p->kind) {
    case UNSIGNED: return lacuna_may_contain_u64(p->filter, lo, hi);
    case SIGNED: return lacuna_may_contain_i64(p->filter, p->type, signed_of(lo), signed_of(hi));
    case FLOATS: return lacuna_may_contain_f64(p->filter, float_of(lo), float_of(hi));
    default:
      from = string_of(p, lo);
      to = string_of(p, hi);
      return lacuna_may_contain_bytes(p->filter, from.bytes, from.size, to.bytes, to.size);
  }
}

static bool ask_key(const struct program *p, uint64_t key) {
  struct string bytes;
  switch (p->kind) {
    case UNSIGNED: return lacuna_may_contain_key_u64(p->filter, key);
    case SIGNED: return lacuna_may_contain_key_i64(p->filter, p->type, signed_of(key));
    case FLOATS: return lacuna_may_contain_key_f64(p->filter, float_of(key));
    default: bytes = string_of(p, key); return lacuna_may_contain_key_bytes(p->filter, bytes.bytes, bytes.size);
  }
}

static void ask_many(const struct program *p, const uint64_t *lo, const uint64_t *hi, size_t count, bool *answers) {
  int64_t lo_signed[MANY], hi_signed[MANY];
  double lo_float[MANY], hi_float[MANY];
  struct string lo_string[MANY], hi_string[MANY];
  LacunaBytes lo_bytes[MANY], hi_bytes[MANY];
  LacunaStatus status;
  for (size_t place = 0; place < count; place++) {
    lo_signed[place] = signed_of(lo[place]), hi_signed[place] = signed_of(hi[place]);
    lo_float[place] = float_of(lo[place]), hi_float[place] = float_of(hi[place]);
    lo_string[place] = string_of(p, lo[place]), hi_string[place] = string_of(p, hi[place]);
    lo_bytes[place].data = lo_string[place].bytes, lo_bytes[place].size = lo_string[place].size;
    hi_bytes[place].data = hi_string[place].bytes, hi_bytes[place].size = hi_string[place].size;
  }
  switch (p->kind) {
    case UNSIGNED: status = lacuna_may_contain_many_u64(p->filter, lo, hi, count, answers); break;
    case SIGNED: status = lacuna_may_contain_many_i64(p->filter, p->type, lo_signed, hi_signed, count, answers); break;
    case FLOATS: status = lacuna_may_contain_many_f64(p->filter, lo_float, hi_float, count, answers); break;
    default: status = lacuna_may_contain_many_bytes(p->filter, lo_bytes, hi_bytes, count, answers);
  }
  CHECK(status == LACUNA_STATUS_OK);
}

static void draw_keys(struct program *p) {
  static const uint64_t SPREADS[] = {400, 100000, UINT64_C(1) << 30, UINT64_C(1) << 40};
  static const char *const PREFIXES[] = {"", "a", "\xff\xff", "user/0001/"};
  static const LacunaKeyType SIGNED_TYPES[] = {LACUNA_KEY_TYPE_UNKNOWN, LACUNA_KEY_TYPE_I64, LACUNA_KEY_TYPE_DATE,
                                               LACUNA_KEY_TYPE_TIMESTAMP_SECONDS, LACUNA_KEY_TYPE_TIMESTAMP_MILLISECONDS,
                                               LACUNA_KEY_TYPE_TIMESTAMP_MICROSECONDS};
  static const LacunaKeyType STRING_TYPES[] = {LACUNA_KEY_TYPE_UNKNOWN, LACUNA_KEY_TYPE_TEXT, LACUNA_KEY_TYPE_HEX,
                                               LACUNA_KEY_TYPE_TUPLE};
  p->kind = (enum kind)random_below(KINDS);
  p->type = p->kind == SIGNED ? SIGNED_TYPES[random_below(6)] : LACUNA_KEY_TYPE_UNKNOWN;
  if (p->kind == STRINGS) p->type = STRING_TYPES[random_below(4)];
  strcpy(p->prefix, PREFIXES[random_below(4)]);
  p->spread = SPREADS[random_below(4)];
  p->count = (size_t)(random_below(4) == 0 ? random_below(4) : random_below(MOST_KEYS));
  for (size_t place = 0; place < p->count; place++) p->keys[place] = random_below(p->spread);
}

static LacunaStatus add(LacunaBuilder *builder, const struct program *p, uint64_t number) {
  struct string key;
  switch (p->kind) {
    case UNSIGNED: return lacuna_builder_add_u64(builder, number);
    case SIGNED: return lacuna_builder_add_i64(builder, signed_of(number));
    case FLOATS: return lacuna_builder_add_f64(builder, float_of(number));
    default: key = string_of(p, number); return lacuna_builder_add_bytes(builder, key.bytes, key.size);
  }
}

static LacunaStatus build_one_by_one(struct program *p, const LacunaPlan *plan) {
  LacunaBuilder *builder;
  LacunaStatus status;
  switch (p->kind) {
    case UNSIGNED: status = lacuna_builder_new_u64(plan, &builder); break;
    case SIGNED: status = lacuna_builder_new_i64(plan, &builder); break;
    case FLOATS: status = lacuna_builder_new_f64(plan, &builder); break;
    default: status = lacuna_builder_new_bytes(plan, &builder);
  }
  CHECK((status == LACUNA_STATUS_OK) == (builder != NULL));
  if (status != LACUNA_STATUS_OK) return status;
  for (size_t place = 0; place < p->count; place++) CHECK(add(builder, p, p->keys[place]) == LACUNA_STATUS_OK);
  status = lacuna_builder_finish(builder, &p->filter);
  if (status == LACUNA_STATUS_OK) CHECK(add(builder, p, 0) == LACUNA_STATUS_INVALID_INPUT);
  lacuna_builder_free(builder);
  return status;
}

static LacunaStatus build_at_once(struct program *p, const LacunaPlan *plan) {
  int64_t signed_keys[MOST_KEYS];
  double float_keys[MOST_KEYS];
  struct string strings[MOST_KEYS];
  LacunaBytes byte_keys[MOST_KEYS];
  for (size_t place = 0; place < p->count; place++) {
    signed_keys[place] = signed_of(p->keys[place]);
    float_keys[place] = float_of(p->keys[place]);
    strings[place] = string_of(p, p->keys[place]);
    byte_keys[place].data = strings[place].bytes;
    byte_keys[place].size = strings[place].size;
  }
  switch (p->kind) {
    case UNSIGNED: return lacuna_build_u64(p->keys, p->count, plan, &p->filter);
    case SIGNED: return lacuna_build_i64(signed_keys, p->count, plan, &p->filter);
    case FLOATS: return lacuna_build_f64(float_keys, p->count, plan, &p->filter);
    default: return lacuna_build_bytes(byte_keys, p->count, plan, &p->filter);
  }
}

static LacunaSample *draw_sample(const struct program *p) {
  LacunaSample *sample = lacuna_sample_new();
  for (uint64_t queries = random_below(50); queries > 0; queries--) {
    uint64_t lo = random_below(p->spread), hi = lo + random_below(100);
    struct string from = string_of(p, lo), to = string_of(p, hi);
    LacunaStatus status;
    switch (p->kind) {
      case UNSIGNED: status = lacuna_sample_add_u64(sample, lo, hi); break;
      case SIGNED: status = lacuna_sample_add_i64(sample, signed_of(lo), signed_of(hi)); break;
      case FLOATS: status = lacuna_sample_add_f64(sample, float_of(lo), float_of(hi)); break;
      default: status = lacuna_sample_add_bytes(sample, from.bytes, from.size, to.bytes, to.size);
    }
    CHECK(status == LACUNA_STATUS_OK);
  }
  return sample;
}

static LacunaStatus build(struct program *p, const LacunaPlan *plan) {
  return random_below(2) == 0 ? build_at_once(p, plan) : build_one_by_one(p, plan);
}

/* Builds the filter; with more bits if the budget is too small, which must then do. */
static bool draw_filter(struct program *p) {
  static const double BITS[] = {6, 10, 14, 20, 40};
  LacunaPlan plan = {0};
  LacunaSample *sample = random_below(3) == 0 ? draw_sample(p) : NULL;
  LacunaStatus status;
  LacunaSecret secret;
  for (int byte = 0; byte < LACUNA_SECRET_BYTES; byte++) secret.bytes[byte] = (uint8_t)random_below(256);
  /* The last two are for integers. */
  p->spec = SPECS[random_below(sizeof SPECS / sizeof *SPECS - (p->kind == STRINGS ? 2 : 0))];
  if (p->spec != NULL && strstr(p->spec, "secret") != NULL) plan.secret = &secret;
  plan.spec = p->spec;
  plan.seed = random_below(3);
  plan.key_type = p->type;
  plan.sample = sample;
  if (random_below(4) == 0) {
    plan.rate = 0.02;
    plan.max_range_len = 16;
  } else {
    plan.bits_per_key = BITS[random_below(5)];
  }
  status = build(p, &plan);
  if (status == LACUNA_STATUS_BUDGET_TOO_SMALL) {
    CHECK(p->filter == NULL && lacuna_last_smallest_bits_per_key() > 0);
    plan.rate = 0;
    plan.bits_per_key = lacuna_last_smallest_bits_per_key() + 0.01;
    status = plan.bits_per_key > 128 ? LACUNA_STATUS_BUDGET_TOO_SMALL : build(p, &plan);
    CHECK(plan.bits_per_key > 128 || status == LACUNA_STATUS_OK);
  }
  lacuna_sample_free(sample);
  CHECK(status == LACUNA_STATUS_OK || status == LACUNA_STATUS_BUDGET_TOO_SMALL);
  return status == LACUNA_STATUS_OK;
}

/* What the filter says about itself. */
static void check_description(struct program *p) {
  LacunaInfo info;
  size_t distinct = 0;
  CHECK(lacuna_describe(p->filter, &info) == LACUNA_STATUS_OK);
  distinct = model_count(p, 0, UINT64_MAX);
  CHECK(info.key_count == distinct);
  CHECK(info.key_space == (p->kind == STRINGS ? LACUNA_KEY_SPACE_BYTES : LACUNA_KEY_SPACE_U64));
  if (p->kind == UNSIGNED) CHECK(info.key_type == LACUNA_KEY_TYPE_U64);
  if (p->kind == FLOATS) CHECK(info.key_type == LACUNA_KEY_TYPE_F64);
  if (p->kind == STRINGS) CHECK(info.key_type == p->type);
  if (p->kind == SIGNED) {
    CHECK(info.key_type == (p->type == LACUNA_KEY_TYPE_UNKNOWN ? LACUNA_KEY_TYPE_I64 : p->type));
    p->type = info.key_type;
  }
  CHECK(strlen(lacuna_explain(p->filter)) > 40 && strstr(lacuna_explain(p->filter), info.family) != NULL);
  CHECK(lacuna_rate_bound(p->filter, 1) >= 0 && lacuna_rate_bound(p->filter, 1) <= 1);
}

static void check_range(const struct program *p, uint64_t lo, uint64_t hi, bool answer) {
  if (lo > hi) {
    CHECK(!answer);
  } else if (model_count(p, lo, hi) > 0) {
    CHECK(answer);
  } else if (p->spread > 100000 && hi - lo < 16) {
    empty_asked++;
    empty_denied += !answer;
  }
}

static uint64_t near_a_key(const struct program *p) {
  uint64_t key = p->count == 0 || random_below(4) == 0 ? random_below(p->spread) : p->keys[random_below(p->count)];
  uint64_t moved = key + random_below(5);
  return moved < 2 ? moved : moved - 2;
}

static void step_range(const struct program *p) {
  uint64_t lo = near_a_key(p), hi = random_below(8) == 0 ? near_a_key(p) : lo + random_below(20);
  check_range(p, lo, hi, ask_range(p, lo, hi));
  check_range(p, lo, lo, ask_key(p, lo));
}

static void step_many(const struct program *p) {
  uint64_t lo[MANY], hi[MANY];
  bool answers[MANY];
  size_t count = (size_t)random_below(MANY);
  for (size_t place = 0; place < count; place++) {
    lo[place] = near_a_key(p);
    hi[place] = random_below(8) == 0 ? near_a_key(p) : lo[place] + random_below(20);
    answers[place] = random_below(2) == 0;
  }
  ask_many(p, lo, hi, count, answers);
  for (size_t place = 0; place < count; place++) {
    CHECK(answers[place] == ask_range(p, lo[place], hi[place]));
    check_range(p, lo[place], hi[place], answers[place]);
  }
}

static void step_beyond(const struct program *p) {
  uint64_t smallest = p->count == 0 ? 0 : UINT64_MAX, largest = 0;
  for (size_t place = 0; place < p->count; place++) {
    if (p->keys[place] < smallest) smallest = p->keys[place];
    if (p->keys[place] > largest) largest = p->keys[place];
  }
  if (p->count == 0) CHECK(!ask_range(p, 0, DOMAIN - 1));
  if (p->kind == STRINGS) return; /* their ends are kept as eight bytes */
  CHECK(!ask_range(p, largest + 1, DOMAIN));
  if (smallest > 0) CHECK(!ask_range(p, 0, smallest - 1));
}

static void step_prefix(const struct program *p) {
  struct string key;
  size_t size;
  bool answer, holds = false;
  if (p->kind != STRINGS) return;
  key = string_of(p, near_a_key(p));
  size = (size_t)random_below(key.size + 1);
  answer = lacuna_may_contain_prefix(p->filter, key.bytes, size);
  for (size_t place = 0; place < p->count; place++) {
    struct string of_model = string_of(p, p->keys[place]);
    if (of_model.size >= size && memcmp(of_model.bytes, key.bytes, size) == 0) holds = true;
  }
  CHECK(answer || !holds);
  answer = lacuna_may_contain_between_bytes(p->filter, LACUNA_BOUND_INCLUDED, key.bytes, key.size, LACUNA_BOUND_UNBOUNDED,
                                            NULL, 99);
  for (size_t place = 0; place < p->count; place++) {
    struct string of_model = string_of(p, p->keys[place]);
    size_t shared = of_model.size < key.size ? of_model.size : key.size;
    int order = memcmp(of_model.bytes, key.bytes, shared);
    CHECK(answer || order < 0 || (order == 0 && of_model.size < key.size));
  }
}

static bool can_count(const struct program *p) {
  LacunaInfo info;
  CHECK(lacuna_describe(p->filter, &info) == LACUNA_STATUS_OK);
  return strcmp(info.family, "surf") == 0;
}

static void step_count(const struct program *p) {
  uint64_t lo = near_a_key(p), hi = lo + random_below(p->spread);
  struct string from = string_of(p, lo), to = string_of(p, hi);
  LacunaCountBounds bounds = {9, 9};
  LacunaStatus status;
  switch (p->kind) {
    case UNSIGNED: status = lacuna_count_u64(p->filter, lo, hi, &bounds); break;
    case SIGNED: status = lacuna_count_i64(p->filter, p->type, signed_of(lo), signed_of(hi), &bounds); break;
    case FLOATS: status = lacuna_count_f64(p->filter, float_of(lo), float_of(hi), &bounds); break;
    default: status = lacuna_count_bytes(p->filter, from.bytes, from.size, to.bytes, to.size, &bounds);
  }
  CHECK(status == (can_count(p) ? LACUNA_STATUS_OK : LACUNA_STATUS_UNSUPPORTED));
  if (status == LACUNA_STATUS_OK) {
    size_t count = model_count(p, lo, hi);
    CHECK(bounds.min <= count && count <= bounds.max);
  }
}

/* Whether the key of `number` is before (-1), at (0) or after (1) the candidate. */
struct place {
  uint64_t u64;
  int64_t i64;
  double f64;
  uint8_t bytes[ROOM];
  size_t size;
};

static int order(const struct program *p, uint64_t number, const struct place *place) {
  struct string key;
  size_t shared;
  int order;
  switch (p->kind) {
    case UNSIGNED: return number < place->u64 ? -1 : number > place->u64;
    case SIGNED: return signed_of(number) < place->i64 ? -1 : signed_of(number) > place->i64;
    case FLOATS: return float_of(number) < place->f64 ? -1 : float_of(number) > place->f64;
    default: break;
  }
  key = string_of(p, number);
  shared = key.size < place->size ? key.size : place->size;
  order = memcmp(key.bytes, place->bytes, shared);
  if (order != 0) return order < 0 ? -1 : 1;
  return key.size < place->size ? -1 : key.size > place->size;
}

static void step_seek(const struct program *p) {
  bool up = random_below(2) == 0, beyond = false;
  LacunaDirection direction = up ? LACUNA_DIRECTION_UP : LACUNA_DIRECTION_DOWN;
  uint64_t from = near_a_key(p);
  struct string start = string_of(p, from);
  struct place at = {0};
  LacunaCandidate candidate;
  LacunaStatus status;
  switch (p->kind) {
    case UNSIGNED: status = lacuna_seek_u64(p->filter, direction, from, &at.u64, &candidate); break;
    case SIGNED: status = lacuna_seek_i64(p->filter, p->type, direction, signed_of(from), &at.i64, &candidate); break;
    case FLOATS: status = lacuna_seek_f64(p->filter, direction, float_of(from), &at.f64, &candidate); break;
    default: status = lacuna_seek_bytes(p->filter, direction, start.bytes, start.size, at.bytes, ROOM, &at.size, &candidate);
  }
  CHECK(status == (can_count(p) ? LACUNA_STATUS_OK : LACUNA_STATUS_UNSUPPORTED));
  if (status != LACUNA_STATUS_OK) return;
  for (size_t place = 0; place < p->count; place++) {
    uint64_t key = p->keys[place];
    if (up ? key < from : key > from) continue;
    CHECK(candidate.found);
    CHECK(up ? order(p, key, &at) >= 0 : order(p, key, &at) <= (candidate.is_excluded ? -1 : 0));
    beyond = true;
  }
  CHECK(!candidate.found || !candidate.is_certain || beyond);
}

/* Closes the filter and opens its bytes again, at any alignment, as a copy or where they are. */
static void step_reopen(struct program *p) {
  LacunaBytes bytes = lacuna_bytes(p->filter);
  size_t shift = (size_t)random_below(64);
  uint8_t *copy = malloc(bytes.size + shift), *sealed = copy + shift;
  LacunaFilter *opened;
  LacunaInfo info;
  memcpy(sealed, bytes.data, bytes.size);
  p->sealed_size = bytes.size;
  lacuna_close(p->filter);
  free(p->borrowed);
  p->borrowed = NULL;

  if (random_below(2) == 0) { /* damage is found */
    size_t place = (size_t)random_below(p->sealed_size), cut = (size_t)random_below(p->sealed_size);
    sealed[place] ^= (uint8_t)(1u << random_below(8));
    CHECK(lacuna_open(sealed, p->sealed_size, &opened) != LACUNA_STATUS_OK && opened == NULL);
    sealed[place] = (uint8_t)~sealed[place];
    CHECK(lacuna_open_borrowed(sealed, p->sealed_size, LACUNA_VERIFY_ALL, &opened) != LACUNA_STATUS_OK && opened == NULL);
    free(copy);
    copy = malloc(cut + 1);
    memset(copy, 'L', cut + 1);
    CHECK(lacuna_open(copy, cut, &opened) != LACUNA_STATUS_OK);
    free(copy);
    CHECK(build(p, &(LacunaPlan){.spec = "grafite", .bits_per_key = 16, .key_type = p->type}) == LACUNA_STATUS_OK);
    return;
  }
  CHECK(lacuna_inspect(sealed, p->sealed_size, &info) == LACUNA_STATUS_OK && info.payload_bytes + 64 == p->sealed_size);
  if (random_below(2) == 0) {
    CHECK(lacuna_open(sealed, p->sealed_size, &p->filter) == LACUNA_STATUS_OK);
    free(copy);
  } else {
    LacunaVerify verify = random_below(2) == 0 ? LACUNA_VERIFY_ALL : LACUNA_VERIFY_ENVELOPE;
    CHECK(lacuna_open_borrowed(sealed, p->sealed_size, verify, &p->filter) == LACUNA_STATUS_OK);
    CHECK(lacuna_bytes(p->filter).data == sealed);
    p->borrowed = copy;
  }
}

/* Questions in another type are doubts. */
static void step_other_types(const struct program *p) {
  uint64_t lo = random_u64(), hi = random_u64(), swap = lo;
  bool answers[2] = {false, false};
  if (lo > hi) lo = hi, hi = swap;
  if (p->kind != UNSIGNED) {
    CHECK(lacuna_may_contain_u64(p->filter, lo, hi) && lacuna_may_contain_key_u64(p->filter, lo));
    CHECK(lacuna_may_contain_many_u64(p->filter, &lo, &hi, 1, answers) == LACUNA_STATUS_INVALID_INPUT && answers[0]);
    CHECK(lacuna_check_key_type(p->filter, LACUNA_KEY_TYPE_U64) == LACUNA_STATUS_INVALID_INPUT);
  }
  for (int type = LACUNA_KEY_TYPE_UNKNOWN; type <= LACUNA_KEY_TYPE_TUPLE + 1; type++) {
    LacunaKeyType asked = (LacunaKeyType)type;
    if (p->kind == SIGNED && asked == p->type) continue;
    CHECK(lacuna_may_contain_i64(p->filter, asked, -1, 1) && lacuna_may_contain_key_i64(p->filter, asked, 0));
  }
  if (p->kind != FLOATS) CHECK(lacuna_may_contain_f64(p->filter, -1, 1) && lacuna_may_contain_key_f64(p->filter, 0));
  if (p->kind != STRINGS) {
    CHECK(lacuna_may_contain_bytes(p->filter, NULL, 0, (const uint8_t *)"z", 1));
    CHECK(lacuna_may_contain_prefix(p->filter, (const uint8_t *)"z", 1));
  }
}

static void run(struct program *p) {
  draw_keys(p);
  if (!draw_filter(p)) return;
  qsort(p->keys, p->count, sizeof *p->keys, compare);
  check_description(p);
  for (size_t place = 0; place < p->count; place++) CHECK(ask_key(p, p->keys[place]));
  for (int step = 0; step < STEPS; step++) {
    switch (random_below(10)) {
      case 0: step_many(p); break;
      case 1: step_beyond(p); break;
      case 2: step_prefix(p); break;
      case 3: step_count(p); break;
      case 4: step_seek(p); break;
      case 5: step_reopen(p); break;
      case 6: step_other_types(p); break;
      default: step_range(p);
    }
  }
  for (size_t place = 0; place < p->count; place++) CHECK(ask_key(p, p->keys[place]));
  lacuna_close(p->filter);
  free(p->borrowed);
}

int main(int count, char **values) {
  uint64_t first, programs = arguments(count, values, &first);
  for (uint64_t number = first; number < first + programs; number++) {
    struct program p = {0};
    begin_program(number);
    run(&p);
  }
  printf("%" PRIu64 " of %" PRIu64 " short empty ranges denied\n", empty_denied, empty_asked);
  if (programs >= 100) CHECK(empty_denied > empty_asked / 2);
  return 0;
}
