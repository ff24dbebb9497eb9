// A table-properties collector of RocksDB that hands every entry to functions in C.
//
// The file that includes this one supplies the functions: shim.cc those of the Rust adapter, lacuna_rocksdb.h those of
// lacuna.h. Public headers of RocksDB only. No exception leaves a function here, and the functions in C must
// let none through either: RocksDB is not exception-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>

#include "rocksdb/convenience.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/utilities/object_registry.h"
#include "rocksdb/utilities/options_type.h"

extern "C" {
// Stores `size` bytes as the property; called at most once by `finish`.
typedef void (*lacuna_emit)(void* sink, const char* bytes, size_t size);

// What a collector does with the entries of one table. Every function may be called from any thread, `add`, `finish`
// and `drop_collector` of one collector never at the same time.
typedef struct lacuna_collector_vtable {
  // A state for the spec of this text; null if it is wrong.
  void* (*create_state)(const char* spec, size_t size);
  void (*drop_state)(void* state);
  // A collector for a table written for `level`, -1 if unknown; null leaves the table without a filter, and no other function
  // is called for it.
  void* (*create_collector)(void* state, int level);
  void (*add)(void* collector, uint32_t entry_type, const char* user_key, size_t size);
  void (*finish)(void* collector, lacuna_emit emit, void* sink);
  void (*drop_collector)(void* collector);
} lacuna_collector_vtable;
}

namespace lacuna {

// Name of the property. See docs/format/rocksdb-property.md.
inline constexpr char kPropertyName[] = "lacuna.filter";
// Name of the factory in OPTIONS files and in the object registry.
inline constexpr char kFactoryName[] = "LacunaRangeFilter";

// Collects the keys of one table; nothing, if `collector` is null.
class Collector : public ROCKSDB_NAMESPACE::TablePropertiesCollector {
 public:
  using Status = ROCKSDB_NAMESPACE::Status;
  using UserCollectedProperties = ROCKSDB_NAMESPACE::UserCollectedProperties;

  Collector(const lacuna_collector_vtable* vtable, void* collector) : vtable_(vtable), collector_(collector) {}
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  ~Collector() override {
    if (collector_ != nullptr) {
      vtable_->drop_collector(collector_);
    }
  }

  const char* Name() const override { return kFactoryName; }

  Status AddUserKey(const ROCKSDB_NAMESPACE::Slice& key, const ROCKSDB_NAMESPACE::Slice& /*value*/,
                    ROCKSDB_NAMESPACE::EntryType type, ROCKSDB_NAMESPACE::SequenceNumber /*seq*/,
                    uint64_t /*file_size*/) override {
    if (collector_ != nullptr) {
      vtable_->add(collector_, static_cast<uint32_t>(type), key.data(), key.size());
    }
    return Status::OK();
  }

  // Whatever goes wrong here leaves the table without a filter; the table itself is written all the same.
  Status Finish(UserCollectedProperties* properties) override {
    if (collector_ != nullptr) {
      vtable_->finish(collector_, &Emit, properties);
    }
    return Status::OK();
  }

  // Empty: these properties would go to the info log.
  UserCollectedProperties GetReadableProperties() const override { return {}; }

 private:
  static void Emit(void* sink, const char* bytes, size_t size) {
    auto* properties = static_cast<UserCollectedProperties*>(sink);
    try {
      properties->emplace(kPropertyName, std::string(bytes, size));
    } catch (const std::bad_alloc&) {
      // Out of memory: the table gets no filter.
    }
  }

  const lacuna_collector_vtable* vtable_;
  void* collector_;
};

// Makes a collector for every table. Made from a state, or by name from the object registry and then from the spec in
// its options, as an OPTIONS file holds them: `{id=LacunaRangeFilter;spec={grafite@14 codec=fixed_be:8};}`.
class Factory : public ROCKSDB_NAMESPACE::TablePropertiesCollectorFactory {
 public:
  using Status = ROCKSDB_NAMESPACE::Status;

  // Takes over `state`; if that is null, one is made of the spec when it is needed.
  Factory(const lacuna_collector_vtable* vtable, void* state, std::string spec)
      : vtable_(vtable), state_(state), options_{std::move(spec)} {
    RegisterOptions("lacuna", &options_, &TypeInfo());
  }
  Factory(const Factory&) = delete;
  Factory& operator=(const Factory&) = delete;
  ~Factory() override {
    if (state_ != nullptr) {
      vtable_->drop_state(state_);
    }
  }

  const char* Name() const override { return kFactoryName; }
  std::string ToString() const override { return std::string(kFactoryName) + " (" + options_.spec + ")"; }

  Status PrepareOptions(const ROCKSDB_NAMESPACE::ConfigOptions& config) override {
    if (State() == nullptr) {
      return Status::InvalidArgument("not a range filter spec of Lacuna, or one that needs a secret, which no text holds",
                                     options_.spec);
    }
    return TablePropertiesCollectorFactory::PrepareOptions(config);
  }

  // Never null but without memory: older releases of RocksDB take no null.
  ROCKSDB_NAMESPACE::TablePropertiesCollector* CreateTablePropertiesCollector(Context context) override {
    void* state = State();
    void* collector = state == nullptr ? nullptr : vtable_->create_collector(state, context.level_at_creation);
    auto* wrapped = new (std::nothrow) Collector(vtable_, collector);
    if (wrapped == nullptr && collector != nullptr) {
      vtable_->drop_collector(collector);
    }
    return wrapped;
  }

 private:
  struct Options {
    std::string spec;
  };

  static const std::unordered_map<std::string, ROCKSDB_NAMESPACE::OptionTypeInfo>& TypeInfo() {
    using ROCKSDB_NAMESPACE::OptionType;
    using ROCKSDB_NAMESPACE::OptionTypeInfo;
    static const std::unordered_map<std::string, OptionTypeInfo> info = {
        {"spec", OptionTypeInfo(offsetof(Options, spec), OptionType::kString)}};
    return info;
  }

  // The state, made of the spec if there is none yet: RocksDB does not prepare what an OPTIONS file names.
  void* State() {
    std::call_once(made_, [this] {
      if (state_ == nullptr) {
        state_ = vtable_->create_state(options_.spec.data(), options_.spec.size());
      }
    });
    return state_;
  }

  const lacuna_collector_vtable* vtable_;
  void* state_;
  std::once_flag made_;
  Options options_;
};

// Lets OPTIONS files and option strings name the factory. Once per process is enough.
inline void RegisterFactory(const lacuna_collector_vtable* vtable) {
  using Base = ROCKSDB_NAMESPACE::TablePropertiesCollectorFactory;
  ROCKSDB_NAMESPACE::ObjectLibrary::Default()->AddFactory<Base>(
      kFactoryName, [vtable](const std::string& /*uri*/, std::unique_ptr<Base>* guard, std::string* /*error*/) {
        guard->reset(new Factory(vtable, nullptr, "off"));
        return guard->get();
      });
}

}  // namespace lacuna
