#include "pipeline/shard.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "model/support/error.h"
#include "model/support/hash.h"

namespace platen {
namespace {

constexpr char kShardsName[] = "shards";
constexpr std::string_view kOf = "-of-";

int NumberFrom(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace

bool Shard::Holds(const std::string& output) const {
  return is_all() || ShardOf(output, count) == *this;
}

std::string Shard::Name() const {
  return std::to_string(index) + std::string(kOf) + std::to_string(count);
}

std::string Shard::Text() const {
  return "shard " + std::to_string(index) + " of " + std::to_string(count);
}

Shard ShardOf(const std::string& output, int count) {
  return {static_cast<int>(Xxh64(output) % static_cast<uint64_t>(count)) + 1, count};
}

std::optional<Shard> ShardFromName(std::string_view name) {
  const size_t of = name.find(kOf);
  if (of == name.npos) return std::nullopt;
  const Shard shard = {NumberFrom(name.substr(0, of)), NumberFrom(name.substr(of + kOf.size()))};
  const bool valid = shard.index >= 1 && shard.index <= shard.count &&
                     shard.count <= Shard::kMaxCount && shard.Name() == name;
  return valid ? std::optional(shard) : std::nullopt;
}

std::string ShardsFolder() { return kShardsName; }

std::string ShardPath(const Shard& shard) { return std::string(kShardsName) + "/" + shard.Name(); }

std::vector<Shard> ShardsIn(const Folder& common) {
  std::vector<Shard> shards;
  WithErrorKind(ErrorKind::kEnvironment, [&] {
    if (!common.Look(kShardsName)) return;
    for (const std::string& name : common.Below(kShardsName, Folder::Missing::kFail).Names()) {
      if (const auto shard = ShardFromName(name)) shards.push_back(*shard);
    }
  });
  std::sort(shards.begin(), shards.end(), [](const Shard& a, const Shard& b) {
    return std::tie(a.count, a.index) < std::tie(b.count, b.index);
  });
  return shards;
}

}  // namespace platen
