// What one token of a model keeps in the key/value cache.
#pragma once

#include <cstdint>
#include <vector>

namespace platen {

// Keys and values of one layer: `heads` KV heads, each with one key and one value a token. Widths
// are in values, not bytes; a plane may have no values (value_width 0) or no keys.
struct CachePlane {
  int heads = 0;
  int key_width = 0;
  int value_width = 0;

  bool operator==(const CachePlane&) const = default;
};

// All planes a family writes, in the order of its own numbering; usually one per layer, the draft
// layers' last.
struct CacheShape {
  std::vector<CachePlane> planes;

  int64_t values_per_token() const {
    int64_t values = 0;
    for (const CachePlane& plane : planes) {
      values += int64_t{plane.heads} * (plane.key_width + plane.value_width);
    }
    return values;
  }
};

}  // namespace platen
