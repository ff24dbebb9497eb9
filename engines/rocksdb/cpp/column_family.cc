// What RocksDB's interface in C does not say of a column family, and an iterator that has failed.

#include <cstddef>
#include <new>

#include "rocksdb/c.h"
#include "rocksdb/comparator.h"
#include "rocksdb/db.h"
#include "rocksdb/iterator.h"
#include "rocksdb/status.h"

// RocksDB's C interface declares these types and keeps their definitions in db/c.cc. The tests of `traps_comparators` fail if
// those ever change.
struct rocksdb_column_family_handle_t {
  ROCKSDB_NAMESPACE::ColumnFamilyHandle* rep;
  bool immortal;
};
struct rocksdb_iterator_t {
  ROCKSDB_NAMESPACE::Iterator* rep;
};

extern "C" {

// The name of the comparator of a column family.
const char* lacuna_family_comparator_name(const rocksdb_column_family_handle_t* family) {
  return family->rep->GetComparator()->Name();
}

// An iterator that has failed with this text; null if there is no memory.
rocksdb_iterator_t* lacuna_failed_iterator(const char* text, size_t size) {
  using ROCKSDB_NAMESPACE::Slice;
  using ROCKSDB_NAMESPACE::Status;
  try {
    return new rocksdb_iterator_t{ROCKSDB_NAMESPACE::NewErrorIterator(Status::InvalidArgument(Slice(text, size)))};
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // extern "C"
