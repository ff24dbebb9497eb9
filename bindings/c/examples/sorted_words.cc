// A filter beside a sorted list of words, in C++17: built, written, opened and asked.
//
// Exits with 1 and a line if anything is not as it should be.

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "lacuna.hpp"

namespace {

void check(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::exit(1);
  }
}

std::string user(int number) { return "user/" + std::to_string(100000 + number); }

std::string word(int number) { return user(number * 7) + "/profile"; }

}  // namespace

int main() {
  std::vector<std::string> words;
  for (int number = 0; number < 10000; ++number) words.push_back(word(number));

  // Queries that found nothing yesterday say what the filter has to be good at.
  lacuna::Sample<std::string_view> sample;
  for (int number = 1; number < 1000; ++number) sample.add(user(number * 7 + 2), user(number * 7 + 4));
  auto plan = lacuna::Plan::bits(14).with_spec("auto").with_key_type(LACUNA_KEY_TYPE_TEXT).with_sample(sample);
  auto built = lacuna::Filter<std::string_view>::build(words, plan);
  std::printf("%s", std::string(built.explain()).c_str());

  // The bytes go beside the file; here, a string stands for it.
  std::string file(built.bytes().begin(), built.bytes().end());
  auto opened = lacuna::Filter<std::string_view>::try_open_borrowed(file);
  check(opened.ok(), "the file opens");
  auto filter = std::move(opened).value();

  for (const auto& present : words) check(filter.may_contain(present), "no word is denied");
  check(filter.may_contain_prefix("user/1"), "words start with it");
  check(!filter.may_contain_range("zebra", "zoo"), "no word is there");

  file[100] ^= 1;
  check(!lacuna::Filter<std::string_view>::try_open(file), "a damaged filter does not open: read the words");
  check(!lacuna::Filter<std::uint64_t>::try_open(built.bytes()), "nor does it open over integers");
  return 0;
}
