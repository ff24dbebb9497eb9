// Lacuna's range filters for C++17 and later, over lacuna.h. "No" is always true; doubt is "maybe, go and read".
//
//   std::vector<std::uint64_t> keys = ...;                              // in any order
//   auto filter = lacuna::Filter<std::uint64_t>::build(keys, lacuna::Plan::bits(14));
//   if (filter.may_contain_range(lo, hi)) { ... read the file ... }
//   write(filter.bytes());                                              // and open them wherever they are read
//
// Keys are std::uint64_t, std::int64_t, double, lacuna::Date, moments of std::chrono::system_clock in seconds, milliseconds or
// microseconds, and std::string_view. A filter notes the type of its keys and opens only as that.
//
// Objects own what they hold, can be moved and not copied. A filter may be asked from several threads at once; samples and
// builders belong to one thread at a time. Questions throw nothing and allocate nothing. What can fail comes twice: `try_x`
// returns a Result, `x` throws an Exception (without exceptions, it ends the program).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "lacuna.h"

namespace lacuna {

// Values side by side that something else owns, as std::span.
template <class T>
class Span {
 public:
  constexpr Span() noexcept = default;
  constexpr Span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <std::size_t N>
  constexpr Span(T (&array)[N]) noexcept : data_(array), size_(N) {}
  // Of anything with data() and size(): vectors, arrays, spans.
  template <class C, class = std::enable_if_t<
                         std::is_convertible_v<decltype(std::data(std::declval<C&>())), T*> &&
                         sizeof(*std::data(std::declval<C&>())) == sizeof(T) &&
                         !std::is_same_v<std::decay_t<C>, Span>>>
  constexpr Span(C&& container) noexcept : data_(std::data(container)), size_(std::size(container)) {}

  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  constexpr T& operator[](std::size_t index) const noexcept { return data_[index]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// Sealed bytes that something else owns: of a std::string or std::string_view, or of a container or Span of bytes.
class Bytes {
 public:
  Bytes(const void* data, std::size_t size) noexcept : data_(static_cast<const std::uint8_t*>(data)), size_(size) {}
  template <class C, class = std::enable_if_t<sizeof(*std::data(std::declval<const C&>())) == 1>>
  Bytes(const C& container) noexcept : Bytes(std::data(container), std::size(container)) {}

  const std::uint8_t* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

// Why a call failed: what to do next, and a sentence.
struct Error {
  LacunaStatus status;
  std::string message;
  // With LACUNA_STATUS_BUDGET_TOO_SMALL the fewest bits per key that work; else 0.
  double smallest_bits_per_key;
};

// An Error that is thrown.
class Exception : public std::runtime_error {
 public:
  explicit Exception(const Error& error)
      : std::runtime_error(error.message), status_(error.status), smallest_(error.smallest_bits_per_key) {}
  LacunaStatus status() const noexcept { return status_; }
  double smallest_bits_per_key() const noexcept { return smallest_; }

 private:
  LacunaStatus status_;
  double smallest_;
};

// A value, or why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : held_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const noexcept { return held_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  // The value; throws an Exception if there is none.
  T& value() & { return *checked(); }
  T value() && { return std::move(*checked()); }
  // Why there is none; only if there is none.
  const Error& error() const noexcept { return *std::get_if<1>(&held_); }

 private:
  T* checked() {
    if (!ok()) {
#if defined(__cpp_exceptions)
      throw Exception(error());
#else
      std::abort();
#endif
    }
    return std::get_if<0>(&held_);
  }

  std::variant<T, Error> held_;
};

// A day, counted from 1970-01-01.
struct Date {
  std::int32_t days;
};

namespace detail {

// Whether a value of this type, as it is passed, ends with the call and its bytes with it.
template <class C>
inline constexpr bool is_temporary_owner =
    !std::is_lvalue_reference_v<C> && !std::is_trivially_destructible_v<std::remove_reference_t<C>>;

inline Error last_error(LacunaStatus status) {
  return Error{status, lacuna_last_error(), lacuna_last_smallest_bits_per_key()};
}

inline LacunaBytes bytes_of(std::string_view key) noexcept {
  return LacunaBytes{reinterpret_cast<const std::uint8_t*>(key.data()), key.size()};
}

// The functions of lacuna.h for the values that C has, with one shape for all.
template <class Raw>
struct Calls;

template <>
struct Calls<std::uint64_t> {
  using Filter = const LacunaFilter*;
  static constexpr auto build = lacuna_build_u64;
  static constexpr auto builder = lacuna_builder_new_u64;
  static constexpr auto add = lacuna_builder_add_u64;
  static constexpr auto add_query = lacuna_sample_add_u64;
  static bool key(Filter f, LacunaKeyType, std::uint64_t key) noexcept { return lacuna_may_contain_key_u64(f, key); }
  static bool range(Filter f, LacunaKeyType, std::uint64_t lo, std::uint64_t hi) noexcept {
    return lacuna_may_contain_u64(f, lo, hi);
  }
  static LacunaStatus many(Filter f, LacunaKeyType, const std::uint64_t* lo, const std::uint64_t* hi, std::size_t count,
                           bool* answers) noexcept {
    return lacuna_may_contain_many_u64(f, lo, hi, count, answers);
  }
  static LacunaStatus count(Filter f, LacunaKeyType, std::uint64_t lo, std::uint64_t hi,
                            LacunaCountBounds* bounds) noexcept {
    return lacuna_count_u64(f, lo, hi, bounds);
  }
  static LacunaStatus seek(Filter f, LacunaKeyType, LacunaDirection direction, std::uint64_t from, std::uint64_t* key,
                           LacunaCandidate* candidate) noexcept {
    return lacuna_seek_u64(f, direction, from, key, candidate);
  }
};

template <>
struct Calls<std::int64_t> {
  using Filter = const LacunaFilter*;
  static constexpr auto build = lacuna_build_i64;
  static constexpr auto builder = lacuna_builder_new_i64;
  static constexpr auto add = lacuna_builder_add_i64;
  static constexpr auto add_query = lacuna_sample_add_i64;
  static constexpr auto key = lacuna_may_contain_key_i64;
  static constexpr auto range = lacuna_may_contain_i64;
  static constexpr auto many = lacuna_may_contain_many_i64;
  static constexpr auto count = lacuna_count_i64;
  static constexpr auto seek = lacuna_seek_i64;
};

template <>
struct Calls<double> {
  using Filter = const LacunaFilter*;
  static constexpr auto build = lacuna_build_f64;
  static constexpr auto builder = lacuna_builder_new_f64;
  static constexpr auto add = lacuna_builder_add_f64;
  static constexpr auto add_query = lacuna_sample_add_f64;
  static bool key(Filter f, LacunaKeyType, double key) noexcept { return lacuna_may_contain_key_f64(f, key); }
  static bool range(Filter f, LacunaKeyType, double lo, double hi) noexcept {
    return lacuna_may_contain_f64(f, lo, hi);
  }
  static LacunaStatus many(Filter f, LacunaKeyType, const double* lo, const double* hi, std::size_t count,
                           bool* answers) noexcept {
    return lacuna_may_contain_many_f64(f, lo, hi, count, answers);
  }
  static LacunaStatus count(Filter f, LacunaKeyType, double lo, double hi, LacunaCountBounds* bounds) noexcept {
    return lacuna_count_f64(f, lo, hi, bounds);
  }
  static LacunaStatus seek(Filter f, LacunaKeyType, LacunaDirection direction, double from, double* key,
                           LacunaCandidate* candidate) noexcept {
    return lacuna_seek_f64(f, direction, from, key, candidate);
  }
};

template <>
struct Calls<LacunaBytes> {
  using Filter = const LacunaFilter*;
  static constexpr auto build = lacuna_build_bytes;
  static constexpr auto builder = lacuna_builder_new_bytes;
  static LacunaStatus add(LacunaBuilder* to, LacunaBytes key) noexcept {
    return lacuna_builder_add_bytes(to, key.data, key.size);
  }
  static LacunaStatus add_query(LacunaSample* sample, LacunaBytes lo, LacunaBytes hi) noexcept {
    return lacuna_sample_add_bytes(sample, lo.data, lo.size, hi.data, hi.size);
  }
  static bool key(Filter f, LacunaKeyType, LacunaBytes key) noexcept {
    return lacuna_may_contain_key_bytes(f, key.data, key.size);
  }
  static bool range(Filter f, LacunaKeyType, LacunaBytes lo, LacunaBytes hi) noexcept {
    return lacuna_may_contain_bytes(f, lo.data, lo.size, hi.data, hi.size);
  }
  static LacunaStatus many(Filter f, LacunaKeyType, const LacunaBytes* lo, const LacunaBytes* hi, std::size_t count,
                           bool* answers) noexcept {
    return lacuna_may_contain_many_bytes(f, lo, hi, count, answers);
  }
  static LacunaStatus count(Filter f, LacunaKeyType, LacunaBytes lo, LacunaBytes hi,
                            LacunaCountBounds* bounds) noexcept {
    return lacuna_count_bytes(f, lo.data, lo.size, hi.data, hi.size, bounds);
  }
};

}  // namespace detail

// How a type of keys is handed to C: its type in a filter, what C has for it, and both ways between them.
template <class Key>
struct KeyTraits;

template <>
struct KeyTraits<std::uint64_t> {
  using Raw = std::uint64_t;
  static constexpr LacunaKeyType type = LACUNA_KEY_TYPE_U64;
  static constexpr Raw raw(std::uint64_t key) noexcept { return key; }
  static constexpr std::uint64_t key(Raw raw) noexcept { return raw; }
};

template <>
struct KeyTraits<std::int64_t> {
  using Raw = std::int64_t;
  static constexpr LacunaKeyType type = LACUNA_KEY_TYPE_I64;
  static constexpr Raw raw(std::int64_t key) noexcept { return key; }
  static constexpr std::int64_t key(Raw raw) noexcept { return raw; }
};

template <>
struct KeyTraits<double> {
  using Raw = double;
  static constexpr LacunaKeyType type = LACUNA_KEY_TYPE_F64;
  static constexpr Raw raw(double key) noexcept { return key; }
  static constexpr double key(Raw raw) noexcept { return raw; }
};

template <>
struct KeyTraits<Date> {
  using Raw = std::int64_t;
  static constexpr LacunaKeyType type = LACUNA_KEY_TYPE_DATE;
  static constexpr Raw raw(Date key) noexcept { return key.days; }
  // A day beyond those that there are is as good a bound as the last of them.
  static constexpr Date key(Raw raw) noexcept {
    return Date{raw < INT32_MIN ? INT32_MIN : raw > INT32_MAX ? INT32_MAX : static_cast<std::int32_t>(raw)};
  }
};

template <class Duration>
struct KeyTraits<std::chrono::time_point<std::chrono::system_clock, Duration>> {
  static_assert(std::is_same_v<typename Duration::period, std::ratio<1>> ||
                    std::is_same_v<typename Duration::period, std::milli> ||
                    std::is_same_v<typename Duration::period, std::micro>,
                "moments are in seconds, milliseconds or microseconds: cast them with std::chrono::time_point_cast");
  using Moment = std::chrono::time_point<std::chrono::system_clock, Duration>;
  using Raw = std::int64_t;
  static constexpr LacunaKeyType type =
      std::is_same_v<typename Duration::period, std::ratio<1>>   ? LACUNA_KEY_TYPE_TIMESTAMP_SECONDS
      : std::is_same_v<typename Duration::period, std::milli> ? LACUNA_KEY_TYPE_TIMESTAMP_MILLISECONDS
                                                               : LACUNA_KEY_TYPE_TIMESTAMP_MICROSECONDS;
  static constexpr Raw raw(Moment key) noexcept { return key.time_since_epoch().count(); }
  static constexpr Moment key(Raw raw) noexcept { return Moment(Duration(raw)); }
};

template <>
struct KeyTraits<std::string_view> {
  using Raw = LacunaBytes;
  static constexpr LacunaKeyType type = LACUNA_KEY_TYPE_TEXT;
  static Raw raw(std::string_view key) noexcept { return detail::bytes_of(key); }
};

// Recent queries that found nothing, to design a filter for.
template <class Key>
class Sample {
 public:
  Sample() noexcept : sample_(lacuna_sample_new()) {}

  // Adds the query for keys from `lo` to `hi`, both included. Throws if it runs backwards.
  void add(Key lo, Key hi) { try_add(lo, hi).value(); }
  Result<std::monostate> try_add(Key lo, Key hi) {
    using Traits = KeyTraits<Key>;
    auto status =
        detail::Calls<typename Traits::Raw>::add_query(sample_.get(), Traits::raw(lo), Traits::raw(hi));
    if (status != LACUNA_STATUS_OK) return detail::last_error(status);
    return std::monostate{};
  }

  const LacunaSample* get() const noexcept { return sample_.get(); }

 private:
  struct Free {
    void operator()(LacunaSample* sample) const noexcept { lacuna_sample_free(sample); }
  };
  std::unique_ptr<LacunaSample, Free> sample_;
};

// The secret in 32 hexadecimal digits, such as the file for `lacuna build --secret-file` holds; see LacunaSecret.
inline Result<LacunaSecret> try_read_secret(std::string_view text) {
  LacunaSecret secret;
  auto status = lacuna_secret_read(text.data(), text.size(), &secret);
  if (status != LACUNA_STATUS_OK) return detail::last_error(status);
  return secret;
}
inline LacunaSecret read_secret(std::string_view text) { return try_read_secret(text).value(); }

// What a filter is to be, besides its keys; LacunaPlan has what the members mean.
struct Plan {
  std::string spec;
  double bits_per_key = 0;
  double rate = 0;
  std::uint64_t max_range_len = 0;
  std::uint64_t seed = 0;
  // Of byte strings, such as LACUNA_KEY_TYPE_TEXT. Other keys have the type that they have in C++.
  LacunaKeyType key_type = LACUNA_KEY_TYPE_UNKNOWN;
  // Must live until the filter is built, or its builder made.
  const LacunaSample* sample = nullptr;
  std::optional<LacunaSecret> secret;
  std::uint32_t threads = 1;

  // So many bits for each distinct key.
  static Plan bits(double bits_per_key) {
    Plan plan;
    plan.bits_per_key = bits_per_key;
    return plan;
  }
  // As many bits as "grafite" needs for this rate over ranges of at most `max_range_len` keys.
  static Plan for_rate(double rate, std::uint64_t max_range_len) {
    Plan plan;
    plan.rate = rate;
    plan.max_range_len = max_range_len;
    return plan;
  }

  // Setters that can be chained.
  Plan with_spec(std::string value) && {
    spec = std::move(value);
    return std::move(*this);
  }
  Plan with_seed(std::uint64_t value) && {
    seed = value;
    return std::move(*this);
  }
  Plan with_key_type(LacunaKeyType value) && {
    key_type = value;
    return std::move(*this);
  }
  template <class Key>
  Plan with_sample(const Sample<Key>& value) && {
    sample = value.get();
    return std::move(*this);
  }
  // A sample is read when a filter is built, and would have ended by then.
  template <class Key>
  Plan with_sample(Sample<Key>&& value) && = delete;

  Plan with_secret(const LacunaSecret& value) && {
    secret = value;
    return std::move(*this);
  }

  Plan with_threads(std::uint32_t value) && {
    threads = value;
    return std::move(*this);
  }

  // As C has it, valid as long as this plan.
  template <class Key>
  LacunaPlan raw() const noexcept {
    constexpr bool is_string = std::is_same_v<Key, std::string_view>;
    LacunaPlan plan{};
    plan.spec = spec.empty() ? nullptr : spec.c_str();
    plan.bits_per_key = bits_per_key;
    plan.rate = rate;
    plan.max_range_len = max_range_len;
    plan.seed = seed;
    plan.key_type = is_string || key_type != LACUNA_KEY_TYPE_UNKNOWN ? key_type : KeyTraits<Key>::type;
    plan.sample = sample;
    plan.secret = secret ? &*secret : nullptr;
    plan.threads = threads;
    return plan;
  }
};

// The next key that a filter may hold. `Key` is std::string for byte strings.
template <class Key>
struct Candidate {
  Key key;
  // Whether there is a candidate; without one, no key lies in this direction.
  bool found;
  // Whether a key surely lies at or beyond it.
  bool is_certain;
  // Whether the candidate itself is known to be no key.
  bool is_excluded;
};

// A range filter: whether keys may be there. "No" is always true.
template <class Key>
class Filter {
  using Traits = KeyTraits<Key>;
  using Raw = typename Traits::Raw;
  using Calls = detail::Calls<Raw>;
  static constexpr bool is_string = std::is_same_v<Key, std::string_view>;
  // Whether the strings of a container stay where they are while it is read: they are references, of an iterator that may
  // be read twice. Views make their strings at each step, and iterators of streams hold one alone.
  template <class Iterator, class = void>
  struct StaysFor : std::false_type {};
  template <class Iterator>
  struct StaysFor<Iterator, std::void_t<typename std::iterator_traits<Iterator>::iterator_category>>
      : std::bool_constant<std::is_lvalue_reference_v<decltype(*std::declval<Iterator&>())> &&
                           std::is_base_of_v<std::forward_iterator_tag,
                                             typename std::iterator_traits<Iterator>::iterator_category>> {};
  template <class Keys>
  static constexpr bool strings_stay = StaysFor<std::decay_t<decltype(std::begin(std::declval<const Keys&>()))>>::value;

 public:
  // Builds a filter of keys in any order: of a vector or Span of Key without a copy if they are ascending, of any other
  // container whose elements become Key without narrowing by way of an array.
  template <class Keys>
  static Result<Filter> try_build(const Keys& keys, const Plan& plan) {
    auto raw = plan.raw<Key>();
    LacunaFilter* filter = nullptr;
    LacunaStatus status;
    if constexpr (std::is_convertible_v<const Keys&, Span<const Raw>>) {
      Span<const Raw> values(keys);
      status = Calls::build(values.data(), values.size(), &raw, &filter);
    } else if constexpr (is_string && !strings_stay<Keys>) {
      // A string may be gone after its step, so all are kept until the filter is built.
      std::vector<std::string> kept;
      for (const auto& key : keys) kept.emplace_back(Key{key});
      std::vector<Raw> values;
      for (const auto& key : kept) values.push_back(Traits::raw(key));
      status = Calls::build(values.data(), values.size(), &raw, &filter);
    } else {
      std::vector<Raw> values;
      for (const auto& key : keys) values.push_back(Traits::raw(Key{key}));
      status = Calls::build(values.data(), values.size(), &raw, &filter);
    }
    return taken(status, filter);
  }
  template <class Keys>
  static Filter build(const Keys& keys, const Plan& plan) {
    return try_build(keys, plan).value();
  }

  // Opens a copy of a sealed filter and checks all of it. Fails if its keys are of another type: read the data.
  static Result<Filter> try_open(Bytes bytes) {
    LacunaFilter* filter = nullptr;
    auto status = lacuna_open(bytes.data(), bytes.size(), &filter);
    return checked(taken(status, filter));
  }
  static Filter open(Bytes bytes) { return try_open(bytes).value(); }

  // Opens a filter where its bytes are, which must stay there unchanged as long as the filter lives.
  static Result<Filter> try_open_borrowed(Bytes bytes, LacunaVerify verify = LACUNA_VERIFY_ALL) {
    LacunaFilter* filter = nullptr;
    auto status = lacuna_open_borrowed(bytes.data(), bytes.size(), verify, &filter);
    return checked(taken(status, filter));
  }
  static Filter open_borrowed(Bytes bytes, LacunaVerify verify = LACUNA_VERIFY_ALL) {
    return try_open_borrowed(bytes, verify).value();
  }
  // Bytes that end with the call cannot be borrowed: keep them, or let `open` copy them.
  template <class C, class = std::enable_if_t<detail::is_temporary_owner<C>>>
  static Result<Filter> try_open_borrowed(C&& bytes, LacunaVerify verify = LACUNA_VERIFY_ALL) = delete;
  template <class C, class = std::enable_if_t<detail::is_temporary_owner<C>>>
  static Filter open_borrowed(C&& bytes, LacunaVerify verify = LACUNA_VERIFY_ALL) = delete;

  // Takes over a filter of C. Its keys must be of this type, or every answer is "maybe".
  explicit Filter(LacunaFilter* filter) noexcept : filter_(filter) {}

  // Whether `key` may be there; false proves that it is not. A filter that was moved from says true.
  bool may_contain(Key key) const noexcept { return Calls::key(get(), Traits::type, Traits::raw(key)); }

  // Whether a key from `lo` to `hi`, both included, may be there; false proves that none is.
  bool may_contain_range(Key lo, Key hi) const noexcept {
    return Calls::range(get(), Traits::type, Traits::raw(lo), Traits::raw(hi));
  }

  // Whether a key between bounds of any kind may be there; of byte strings only.
  template <class K = Key, class = std::enable_if_t<std::is_same_v<K, std::string_view>>>
  bool may_contain_between(LacunaBound lo_bound, std::string_view lo, LacunaBound hi_bound,
                           std::string_view hi) const noexcept {
    auto from = detail::bytes_of(lo), to = detail::bytes_of(hi);
    return lacuna_may_contain_between_bytes(get(), lo_bound, from.data, from.size, hi_bound, to.data, to.size);
  }

  // Whether a key that starts with `prefix` may be there; of byte strings only.
  template <class K = Key, class = std::enable_if_t<std::is_same_v<K, std::string_view>>>
  bool may_contain_prefix(std::string_view prefix) const noexcept {
    auto bytes = detail::bytes_of(prefix);
    return lacuna_may_contain_prefix(get(), bytes.data, bytes.size);
  }

  // Answers many ranges at once, in a quarter to a third of the time: `answers[i]` belongs to `lo[i]` and `hi[i]`. Answers
  // without a range are true. Returns false if the filter does not take such questions; all answers are then true.
  bool may_contain_ranges(Span<const Key> lo, Span<const Key> hi, Span<bool> answers) const noexcept {
    auto count = lo.size() < hi.size() ? lo.size() : hi.size();
    if (count > answers.size()) count = answers.size();
    for (auto place = count; place < answers.size(); ++place) answers[place] = true;
    if constexpr (std::is_same_v<Key, Raw>) {
      return Calls::many(get(), Traits::type, lo.data(), hi.data(), count, answers.data()) == LACUNA_STATUS_OK;
    } else {
      return in_chunks(lo, hi, answers, count);
    }
  }

  // How many keys from `lo` to `hi`, both included, there are, from below and from above. Only filters of "surf" count.
  Result<LacunaCountBounds> try_count(Key lo, Key hi) const {
    LacunaCountBounds bounds{};
    auto status = Calls::count(get(), Traits::type, Traits::raw(lo), Traits::raw(hi), &bounds);
    if (status != LACUNA_STATUS_OK) return detail::last_error(status);
    return bounds;
  }
  LacunaCountBounds count(Key lo, Key hi) const { return try_count(lo, hi).value(); }

  // The next key that may be there, at `from` or beyond it. Only filters of "surf" name it.
  using Owned = std::conditional_t<is_string, std::string, Key>;
  Result<Candidate<Owned>> try_seek(LacunaDirection direction, Key from) const {
    LacunaCandidate found{};
    Owned key{};
    auto status = LACUNA_STATUS_OK;
    if constexpr (is_string) {
      status = seek_string(direction, from, &key, &found);
    } else {
      Raw raw{};
      status = Calls::seek(get(), Traits::type, direction, Traits::raw(from), &raw, &found);
      key = Traits::key(raw);
    }
    if (status != LACUNA_STATUS_OK) return detail::last_error(status);
    return Candidate<Owned>{std::move(key), found.found, found.is_certain, found.is_excluded};
  }
  Candidate<Owned> seek(LacunaDirection direction, Key from) const { return try_seek(direction, from).value(); }

  // The sealed bytes, to be written to a file or sent; valid as long as the filter.
  Span<const std::uint8_t> bytes() const noexcept {
    auto bytes = lacuna_bytes(get());
    return {bytes.data, bytes.size};
  }

  // What the envelope says. All zero for a filter that was moved from.
  LacunaInfo info() const noexcept {
    LacunaInfo info{};
    lacuna_describe(get(), &info);
    return info;
  }

  // The largest share of independent ranges of `range_len` keys without a key that is answered "maybe"; 1 if none is promised.
  double rate_bound(std::uint64_t range_len) const noexcept { return lacuna_rate_bound(get(), range_len); }

  // What the filter is and why, in a few lines for people; valid as long as the filter.
  std::string_view explain() const noexcept { return lacuna_explain(get()); }

  const LacunaFilter* get() const noexcept { return filter_.get(); }

 private:
  template <class>
  friend class Builder;

  static Result<Filter> taken(LacunaStatus status, LacunaFilter* filter) {
    if (status != LACUNA_STATUS_OK) return detail::last_error(status);
    return Filter(filter);
  }

  static Result<Filter> checked(Result<Filter> opened) {
    if (!opened) return opened;
    auto status = lacuna_check_key_type(opened.value().get(), Traits::type);
    if (status != LACUNA_STATUS_OK) return detail::last_error(status);
    return opened;
  }

  bool in_chunks(Span<const Key> lo, Span<const Key> hi, Span<bool> answers, std::size_t count) const noexcept {
    constexpr std::size_t at_once = 256;
    Raw los[at_once], his[at_once];
    bool all = true;
    for (std::size_t start = 0; start < count; start += at_once) {
      auto size = count - start < at_once ? count - start : at_once;
      for (std::size_t place = 0; place < size; ++place) {
        los[place] = Traits::raw(lo[start + place]);
        his[place] = Traits::raw(hi[start + place]);
      }
      all &= Calls::many(get(), Traits::type, los, his, size, answers.data() + start) == LACUNA_STATUS_OK;
    }
    return all;
  }

  LacunaStatus seek_string(LacunaDirection direction, std::string_view from, std::string* key,
                           LacunaCandidate* found) const {
    auto start = detail::bytes_of(from);
    std::size_t size = 0;
    key->resize(64);
    for (;;) {
      auto status = lacuna_seek_bytes(get(), direction, start.data, start.size,
                                      reinterpret_cast<std::uint8_t*>(key->data()), key->size(), &size, found);
      bool fits = size <= key->size();
      key->resize(size);
      if (fits) return status;
    }
  }

  struct Close {
    void operator()(LacunaFilter* filter) const noexcept { lacuna_close(filter); }
  };
  std::unique_ptr<LacunaFilter, Close> filter_;
};

// A filter of keys that come one by one, in any order. One that is not finished is abandoned.
template <class Key>
class Builder {
  using Traits = KeyTraits<Key>;
  using Calls = detail::Calls<typename Traits::Raw>;

 public:
  static Result<Builder> try_make(const Plan& plan) {
    auto raw = plan.raw<Key>();
    LacunaBuilder* builder = nullptr;
    auto status = Calls::builder(&raw, &builder);
    if (status != LACUNA_STATUS_OK) return detail::last_error(status);
    return Builder(builder);
  }
  explicit Builder(const Plan& plan) : Builder(try_make(plan).value()) {}

  Result<std::monostate> try_add(Key key) {
    auto status = Calls::add(builder_.get(), Traits::raw(key));
    if (status != LACUNA_STATUS_OK) return detail::last_error(status);
    return std::monostate{};
  }
  void add(Key key) { try_add(key).value(); }

  // Builds the filter; the builder then takes no more.
  Result<Filter<Key>> try_finish() {
    LacunaFilter* filter = nullptr;
    auto status = lacuna_builder_finish(builder_.get(), &filter);
    return Filter<Key>::taken(status, filter);
  }
  Filter<Key> finish() { return try_finish().value(); }

 private:
  explicit Builder(LacunaBuilder* builder) noexcept : builder_(builder) {}

  struct Free {
    void operator()(LacunaBuilder* builder) const noexcept { lacuna_builder_free(builder); }
  };
  std::unique_ptr<LacunaBuilder, Free> builder_;
};

// The version of the library, such as "0.1.0"; LACUNA_VERSION is that of the header.
inline std::string_view version() noexcept { return lacuna_version(); }

}  // namespace lacuna
