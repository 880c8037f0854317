// The stages of one page by itself.
#include "pipeline/page_stages.h"

#include <gtest/gtest.h>

#include "tests/support/fake_recognizer.h"

namespace platen::testing {
namespace {

// One page of 4 x 2 pixels, of a fax: 204 dpi along its width, 200 along its height.
class FaxReader : public DocumentReader {
 public:
  DocumentFormat format() const override { return DocumentFormat::kTiff; }
  int num_pages() const override { return 1; }
  ImageSize PageSize(int) const override { return {4, 2}; }
  PageImage ReadPage(int) const override { return {Image(4, 2), 204, 200, ""}; }
};

class PageStagesTest : public ::testing::Test {
 protected:
  PageStagesTest() : recognizer_({}) {
    page_.job.document = std::make_shared<OpenDocument>();
    page_.job.document->reader = std::make_unique<FaxReader>();
    page_.job.page = 1;
  }

  PageResult ReadPage(int rotation) {
    PageTools tools;
    tools.segment = [rotation](Image& page) {
      PageLayout layout;
      layout.rotation = rotation;
      layout.warnings = {"from the layout"};
      page = RotatePage(page, rotation);
      return layout;
    };
    PageStages stages(tools, {}, recognizer_, telemetry_);
    stages.Measure(page_);
    stages.DecodeImage(page_);
    stages.Layout(page_);
    stages.Preprocess(page_);
    stages.Assemble(page_);
    return page_.result;
  }

  FakeRecognizer recognizer_;
  Telemetry telemetry_;
  PageSlot page_;
};

TEST_F(PageStagesTest, TheResolutionTurnsWithThePage) {
  const PageResult upright = ReadPage(0);
  EXPECT_EQ(upright.width, 4);
  EXPECT_EQ(upright.height, 2);
  EXPECT_EQ(upright.dpi_x, 204);
  EXPECT_EQ(upright.dpi_y, 200);
  const PageResult turned = ReadPage(270);
  EXPECT_EQ(turned.width, 2);
  EXPECT_EQ(turned.dpi_x, 200);
  EXPECT_EQ(turned.dpi_y, 204);
  ASSERT_FALSE(turned.warnings.empty());
  EXPECT_EQ(turned.warnings.back(), "from the layout");
}

TEST_F(PageStagesTest, ACancelledDocumentsPagesAreNotRead) {
  page_.job.document->cancelled = true;
  const PageResult page = ReadPage(0);
  EXPECT_EQ(page.error, "cancelled");
  EXPECT_EQ(page.width, 0);
}

}  // namespace
}  // namespace platen::testing
