// Minutes of a sensor in RocksDB; ranges between them are answered without reading a table. Exits with 1 and a line if
// anything is not as it should be.

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.h"
#include "lacuna.hpp"
#include "lacuna_rocksdb.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/options_util.h"

namespace {

using ROCKSDB_NAMESPACE::ColumnFamilyDescriptor;
using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DBOptions;
using ROCKSDB_NAMESPACE::Iterator;
using ROCKSDB_NAMESPACE::Options;

constexpr uint64_t kMinutes = 20'000;
constexpr char kSpec[] = "grafite@16 codec=fixed_be:8";

void Fill(DB* db) {
  for (uint64_t minute = 0; minute < kMinutes; ++minute) {
    Check(db->Put({}, Key(minute * 60), "21.5"));
  }
  Check(db->Flush({}));
}

// Rows from `lo` (included) to `hi` (not included).
int Rows(DB* db, const lacuna::RangeFilters& filters, uint64_t lo, uint64_t hi, lacuna::Direction direction) {
  lacuna::RangeRead read(filters, Key(lo), Key(hi), direction);
  std::unique_ptr<Iterator> rows(db->NewIterator(read.options()));
  bool forward = direction == lacuna::Direction::kForward;
  int count = 0;
  for (forward ? rows->SeekToFirst() : rows->SeekToLast(); rows->Valid(); forward ? rows->Next() : rows->Prev()) {
    ++count;
  }
  Check(rows->status());
  if (count == 0) {
    read.NoteEmpty();
  }
  return count;
}

void AskBothWays(DB* db, const lacuna::RangeFilters& filters) {
  for (auto direction : {lacuna::Direction::kForward, lacuna::Direction::kReverse}) {
    for (uint64_t minute = 1; minute < 1'000; ++minute) {
      Check(Rows(db, filters, minute * 60 + 1, minute * 60 + 30, direction) == 0, "nothing between two minutes");
      Check(Rows(db, filters, minute * 60 - 60, minute * 60 + 1, direction) == 2, "both minutes are found");
    }
  }
}

void DeletedMinutesStayDeleted(DB* db, const lacuna::RangeFilters& filters) {
  Check(db->Delete({}, Key(600)));
  Check(db->Flush({}));
  Check(Rows(db, filters, 600, 601, lacuna::Direction::kForward) == 0, "a deleted minute is gone");
}

// The filters of tables open without their tables, such as in a tool that looks at files.
void PropertiesOpenAsFilters(DB* db) {
  ROCKSDB_NAMESPACE::TablePropertiesCollection tables;
  Check(db->GetPropertiesOfAllTables(&tables));
  Check(!tables.empty(), "there are tables");
  for (const auto& [name, table] : tables) {
    auto filter = lacuna::Filter<std::string_view>::open(table->user_collected_properties.at(lacuna_property_name()));
    Check(filter.info().key_count == table->num_entries, "every entry is in the filter");
    Check(filter.may_contain(Key(600)), "no key is denied");
    Check(!filter.may_contain_range(Key(601), Key(602)), "nothing between two minutes");
  }
}

// A database opened with what its OPTIONS file says builds the same filters.
void OptionsFilesKnowTheFactory(const std::string& path, const std::string& twin) {
  lacuna::RegisterFactory();
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  Check(ROCKSDB_NAMESPACE::LoadLatestOptions(config, path, &db_options, &families));
  Options options(db_options, families.at(0).options);
  Check(options.table_properties_collector_factories.size() == 1, "the OPTIONS file names the factory");
  auto db = Open(options, twin);
  Fill(db.get());
  lacuna::RangeFilters filters(kSpec);
  AskBothWays(db.get(), filters);
  Check(filters.counts().skipped > 1'500 && filters.counts().missing == 0, "its tables have filters");
}

// A secret is no part of the spec, so that no OPTIONS file holds it; a database that is opened with such a file is read, and
// its new tables have no filter.
void SecretsStayOutOfOptionsFiles(const std::string& path) {
  constexpr char kUnderSecret[] = "ribbon:secret@16 codec=fixed_be:8";
  bool is_refused = false;
  try {
    lacuna::RangeFilters without(kUnderSecret);
  } catch (const std::invalid_argument& refused) {
    is_refused = std::string(refused.what()).find("hashes under a secret") != std::string::npos;
  }
  Check(is_refused, "filters that need a secret are refused without one");
  LacunaSecret secret;
  const std::string digits = "000102030405060708090a0b0c0d0e0f";  // Yours is random, and in no program's text.
  Check(lacuna_secret_read(digits.data(), digits.size(), &secret) == LACUNA_STATUS_OK, "these are the digits of a secret");
  lacuna::RangeFilters filters(kUnderSecret, secret);
  Options options;
  options.create_if_missing = true;
  options.table_properties_collector_factories.push_back(filters.CollectorFactory());
  auto db = Open(options, path);
  Fill(db.get());
  AskBothWays(db.get(), filters);
  Check(filters.counts().built == 1 && filters.counts().skipped > 1'500, "the table was skipped");
  db.reset();
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  Check(ROCKSDB_NAMESPACE::LoadLatestOptions(ConfigOptions(), path, &db_options, &families));
  db = Open(Options(db_options, families.at(0).options), path);
  lacuna::RangeFilters stranger(kSpec);
  AskBothWays(db.get(), stranger);
  Check(stranger.counts().skipped > 1'500 && stranger.counts().missing == 0, "filters are opened without their secret");
  Check(db->Put({}, Key(30), "21.5"));
  Check(db->Flush({}));
  Check(Rows(db.get(), stranger, 30, 31, lacuna::Direction::kForward) == 1, "a table without a filter is read");
  Check(stranger.counts().missing > 0, "the new table has none");
}

}  // namespace

int main() {
  Folder folder("lacuna-example");
  std::string path = folder / "db", twin = folder / "twin";

  lacuna::RangeFilters filters(kSpec);
  Options options;
  options.create_if_missing = true;
  options.table_properties_collector_factories.push_back(filters.CollectorFactory());
  auto db = Open(options, path);
  Fill(db.get());
  AskBothWays(db.get(), filters);
  auto counts = filters.counts();
  Check(counts.built == 1 && counts.skipped > 1'500, "the table was skipped");
  Check(counts.not_built == 0 && counts.hardly_answering == 0, filters.last_problem().c_str());
  DeletedMinutesStayDeleted(db.get(), filters);
  PropertiesOpenAsFilters(db.get());
  db.reset();
  OptionsFilesKnowTheFactory(path, twin);
  SecretsStayOutOfOptionsFiles(folder / "secret");

  std::printf("tables skipped %llu, read %llu, of %llu questions\n", static_cast<unsigned long long>(counts.skipped),
              static_cast<unsigned long long>(counts.passed),
              static_cast<unsigned long long>(counts.skipped + counts.passed));
  return 0;
}
