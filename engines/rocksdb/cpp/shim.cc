// The collector for callers in C: the one thing RocksDB's own C interface lacks.

#include "lacuna_collector.h"

#include <algorithm>
#include <cstring>

#include "options_access.h"
#include "rocksdb/c.h"

// RocksDB's C interface declares this type and keeps its definition in db/c.cc: one shared pointer, in 11.8 and 11.12
// alike. The test `the_shim_writes_a_property` fails if that ever changes.
struct rocksdb_table_properties_collector_factory_t {
  std::shared_ptr<ROCKSDB_NAMESPACE::TablePropertiesCollectorFactory> rep;
};
static_assert(sizeof(rocksdb_table_properties_collector_factory_t) == 2 * sizeof(void*), "one shared pointer");

extern "C" {

// Takes over `state`; null if there is no memory, and `state` is then dropped.
rocksdb_table_properties_collector_factory_t* lacuna_rocksdb_factory_new(const lacuna_collector_vtable* vtable,
                                                                         void* state, const char* spec,
                                                                         size_t spec_size) {
  std::unique_ptr<lacuna::Factory> factory;
  try {
    factory = std::make_unique<lacuna::Factory>(vtable, state, std::string(spec, spec_size));
  } catch (const std::bad_alloc&) {
    vtable->drop_state(state);
    return nullptr;
  }
  try {
    return new rocksdb_table_properties_collector_factory_t{std::move(factory)};
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// Takes collectors of ours out of the options: of two, RocksDB would build the filters of both and keep the first.
void lacuna_rocksdb_remove_factories(rocksdb_options_t* options) {
  if (!lacuna::Readable(options)) {
    return;
  }
  auto& factories = options->rep.table_properties_collector_factories;
  auto is_ours = [](const auto& factory) { return std::strcmp(factory->Name(), lacuna::kFactoryName) == 0; };
  factories.erase(std::remove_if(factories.begin(), factories.end(), is_ours), factories.end());
}

void lacuna_rocksdb_register(const lacuna_collector_vtable* vtable) {
  try {
    lacuna::RegisterFactory(vtable);
  } catch (const std::bad_alloc&) {
    // The name stays unknown, as if it had not been registered.
  }
}

}  // extern "C"
