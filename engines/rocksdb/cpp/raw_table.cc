// The entries of one table file as they are stored: of every type and sequence number, deleted and hidden ones included.
//
// RocksDB offers this to tools as `SstFileReader::NewTableIterator`; its interface in C lacks it. Range deletions are not
// among the entries: RocksDB applies those even from a table it skips.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "options_access.h"
#include "rocksdb/options.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/status.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/utilities/types_util.h"

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::BytewiseComparator;
using ROCKSDB_NAMESPACE::Iterator;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::ParsedEntryInfo;
using ROCKSDB_NAMESPACE::PerfLevel;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::SstFileReader;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::TableProperties;

namespace {

// Counts the blocks that this thread reads, for one call.
class CountedReads {
 public:
  explicit CountedReads(uint64_t* reads) : reads_(reads), level_(ROCKSDB_NAMESPACE::GetPerfLevel()) {
    if (level_ < PerfLevel::kEnableCount) {
      ROCKSDB_NAMESPACE::SetPerfLevel(PerfLevel::kEnableCount);
    }
    before_ = ROCKSDB_NAMESPACE::get_perf_context()->block_read_count;
  }
  ~CountedReads() {
    *reads_ += ROCKSDB_NAMESPACE::get_perf_context()->block_read_count - before_;
    ROCKSDB_NAMESPACE::SetPerfLevel(level_);
  }

 private:
  uint64_t* reads_;
  PerfLevel level_;
  uint64_t before_;
};

using lacuna::Readable;

// The same file system and compression; no cache, and nothing that would count our reads among the database's.
Options ForReading(const Options& from) {
  Options options(from);
  BlockBasedTableOptions table;
  table.no_block_cache = true;
  options.table_factory.reset(ROCKSDB_NAMESPACE::NewBlockBasedTableFactory(table));
  options.comparator = BytewiseComparator();
  options.prefix_extractor = nullptr;
  options.statistics = nullptr;
  options.listeners.clear();
  options.table_properties_collector_factories.clear();
  return options;
}

// The outcome of an attempt to open a table file; as `NotOpened` in raw_table.rs.
enum Outcome : int {
  kOpened = 0,
  // There is no such file.
  kGone = 1,
  // It is not a block-based table, or damaged: it will never be opened.
  kForeign = 2,
  // It could not be read now.
  kFailed = 3,
  // It is not ordered bytewise: it will never be opened, and has no filter.
  kOtherOrder = 4,
};

Outcome OutcomeOf(const Status& status) {
  if (status.ok()) {
    return kOpened;
  }
  if (status.IsNotFound() || status.IsPathNotFound()) {
    return kGone;
  }
  return status.IsCorruption() || status.IsNotSupported() || status.IsInvalidArgument() ? kForeign : kFailed;
}

const char* Lend(const Slice& bytes, size_t* size) {
  *size = bytes.size();
  return bytes.data();
}

}  // namespace

struct lacuna_raw_table {
  explicit lacuna_raw_table(const Options& options) : reader(options) {}

  Outcome Open(const std::string& path) {
    CountedReads counted(&reads);
    auto outcome = OutcomeOf(reader.Open(path));
    if (outcome != kOpened) {
      return outcome;
    }
    properties = reader.GetTableProperties();
    if (properties == nullptr) {
      return kForeign;
    }
    if (properties->comparator_name != BytewiseComparator()->Name()) {
      return kOtherOrder;
    }
    rows = reader.NewTableIterator();
    return rows == nullptr ? kForeign : kOpened;
  }

  // Notes the user key that the rows stand at.
  void Parse() {
    ParsedEntryInfo entry;
    has_key = rows->Valid();
    is_good = is_good && rows->status().ok();
    if (has_key && is_good) {
      is_good = reader.ParseTableIteratorKey(rows->key(), &entry).ok();
      key = entry.user_key;
    }
  }

  SstFileReader reader;
  std::unique_ptr<Iterator> rows;
  std::shared_ptr<const TableProperties> properties;
  std::string target;
  Slice key;
  bool has_key = false;
  bool is_good = true;
  uint64_t reads = 0;
};

extern "C" {

// Opens the table file at `path` with the file system of `options`; null if that is not possible, for the reason in
// `outcome`, with the blocks that were read all the same added to `reads`.
lacuna_raw_table* lacuna_raw_table_open(const rocksdb_options_t* options, const char* path, size_t path_size,
                                        int* outcome, uint64_t* reads) {
  *outcome = kForeign;
  if (!Readable(options)) {
    return nullptr;
  }
  try {
    auto table = std::make_unique<lacuna_raw_table>(ForReading(options->rep));
    *outcome = table->Open(std::string(path, path_size));
    if (*outcome == kOpened) {
      return table.release();
    }
    *reads += table->reads;
  } catch (const std::exception&) {
    *outcome = kFailed;
  }
  return nullptr;
}

void lacuna_raw_table_close(lacuna_raw_table* table) { delete table; }

// The name of the comparator in `options`; null if it cannot be known.
const char* lacuna_comparator_name(const rocksdb_options_t* options) {
  return Readable(options) ? options->rep.comparator->Name() : nullptr;
}

// The session that wrote the table; see lacuna_raw_table_number.
const char* lacuna_raw_table_session(const lacuna_raw_table* table, size_t* size) {
  return Lend(table->properties->db_session_id, size);
}

// The number that its session gave it.
uint64_t lacuna_raw_table_number(const lacuna_raw_table* table) { return table->properties->orig_file_number; }

// The property called `name`; null if there is none.
const char* lacuna_raw_table_property(const lacuna_raw_table* table, const char* name, size_t name_size, size_t* size) {
  for (const auto& [known, value] : table->properties->user_collected_properties) {
    if (Slice(known) == Slice(name, name_size)) {
      return Lend(value, size);
    }
  }
  return nullptr;
}

// Bytes that the open table holds: its properties and its index.
uint64_t lacuna_raw_table_memory(const lacuna_raw_table* table) {
  uint64_t bytes = sizeof(lacuna_raw_table) + table->properties->index_size;
  for (const auto& [name, value] : table->properties->user_collected_properties) {
    bytes += name.size() + value.size();
  }
  return bytes;
}

// Goes to the first entry whose key is `key` or above. A failure of earlier moves is forgotten.
void lacuna_raw_table_seek(lacuna_raw_table* table, const char* key, size_t size) {
  CountedReads counted(&table->reads);
  try {
    auto status =
        ROCKSDB_NAMESPACE::GetInternalKeyForSeek(Slice(key, size), BytewiseComparator(), &table->target);
    table->is_good = status.ok();
    table->rows->Seek(table->target);
    table->Parse();
  } catch (const std::exception&) {
    table->is_good = false;
  }
}

// Goes to the entry before this one; after the last entry, to that.
void lacuna_raw_table_prev(lacuna_raw_table* table) {
  CountedReads counted(&table->reads);
  try {
    if (table->has_key) {
      table->rows->Prev();
    } else {
      table->rows->SeekToLast();
    }
    table->Parse();
  } catch (const std::exception&) {
    table->is_good = false;
  }
}

// The user key of the entry, valid until the next move; null if there is no entry here or something failed.
const char* lacuna_raw_table_key(const lacuna_raw_table* table, size_t* size) {
  return table->has_key && table->is_good ? Lend(table->key, size) : nullptr;
}

// Whether everything could be read since the last seek.
bool lacuna_raw_table_is_good(const lacuna_raw_table* table) { return table->is_good; }

// Blocks read so far, those of opening it included.
uint64_t lacuna_raw_table_reads(const lacuna_raw_table* table) { return table->reads; }

}  // extern "C"
