// What the programs in this folder share.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <unistd.h>

#include "rocksdb/db.h"
#include "rocksdb/options.h"

// Ends the program with 1 and a line unless it holds.
inline void Check(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::exit(1);
  }
}

inline void Check(const ROCKSDB_NAMESPACE::Status& status) { Check(status.ok(), status.ToString().c_str()); }

// Eight big-endian bytes.
inline std::string Key(uint64_t number) {
  std::string key(8, '\0');
  for (int byte = 0; byte < 8; ++byte) {
    key[7 - byte] = static_cast<char>(number >> (8 * byte));
  }
  return key;
}

inline std::unique_ptr<ROCKSDB_NAMESPACE::DB> Open(const ROCKSDB_NAMESPACE::Options& options,
                                                   const std::string& path) {
  std::unique_ptr<ROCKSDB_NAMESPACE::DB> db;
  Check(ROCKSDB_NAMESPACE::DB::Open(options, path, &db));
  return db;
}

// A folder of this process, gone with the object.
class Folder {
 public:
  explicit Folder(const char* name)
      : path_(std::filesystem::temp_directory_path() / (std::string(name) + "-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};
