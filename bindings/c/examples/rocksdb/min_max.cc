// RocksDB's own query filters for ranges, which keep the smallest and largest value of a key or of its segments in each
// table (`SstQueryFilterConfigsManager`, in C++ alone), beside range filters: blocks read by empty closed ranges over
// tables that each span all keys. Exits with 1 and a line if rows differ or range filters save nothing.

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "check.h"
#include "lacuna_rocksdb.h"
#include "rocksdb/experimental.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/table.h"

namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Iterator;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::experimental::MakeSharedBytewiseMinMaxSQFC;
using ROCKSDB_NAMESPACE::experimental::MakeSharedCappedKeySegmentsExtractor;
using ROCKSDB_NAMESPACE::experimental::SelectKeySegment;
using ROCKSDB_NAMESPACE::experimental::SelectWholeKey;
using ROCKSDB_NAMESPACE::experimental::SstQueryFilterConfigs;
using ROCKSDB_NAMESPACE::experimental::SstQueryFilterConfigsManager;

constexpr uint64_t kTables = 4, kRows = 500, kStep = 1'000'000'007;

// The smallest and largest whole key, and the same of either half.
std::shared_ptr<SstQueryFilterConfigsManager::Factory> MinMax() {
  SstQueryFilterConfigs configs;
  configs.extractor = MakeSharedCappedKeySegmentsExtractor({4, 4});
  configs.filters = {MakeSharedBytewiseMinMaxSQFC(SelectWholeKey()), MakeSharedBytewiseMinMaxSQFC(SelectKeySegment(0)),
                     MakeSharedBytewiseMinMaxSQFC(SelectKeySegment(1))};
  std::shared_ptr<SstQueryFilterConfigsManager> manager;
  Check(SstQueryFilterConfigsManager::MakeShared({{1, {{"keys", configs}}}}, &manager));
  std::shared_ptr<SstQueryFilterConfigsManager::Factory> factory;
  Check(manager->MakeSharedFactory("keys", 1, &factory));
  return factory;
}

// Tables that each have every fourth key; every block that is read is counted.
std::unique_ptr<DB> Filled(Options options, const std::string& path) {
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  BlockBasedTableOptions table;
  table.no_block_cache = true;
  options.table_factory.reset(ROCKSDB_NAMESPACE::NewBlockBasedTableFactory(table));
  auto db = Open(options, path);
  for (uint64_t first = 0; first < kTables; ++first) {
    for (uint64_t row = 0; row < kRows; ++row) {
      Check(db->Put({}, Key((row * kTables + first) * kStep), std::string(100, 'v')));
    }
    Check(db->Flush({}));
  }
  return db;
}

struct Outcome {
  int rows = 0;
  uint64_t blocks = 0;
};

// Rows and blocks of a short range after every key, and rows of a range that holds a key.
Outcome Ask(const std::function<int(const std::string& lo, const std::string& hi)>& rows) {
  auto* perf = ROCKSDB_NAMESPACE::get_perf_context();
  Outcome outcome;
  uint64_t before = perf->block_read_count;
  for (uint64_t row = 0; row < kTables * kRows; ++row) {
    outcome.rows += rows(Key(row * kStep + 1'000), Key(row * kStep + 1'100));
  }
  outcome.blocks = perf->block_read_count - before;
  outcome.rows += rows(Key(7 * kStep), Key(7 * kStep + 1));
  return outcome;
}

int Count(DB* db, const ReadOptions& options) {
  std::unique_ptr<Iterator> rows(db->NewIterator(options));
  int count = 0;
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    ++count;
  }
  Check(rows->status());
  return count;
}

int CountWith(DB* db, SstQueryFilterConfigsManager::Factory* factory, const std::string& lo, const std::string& hi) {
  Slice lower(lo), upper(hi);
  std::function<bool(const ROCKSDB_NAMESPACE::TableProperties&)> filter;
  ReadOptions options;
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  if (factory != nullptr) {
    filter = factory->GetTableFilterForRangeQuery(lower, upper);
    options.table_filter = &filter;
  }
  return Count(db, options);
}

}  // namespace

int main() {
  ROCKSDB_NAMESPACE::SetPerfLevel(ROCKSDB_NAMESPACE::PerfLevel::kEnableCount);
  Folder folder("lacuna-min-max");

  auto plain = Filled({}, folder / "plain");
  auto without =
      Ask([&](const std::string& lo, const std::string& hi) { return CountWith(plain.get(), nullptr, lo, hi); });

  auto factory = MinMax();
  Options own;
  own.table_properties_collector_factories.push_back(factory);
  auto bounded = Filled(own, folder / "min-max");
  auto min_max = Ask(
      [&](const std::string& lo, const std::string& hi) { return CountWith(bounded.get(), factory.get(), lo, hi); });

  lacuna::RangeFilters filters("grafite@14 codec=fixed_be:8");
  Options ours;
  ours.table_properties_collector_factories.push_back(filters.CollectorFactory());
  auto guarded = Filled(ours, folder / "ranges");
  auto ranges = Ask([&](const std::string& lo, const std::string& hi) {
    lacuna::RangeRead read(filters, lo, hi, lacuna::Direction::kForward);
    return Count(guarded.get(), read.options());
  });

  std::printf("blocks of %llu empty ranges: %llu without filters, %llu with RocksDB's minimum and maximum, %llu ours\n",
              static_cast<unsigned long long>(kTables * kRows), static_cast<unsigned long long>(without.blocks),
              static_cast<unsigned long long>(min_max.blocks), static_cast<unsigned long long>(ranges.blocks));
  Check(without.rows == 1 && min_max.rows == 1 && ranges.rows == 1, "the rows are the same");
  Check(min_max.blocks <= without.blocks, "a filter costs no blocks");
  Check(ranges.blocks * 20 < min_max.blocks, "range filters read twenty times fewer blocks");
  return 0;
}
