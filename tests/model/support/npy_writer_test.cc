#include "model/support/npy_writer.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "model/support/error.h"
#include "tests/support/temp_folder.h"

namespace platen::testing {
namespace {

TEST(NpyStream, WritesInPiecesWhatWriteNpyWritesAtOnce) {
  const TempFolder folder;
  const std::vector<float> values = {1, -2, 3.5F, 0, 7, 1e30F};
  WriteNpy(folder / "whole.npy", std::span<const float>(values), {3, 2});
  NpyStream stream(folder / "pieces.npy", {3, 2});
  stream.Append(std::span(values).first(4));
  EXPECT_THROW(stream.Close(), std::logic_error);
  stream.Append(std::span(values).subspan(4));
  stream.Close();
  EXPECT_EQ(ReadFile(folder / "pieces.npy"), ReadFile(folder / "whole.npy"));
  EXPECT_THROW(NpyStream(folder / "none/x.npy", {1}), Error);
}

}  // namespace
}  // namespace platen::testing
