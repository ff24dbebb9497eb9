// Says which table files appear and go, with their properties: RocksDB's interface in C says neither.

#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "lacuna_collector.h"
#include "options_access.h"
#include "rocksdb/listener.h"
#include "rocksdb/table_properties.h"

extern "C" {
// What is done about the tables of one database. Every function may be called from any thread.
typedef struct lacuna_listener_vtable {
  // A table was written, or taken in, at `path`.
  void (*created)(void* state, const char* path, size_t path_size, const char* property, size_t size);
  // A table was written in vain.
  void (*failed)(void* state, const char* property, size_t size);
  // The table at `path` was deleted.
  void (*deleted)(void* state, const char* path, size_t path_size);
  void (*drop_state)(void* state);
} lacuna_listener_vtable;
}

namespace {

using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::ExternalFileIngestionInfo;
using ROCKSDB_NAMESPACE::TableFileCreationInfo;
using ROCKSDB_NAMESPACE::TableFileDeletionInfo;
using ROCKSDB_NAMESPACE::TableProperties;

// Without a name, so that OPTIONS files do not speak of it.
class TableListener : public ROCKSDB_NAMESPACE::EventListener {
 public:
  TableListener(const lacuna_listener_vtable* vtable, void* state) : vtable_(vtable), state_(state) {}
  TableListener(const TableListener&) = delete;
  TableListener& operator=(const TableListener&) = delete;
  ~TableListener() override { vtable_->drop_state(state_); }

  void OnTableFileCreated(const TableFileCreationInfo& info) override {
    const std::string* property = PropertyOf(info.table_properties);
    if (property == nullptr) {
      return;
    }
    if (info.status.ok()) {
      Created(info.file_path, *property);
    } else {
      vtable_->failed(state_, property->data(), property->size());
    }
  }

  void OnExternalFileIngested(DB* /*db*/, const ExternalFileIngestionInfo& info) override {
    const std::string* property = PropertyOf(info.table_properties);
    if (property != nullptr) {
      Created(info.internal_file_path, *property);
    }
  }

  void OnTableFileDeleted(const TableFileDeletionInfo& info) override {
    if (info.status.ok()) {
      vtable_->deleted(state_, info.file_path.data(), info.file_path.size());
    }
  }

 private:
  void Created(const std::string& path, const std::string& property) {
    vtable_->created(state_, path.data(), path.size(), property.data(), property.size());
  }

  static const std::string* PropertyOf(const TableProperties& table) {
    for (const auto& [name, value] : table.user_collected_properties) {
      if (name == lacuna::kPropertyName) {
        return &value;
      }
    }
    return nullptr;
  }

  const lacuna_listener_vtable* vtable_;
  void* state_;
};

}  // namespace

extern "C" {

// Adds a listener to the options of a database. Takes over `state`; whether it could be added.
bool lacuna_add_table_listener(rocksdb_options_t* options, const lacuna_listener_vtable* vtable, void* state) {
  std::shared_ptr<TableListener> listener;
  try {
    listener = std::make_shared<TableListener>(vtable, state);
  } catch (const std::bad_alloc&) {
    vtable->drop_state(state);
    return false;
  }
  if (!lacuna::Readable(options)) {
    return false;
  }
  try {
    options->rep.listeners.push_back(std::move(listener));
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

}  // extern "C"
