// The input rows of a request, as every family makes them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/support/token_id.h"

namespace platen {

// Patches of one image after resizing: rows x columns of patches (both even).
struct PatchGrid {
  int rows = 0;
  int cols = 0;
  int num_patches() const { return rows * cols; }
  int num_image_tokens() const { return rows * cols / 4; }  // 2x2 patches make one token
  bool operator==(const PatchGrid&) const = default;
};

// One turn of a conversation.
struct ChatTurn {
  std::string role;  // "system", "user", "assistant"
  std::string text;  // control tokens in it become control tokens
};

// The input of one request. L = input_ids.size().
struct PromptInput {
  std::string text;                               // rendered, one placeholder per image
  std::vector<TokenId> input_ids;                 // [L]; each image expanded to its tokens
  std::array<std::vector<int32_t>, 3> positions;  // T, H, W rope positions, [L] each
  int32_t rope_delta = 0;           // rope position of row i >= L is i + rope_delta on all axes
  std::vector<int32_t> image_rows;  // ascending; their embeddings come from the images, in order
};

}  // namespace platen
