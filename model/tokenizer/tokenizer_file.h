// tokenizer.json read into the parts of a tokenizer. Private to this folder's sources.
#pragma once

#include <string>
#include <vector>

#include "model/tokenizer/added_tokens.h"
#include "model/tokenizer/bpe.h"
#include "model/tokenizer/split_pattern.h"

namespace platen {

struct TokenizerFile {
  // What an id decodes to. Ids without a string have empty bytes.
  struct Entry {
    std::string bytes;
    bool added = false;
    bool special = false;  // left out when decoding without special tokens
  };

  BpeVocabulary vocabulary;
  AddedTokens added;
  SplitPattern split;
  std::vector<Entry> entries;  // by id, up to the largest one
  size_t num_base_tokens = 0;
};

// Throws Error(kModel) naming file and field. Accepts what the released tokenizers use: BPE without
// dropout, prefixes or byte fallback; no normaliser; one isolating split by a regular expression
// followed by byte-level; plain added tokens. Anything else would be encoded differently, so it is
// refused.
TokenizerFile ReadTokenizerFile(const std::string& path);

}  // namespace platen
