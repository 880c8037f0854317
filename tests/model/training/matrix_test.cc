// What a matrix holds after it was made, made larger or smaller, and copied.
#include "model/training/matrix.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace platen::testing {
namespace {

bool AllAre(float value, const Matrix<float>& matrix) {
  return std::all_of(matrix.values().begin(), matrix.values().end(),
                     [&](float v) { return v == value; });
}

// Memory that comes back from the heap is not zero: each matrix here follows one that was filled.
TEST(MatrixTest, IsZeroWhenMadeAndAfterResize) {
  for (const int64_t rows : {1, 7, 300, 2, 1000, 300}) {
    Matrix<float> made(rows, 33);
    EXPECT_EQ(static_cast<int64_t>(made.values().size()), rows * 33);
    EXPECT_TRUE(AllAre(0, made)) << rows;
    std::fill(made.values().begin(), made.values().end(), 5.0F);
  }
  Matrix<float> kept;
  for (const int64_t rows : {300, 10, 1000}) {
    kept.Resize(rows, 33);
    EXPECT_TRUE(AllAre(0, kept)) << rows;
    std::fill(kept.values().begin(), kept.values().end(), 5.0F);
  }
}

TEST(MatrixTest, ReuseTakesTheShapeAndKeepsWhatFits) {
  Matrix<float> matrix(4, 8);
  std::fill(matrix.values().begin(), matrix.values().end(), 2.0F);
  matrix.Reuse(3, 5);
  EXPECT_EQ(matrix.rows(), 3);
  EXPECT_EQ(matrix.cols(), 5);
  EXPECT_EQ(matrix.values().size(), 15U);
  EXPECT_TRUE(AllAre(2, matrix));
}

TEST(MatrixTest, ACopyHasItsOwnValues) {
  Matrix<float> from(40, 50);
  std::fill(from.values().begin(), from.values().end(), 3.0F);
  Matrix<float> copy = from, converted = Converted<float>(from.View());
  Matrix<float> assigned(2, 2);
  assigned = from;
  std::fill(from.values().begin(), from.values().end(), 4.0F);
  for (const Matrix<float>* to : {&copy, &converted, &assigned}) {
    EXPECT_EQ(to->rows(), 40);
    EXPECT_EQ(to->cols(), 50);
    EXPECT_TRUE(AllAre(3, *to));
  }
}

}  // namespace
}  // namespace platen::testing
