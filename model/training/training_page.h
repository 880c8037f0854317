// A recorded page: what the target read and decided, and what it held of every token.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/support/token_id.h"
#include "model/training/matrix.h"

namespace platen {

// Tokens t_0 .. t_{L-1}: P of the prompt, then the target's own answer, stop token included.
struct TrainingPage {
  std::string document;  // pages of one document are never split between training and evaluation
  std::string place;     // of the region in it: "3/17", the page and the crop of it
  std::vector<TokenId> ids;                       // [L]
  int64_t prompt = 0;                             // P >= 1
  std::array<std::vector<int32_t>, 3> positions;  // [L] each: T, H, W rope position of a token
  Matrix<float> hidden;                           // [L - 1, D], the target's, final norm passed

  // The target's largest logits for each token of the answer, largest first; empty: not recorded.
  int64_t teacher_width = 0;
  std::vector<TokenId> teacher_ids;   // [L - P, teacher_width]
  std::vector<float> teacher_logits;  // likewise

  std::vector<uint8_t> label_mask;  // [L], 0: the token is no label; empty: all are

  // The whole page again, where only document, place, ids, prompt and mask are held here; empty:
  // everything is. Throws Error if it can no longer be read.
  std::function<TrainingPage()> read;

  int64_t length() const { return static_cast<int64_t>(ids.size()); }
};

// A page with all its arrays, for as long as this lives: as it is, or read anew.
class WholePage {
 public:
  explicit WholePage(const TrainingPage& page)
      : read_(page.read ? page.read() : TrainingPage()), page_(page.read ? read_ : page) {}
  WholePage(const WholePage&) = delete;
  WholePage& operator=(const WholePage&) = delete;

  const TrainingPage& operator*() const { return page_; }
  const TrainingPage* operator->() const { return &page_; }

 private:
  const TrainingPage read_;
  const TrainingPage& page_;
};

}  // namespace platen
