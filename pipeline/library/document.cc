#include "pipeline/library/document_builder.h"
#include "stages/formats/document_writer.h"

namespace platen {
namespace {

Quad ToQuad(const std::array<ResultPoint, 4>& quad) {
  return {{{quad[0].x, quad[0].y},
           {quad[1].x, quad[1].y},
           {quad[2].x, quad[2].y},
           {quad[3].x, quad[3].y}}};
}

template <typename To>
void SetConfidence(const Confidence& from, To& to) {
  to.tokens = from.tokens;
  to.mean_confidence = from.mean;
  to.min_confidence = from.min;
}

Line ToLine(const LineResult& from) {
  Line line;
  line.text = from.text;
  line.quad = ToQuad(from.quad);
  line.baseline = {
      {{from.baseline[0].x, from.baseline[0].y}, {from.baseline[1].x, from.baseline[1].y}}};
  SetConfidence(from.confidence, line);
  for (const WordResult& word : from.words) {
    const auto begin = static_cast<size_t>(word.begin);
    line.words.push_back({from.text.substr(begin, static_cast<size_t>(word.end) - begin),
                          ToQuad(word.quad), word.confidence});
  }
  line.error = from.error;
  return line;
}

Region ToRegion(const RegionResult& from) {
  Region region;
  region.kind = RegionKindName(from.kind);
  region.syntax = SyntaxName(from.syntax);
  region.quad = ToQuad(from.quad);
  region.score = from.score;
  region.text = from.text;
  SetConfidence(from.confidence, region);
  for (const LineResult& line : from.lines) region.lines.push_back(ToLine(line));
  region.error = from.error;
  return region;
}

const char* FormatName(Format format) {
  switch (format) {
    case Format::kText:
      return "txt";
    case Format::kMarkdown:
      return "md";
    case Format::kJson:
      return "json";
  }
  return "";
}

}  // namespace

Page ToPage(const PageResult& from) {
  Page page;
  page.number = from.page;
  page.width = from.width;
  page.height = from.height;
  page.dpi_x = from.dpi_x;
  page.dpi_y = from.dpi_y;
  page.rotation = from.rotation;
  page.skew_degrees = from.skew_degrees;
  for (const RegionResult& region : from.regions) page.regions.push_back(ToRegion(region));
  page.warnings = from.warnings;
  page.from_text_layer = HasTextLayer(from);
  for (const Doubt& doubt : from.doubts) page.doubts.push_back({DoubtCode(doubt.kind), doubt.text});
  page.error = from.error;
  return page;
}

struct Document::Data {
  DocumentInfo info;
  std::vector<PageResult> results;
  std::vector<Page> pages;  // of the results
};

Document DocumentBuilder::Build(DocumentInfo info, std::vector<PageResult> results) {
  auto data = std::make_shared<Document::Data>();
  data->info = std::move(info);
  data->results = std::move(results);
  for (const PageResult& result : data->results) data->pages.push_back(ToPage(result));
  Document document;
  document.data_ = std::move(data);
  return document;
}

Document::Document() : data_(std::make_shared<Data>()) {}

const std::vector<Page>& Document::pages() const { return data_->pages; }

std::string Document::As(Format format) const {
  const std::unique_ptr<DocumentWriter> writer = MakeDocumentWriter(FormatName(format));
  std::string out = writer->Begin(data_->info);
  for (const PageResult& page : data_->results) out += writer->Page(page);
  return out + writer->End();
}

}  // namespace platen
