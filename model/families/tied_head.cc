#include "model/families/tied_head.h"

namespace platen {

std::string SettleTiedHead(const Checkpoint& checkpoint, const std::string& embedding, bool& tied) {
  const StoredTensor* head = checkpoint.Find("lm_head.weight");
  const StoredTensor* shared = checkpoint.Find(embedding);
  if (!tied || head == nullptr || shared == nullptr) return "";
  const bool same = SameContent(*head, *shared);
  ReleasePagesOf(*head);
  ReleasePagesOf(*shared);
  if (same) return "";
  tied = false;
  return "config.json says tie_word_embeddings, but the checkpoint has an lm_head.weight that "
         "differs from the embedding; the stored one is used";
}

}  // namespace platen
