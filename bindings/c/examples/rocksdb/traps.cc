// Reads of RocksDB that only C++ offers, with range filters: several ranges at once, several column families at once,
// and rows of columns; ranges over several prefixes, and tables that get no filter. Exits with 1 and a line if a row is lost
// or a filter is not asked.

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "check.h"
#include "lacuna_rocksdb.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/multi_scan.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "rocksdb/wide_columns.h"

namespace {

using ROCKSDB_NAMESPACE::BytewiseComparator;
using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::ColumnFamilyOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Iterator;
using ROCKSDB_NAMESPACE::MultiScanArgs;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::TableProperties;

constexpr char kSpec[] = "grafite@16 codec=fixed_be:8";
using Filter = std::function<bool(const TableProperties&)>;

Options WithFilters(const lacuna::RangeFilters& filters) {
  Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.table_properties_collector_factories.push_back(filters.CollectorFactory());
  return options;
}

// Four tables of every fourth multiple of 1,000.
void FillTables(DB* db) {
  for (uint64_t table = 0; table < 4; ++table) {
    for (uint64_t row = 0; row < 500; ++row) {
      Check(db->Put({}, Key((row * 4 + table) * 1'000), "21.5"));
    }
    Check(db->Flush({}));
  }
}

// Rows of two ranges in one MultiScan, with this filter for both.
int MultiScanRows(DB* db, const Filter* filter, uint64_t first, uint64_t second, uint64_t length) {
  ReadOptions read;
  read.table_filter = filter;
  std::string keys[] = {Key(first), Key(first + length), Key(second), Key(second + length)};
  MultiScanArgs ranges(BytewiseComparator());
  ranges.insert(keys[0], keys[1]);
  ranges.insert(keys[2], keys[3]);
  int rows = 0;
  auto scans = db->NewMultiScan(read, db->DefaultColumnFamily(), ranges);
  for (auto scan : *scans) {
    for (auto row : scan) {
      rows += row.first.empty() ? 0 : 1;
    }
  }
  return rows;
}

// One set of read options serves all ranges of a MultiScan, so the filter must answer for all of them together.
void AMultiScanNeedsTheFilterOfAllItsRanges(const Folder& folder) {
  lacuna::RangeFilters filters(kSpec);
  auto db = Open(WithFilters(filters), folder / "multi_scan");
  FillTables(db.get());
  for (uint64_t row = 0; row < 1'900; row += 100) {
    uint64_t first = row * 1'000, second = (row + 50) * 1'000;
    Filter all = filters.TableFilter(Key(first), Key(second + 2'001));
    Check(MultiScanRows(db.get(), nullptr, first, second, 2'001) == 6, "three rows in each range");
    Check(MultiScanRows(db.get(), &all, first, second, 2'001) == 6, "no row is lost to the filter of all ranges");
  }
  Filter between = filters.TableFilter(Key(1'000'001), Key(1'000'900));
  Check(MultiScanRows(db.get(), &between, 1'000'001, 1'000'500, 300) == 0, "nothing is there");
  Check(filters.counts().skipped >= 4, "tables without a row in the ranges were skipped");
  // What this warns of: a filter of the first range alone loses rows of the second.
  Filter first = filters.TableFilter(Key(1'000), Key(1'001));
  Check(MultiScanRows(db.get(), &first, 1'000, 50'000, 2'001) < 6, "a filter of one range is wrong for two");
}

// An iterator over several column families asks one filter of the tables of all; another codec is read and counted.
void IteratorsOverSeveralFamiliesLoseNoRows(const Folder& folder) {
  lacuna::RangeFilters integers(kSpec), strings("grafite@16");
  auto db = Open(WithFilters(integers), folder / "families");
  ColumnFamilyOptions other;
  other.table_properties_collector_factories.push_back(strings.CollectorFactory());
  ColumnFamilyHandle* family = nullptr;
  Check(db->CreateColumnFamily(other, "strings", &family));
  for (uint64_t row = 0; row < 1'000; ++row) {
    Check(db->Put({}, db->DefaultColumnFamily(), Key(row * 2'000), "integers"));
    Check(db->Put({}, family, Key(row * 2'000 + 1'000), "strings"));
  }
  Check(db->Flush({}, {db->DefaultColumnFamily(), family}));
  auto rows = [&](uint64_t lo, uint64_t hi) {
    lacuna::RangeRead read(integers, Key(lo), Key(hi));
    auto both = db->NewCoalescingIterator(read.options(), {db->DefaultColumnFamily(), family});
    int count = 0;
    for (both->SeekToFirst(); both->Valid(); both->Next()) {
      ++count;
    }
    Check(both->status());
    return count;
  };
  Check(rows(100'000, 110'000) == 10, "rows of both families are found");
  Check(rows(100'001, 100'900) == 0, "nothing between two rows");
  auto counts = integers.counts();
  Check(counts.skipped == 1 && counts.unsupported == 2, "one family is asked, the other read and counted");
  Check(db->DestroyColumnFamilyHandle(family));
}

// Rows of columns are entries of a type of their own: their keys must be in the filter.
void RowsOfColumnsAreFound(const Folder& folder) {
  lacuna::RangeFilters filters(kSpec);
  auto db = Open(WithFilters(filters), folder / "columns");
  for (uint64_t row = 0; row < 1'000; ++row) {
    Check(db->PutEntity({}, db->DefaultColumnFamily(), Key(row * 1'000), {{"celsius", "21.5"}, {"percent", "40"}}));
  }
  Check(db->Flush({}));
  Check(db->CompactRange({}, nullptr, nullptr));
  for (uint64_t row = 0; row < 1'000; row += 7) {
    lacuna::RangeRead read(filters, Key(row * 1'000), Key(row * 1'000 + 1));
    std::unique_ptr<Iterator> found(db->NewIterator(read.options()));
    found->SeekToFirst();
    Check(found->Valid() && found->columns().size() == 2, "a row of two columns is found");
    lacuna::RangeRead gap(filters, Key(row * 1'000 + 1), Key(row * 1'000 + 900));
    std::unique_ptr<Iterator> nothing(db->NewIterator(gap.options()));
    nothing->SeekToFirst();
    Check(!nothing->Valid() && nothing->status().ok(), "nothing between two rows");
  }
  Check(filters.counts().skipped > 100, "the table was skipped between its rows");
}

// RocksDB's Bloom filter over prefixes knows nothing of the prefix that a range begins with.
void RangesAcrossPrefixesKeepTheirRows(const Folder& folder) {
  lacuna::RangeFilters filters("surf@30");
  auto options = WithFilters(filters);
  ROCKSDB_NAMESPACE::BlockBasedTableOptions table;
  table.filter_policy.reset(ROCKSDB_NAMESPACE::NewBloomFilterPolicy(10));
  options.table_factory.reset(ROCKSDB_NAMESPACE::NewBlockBasedTableFactory(table));
  options.prefix_extractor.reset(ROCKSDB_NAMESPACE::NewFixedPrefixTransform(4));
  auto db = Open(options, folder / "prefixes");
  Check(db->Put({}, "aaaa1", "value"));
  Check(db->Put({}, "cccc1", "value"));
  Check(db->Flush({}));
  lacuna::RangeRead read(filters, "bbbb0", "cccc9");
  std::unique_ptr<Iterator> rows(db->NewIterator(read.options()));
  rows->SeekToFirst();
  Check(rows->Valid() && rows->key() == "cccc1", "the row of another prefix is found");
}

// Older releases of RocksDB call every collector that they are given.
void TablesWithoutAFilterHaveACollector() {
  auto factory = lacuna::RangeFilters("off").CollectorFactory();
  std::unique_ptr<ROCKSDB_NAMESPACE::TablePropertiesCollector> collector(factory->CreateTablePropertiesCollector({}));
  Check(collector != nullptr, "there is a collector");
  Check(collector->AddUserKey("key", "value", ROCKSDB_NAMESPACE::kEntryPut, 1, 1));
  ROCKSDB_NAMESPACE::UserCollectedProperties properties;
  Check(collector->Finish(&properties));
  Check(properties.empty(), "it adds no property");
}

}  // namespace

int main() {
  Folder folder("lacuna-traps");
  AMultiScanNeedsTheFilterOfAllItsRanges(folder);
  IteratorsOverSeveralFamiliesLoseNoRows(folder);
  RowsOfColumnsAreFound(folder);
  RangesAcrossPrefixesKeepTheirRows(folder);
  TablesWithoutAFilterHaveACollector();
  std::printf("several ranges, families and prefixes, and rows of columns read the same with filters\n");
  return 0;
}
