// Lacuna's range filters for C and C++. "No" is always true; doubt is "maybe, go and read".
//
// Written by cbindgen from bindings/c/src; `LACUNA_BLESS=1 cargo test -p lacuna-c` writes it anew.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How a call ended.
typedef enum {
  // It worked.
  LACUNA_STATUS_OK = 0,
  // An argument is wrong; `lacuna_last_error` says which.
  LACUNA_STATUS_INVALID_INPUT = 1,
  // The bytes do not hold together: read the data instead.
  LACUNA_STATUS_CORRUPT = 2,
  // The bytes are newer than this library, or of a kind it does not know: read the data instead.
  LACUNA_STATUS_UNSUPPORTED = 3,
  // Anything else.
  LACUNA_STATUS_FAILED = 4,
} LacunaStatus;

// What the keys of a filter are.
typedef enum {
  // Unsigned integers of 64 bits.
  LACUNA_KEY_SPACE_U64 = 0,
  // Byte strings in the order of `memcmp`.
  LACUNA_KEY_SPACE_BYTES = 1,
} LacunaKeySpace;

// What values the keys of a filter stand for.
typedef enum {
  // Not noted.
  LACUNA_KEY_TYPE_UNKNOWN = 0,
  // Unsigned integers.
  LACUNA_KEY_TYPE_U64 = 1,
  // Signed integers, sign bit flipped.
  LACUNA_KEY_TYPE_I64 = 2,
  // Floating-point numbers: all bits flipped if negative, else the sign bit.
  LACUNA_KEY_TYPE_F64 = 3,
  // Days since 1970-01-01, as signed integers.
  LACUNA_KEY_TYPE_DATE = 4,
  // Seconds since 1970-01-01T00:00:00Z, as signed integers.
  LACUNA_KEY_TYPE_TIMESTAMP_SECONDS = 5,
  // Milliseconds, likewise.
  LACUNA_KEY_TYPE_TIMESTAMP_MILLISECONDS = 6,
  // Microseconds, likewise.
  LACUNA_KEY_TYPE_TIMESTAMP_MICROSECONDS = 7,
  // Texts.
  LACUNA_KEY_TYPE_TEXT = 8,
  // Byte strings, written in hexadecimal.
  LACUNA_KEY_TYPE_HEX = 9,
  // Tuples of fields.
  LACUNA_KEY_TYPE_TUPLE = 10,
} LacunaKeyType;

// What a bound of a range means.
typedef enum {
  // There is none; the key is not looked at.
  LACUNA_BOUND_UNBOUNDED = 0,
  // The key is inside.
  LACUNA_BOUND_INCLUDED = 1,
  // The key is outside.
  LACUNA_BOUND_EXCLUDED = 2,
} LacunaBound;

// An opened filter, with its own copy of the bytes.
typedef struct LacunaFilter LacunaFilter;

// What to build, the remembered queries, and the counts of one column family.
typedef struct LacunaTableGuard LacunaTableGuard;

// Collects the keys of one table.
typedef struct LacunaCollector LacunaCollector;

// A range that one iterator scans. The iterator must carry the same bounds for its whole life.
typedef struct LacunaQuestion LacunaQuestion;

// What the envelope of a filter says.
typedef struct {
  // Number of the family, see <https://github.com/lacuna-db/lacuna/blob/main/docs/format/envelope.md>.
  uint16_t kind;
  // Version of the payload.
  uint16_t payload_version;
  // What its keys are.
  LacunaKeySpace key_space;
  // What values they stand for.
  LacunaKeyType key_type;
  // Number of the codec that made the keys.
  uint16_t codec;
  // Parameter of the codec.
  uint64_t codec_parameter;
  // Number of distinct keys.
  uint64_t key_count;
  // Smallest key; of byte strings the eight bytes after their common prefix.
  uint64_t smallest;
  // Largest key; of byte strings the eight bytes after their common prefix.
  uint64_t largest;
  // Bytes after the envelope.
  uint64_t payload_bytes;
} LacunaInfo;

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
} LacunaCounts;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Opens a copy of a sealed filter and checks all of it. On success `*filter` is to be closed with `lacuna_close`; on
// failure it is null.
//
// # Safety
// `size` bytes are readable at `bytes`, and `filter` may be written.
LacunaStatus lacuna_open(const uint8_t *bytes, size_t size, LacunaFilter **filter);

// Whether a filter over integers may hold a key from `lo` to `hi`, both included; false proves that it holds none. A
// filter over byte strings says true. An inverted range holds no key.
//
// # Safety
// `filter` came from `lacuna_open` and is not closed.
bool lacuna_may_contain_u64(const LacunaFilter *filter, uint64_t lo, uint64_t hi);

// Whether a filter over byte strings may hold a key from `lo` to `hi`, both included; false proves that it holds none.
// A filter over integers says true. An inverted range holds no key.
//
// # Safety
// `filter` came from `lacuna_open` and is not closed; `lo_size` and `hi_size` bytes are readable at `lo` and `hi`.
bool lacuna_may_contain_bytes(const LacunaFilter *filter,
                              const uint8_t *lo,
                              size_t lo_size,
                              const uint8_t *hi,
                              size_t hi_size);

// Reads the envelope of a sealed filter, without opening it.
//
// # Safety
// `size` bytes are readable at `bytes`, and `info` may be written.
LacunaStatus lacuna_inspect(const uint8_t *bytes, size_t size, LacunaInfo *info);

// Closes a filter; null is allowed.
//
// # Safety
// `filter` came from `lacuna_open` and is not used again.
void lacuna_close(LacunaFilter *filter);

// What the last failed call of this thread said; empty if none failed. Valid until the next call that fails.
const char *lacuna_last_error(void);

// A collector for a table written for `level`, -1 if that is not known; null if nothing is to be built.
//
// # Safety
// `guard` came from `lacuna_table_guard_new` and is not freed.
LacunaCollector *lacuna_collector_new(const LacunaTableGuard *guard, int level);

// Takes one entry, in the order of the table. Give every entry of every type; range deletions (type 4) are left out
// here.
//
// # Safety
// `collector` came from `lacuna_collector_new`, is not freed and not in use by another thread; `size` bytes are
// readable at `user_key`.
void lacuna_collector_add(LacunaCollector *collector, uint32_t entry_type, const char *user_key, size_t size);

// Builds the filter and hands its property to `emit`, once; not at all if there is none, which is counted.
//
// # Safety
// As for `lacuna_collector_add`; `emit` may be called with `sink`.
void lacuna_collector_finish(LacunaCollector *collector, LacunaEmit emit, void *sink);

// Frees a collector; null is allowed.
//
// # Safety
// `collector` came from `lacuna_collector_new` and is not used again.
void lacuna_collector_free(LacunaCollector *collector);

// Name of the property, which never changes.
const char *lacuna_property_name(void);

// A guard for the spec of this text, such as `grafite@14 codec=fixed_be:8`; null if it is wrong, and
// `lacuna_last_error` says why. `max_bytes` caps the property of one table; 0 means 4 MiB.
//
// # Safety
// `size` bytes are readable at `spec`.
LacunaTableGuard *lacuna_table_guard_new(const char *spec, size_t size, size_t max_bytes);

// Another handle of the same guard, to be freed too.
//
// # Safety
// `guard` came from `lacuna_table_guard_new` and is not freed.
LacunaTableGuard *lacuna_table_guard_clone(const LacunaTableGuard *guard);

// The counts so far.
//
// # Safety
// `guard` came from `lacuna_table_guard_new` and is not freed; `counts` may be written.
void lacuna_table_guard_counts(const LacunaTableGuard *guard, LacunaCounts *counts);

// Frees a handle; null is allowed.
//
// # Safety
// `guard` came from `lacuna_table_guard_new` or `_clone` and is not used again.
void lacuna_table_guard_free(LacunaTableGuard *guard);

// A question about the keys between two bounds, which are copied; `reverse` if the iterator goes down from the upper
// end. Null only if there is no memory.
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
// comparator of its keys.
//
// # Safety
// `question` came from `lacuna_question_new` and is not freed; the sizes are readable at the pointers.
bool lacuna_question_may_contain(const LacunaQuestion *question,
                                 const char *comparator,
                                 size_t comparator_size,
                                 const char *property,
                                 size_t property_size);

// Notes that the iterator over the whole range returned no row; later filters are designed for such ranges.
//
// # Safety
// `question` came from `lacuna_question_new` and is not freed.
void lacuna_question_note_empty(const LacunaQuestion *question);

// Frees a question; null is allowed.
//
// # Safety
// `question` came from `lacuna_question_new` and is not used again.
void lacuna_question_free(LacunaQuestion *question);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus
