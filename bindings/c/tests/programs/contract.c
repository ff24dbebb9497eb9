/* What the header promises of wrong arguments, errors and threads. */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "lacuna.h"
#include "random.h"

enum { KEYS = 5000, THREADS = 4, QUESTIONS = 20000 };

static const LacunaPlan GRAFITE = {.spec = "grafite", .bits_per_key = 16, .seed = 3};

static LacunaFilter *built(const LacunaPlan *plan) {
  static uint64_t keys[KEYS];
  LacunaFilter *filter;
  for (uint64_t place = 0; place < KEYS; place++) keys[place] = place * place * 1000003;
  CHECK(lacuna_build_u64(keys, KEYS, plan, &filter) == LACUNA_STATUS_OK);
  return filter;
}

/* The call is refused as a wrong argument, and the sentence names it. */
#define REFUSED(call, word) CHECK((call) == LACUNA_STATUS_INVALID_INPUT && strstr(lacuna_last_error(), word) != NULL)

static void null_is_an_error(void) {
  uint64_t keys[2] = {1, 2}, key;
  bool answers[2] = {false, false};
  LacunaFilter *filter = built(&GRAFITE), *other;
  LacunaInfo info;
  LacunaCountBounds bounds;
  LacunaCandidate candidate;
  size_t size;
  REFUSED(lacuna_build_u64(NULL, 2, &GRAFITE, &other), "keys is null");
  CHECK(other == NULL);
  REFUSED(lacuna_build_u64(keys, 2, NULL, &other), "plan is null");
  REFUSED(lacuna_build_u64(keys, 2, &GRAFITE, NULL), "filter is null");
  REFUSED(lacuna_builder_new_u64(NULL, NULL), "builder is null");
  REFUSED(lacuna_builder_add_u64(NULL, 1), "builder is null");
  REFUSED(lacuna_builder_finish(NULL, &other), "builder is null");
  REFUSED(lacuna_sample_add_u64(NULL, 1, 2), "sample is null");
  REFUSED(lacuna_open(NULL, 100, &other), "bytes is null");
  CHECK(lacuna_open(NULL, 0, &other) == LACUNA_STATUS_CORRUPT);
  REFUSED(lacuna_inspect((const uint8_t *)"LCNA", 4, NULL) == LACUNA_STATUS_CORRUPT ? LACUNA_STATUS_INVALID_INPUT
                                                                                   : LACUNA_STATUS_OK, "too few");
  REFUSED(lacuna_describe(NULL, &info), "filter is null");
  REFUSED(lacuna_describe(filter, NULL), "about is null");
  REFUSED(lacuna_may_contain_many_u64(NULL, keys, keys, 2, answers), "filter is null");
  CHECK(answers[0] && answers[1]);
  REFUSED(lacuna_may_contain_many_u64(filter, NULL, keys, 2, answers), "lo is null");
  REFUSED(lacuna_may_contain_many_u64(filter, keys, NULL, 2, answers), "hi is null");
  REFUSED(lacuna_may_contain_many_u64(filter, keys, keys, 2, NULL), "answers is null");
  REFUSED(lacuna_count_u64(NULL, 1, 2, &bounds), "filter is null");
  REFUSED(lacuna_seek_u64(NULL, LACUNA_DIRECTION_UP, 1, &key, &candidate), "filter is null");
  REFUSED(lacuna_seek_bytes(NULL, LACUNA_DIRECTION_UP, NULL, 0, NULL, 0, &size, &candidate), "filter is null");
  REFUSED(lacuna_check_key_type(NULL, LACUNA_KEY_TYPE_U64), "filter is null");
  /* A question cannot fail: it is a doubt. */
  CHECK(lacuna_may_contain_u64(NULL, 1, 2) && lacuna_may_contain_key_u64(NULL, 1));
  CHECK(lacuna_may_contain_f64(NULL, 1, 2) && lacuna_may_contain_bytes(NULL, NULL, 0, NULL, 0));
  CHECK(lacuna_may_contain_prefix(NULL, NULL, 0) && lacuna_rate_bound(NULL, 1) == 1);
  CHECK(lacuna_bytes(NULL).size == 0 && lacuna_explain(NULL)[0] == '\0');
  CHECK(lacuna_may_contain_many_u64(filter, NULL, NULL, 0, NULL) == LACUNA_STATUS_OK);
  lacuna_close(filter);
  lacuna_close(NULL);
  lacuna_builder_free(NULL);
  lacuna_sample_free(NULL);
  lacuna_table_guard_free(NULL);
  lacuna_collector_free(NULL);
  lacuna_question_free(NULL);
  CHECK(lacuna_collector_new(NULL, 0) == NULL && lacuna_table_guard_clone(NULL) == NULL);
  CHECK(lacuna_table_guard_new(NULL, 5, 0, NULL) == NULL);
  CHECK(lacuna_question_may_contain(NULL, NULL, 0, NULL, 0));
}

/* A filter without a key that it was given would deny it. */
static void a_builder_that_refused_a_key_does_not_finish(void) {
  LacunaBuilder *integers, *strings;
  LacunaFilter *filter;
  CHECK(lacuna_builder_new_u64(&GRAFITE, &integers) == LACUNA_STATUS_OK);
  CHECK(lacuna_builder_add_u64(integers, 5) == LACUNA_STATUS_OK);
  REFUSED(lacuna_builder_add_i64(integers, 7), "does not take signed integers");
  REFUSED(lacuna_builder_finish(integers, &filter), "refused a key");
  CHECK(filter == NULL);
  REFUSED(lacuna_builder_add_u64(integers, 5), "is finished");
  CHECK(lacuna_builder_new_bytes(&GRAFITE, &strings) == LACUNA_STATUS_OK);
  REFUSED(lacuna_builder_add_bytes(strings, NULL, 3), "key is null");
  REFUSED(lacuna_builder_finish(strings, &filter), "refused a key");
  lacuna_builder_free(integers);
  lacuna_builder_free(strings);
}

/* Answers over the questions would change those that are not asked yet. */
static void answers_lie_apart_from_questions(void) {
  enum { COUNT = 200 };
  static uint64_t lo[COUNT], hi[2 * COUNT]; /* with room for answers that begin in the last */
  static LacunaBytes from[COUNT];
  static bool answers[COUNT];
  LacunaFilter *filter = built(&GRAFITE), *strings;
  LacunaPlan plan = {.spec = "surf", .bits_per_key = 120};
  LacunaBytes word = {(const uint8_t *)"ant", 3};
  for (int place = 0; place < COUNT; place++) lo[place] = hi[place] = (uint64_t)place;
  REFUSED(lacuna_may_contain_many_u64(filter, lo, hi, COUNT, (bool *)lo), "answers lies over lo");
  REFUSED(lacuna_may_contain_many_u64(filter, lo, hi, COUNT, (bool *)(hi + COUNT) - 1), "answers lies over hi");
  CHECK(lacuna_build_bytes(&word, 1, &plan, &strings) == LACUNA_STATUS_OK);
  for (int place = 0; place < COUNT; place++) from[place] = (LacunaBytes){(const uint8_t *)"bee", 3};
  CHECK(lacuna_may_contain_many_bytes(strings, from, from, COUNT, answers) == LACUNA_STATUS_OK && !answers[0]);
  REFUSED(lacuna_may_contain_many_bytes(strings, from, from, COUNT, (bool *)from), "answers lies over lo");
  /* Far beyond the first that are asked. */
  for (int place = 0; place < COUNT; place++) from[place] = (LacunaBytes){(const uint8_t *)"bee", 3};
  from[COUNT - 1].data = NULL;
  REFUSED(lacuna_may_contain_many_bytes(strings, from, from, COUNT, answers), "is null");
  /* The last string has its bytes among the answers. */
  from[COUNT - 1].data = (const uint8_t *)&answers[2];
  REFUSED(lacuna_may_contain_many_bytes(strings, from, from, COUNT, answers), "answers lies over a lower end");
  for (int place = 0; place < COUNT; place++) CHECK(answers[place]);
  lacuna_close(strings);
  lacuna_close(filter);
}

static void wrong_numbers_are_errors(void) {
  uint64_t words[4] = {1, 2, 3, 4}, key;
  LacunaFilter *filter = built(&GRAFITE), *other;
  LacunaPlan plan = GRAFITE;
  LacunaBytes bytes = lacuna_bytes(filter);
  LacunaCandidate candidate;
  bool answer = false;
  REFUSED(lacuna_build_u64((const uint64_t *)(const void *)((const char *)words + 1), 2, &GRAFITE, &other), "not aligned");
  REFUSED(lacuna_build_u64(words, SIZE_MAX / 4, &GRAFITE, &other), "more than memory holds");
  REFUSED(lacuna_open(bytes.data, SIZE_MAX, &other), "more than memory holds");
  plan.key_type = (LacunaKeyType)77;
  REFUSED(lacuna_build_u64(words, 4, &plan, &other), "no key type");
  plan.key_type = LACUNA_KEY_TYPE_TEXT;
  REFUSED(lacuna_build_u64(words, 4, &plan, &other), "unsigned integers");
  REFUSED(lacuna_open_borrowed(bytes.data, bytes.size, (LacunaVerify)9, &other), "no way to verify");
  CHECK(lacuna_may_contain_i64(filter, (LacunaKeyType)4000000000u, 1, 2));
  filter = (lacuna_close(filter), built(&(LacunaPlan){.spec = "surf", .bits_per_key = 60}));
  REFUSED(lacuna_seek_u64(filter, (LacunaDirection)5, 1, &key, &candidate), "no direction");
  REFUSED(lacuna_may_contain_many_i64(filter, (LacunaKeyType)77, (int64_t[]){1}, (int64_t[]){2}, 1, &answer), "no key type");
  CHECK(answer);
  lacuna_close(filter);
}

static void plans_are_checked(void) {
  uint64_t keys[4] = {1, 2, 3, 4};
  LacunaFilter *filter;
  LacunaSample *sample = lacuna_sample_new();
  REFUSED(lacuna_build_u64(keys, 4, &(LacunaPlan){.spec = "grafite"}, &filter), "no budget");
  REFUSED(lacuna_build_u64(keys, 4, &(LacunaPlan){.bits_per_key = 9, .rate = 0.1}, &filter), "one of them");
  REFUSED(lacuna_build_u64(keys, 4, &(LacunaPlan){.bits_per_key = 129}, &filter), "at most 128");
  REFUSED(lacuna_build_u64(keys, 4, &(LacunaPlan){.bits_per_key = 0.0 / 0.0}, &filter), "NaN");
  REFUSED(lacuna_build_u64(keys, 4, &(LacunaPlan){.rate = 2}, &filter), "rate");
  REFUSED(lacuna_build_u64(keys, 4, &(LacunaPlan){.bits_per_key = 9, .spec = "gravite"}, &filter), "gravite");
  REFUSED(lacuna_build_u64(keys, 4, &(LacunaPlan){.bits_per_key = 9, .spec = "\xff"}, &filter), "UTF-8");
  REFUSED(lacuna_sample_add_u64(sample, 5, 4), "backwards");
  CHECK(lacuna_sample_add_u64(sample, 4, 5) == LACUNA_STATUS_OK);
  REFUSED(lacuna_sample_add_i64(sample, 4, 5), "not of signed integers");
  REFUSED(lacuna_build_bytes(NULL, 0, &(LacunaPlan){.bits_per_key = 9, .sample = sample}, &filter), "byte strings");
  lacuna_sample_free(sample);
}

static void secrets_are_checked(void) {
  static const char DIGITS[] = "000102030405060708090a0b0c0d0e0f\n";
  uint64_t keys[4] = {1, 20, 300, 4000};
  LacunaBytes word = {(const uint8_t *)"ant", 3};
  LacunaSecret secret;
  LacunaFilter *filter;
  LacunaPlan plan = {.spec = "ribbon:secret", .bits_per_key = 40};
  REFUSED(lacuna_build_u64(NULL, 4, &plan, &filter), "hashes under a secret: give one with the plan");
  REFUSED(lacuna_secret_read(DIGITS, 31, &secret), "32 hexadecimal digits");
  CHECK(strstr(lacuna_last_error(), "0102") == NULL);
  REFUSED(lacuna_secret_read(DIGITS, sizeof DIGITS - 1, NULL), "secret is null");
  CHECK(lacuna_secret_read(DIGITS, sizeof DIGITS - 1, &secret) == LACUNA_STATUS_OK);
  for (int byte = 0; byte < LACUNA_SECRET_BYTES; byte++) CHECK(secret.bytes[byte] == byte);
  plan.secret = &secret;
  REFUSED(lacuna_build_bytes(&word, 1, &plan, &filter), "is for integers");
  CHECK(lacuna_build_u64(keys, 4, &plan, &filter) == LACUNA_STATUS_OK);
  memset(&secret, 0, sizeof secret); /* the plan and what it points to may go */
  for (int key = 0; key < 4; key++) CHECK(lacuna_may_contain_key_u64(filter, keys[key]));
  lacuna_close(filter);
  plan.spec = "grafite";
  REFUSED(lacuna_build_u64(keys, 4, &plan, &filter), "leaves the secret aside");
}

static void strings_of_null_are_errors(void) {
  LacunaBytes keys[2] = {{NULL, 0}, {NULL, 3}};
  LacunaFilter *filter;
  LacunaPlan plan = {.spec = "surf", .bits_per_key = 120};
  uint8_t room[1];
  size_t size = 0;
  LacunaCandidate candidate;
  REFUSED(lacuna_build_bytes(keys, 2, &plan, &filter), "null");
  keys[1].data = (const uint8_t *)"abc";
  CHECK(lacuna_build_bytes(keys, 2, &plan, &filter) == LACUNA_STATUS_OK);
  CHECK(lacuna_may_contain_key_bytes(filter, NULL, 0) && lacuna_may_contain_key_bytes(filter, keys[1].data, 3));
  CHECK(lacuna_may_contain_key_bytes(filter, NULL, 3) && lacuna_may_contain_bytes(filter, NULL, 1, NULL, 1));
  CHECK(!lacuna_may_contain_bytes(filter, (const uint8_t *)"b", 1, (const uint8_t *)"c", 1));
  REFUSED(lacuna_seek_bytes(filter, LACUNA_DIRECTION_UP, (const uint8_t *)"aa", 2, room, 1, &size, &candidate), "room for 1");
  CHECK(size > 1 && size <= 3);
  lacuna_close(filter);
}

/* A table's filter opens as its keys' bytes, and as integers where these are. */
static void keep(void *sink, const char *bytes, size_t size) {
  LacunaFilter **filter = sink;
  CHECK(lacuna_open((const uint8_t *)bytes, size, filter) == LACUNA_STATUS_OK);
}

static void properties_of_tables_open(void) {
  static const char *const SPECS[] = {"grafite@16 codec=fixed_be:8", "grafite@16 codec=bytes", "grafite@16 codec=head:8",
                                      "grafite@16 codec=composite:2,6"};
  for (size_t spec = 0; spec < 4; spec++) {
    LacunaTableGuard *guard = lacuna_table_guard_new(SPECS[spec], strlen(SPECS[spec]), 0, NULL);
    LacunaCollector *collector = lacuna_collector_new(guard, 1);
    LacunaFilter *filter = NULL;
    unsigned denied = 0;
    for (int ask = 0; ask < 2; ask++) {
      for (uint64_t number = 0; number < 2000; number++) {
        uint8_t key[8], lo[8], hi[8];
        for (int byte = 0; byte < 8; byte++) {
          key[byte] = (uint8_t)((number << 20) >> (8 * (7 - byte)));
          lo[byte] = (uint8_t)(((number << 20) + 100) >> (8 * (7 - byte)));
          hi[byte] = (uint8_t)(((number << 20) + 200) >> (8 * (7 - byte)));
        }
        if (ask == 0) {
          lacuna_collector_add(collector, LACUNA_ENTRY_TYPE_PUT, (const char *)key, 8);
          continue;
        }
        CHECK(lacuna_may_contain_key_bytes(filter, key, 8));
        CHECK(lacuna_may_contain_prefix(filter, key, 8) && lacuna_may_contain_prefix(filter, key, 5));
        denied += !lacuna_may_contain_bytes(filter, lo, 8, hi, 8);
        CHECK(lacuna_may_contain_u64(filter, number << 20, number << 20));
        if (spec != 0) CHECK(lacuna_may_contain_u64(filter, (number << 20) + 100, (number << 20) + 200));
        CHECK(lacuna_may_contain_i64(filter, LACUNA_KEY_TYPE_UNKNOWN, 100, 200));
      }
      if (ask == 0) lacuna_collector_finish(collector, keep, &filter);
    }
    CHECK(denied > 1500);
    if (spec == 0) CHECK(!lacuna_may_contain_u64(filter, 100, 200));
    CHECK(lacuna_count_u64(filter, 1, 2, &(LacunaCountBounds){0, 0}) != LACUNA_STATUS_OK);
    CHECK(memcmp(lacuna_bytes(filter).data, "LCNA", 4) == 0);
    lacuna_close(filter);
    lacuna_collector_free(collector);
    lacuna_table_guard_free(guard);
  }
}

static void a_guard_says_what_went_wrong(void) {
  static const char SPEC[] = "grafite@16 codec=fixed_be:8";
  LacunaTableGuard *guard = lacuna_table_guard_new(SPEC, sizeof SPEC - 1, 0, NULL);
  LacunaCollector *collector = lacuna_collector_new(guard, 1);
  LacunaFilter *filter = NULL;
  LacunaCounts counts;
  CHECK(lacuna_table_guard_last_problem(guard)[0] == '\0' && lacuna_table_guard_last_problem(NULL)[0] == '\0');
  lacuna_collector_add(collector, LACUNA_ENTRY_TYPE_PUT, "ant", 3);
  lacuna_collector_finish(collector, keep, &filter);
  lacuna_table_guard_counts(guard, &counts);
  CHECK(filter == NULL && counts.not_built == 1 && counts.build_failures == 1);
  CHECK(counts.hardly_answering == 0 && counts.panics == 0 && counts.false_positives == 0);
  CHECK(lacuna_table_guard_last_problem(guard)[0] != '\0');
  lacuna_collector_free(collector);
  lacuna_table_guard_free(guard);
}

static LacunaFilter *shared_filter;
static bool expected[QUESTIONS];

static void *ask(void *wrong) {
  for (uint64_t question = 0; question < QUESTIONS; question++) {
    bool answer = lacuna_may_contain_u64(shared_filter, question * 977, question * 977 + 50);
    if (answer != expected[question]) *(bool *)wrong = true;
  }
  if (strstr(lacuna_explain(shared_filter), "grafite") == NULL) *(bool *)wrong = true;
  if (lacuna_last_error()[0] != '\0') *(bool *)wrong = true; /* the failures of another thread */
  return NULL;
}

static void errors_belong_to_a_thread(void) {
  pthread_t threads[THREADS];
  bool wrong[THREADS] = {false};
  shared_filter = built(&GRAFITE);
  for (uint64_t question = 0; question < QUESTIONS; question++) {
    expected[question] = lacuna_may_contain_u64(shared_filter, question * 977, question * 977 + 50);
  }
  CHECK(lacuna_last_error()[0] != '\0');
  for (int thread = 0; thread < THREADS; thread++) CHECK(pthread_create(&threads[thread], NULL, ask, &wrong[thread]) == 0);
  for (int thread = 0; thread < THREADS; thread++) {
    CHECK(pthread_join(threads[thread], NULL) == 0 && !wrong[thread]);
  }
  lacuna_close(shared_filter);
}

int main(void) {
  CHECK(strcmp(lacuna_version(), LACUNA_VERSION) == 0);
  null_is_an_error();
  a_builder_that_refused_a_key_does_not_finish();
  answers_lie_apart_from_questions();
  wrong_numbers_are_errors();
  plans_are_checked();
  secrets_are_checked();
  strings_of_null_are_errors();
  properties_of_tables_open();
  a_guard_says_what_went_wrong();
  errors_belong_to_a_thread();
  return 0;
}
