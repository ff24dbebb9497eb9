// Random programs of build, ask, serialise and open in C++, against a std::set: random PROGRAMS SEED [FIRST]
//
// Every type of key that lacuna.hpp knows, with keys from all of the type.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "lacuna.hpp"
#include "random.h"

namespace {

using Seconds = std::chrono::time_point<std::chrono::system_clock, std::chrono::seconds>;
using Milliseconds = std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds>;
using Microseconds = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

// Draws keys near each other or from all of a type. `Model` is what the std::set holds, and has the order of the keys.
template <class Key>
struct Draw;

template <>
struct Draw<std::uint64_t> {
  using Model = std::uint64_t;
  static Model key() {
    static const std::uint64_t bases[] = {0, 1000, std::uint64_t{1} << 63, ~std::uint64_t{0} - 600};
    return random_below(3) == 0 ? random_u64() : bases[random_below(4)] + random_below(600);
  }
  static Model near(Model key) { return key + random_below(5) - 2; }
  static std::uint64_t of(Model key) { return key; }
};

template <>
struct Draw<std::int64_t> {
  using Model = std::int64_t;
  static Model key() { return static_cast<std::int64_t>(Draw<std::uint64_t>::key()); }
  static Model near(Model key) {
    return static_cast<std::int64_t>(Draw<std::uint64_t>::near(static_cast<std::uint64_t>(key)));
  }
  static std::int64_t of(Model key) { return key; }
};

template <>
struct Draw<double> {
  using Model = double;
  static Model key() {
    static const double special[] = {0.0, -0.0, 1.0, -1.0, 1e300, -1e300, 5e-324, INFINITY, -INFINITY};
    if (random_below(8) == 0) return special[random_below(9)];
    auto number = static_cast<double>(static_cast<std::int64_t>(random_u64()));
    return random_below(2) == 0 ? number : std::floor(number / 9e15) / 8;
  }
  static Model near(Model key) {
    auto toward = random_below(2) == 0 ? INFINITY : -INFINITY;
    return random_below(2) == 0 ? key : std::nextafter(key, toward);
  }
  static double of(Model key) { return key; }
};

template <>
struct Draw<lacuna::Date> {
  using Model = std::int32_t;
  static Model key() { return static_cast<std::int32_t>(Draw<std::uint64_t>::key()); }
  static Model near(Model key) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(key) + static_cast<std::uint32_t>(random_below(5)) - 2u);
  }
  static lacuna::Date of(Model key) { return {key}; }
};

template <class Duration>
struct Draw<std::chrono::time_point<std::chrono::system_clock, Duration>> {
  using Moment = std::chrono::time_point<std::chrono::system_clock, Duration>;
  using Model = Moment;
  static Model key() { return Moment(Duration(Draw<std::int64_t>::key())); }
  static Model near(Model key) { return Moment(Duration(Draw<std::int64_t>::near(key.time_since_epoch().count()))); }
  static Moment of(Model key) { return key; }
};

template <>
struct Draw<std::string_view> {
  using Model = std::string;
  static Model key() {
    static const char* const prefixes[] = {"", "https://example.org/", "\xff\xff\xff", "k"};
    std::string key = prefixes[random_below(4)];
    auto letters = random_below(2) == 0 ? 2 : 256;
    for (auto size = random_below(random_below(4) == 0 ? 40 : 5); size > 0; --size) {
      key.push_back(static_cast<char>(random_below(static_cast<std::uint64_t>(letters))));
    }
    return key;
  }
  static Model near(Model key) {
    switch (random_below(4)) {
      case 0: return key + '\0';
      case 1: return key.substr(0, random_below(key.size() + 1));
      case 2:
        if (!key.empty()) key.back() = static_cast<char>(key.back() + 1);
        return key;
      default: return key;
    }
  }
  static std::string_view of(const Model& key) { return key; }
};

template <class Key>
Key as(const typename Draw<Key>::Model& key) {
  return Draw<Key>::of(key);
}

template <class Model>
bool holds(const std::set<Model>& model, const Model& lo, const Model& hi) {
  auto first = model.lower_bound(lo);
  return first != model.end() && !(hi < *first) && !(hi < lo);
}

template <class Key>
class Program {
  using Model = typename Draw<Key>::Model;
  using Filter = lacuna::Filter<Key>;

 public:
  void run() {
    auto keys = draw_keys();
    model_.insert(keys.begin(), keys.end());
    auto filter = build(keys);
    if (!filter) return;
    ask_all(*filter);
    for (int step = 0; step < 16; ++step) {
      switch (random_below(6)) {
        case 0: reopen(*filter); break;
        case 1: many(*filter); break;
        case 2: count(*filter); break;
        case 3: seek(*filter); break;
        case 4: others(*filter); break;
        default: one(*filter);
      }
    }
    ask_all(*filter);
    Filter taken = std::move(*filter);
    CHECK(filter->may_contain(as<Key>(Draw<Key>::key())) && filter->bytes().empty() && filter->info().key_count == 0);
    ask_all(taken);
  }

 private:
  std::vector<Model> draw_keys() {
    std::vector<Model> keys(random_below(random_below(3) == 0 ? 4 : 250));
    for (auto& key : keys) key = Draw<Key>::key();
    if (random_below(2) == 0) std::sort(keys.begin(), keys.end());
    return keys;
  }

  Model draw_near() {
    if (model_.empty() || random_below(4) == 0) return Draw<Key>::key();
    auto place = model_.lower_bound(Draw<Key>::key());
    return Draw<Key>::near(place == model_.end() ? *model_.begin() : *place);
  }

  lacuna::Plan draw_plan() {
    static const char* const specs[] = {"", "grafite", "ribbon", "bucketing", "bloom", "rencoder", "surf", "surf:hash=4,real=4",
                                        "surf:cut", "proteus", "multi_prefix_bloom", "snarf", "cuckoo",
                                        "prefix_bloom", "auto", "auto:robust"};
    auto plan = random_below(4) == 0 ? lacuna::Plan::for_rate(0.01, 8) : lacuna::Plan::bits(8.0 + double(random_below(30)));
    for (auto queries = random_below(30); queries > 0; --queries) {
      auto lo = draw_near(), hi = draw_near();
      bool forward = !(hi < lo);
      CHECK(sample_.try_add(as<Key>(lo), as<Key>(hi)).ok() == forward);
    }
    if (!std::is_same_v<Key, std::string_view> && random_below(8) == 0) {
      static const char* const digits[] = {"00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100\n"};
      CHECK(!lacuna::try_read_secret("00112233").ok());
      plan = std::move(plan).with_secret(lacuna::read_secret(digits[random_below(2)]));
      return std::move(plan).with_spec(random_below(2) == 0 ? "ribbon:secret" : "grafite:secret").with_sample(sample_);
    }
    return std::move(plan).with_spec(specs[random_below(15)]).with_seed(random_below(9)).with_sample(sample_);
  }

  lacuna::Result<Filter> at_once(const std::vector<Model>& keys, const lacuna::Plan& plan) {
    std::vector<Key> values;
    for (const auto& key : keys) values.push_back(as<Key>(key));
    if (random_below(2) == 0) return Filter::try_build(values, plan);
    return Filter::try_build(lacuna::Span<const Key>(values.data(), values.size()), plan);
  }

  lacuna::Result<Filter> one_by_one(const std::vector<Model>& keys, const lacuna::Plan& plan) {
    auto made = lacuna::Builder<Key>::try_make(plan);
    if (!made) return made.error();
    lacuna::Builder<Key> builder = std::move(made).value();
    for (const auto& key : keys) CHECK(builder.try_add(as<Key>(key)).ok());
    if (random_below(16) == 0) return at_once(keys, plan);  // abandoned
    return builder.try_finish();
  }

  lacuna::Result<Filter> try_build(const std::vector<Model>& keys, const lacuna::Plan& plan) {
    return random_below(2) == 0 ? at_once(keys, plan) : one_by_one(keys, plan);
  }

  std::unique_ptr<Filter> build(const std::vector<Model>& keys) {
    auto plan = draw_plan();
    auto built = try_build(keys, plan);
    if (!built) {
      CHECK(built.error().status == LACUNA_STATUS_BUDGET_TOO_SMALL && built.error().smallest_bits_per_key > 0);
      if (built.error().smallest_bits_per_key > 127) return nullptr;
      plan.rate = 0;
      plan.bits_per_key = built.error().smallest_bits_per_key + 0.01;
      built = try_build(keys, plan);
    }
    CHECK(built.ok());
    // Both ways give the same bytes.
    auto again = at_once(keys, plan);
    CHECK(again.ok() && same_bytes(built.value(), again.value()));
    CHECK(built.value().info().key_count == model_.size());
    return std::make_unique<Filter>(std::move(built).value());
  }

  static bool same_bytes(const Filter& left, const Filter& right) {
    return std::equal(left.bytes().begin(), left.bytes().end(), right.bytes().begin(), right.bytes().end());
  }

  void ask_all(const Filter& filter) {
    for (const auto& key : model_) CHECK(filter.may_contain(as<Key>(key)));
  }

  void check_range(const Model& lo, const Model& hi, bool answer) {
    if (hi < lo) CHECK(!answer);
    if (holds(model_, lo, hi)) CHECK(answer);
  }

  void one(const Filter& filter) {
    auto lo = draw_near(), hi = draw_near();
    check_range(lo, hi, filter.may_contain_range(as<Key>(lo), as<Key>(hi)));
    check_range(lo, lo, filter.may_contain(as<Key>(lo)));
    if constexpr (std::is_same_v<Key, std::string_view>) strings(filter, lo, hi);
  }

  void strings(const lacuna::Filter<std::string_view>& filter, const std::string& lo, const std::string& hi) {
    auto with_prefix = model_.lower_bound(lo);
    bool starts = with_prefix != model_.end() && with_prefix->compare(0, lo.size(), lo) == 0;
    CHECK(filter.may_contain_prefix(lo) || !starts);
    auto between = filter.may_contain_between(LACUNA_BOUND_EXCLUDED, lo, LACUNA_BOUND_EXCLUDED, hi);
    auto after = model_.upper_bound(lo);
    CHECK(between || after == model_.end() || !(*after < hi));
  }

  void many(const Filter& filter) {
    auto count = random_below(700);
    std::vector<Model> lo, hi;
    for (std::uint64_t place = 0; place < count; ++place) lo.push_back(draw_near()), hi.push_back(draw_near());
    std::vector<Key> los, his;
    for (const auto& key : lo) los.push_back(as<Key>(key));
    for (const auto& key : hi) his.push_back(as<Key>(key));
    std::unique_ptr<bool[]> answers(new bool[count + 3]());
    CHECK(filter.may_contain_ranges(los, his, {answers.get(), count + 3}));
    for (std::uint64_t place = 0; place < count; ++place) {
      CHECK(answers[place] == filter.may_contain_range(los[place], his[place]));
      check_range(lo[place], hi[place], answers[place]);
    }
    CHECK(answers[count] && answers[count + 1] && answers[count + 2]);
  }

  bool is_surf(const Filter& filter) { return std::string_view(filter.info().family) == "surf"; }

  void count(const Filter& filter) {
    auto lo = draw_near(), hi = draw_near();
    auto counted = filter.try_count(as<Key>(lo), as<Key>(hi));
    CHECK(counted.ok() == is_surf(filter));
    if (!counted) return;
    auto first = model_.lower_bound(lo), last = model_.upper_bound(hi);
    std::uint64_t truth = hi < lo ? 0 : static_cast<std::uint64_t>(std::distance(first, last));
    CHECK(counted.value().min <= truth && truth <= counted.value().max);
  }

  // The candidate as the model has it.
  static Model model_of(const std::string& key) { return key; }
  static Model model_of(lacuna::Date key) { return key.days; }
  template <class K>
  static Model model_of(K key) {
    return key;
  }

  void seek(const Filter& filter) {
    auto from = draw_near();
    auto up = filter.try_seek(LACUNA_DIRECTION_UP, as<Key>(from));
    CHECK(up.ok() == is_surf(filter));
    if (!up) return;
    auto next = model_.lower_bound(from);
    CHECK(up.value().found || next == model_.end());
    if (next != model_.end()) CHECK(!(*next < model_of(up.value().key)));
    if (up.value().found && up.value().is_certain) CHECK(next != model_.end());

    auto down = filter.seek(LACUNA_DIRECTION_DOWN, as<Key>(from));
    auto above = model_.upper_bound(from);
    CHECK(down.found || above == model_.begin());
    if (above == model_.begin()) return;
    auto last = *std::prev(above), place = model_of(down.key);
    CHECK(!(place < last) && (!down.is_excluded || last < place));
  }

  void reopen(Filter& filter) {
    file_.assign(filter.bytes().begin(), filter.bytes().end());
    if (random_below(2) == 0) {
      filter = Filter::open(file_);
    } else {
      borrowed_ = file_;
      filter = Filter::open_borrowed(borrowed_, random_below(2) == 0 ? LACUNA_VERIFY_ALL : LACUNA_VERIFY_ENVELOPE);
      CHECK(filter.bytes().data() == reinterpret_cast<const std::uint8_t*>(borrowed_.data()));
      filter = Filter::open(filter.bytes());
    }
    auto place = random_below(file_.size());
    file_[place] = static_cast<char>(file_[place] ^ (1 << random_below(8)));
    CHECK(!Filter::try_open(file_));
#if defined(__cpp_exceptions)
    bool thrown = false;
    try {
      Filter::open(file_);
    } catch (const lacuna::Exception& exception) {
      thrown = exception.status() != LACUNA_STATUS_OK && std::string(exception.what()).size() > 10;
    }
    CHECK(thrown);
#endif
  }

  template <class Other>
  void other(const Filter& filter) {
    if (std::is_same_v<Other, Key>) return;
    auto refused = lacuna::Filter<Other>::try_open(filter.bytes());
    CHECK(!refused && refused.error().status == LACUNA_STATUS_INVALID_INPUT);
  }

  void others(const Filter& filter) {
    other<std::uint64_t>(filter);
    other<std::int64_t>(filter);
    other<double>(filter);
    other<lacuna::Date>(filter);
    other<Seconds>(filter);
    other<Milliseconds>(filter);
    other<Microseconds>(filter);
    other<std::string_view>(filter);
  }

  std::set<Model> model_;
  lacuna::Sample<Key> sample_;
  std::string file_, borrowed_;
};

template <class Key>
void run() {
  Program<Key>().run();
}

// A container that makes each string while it is read, as the views of C++20 do.
struct MadeStrings {
  struct Iterator {
    int number;
    std::string operator*() const { return "a string that is too long to stand in its own object, number " + std::to_string(number); }
    Iterator& operator++() { return ++number, *this; }
    bool operator!=(const Iterator& other) const { return number != other.number; }
  };
  Iterator begin() const { return {0}; }
  Iterator end() const { return {100}; }
};

// The same for iterators that hold the one string that they are at.
struct StreamedStrings {
  std::istringstream* stream;
  std::istream_iterator<std::string> begin() const { return std::istream_iterator<std::string>(*stream); }
  std::istream_iterator<std::string> end() const { return {}; }
};

void strings_that_are_made_while_they_are_read_are_kept() {
  const std::string long_word(60, 'x');
  std::istringstream stream("ant " + long_word + " bee");
  auto streamed = lacuna::Filter<std::string_view>::build(StreamedStrings{&stream}, lacuna::Plan::bits(20));
  CHECK(streamed.may_contain("ant") && streamed.may_contain(long_word) && streamed.may_contain("bee"));
  auto filter = lacuna::Filter<std::string_view>::build(MadeStrings(), lacuna::Plan::bits(20));
  for (const auto& key : MadeStrings()) CHECK(filter.may_contain(key));
}

}  // namespace

int main(int count, char** values) {
  strings_that_are_made_while_they_are_read_are_kept();
  std::uint64_t first, programs = arguments(count, values, &first);
  for (auto number = first; number < first + programs; ++number) {
    begin_program(number);
    switch (random_below(8)) {
      case 0: run<std::uint64_t>(); break;
      case 1: run<std::int64_t>(); break;
      case 2: run<double>(); break;
      case 3: run<lacuna::Date>(); break;
      case 4: run<Seconds>(); break;
      case 5: run<Milliseconds>(); break;
      case 6: run<Microseconds>(); break;
      default: run<std::string_view>();
    }
  }
  return 0;
}
