// The options of RocksDB's C interface, which declares their type and keeps its definition in db/c.cc.
#pragma once

#include "rocksdb/c.h"
#include "rocksdb/options.h"

struct rocksdb_options_t {
  ROCKSDB_NAMESPACE::Options rep;
};

namespace lacuna {

// Whether the options are at the assumed place: RocksDB's own functions read the same values there.
inline bool Readable(const rocksdb_options_t* from) {
  auto* options = const_cast<rocksdb_options_t*>(from);
  return options->rep.write_buffer_size == rocksdb_options_get_write_buffer_size(options) &&
         options->rep.max_open_files == rocksdb_options_get_max_open_files(options) &&
         options->rep.num_levels == rocksdb_options_get_num_levels(options);
}

}  // namespace lacuna
