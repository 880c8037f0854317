// Which documents one of several runs into the same folder reads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/folder.h"
#include "stages/inputs/discover.h"

namespace platen {

// Part `index` of `count`: the documents for which XXH64 (seed 0) of the path of their outputs, as
// InputDocument::output, leaves the remainder index - 1 when it is divided by `count`. Every
// document belongs to exactly one, whatever the other inputs of the run are.
struct Shard {
  static constexpr int kMaxCount = 100'000;

  int index = 0;  // from 1
  int count = 0;  // 0: no shard; all documents

  bool is_all() const { return count == 0; }
  bool Holds(const std::string& output) const;
  std::string Name() const;  // "2-of-4", the name of its folder
  std::string Text() const;  // "shard 2 of 4"

  bool operator==(const Shard&) const = default;
};

// The only shard of that number that holds the output.
Shard ShardOf(const std::string& output, int count);

// Nothing unless it is a name as Shard::Name gives.
std::optional<Shard> ShardFromName(std::string_view name);

// Below OUT/.platen: the folder of the shard's own state.
std::string ShardPath(const Shard& shard);  // "shards/2-of-4"
std::string ShardsFolder();                 // "shards"

// The shards that have a folder below `common`, OUT/.platen, by count and index; other names say
// nothing. Throws Error(kEnvironment), also if "shards" is no folder.
std::vector<Shard> ShardsIn(const Folder& common);

}  // namespace platen
