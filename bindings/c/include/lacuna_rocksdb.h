// Range filters in every SSTable of a stock RocksDB, for programs in C++.
//
//   lacuna::RangeFilters filters("grafite@14 codec=fixed_be:8");
//   options.table_properties_collector_factories.push_back(filters.CollectorFactory());
//   ...
//   lacuna::RangeRead read(filters, lo, hi);                  // lo inclusive, hi exclusive
//   std::unique_ptr<Iterator> rows(db->NewIterator(read.options()));
//
// "No" is always true: a table is skipped only if it holds no entry of the range, of whatever type. Compile with the
// settings of your RocksDB (-fno-rtti if it was built so) and link lacuna.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "lacuna.h"
#include "lacuna_collector.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "rocksdb/table_properties.h"

namespace lacuna {

namespace detail {

inline const lacuna_collector_vtable* Vtable() {
  static const lacuna_collector_vtable vtable = {
      [](const char* spec, size_t size) -> void* { return lacuna_table_guard_new(spec, size, 0, nullptr); },
      [](void* state) { lacuna_table_guard_free(static_cast<LacunaTableGuard*>(state)); },
      [](void* state, int level) -> void* {
        return lacuna_collector_new(static_cast<LacunaTableGuard*>(state), level);
      },
      [](void* collector, uint32_t type, const char* key, size_t size) {
        lacuna_collector_add(static_cast<LacunaCollector*>(collector), static_cast<LacunaEntryType>(type), key, size);
      },
      [](void* collector, lacuna_emit emit, void* sink) {
        lacuna_collector_finish(static_cast<LacunaCollector*>(collector), emit, sink);
      },
      [](void* collector) { lacuna_collector_free(static_cast<LacunaCollector*>(collector)); }};
  return &vtable;
}

struct FreeGuard {
  void operator()(LacunaTableGuard* guard) const { lacuna_table_guard_free(guard); }
};
struct FreeQuestion {
  void operator()(LacunaQuestion* question) const { lacuna_question_free(question); }
};

}  // namespace detail

// Makes the factory known by its name, so that options strings and OPTIONS files can hold
// `table_properties_collectors={{id=LacunaRangeFilter;spec={grafite@14 codec=fixed_be:8};}}`. A text holds no secret, and RocksDB takes
// it without asking whether its spec can be built: of one that needs a secret, it makes no filters.
inline void RegisterFactory() { RegisterFactory(detail::Vtable()); }

enum class Direction { kForward, kReverse };

// The filters of one column family: what is built, and what happened so far. Copies share both.
class RangeFilters {
 public:
  // Throws std::invalid_argument if the spec is wrong. A table's filter takes at most `max_bytes`, 256 MiB if 0.
  explicit RangeFilters(std::string spec, size_t max_bytes = 0) : RangeFilters(std::move(spec), nullptr, max_bytes) {}

  // For a spec that hashes under a secret, such as "ribbon:secret@14 codec=fixed_be:8". OPTIONS files name the spec alone: give
  // the secret again at each start, to filters that are added to options of your own, not to those that a file holds.
  RangeFilters(std::string spec, const LacunaSecret& secret, size_t max_bytes = 0)
      : RangeFilters(std::move(spec), &secret, max_bytes) {}

  // For ColumnFamilyOptions::table_properties_collector_factories.
  std::shared_ptr<ROCKSDB_NAMESPACE::TablePropertiesCollectorFactory> CollectorFactory() const {
    return std::make_shared<Factory>(detail::Vtable(), lacuna_table_guard_clone(guard_.get()), spec_);
  }

  // For ReadOptions::table_filter, with `lo` inclusive and `hi` exclusive. The iterator must carry the same bounds for
  // its whole life; RangeRead sees to that.
  std::function<bool(const ROCKSDB_NAMESPACE::TableProperties&)> TableFilter(
      const ROCKSDB_NAMESPACE::Slice& lo, const ROCKSDB_NAMESPACE::Slice& hi,
      Direction direction = Direction::kForward) const {
    return Ask(MakeQuestion(lo, hi, direction));
  }

  LacunaCounts counts() const {
    LacunaCounts counts{};
    lacuna_table_guard_counts(guard_.get(), &counts);
    return counts;
  }

  // What was wrong with the last table without a filter, the last filter that hardly answers, or at the last panic; empty
  // if there was none.
  std::string last_problem() const { return lacuna_table_guard_last_problem(guard_.get()); }

 private:
  RangeFilters(std::string spec, const LacunaSecret* secret, size_t max_bytes)
      : guard_(lacuna_table_guard_new(spec.data(), spec.size(), max_bytes, secret), detail::FreeGuard()),
        spec_(std::move(spec)) {
    if (guard_ == nullptr) {
      throw std::invalid_argument(lacuna_last_error());
    }
  }

  friend class RangeRead;
  using Question = std::shared_ptr<LacunaQuestion>;

  Question MakeQuestion(const ROCKSDB_NAMESPACE::Slice& lo, const ROCKSDB_NAMESPACE::Slice& hi,
                        Direction direction) const {
    return Question(lacuna_question_new(guard_.get(), LACUNA_BOUND_INCLUDED, lo.data(), lo.size(),
                                        LACUNA_BOUND_EXCLUDED, hi.data(), hi.size(),
                                        direction == Direction::kReverse),
                    detail::FreeQuestion());
  }

  static std::function<bool(const ROCKSDB_NAMESPACE::TableProperties&)> Ask(Question question) {
    static const std::string name = lacuna_property_name();
    return [question = std::move(question)](const ROCKSDB_NAMESPACE::TableProperties& table) {
      auto found = table.user_collected_properties.find(name);
      bool has = found != table.user_collected_properties.end();
      return question == nullptr ||
             lacuna_question_may_contain(question.get(), table.comparator_name.data(), table.comparator_name.size(),
                                         has ? found->second.data() : nullptr, has ? found->second.size() : 0);
    };
  }

  std::shared_ptr<LacunaTableGuard> guard_;
  std::string spec_;
};

// Read options with a range, its bounds and its filter. Must outlive the iterators made with it.
class RangeRead {
 public:
  // `lo` is inside, `hi` is not. Bounds and table filter in `options` are replaced. Without options the read is in total order;
  // with them, a range over several prefixes of a prefix extractor needs `total_order_seek`, or RocksDB leaves rows out.
  RangeRead(const RangeFilters& filters, const ROCKSDB_NAMESPACE::Slice& lo, const ROCKSDB_NAMESPACE::Slice& hi,
            Direction direction = Direction::kForward,
            ROCKSDB_NAMESPACE::ReadOptions options = TotalOrder())
      : lo_(lo.ToString()),
        hi_(hi.ToString()),
        lower_(lo_),
        upper_(hi_),
        question_(filters.MakeQuestion(lower_, upper_, direction)),
        filter_(RangeFilters::Ask(question_)),
        options_(std::move(options)) {
    options_.iterate_lower_bound = &lower_;
    options_.iterate_upper_bound = &upper_;
    Set(options_.table_filter, filter_);
  }
  RangeRead(const RangeRead&) = delete;
  RangeRead& operator=(const RangeRead&) = delete;

  const ROCKSDB_NAMESPACE::ReadOptions& options() const { return options_; }

  // Says that an iterator over the whole range returned no row; later filters are designed for such ranges.
  void NoteEmpty() const {
    if (question_ != nullptr) {
      lacuna_question_note_empty(question_.get());
    }
  }

 private:
  static ROCKSDB_NAMESPACE::ReadOptions TotalOrder() {
    ROCKSDB_NAMESPACE::ReadOptions options;
    options.total_order_seek = true;
    return options;
  }

  using Filter = std::function<bool(const ROCKSDB_NAMESPACE::TableProperties&)>;

  // RocksDB 11.12 takes a pointer to the function, earlier versions the function.
  static void Set(const Filter*& place, const Filter& filter) { place = &filter; }
  static void Set(Filter& place, const Filter& filter) { place = filter; }

  std::string lo_, hi_;
  ROCKSDB_NAMESPACE::Slice lower_, upper_;
  RangeFilters::Question question_;
  Filter filter_;
  ROCKSDB_NAMESPACE::ReadOptions options_;
};

}  // namespace lacuna
