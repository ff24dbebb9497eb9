// Lacuna's range filters for C and C++. "No" is always true; doubt is "maybe, go and read".
//
// Written by cbindgen from bindings/c/src; `LACUNA_BLESS=1 cargo test -p lacuna-c` writes it anew.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The version of this header; `lacuna_version` gives that of the library. Until 1.0 the SONAME changes with
// LACUNA_VERSION_MINOR, and a program needs a library of the same.
#define LACUNA_VERSION_MAJOR 0
#define LACUNA_VERSION_MINOR 1
#define LACUNA_VERSION_PATCH 0
#define LACUNA_VERSION "0.1.0"

// Bytes of a secret.
#define LACUNA_SECRET_BYTES 16

// How a call ended.
typedef enum {
  // It worked.
  LACUNA_STATUS_OK = 0,
  // An argument is wrong; `lacuna_last_error` says which and what to give instead.
  LACUNA_STATUS_INVALID_INPUT = 1,
  // The bytes do not hold together: read the data instead, and build the filter again.
  LACUNA_STATUS_CORRUPT = 2,
  // The bytes are newer than this library or of a kind it does not know, or the filter is not able to do this: read
  // the data instead.
  LACUNA_STATUS_UNSUPPORTED = 3,
  // A fault of this library; please report it.
  LACUNA_STATUS_FAILED = 4,
  // The filter does not fit the budget; `lacuna_last_smallest_bits_per_key` says what does.
  LACUNA_STATUS_BUDGET_TOO_SMALL = 5,
} LacunaStatus;

// What the keys of a filter are.
typedef enum {
  // Unsigned integers of 64 bits.
  LACUNA_KEY_SPACE_U64 = 0,
  // Byte strings in the order of `memcmp`.
  LACUNA_KEY_SPACE_BYTES = 1,
} LacunaKeySpace;

// What values the keys of a filter stand for. A filter is asked in the type that it names; a question of another type is
// answered "maybe".
typedef enum {
  // Not noted: integers or byte strings as they are. In a plan: what the function takes.
  LACUNA_KEY_TYPE_UNKNOWN = 0,
  // Unsigned integers: functions that end with `_u64`.
  LACUNA_KEY_TYPE_U64 = 1,
  // Signed integers: functions that end with `_i64`. As keys: the sign bit flipped.
  LACUNA_KEY_TYPE_I64 = 2,
  // Floating-point numbers: functions that end with `_f64`. As keys: all bits flipped if negative, else the sign bit.
  LACUNA_KEY_TYPE_F64 = 3,
  // Days since 1970-01-01: `_i64`.
  LACUNA_KEY_TYPE_DATE = 4,
  // Seconds since 1970-01-01T00:00:00Z: `_i64`.
  LACUNA_KEY_TYPE_TIMESTAMP_SECONDS = 5,
  // Milliseconds, likewise.
  LACUNA_KEY_TYPE_TIMESTAMP_MILLISECONDS = 6,
  // Microseconds, likewise.
  LACUNA_KEY_TYPE_TIMESTAMP_MICROSECONDS = 7,
  // Texts: functions that end with `_bytes`.
  LACUNA_KEY_TYPE_TEXT = 8,
  // Byte strings, written in hexadecimal: `_bytes`.
  LACUNA_KEY_TYPE_HEX = 9,
  // Tuples of fields: `_bytes`.
  LACUNA_KEY_TYPE_TUPLE = 10,
} LacunaKeyType;

// How much of a filter is checked when it is opened.
typedef enum {
  // Every byte, in time linear in their number: for files of one's own.
  LACUNA_VERIFY_ALL = 0,
  // The first 64 bytes and the lengths, in constant time: for bytes that another layer has checksummed. Damaged bytes
  // can then give wrong answers, but no question leaves them.
  LACUNA_VERIFY_ENVELOPE = 1,
} LacunaVerify;

// What a bound of a range means.
typedef enum {
  // There is none; the key is not looked at.
  LACUNA_BOUND_UNBOUNDED = 0,
  // The key is inside.
  LACUNA_BOUND_INCLUDED = 1,
  // The key is outside.
  LACUNA_BOUND_EXCLUDED = 2,
} LacunaBound;

// Which way a seek goes.
typedef enum {
  // To the smallest key at or above the start.
  LACUNA_DIRECTION_UP = 0,
  // To the largest key at or below it.
  LACUNA_DIRECTION_DOWN = 1,
} LacunaDirection;

// What an entry of a table is; RocksDB's own numbers. Any other number is taken as `LACUNA_ENTRY_TYPE_OTHER`.
typedef enum {
  // A value.
  LACUNA_ENTRY_TYPE_PUT = 0,
  // A deletion.
  LACUNA_ENTRY_TYPE_DELETE = 1,
  // A deletion of a key that was put once.
  LACUNA_ENTRY_TYPE_SINGLE_DELETE = 2,
  // An operand of a merge.
  LACUNA_ENTRY_TYPE_MERGE = 3,
  // A deletion of a range; left out, since RocksDB applies it even from a table that it skips.
  LACUNA_ENTRY_TYPE_RANGE_DELETION = 4,
  // A value in a blob file.
  LACUNA_ENTRY_TYPE_BLOB_INDEX = 5,
  // A deletion with a timestamp.
  LACUNA_ENTRY_TYPE_DELETE_WITH_TIMESTAMP = 6,
  // A value of columns.
  LACUNA_ENTRY_TYPE_WIDE_COLUMN_ENTITY = 7,
  // A value with a time.
  LACUNA_ENTRY_TYPE_TIMED_PUT = 8,
  // Anything else.
  LACUNA_ENTRY_TYPE_OTHER = 9,
} LacunaEntryType;

// Collects keys until it is finished or freed: 8 bytes an integer; the bytes of a string and 8 more.
typedef struct LacunaBuilder LacunaBuilder;

// An open filter. Functions that take it as `const` may be called from several threads at once, take no lock, and allocate
// nothing unless they say so.
typedef struct LacunaFilter LacunaFilter;

// What to build, the remembered queries, and the counts of one column family.
typedef struct LacunaTableGuard LacunaTableGuard;

// Queries without a result, all of one type: the type of the first that is added.
typedef struct LacunaSample LacunaSample;

// Collects the keys of one table.
typedef struct LacunaCollector LacunaCollector;

// A range that one iterator scans. The iterator must carry the same bounds for its whole life.
typedef struct LacunaQuestion LacunaQuestion;

// What an enemy must not guess: bytes of the system's source of randomness, the same for all filters of a program. Take them
// from a file or from the environment, never from the arguments of a program, which others see. A filter holds a key that was
// made of them, and is opened without them.
typedef struct {
  // The bytes.
  uint8_t bytes[LACUNA_SECRET_BYTES];
} LacunaSecret;

// What a filter is to be, besides its keys. Start from `{0}`: what is zero has its usual value, and a budget must be
// given, in bits or as a rate. It is read by the call it is given to and not needed afterwards.
typedef struct {
  // The family with its parameters, such as "grafite", "surf:real=4" or "auto:price=20000". Null: "grafite" over
  // integers, whose rate is bounded for any keys and queries; over byte strings "auto".
  const char *spec;
  // Bits for each distinct key, above 0 and at most 128; or 0 if `rate` is given.
  double bits_per_key;
  // Instead of bits: as many as "grafite" needs to answer "maybe" to at most this share of the ranges without a key,
  // if they hold at most `max_range_len` keys.
  double rate;
  // See `rate`; 0 means 1.
  uint64_t max_range_len;
  // Seed of the hashes. It spreads what a filter gets wrong; against those who choose their queries to meet it there is `secret`.
  uint64_t seed;
  // What the keys stand for, to be noted in the filter. Unknown: the type in the function's name.
  LacunaKeyType key_type;
  // Queries to design for; null if none are known.
  const LacunaSample *sample;
  // For the specs that hash under a secret, "ribbon:secret", "grafite:secret" and, if it is given one, "auto:robust", of integers;
  // null for others.
  const LacunaSecret *secret;
  // The most threads that a build takes: the caller's, and others that end with the build. "ribbon", "grafite" and "bucketing" over
  // 65,536 keys and more take several, other families one. The bytes do not depend on it. 0 means 1.
  uint32_t threads;
} LacunaPlan;

// Bytes that something else owns.
typedef struct {
  // The first byte; may be null if there is none.
  const uint8_t *data;
  // Number of bytes.
  size_t size;
} LacunaBytes;

// How many keys a range holds, from below and from above; both always hold.
typedef struct {
  // The range holds at least this many keys.
  uint64_t min;
  // The range holds at most this many keys.
  uint64_t max;
} LacunaCountBounds;

// What the envelope of a filter says.
typedef struct {
  // Name of the family, such as "grafite"; "unknown" if this library does not know it. Never freed.
  const char *family;
  // Its number, see <https://github.com/lacuna-db/lacuna/blob/main/docs/format/envelope.md>.
  uint16_t kind;
  // Version of the payload.
  uint16_t payload_version;
  // What its keys are.
  LacunaKeySpace key_space;
  // What values they stand for.
  LacunaKeyType key_type;
  // Number of the codec that made the keys; 0 if they are as they were given.
  uint16_t codec;
  // Parameter of the codec.
  uint64_t codec_parameter;
  // Number of distinct keys.
  uint64_t key_count;
  // Smallest key; of byte strings the eight bytes after their common prefix.
  uint64_t smallest;
  // Largest key; of byte strings the eight bytes after their common prefix.
  uint64_t largest;
  // Bytes after the envelope of 64.
  uint64_t payload_bytes;
} LacunaInfo;

// What a seek has found. A candidate is seldom a key itself: no key lies between the start and it.
typedef struct {
  // Whether there is a candidate; without one, no key lies in this direction.
  bool found;
  // Whether a key surely lies at or beyond the candidate.
  bool is_certain;
  // Whether the candidate itself is known to be no key. Only of byte strings, downwards.
  bool is_excluded;
} LacunaCandidate;

// Takes the property: `size` bytes that are lent for the call.
typedef void (*LacunaEmit)(void *sink, const char *bytes, size_t size);

// The counts so far.
typedef struct {
  // Filters built.
  uint64_t built;
  // Filters that needed fewer bits or another family than asked for.
  uint64_t coarsened;
  // Tables written without a filter.
  uint64_t not_built;
  // Questions answered "no": tables not read.
  uint64_t skipped;
  // Questions answered "maybe".
  uint64_t passed;
  // Tables read because they have no filter property.
  uint64_t missing;
  // Tables read because their property is newer, or of another codec.
  uint64_t unsupported;
  // Tables read because their property does not hold together.
  uint64_t corrupt;
  // Tables read because another comparator orders their keys.
  uint64_t comparator;
  // Scans that returned no row.
  uint64_t empty_scans;
  // Questions answered "maybe" that are known to have been in vain; part of `passed`, and a lower bound.
  uint64_t false_positives;
  // Filters among `built` that say "maybe" to more than half of the queries that they should deny.
  uint64_t hardly_answering;
  // Tables among `not_built` whose keys the codec does not take, or that met another error; no filter fits the others.
  uint64_t build_failures;
  // Panics at a question to a filter, or when a scan was noted; the tables were read.
  uint64_t panics;
} LacunaCounts;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Builds a filter of `count` keys, in any order and with repeats. Ascending keys without repeats are not copied, others
// are copied and sorted: 8 bytes a key. On success `*filter` is to be closed with `lacuna_close`; on failure it is null.
//
// Same keys, spec, budget, sample, seed and secret give the same bytes on every machine and in every language. From any thread.
//
// # Safety
// `count` values are readable at `keys`, `plan` is readable and its pointers are as it says, and `filter` may be written.
LacunaStatus lacuna_build_u64(const uint64_t *keys,
                              size_t count,
                              const LacunaPlan *plan,
                              LacunaFilter **filter);

// As `lacuna_build_u64`, of signed integers, or of days or moments if the plan's key type says so. Copies them.
//
// # Safety
// As there.
LacunaStatus lacuna_build_i64(const int64_t *keys, size_t count, const LacunaPlan *plan, LacunaFilter **filter);

// As `lacuna_build_u64`, of floating-point numbers: -0 and 0 are one key, and all NaNs are one, above infinity. Copies
// them.
//
// # Safety
// As there.
LacunaStatus lacuna_build_f64(const double *keys, size_t count, const LacunaPlan *plan, LacunaFilter **filter);

// As `lacuna_build_u64`, of byte strings in the order of `memcmp`, a prefix first. Copies them: their bytes and 8 more for
// each, twice that if they are not ascending.
//
// # Safety
// As there, and the bytes of each key are readable.
LacunaStatus lacuna_build_bytes(const LacunaBytes *keys,
                                size_t count,
                                const LacunaPlan *plan,
                                LacunaFilter **filter);

// Begins a filter of unsigned integers. On success `*builder` is to be freed with `lacuna_builder_free`; on failure it
// is null. Nothing of the plan is needed afterwards. From any thread.
//
// # Safety
// `plan` is readable and its pointers are as it says; `builder` may be written.
LacunaStatus lacuna_builder_new_u64(const LacunaPlan *plan, LacunaBuilder **builder);

// Begins a filter of signed integers, or of days or moments if the plan's key type says so; as
// `lacuna_builder_new_u64`.
//
// # Safety
// As there.
LacunaStatus lacuna_builder_new_i64(const LacunaPlan *plan, LacunaBuilder **builder);

// Begins a filter of floating-point numbers; as `lacuna_builder_new_u64`.
//
// # Safety
// As there.
LacunaStatus lacuna_builder_new_f64(const LacunaPlan *plan, LacunaBuilder **builder);

// Begins a filter of byte strings; as `lacuna_builder_new_u64`.
//
// # Safety
// As there.
LacunaStatus lacuna_builder_new_bytes(const LacunaPlan *plan, LacunaBuilder **builder);

// Adds a key, in any order; repeats count once. Ascending keys are not sorted again. A builder that has refused a key does not
// finish. One thread at a time.
//
// # Safety
// `builder` came from `lacuna_builder_new_u64` and is not freed.
LacunaStatus lacuna_builder_add_u64(LacunaBuilder *builder,
                                    uint64_t key);

// As `lacuna_builder_add_u64`, to a builder of signed integers, days or moments.
//
// # Safety
// As there.
LacunaStatus lacuna_builder_add_i64(LacunaBuilder *builder, int64_t key);

// As `lacuna_builder_add_u64`, to a builder of floating-point numbers.
//
// # Safety
// As there.
LacunaStatus lacuna_builder_add_f64(LacunaBuilder *builder, double key);

// As `lacuna_builder_add_u64`, to a builder of byte strings; the key is copied.
//
// # Safety
// As there, and `size` bytes are readable at `key`.
LacunaStatus lacuna_builder_add_bytes(LacunaBuilder *builder, const uint8_t *key, size_t size);

// Builds the filter of the keys added; the builder then takes no more and is still to be freed. On success `*filter` is
// to be closed with `lacuna_close`; on failure it is null, and the keys are gone. One thread at a time.
//
// # Safety
// `builder` came from a `lacuna_builder_new_...` and is not freed; `filter` may be written.
LacunaStatus lacuna_builder_finish(LacunaBuilder *builder, LacunaFilter **filter);

// Frees a builder, finished or not: one that is not finished is abandoned. Null is allowed.
//
// # Safety
// `builder` came from a `lacuna_builder_new_...` and is not used again.
void lacuna_builder_free(LacunaBuilder *builder);

// How many keys from `lo` to `hi`, both included, a filter of unsigned integers holds: at most 2 between the bounds unless
// the filter had to be cut to its budget. `LACUNA_STATUS_UNSUPPORTED` unless its family is "surf". From any thread.
//
// # Safety
// `filter` is open or null; `bounds` may be written.
LacunaStatus lacuna_count_u64(const LacunaFilter *filter,
                              uint64_t lo,
                              uint64_t hi,
                              LacunaCountBounds *bounds);

// As `lacuna_count_u64`, for a filter of signed integers, days or moments.
//
// # Safety
// As there.
LacunaStatus lacuna_count_i64(const LacunaFilter *filter,
                              LacunaKeyType key_type,
                              int64_t lo,
                              int64_t hi,
                              LacunaCountBounds *bounds);

// As `lacuna_count_u64`, for a filter of floating-point numbers.
//
// # Safety
// As there.
LacunaStatus lacuna_count_f64(const LacunaFilter *filter, double lo, double hi, LacunaCountBounds *bounds);

// As `lacuna_count_u64`, for a filter of byte strings.
//
// # Safety
// As there; `lo_size` and `hi_size` bytes are readable at `lo` and `hi`.
LacunaStatus lacuna_count_bytes(const LacunaFilter *filter,
                                const uint8_t *lo,
                                size_t lo_size,
                                const uint8_t *hi,
                                size_t hi_size,
                                LacunaCountBounds *bounds);

// A text of a few lines for people: family, keys, size, bounds on the rate, and for a filter that "auto" has just built the
// candidates with their predicted rates and costs. Empty for null. Valid until the filter is closed; allocates once. From any
// thread.
//
// # Safety
// `filter` is open or null.
const char *lacuna_explain(const LacunaFilter *filter);

// Opens a copy of a sealed filter and checks all of it: what `lacuna build` or any binding wrote, or the property of a
// RocksDB table. On success `*filter` is to be closed with `lacuna_close`; on failure it is null. From any thread.
//
// # Safety
// `size` bytes are readable at `bytes`, and `filter` may be written.
LacunaStatus lacuna_open(const uint8_t *bytes, size_t size, LacunaFilter **filter);

// Opens a filter where its bytes are, such as in a memory map: nothing is copied, any alignment will do, and the bytes must
// stay as they are until `lacuna_close`. Otherwise as `lacuna_open`.
//
// # Safety
// As there; and the bytes stay readable and unchanged until the filter is closed.
LacunaStatus lacuna_open_borrowed(const uint8_t *bytes,
                                  size_t size,
                                  LacunaVerify verify,
                                  LacunaFilter **filter);

// The sealed bytes of a filter, to be written to a file or sent: they are the filter's own and valid until it is closed.
// Of a null filter no bytes. From any thread.
//
// # Safety
// `filter` is open or null.
LacunaBytes lacuna_bytes(const LacunaFilter *filter);

// Closes a filter; null is allowed. No other thread may be using it.
//
// # Safety
// `filter` came from this library and is not used again.
void lacuna_close(LacunaFilter *filter);

// Reads the envelope of a sealed filter or of the property of a RocksDB table, without opening it: constant time, and the
// payload is not checked. From any thread.
//
// # Safety
// `size` bytes are readable at `bytes`, and `about` may be written.
LacunaStatus lacuna_inspect(const uint8_t *bytes,
                            size_t size,
                            LacunaInfo *about);

// What `lacuna_inspect` says, of an open filter. From any thread.
//
// # Safety
// `filter` is open or null, and `about` may be written.
LacunaStatus lacuna_describe(const LacunaFilter *filter, LacunaInfo *about);

// The largest share of independent ranges of `range_len` keys, without a key among them, that the filter answers "maybe",
// whatever the keys and the queries; 1 where it promises nothing, and of null. From any thread.
//
// # Safety
// `filter` is open or null.
double lacuna_rate_bound(const LacunaFilter *filter,
                         uint64_t range_len);

// Whether a filter answers questions of this type: the status is `LACUNA_STATUS_INVALID_INPUT` if its keys are of another,
// and it would say "maybe" to all of them. Texts, bytes in hexadecimal and tuples are asked alike. From any thread.
//
// # Safety
// `filter` is open or null.
LacunaStatus lacuna_check_key_type(const LacunaFilter *filter,
                                   LacunaKeyType key_type);

// Whether a filter of floating-point numbers may hold a key from `lo` to `hi`, both included; false proves that it holds
// none. -0 is 0, and every NaN is one key above infinity. Otherwise as `lacuna_may_contain_u64`.
//
// # Safety
// As there.
bool lacuna_may_contain_f64(const LacunaFilter *filter,
                            double lo,
                            double hi);

// Whether a filter of floating-point numbers may hold `key`; otherwise as `lacuna_may_contain_f64`.
//
// # Safety
// As there.
bool lacuna_may_contain_key_f64(const LacunaFilter *filter, double key);

// Answers `count` ranges at once; as `lacuna_may_contain_many_u64`.
//
// # Safety
// As there.
LacunaStatus lacuna_may_contain_many_f64(const LacunaFilter *filter,
                                         const double *lo,
                                         const double *hi,
                                         size_t count,
                                         bool *answers);

// Whether a filter of signed integers, days or moments may hold a key from `lo` to `hi`, both included, in the unit that
// `key_type` says; false proves that it holds none. A filter of another type says true: give `LACUNA_KEY_TYPE_I64`,
// `_DATE` or a `_TIMESTAMP_...`, as `lacuna_describe` has it. Otherwise as `lacuna_may_contain_u64`.
//
// # Safety
// As there.
bool lacuna_may_contain_i64(const LacunaFilter *filter,
                            LacunaKeyType key_type,
                            int64_t lo,
                            int64_t hi);

// Whether a filter of signed integers, days or moments may hold `key`; otherwise as `lacuna_may_contain_i64`.
//
// # Safety
// As there.
bool lacuna_may_contain_key_i64(const LacunaFilter *filter, LacunaKeyType key_type, int64_t key);

// Answers `count` ranges at once; as `lacuna_may_contain_many_u64`.
//
// # Safety
// As there.
LacunaStatus lacuna_may_contain_many_i64(const LacunaFilter *filter,
                                         LacunaKeyType key_type,
                                         const int64_t *lo,
                                         const int64_t *hi,
                                         size_t count,
                                         bool *answers);

// Whether a filter of byte strings may hold a key from `lo` to `hi`, both included; false proves that it holds none. An
// inverted range holds no key. A filter of integers, or null, says true. A filter from a RocksDB table is asked with the
// table's keys as they are, whatever its codec. From any thread.
//
// # Safety
// `filter` is open or null; `lo_size` and `hi_size` bytes are readable at `lo` and `hi`.
bool lacuna_may_contain_bytes(const LacunaFilter *filter,
                              const uint8_t *lo,
                              size_t lo_size,
                              const uint8_t *hi,
                              size_t hi_size);

// As `lacuna_may_contain_bytes`, between bounds of any kind.
//
// # Safety
// As there, where there is a bound.
bool lacuna_may_contain_between_bytes(const LacunaFilter *filter,
                                      LacunaBound lo_bound,
                                      const uint8_t *lo,
                                      size_t lo_size,
                                      LacunaBound hi_bound,
                                      const uint8_t *hi,
                                      size_t hi_size);

// Whether a filter of byte strings may hold `key`; otherwise as `lacuna_may_contain_bytes`.
//
// # Safety
// As there.
bool lacuna_may_contain_key_bytes(const LacunaFilter *filter, const uint8_t *key, size_t size);

// Whether a filter of byte strings may hold a key that starts with `prefix`; otherwise as `lacuna_may_contain_bytes`. The
// empty prefix starts every key.
//
// # Safety
// As there.
bool lacuna_may_contain_prefix(const LacunaFilter *filter,
                               const uint8_t *prefix,
                               size_t size);

// Answers `count` ranges at once: `answers[i]` is what `lacuna_may_contain_bytes` says of `lo[i]` to `hi[i]`. Where it
// fails, all answers are true. From any thread, with answers of its own.
//
// # Safety
// As there; `count` strings are readable at `lo` and `hi`, their bytes too, and as many answers may be written.
LacunaStatus lacuna_may_contain_many_bytes(const LacunaFilter *filter,
                                           const LacunaBytes *lo,
                                           const LacunaBytes *hi,
                                           size_t count,
                                           bool *answers);

// Whether a filter of unsigned integers may hold a key from `lo` to `hi`, both included; false proves that it holds none.
// An inverted range holds no key. A filter of other keys, or null, says true. Big-endian integers of a fixed width in a
// RocksDB table are unsigned integers here. From any thread.
//
// # Safety
// `filter` is open or null.
bool lacuna_may_contain_u64(const LacunaFilter *filter,
                            uint64_t lo,
                            uint64_t hi);

// Whether a filter of unsigned integers may hold `key`; otherwise as `lacuna_may_contain_u64`.
//
// # Safety
// As there.
bool lacuna_may_contain_key_u64(const LacunaFilter *filter, uint64_t key);

// Answers `count` ranges at once, in a quarter to a third of the time: `answers[i]` is what `lacuna_may_contain_u64`
// says of `lo[i]` to `hi[i]`. Where it fails, all answers are true. From any thread, with answers of its own.
//
// # Safety
// As there; `count` values are readable at `lo` and `hi`, and as many answers may be written.
LacunaStatus lacuna_may_contain_many_u64(const LacunaFilter *filter,
                                         const uint64_t *lo,
                                         const uint64_t *hi,
                                         size_t count,
                                         bool *answers);

// A sample without queries, to be freed with `lacuna_sample_free`. From any thread.
LacunaSample *lacuna_sample_new(void);

// Adds the query for keys from `lo` to `hi`, both included. One thread at a time.
//
// # Safety
// `sample` came from `lacuna_sample_new` and is not freed.
LacunaStatus lacuna_sample_add_u64(LacunaSample *sample, uint64_t lo, uint64_t hi);

// As `lacuna_sample_add_u64`, for signed integers, days and moments.
//
// # Safety
// As there.
LacunaStatus lacuna_sample_add_i64(LacunaSample *sample, int64_t lo, int64_t hi);

// As `lacuna_sample_add_u64`, for floating-point numbers.
//
// # Safety
// As there.
LacunaStatus lacuna_sample_add_f64(LacunaSample *sample, double lo, double hi);

// As `lacuna_sample_add_u64`, for byte strings, which are copied.
//
// # Safety
// As there; `lo_size` and `hi_size` bytes are readable at `lo` and `hi`.
LacunaStatus lacuna_sample_add_bytes(LacunaSample *sample,
                                     const uint8_t *lo,
                                     size_t lo_size,
                                     const uint8_t *hi,
                                     size_t hi_size);

// Frees a sample; null is allowed. Plans that name it are not to be used again; filters and builders are not affected.
//
// # Safety
// `sample` came from `lacuna_sample_new` and is not used again.
void lacuna_sample_free(LacunaSample *sample);

// Reads a secret from 32 hexadecimal digits, as `openssl rand -hex 16` prints them into the file that `lacuna build --secret-file`
// takes; white space around them is passed over. On failure nothing is written, and no message repeats the text. From any thread.
//
// # Safety
// `size` bytes are readable at `text`, and `secret` may be written.
LacunaStatus lacuna_secret_read(const char *text,
                                size_t size,
                                LacunaSecret *secret);

// Names the next key that a filter of unsigned integers may hold, at `from` or beyond it in this direction: an engine opens
// files in the order of their candidates, and stops when a key that it has read is before every candidate left.
// `LACUNA_STATUS_UNSUPPORTED` unless the family is "surf". From any thread.
//
// # Safety
// `filter` is open or null; `key` and `candidate` may be written.
LacunaStatus lacuna_seek_u64(const LacunaFilter *filter,
                             LacunaDirection direction,
                             uint64_t from,
                             uint64_t *key,
                             LacunaCandidate *candidate);

// As `lacuna_seek_u64`, for a filter of signed integers, days or moments.
//
// # Safety
// As there.
LacunaStatus lacuna_seek_i64(const LacunaFilter *filter,
                             LacunaKeyType key_type,
                             LacunaDirection direction,
                             int64_t from,
                             int64_t *key,
                             LacunaCandidate *candidate);

// As `lacuna_seek_u64`, for a filter of floating-point numbers.
//
// # Safety
// As there.
LacunaStatus lacuna_seek_f64(const LacunaFilter *filter,
                             LacunaDirection direction,
                             double from,
                             double *key,
                             LacunaCandidate *candidate);

// As `lacuna_seek_u64`, for a filter of byte strings. The candidate is written to `key`, which has room for `capacity`
// bytes, and its length to `*key_size`; where there is too little room, only the length is, and the status is
// `LACUNA_STATUS_INVALID_INPUT`. Allocates if the candidate is longer than all before it in this thread.
//
// # Safety
// As there; `from_size` bytes are readable at `from`, `capacity` may be written at `key`, and `key_size` may be written.
LacunaStatus lacuna_seek_bytes(const LacunaFilter *filter,
                               LacunaDirection direction,
                               const uint8_t *from,
                               size_t from_size,
                               uint8_t *key,
                               size_t capacity,
                               size_t *key_size,
                               LacunaCandidate *candidate);

// What the last failed call of this thread said; empty if none failed. Valid until the next call of this thread that
// fails. From any thread.
const char *lacuna_last_error(void);

// The fewest bits per key that work, if the last failure of this thread was `LACUNA_STATUS_BUDGET_TOO_SMALL`; else 0.
// From any thread.
double lacuna_last_smallest_bits_per_key(void);

// A collector for a table written for `level`, -1 if that is not known; null if nothing is to be built, or `guard` is null.
// From any thread.
//
// # Safety
// `guard` came from `lacuna_table_guard_new` and is not freed, or is null.
LacunaCollector *lacuna_collector_new(const LacunaTableGuard *guard,
                                      int level);

// Takes one entry, in the order of the table. Give every entry of every type; range deletions are left out here. A null
// collector takes nothing. One thread at a time.
//
// # Safety
// `collector` came from `lacuna_collector_new` and is not freed, or is null; `size` bytes are readable at `user_key`.
void lacuna_collector_add(LacunaCollector *collector, LacunaEntryType entry_type, const char *user_key, size_t size);

// Builds the filter and hands its property to `emit`, once; not at all if there is none, which is counted.
//
// # Safety
// As for `lacuna_collector_add`; `emit` may be called with `sink`, or is null.
void lacuna_collector_finish(LacunaCollector *collector, LacunaEmit emit, void *sink);

// Frees a collector; null is allowed.
//
// # Safety
// `collector` came from `lacuna_collector_new` and is not used again.
void lacuna_collector_free(LacunaCollector *collector);

// Name of the property, which never changes.
const char *lacuna_property_name(void);

// A guard for the spec of this text, such as `grafite@14 codec=fixed_be:8`; null if it is wrong, and
// `lacuna_last_error` says why. `max_bytes` caps the property of one table; 0 means 256 MiB. `secret` is for specs that hash under
// one, such as `ribbon:secret@14 codec=fixed_be:8`, and else null: it is no part of the text, which RocksDB notes in its
// OPTIONS files. From any thread.
//
// # Safety
// `size` bytes are readable at `spec`; `secret` is readable or null.
LacunaTableGuard *lacuna_table_guard_new(const char *spec,
                                         size_t size,
                                         size_t max_bytes,
                                         const LacunaSecret *secret);

// Another handle of the same guard, to be freed too; null for null. From any thread.
//
// # Safety
// `guard` came from `lacuna_table_guard_new` and is not freed, or is null.
LacunaTableGuard *lacuna_table_guard_clone(const LacunaTableGuard *guard);

// The counts so far. Nothing happens if either pointer is null. From any thread.
//
// # Safety
// `guard` came from `lacuna_table_guard_new` and is not freed; `counts` may be written.
void lacuna_table_guard_counts(const LacunaTableGuard *guard, LacunaCounts *counts);

// What was wrong with the last table without a filter, the last filter that hardly answers, or at the last panic; empty if
// there was none, or for null. Valid until this thread calls this function again. From any thread.
//
// # Safety
// `guard` came from `lacuna_table_guard_new` and is not freed, or is null.
const char *lacuna_table_guard_last_problem(const LacunaTableGuard *guard);

// Frees a handle; null is allowed.
//
// # Safety
// `guard` came from `lacuna_table_guard_new` or `_clone` and is not used again.
void lacuna_table_guard_free(LacunaTableGuard *guard);

// A question about the keys between two bounds, which are copied; `reverse` if the iterator goes down from the upper
// end. Null if an argument is: read every table then. From any thread.
//
// # Safety
// `guard` came from `lacuna_table_guard_new` and is not freed; `lo_size` and `hi_size` bytes are readable at `lo` and
// `hi`.
LacunaQuestion *lacuna_question_new(const LacunaTableGuard *guard,
                                    LacunaBound lo_bound,
                                    const char *lo,
                                    size_t lo_size,
                                    LacunaBound hi_bound,
                                    const char *hi,
                                    size_t hi_size,
                                    bool reverse);

// Whether a table has to be read; false proves that it holds no entry of the range. `property` is the table's property
// called `lacuna_property_name()`, null if it has none, and is asked in place; `comparator` is the name of the
// comparator of its keys. A null question says true. From any thread.
//
// # Safety
// `question` came from `lacuna_question_new` and is not freed, or is null; the sizes are readable at the pointers.
bool lacuna_question_may_contain(const LacunaQuestion *question,
                                 const char *comparator,
                                 size_t comparator_size,
                                 const char *property,
                                 size_t property_size);

// Notes that the iterator over the whole range returned no row; later filters are designed for such ranges. From any
// thread.
//
// # Safety
// `question` came from `lacuna_question_new` and is not freed, or is null.
void lacuna_question_note_empty(const LacunaQuestion *question);

// Frees a question; null is allowed.
//
// # Safety
// `question` came from `lacuna_question_new` and is not used again.
void lacuna_question_free(LacunaQuestion *question);

// The version of this library, such as "0.1.0": what `LACUNA_VERSION` was when it was built. Never freed. From any
// thread.
const char *lacuna_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus
