#include "model/families/mtp_input.h"

#include <cassert>

#include "model/ops/norm.h"

namespace platen {

void ApplyMtpInput(const KernelTable& kernels, const MtpInputWeights& w, ConstMatView embeddings,
                   ConstMatView hidden, Mat& joined, MatView out, LinearWorkspace& ws) {
  const int64_t rows = out.rows, width = out.cols;
  assert(embeddings.rows == rows && hidden.rows == rows);
  const MatView both = joined.Shaped(rows, 2 * width);
  RmsNormRows(kernels, embeddings, w.enorm, w.eps, both.Columns(0, width));
  RmsNormRows(kernels, hidden, w.hnorm, w.eps, both.Columns(width, width));
  w.projection.Apply(kernels, both, out, ws);
}

}  // namespace platen
