// The decoder: queries that look at each other and at the page, and boxes that get better from
// layer to layer; in the end what each is, and which comes before which.
//
// Source: transformers models/pp_doclayout_v3, PPDocLayoutV3Decoder and GlobalPointer.
#pragma once

#include "model/families/pp_doclayout/queries.h"

namespace platen::pp_doclayout {

// Q = queries.
struct DecoderMemory {
  Mat logits;        // [Q, labels]
  Mat order_logits;  // [Q, Q]: j comes behind i, i < j; -1e4 elsewhere

  Mat placed, sampling, values, sampled, ffn;
  std::vector<Mat> mlp;
  AttentionMemory attention;
};

// queries.x and queries.boxes are those of the last layer afterwards.
void RunDecoder(const KernelTable& kernels, const Config& config, const DecoderWeights& weights,
                LinearWorkspace& linear, QueryMemory& queries, DecoderMemory& memory,
                const ArrayObserver& observer);

}  // namespace platen::pp_doclayout
