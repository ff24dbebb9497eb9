// Every template of lacuna.hpp, to be compiled in each standard with and without exceptions.
#include <set>

#include "lacuna.hpp"

template class lacuna::Filter<std::uint64_t>;
template class lacuna::Filter<std::int64_t>;
template class lacuna::Filter<double>;
template class lacuna::Filter<lacuna::Date>;
template class lacuna::Filter<std::chrono::time_point<std::chrono::system_clock, std::chrono::seconds>>;
template class lacuna::Filter<std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds>>;
template class lacuna::Filter<std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>>;
template class lacuna::Filter<std::string_view>;
template class lacuna::Builder<std::uint64_t>;
template class lacuna::Builder<lacuna::Date>;
template class lacuna::Builder<std::string_view>;
template class lacuna::Sample<double>;
template class lacuna::Sample<std::string_view>;

// Copies would close a filter twice.
static_assert(!std::is_copy_constructible_v<lacuna::Filter<double>> && !std::is_copy_assignable_v<lacuna::Filter<double>>);
static_assert(std::is_nothrow_move_constructible_v<lacuna::Filter<double>>);
static_assert(!std::is_copy_constructible_v<lacuna::Builder<double>> && std::is_move_assignable_v<lacuna::Builder<double>>);
static_assert(!std::is_copy_constructible_v<lacuna::Sample<double>>);
// What ends with the call is not borrowed.
template <class C, class = void>
struct CanBorrow : std::false_type {};
template <class C>
struct CanBorrow<C, std::void_t<decltype(lacuna::Filter<double>::open_borrowed(std::declval<C>()))>> : std::true_type {};
static_assert(!CanBorrow<std::string>::value && !CanBorrow<std::vector<char>>::value);
static_assert(CanBorrow<std::string&>::value && CanBorrow<const std::string&>::value);
static_assert(CanBorrow<std::string_view>::value && CanBorrow<lacuna::Bytes>::value);
// Questions throw nothing.
static_assert(noexcept(std::declval<lacuna::Filter<std::string_view>>().may_contain_prefix("a")));
static_assert(noexcept(std::declval<lacuna::Filter<double>>().may_contain_ranges({}, {}, {})));

int main() {
  auto numbers = lacuna::Filter<std::uint64_t>::build(std::set<unsigned>{3, 50, 700}, lacuna::Plan::bits(14));
  auto words = lacuna::Filter<std::string_view>::build(std::set<std::string>{"ant", "bee"}, lacuna::Plan::for_rate(0.01, 4));
  const char* both[] = {"ant", "bee"};
  auto same = lacuna::Filter<std::string_view>::build(both, lacuna::Plan::for_rate(0.01, 4));
  bool holds = numbers.may_contain(50) && !numbers.may_contain_range(701, 9000) && words.may_contain_prefix("an") &&
               same.may_contain("bee") && !lacuna::version().empty();
  return holds ? 0 : 1;
}
