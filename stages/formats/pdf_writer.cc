#include "stages/formats/pdf_writer.h"

#include "stages/formats/decimal.h"
#include "stages/formats/pdf_image.h"
#include "stages/formats/pdf_text.h"

namespace platen {
namespace {

std::string Reference(int number) { return std::to_string(number) + " 0 R"; }

std::string ShowImage(const PlacedPage& page, const PdfScale& scale) {
  return "q " + Decimal(page.width * scale.x, 4) + " 0 0 " + Decimal(page.height * scale.y, 4) +
         " 0 0 cm /Scan Do Q\n";
}

}  // namespace

std::string PdfWriter::Begin(const DocumentInfo& info) {
  info_ = info;
  objects_.emplace();
  codes_ = CodeTable();
  pages_.clear();
  shared_ = {objects_->Reserve(), objects_->Reserve(), objects_->Reserve()};
  return objects_->Take();
}

int PdfWriter::AddImage(const PageResult& page) {
  const auto encoded = images_.in_file ? images_.in_file(page) : std::nullopt;
  const auto image = encoded ? PdfImageOf(*encoded) : std::nullopt;
  if (!image) return 0;
  const int number = objects_->Reserve();
  objects_->AddStream(number, image->entries, image->stream);
  return number;
}

std::string PdfWriter::Page(const PageResult& result) {
  PlacedPage page = PlaceOnImage(result);
  const int image = page.width > 0 && page.height > 0 ? AddImage(result) : 0;
  if (page.width <= 0 || page.height <= 0) {  // A4, so that it keeps its place
    page.width = 1654;
    page.height = 2339;
    page.dpi_x = page.dpi_y = kUsualImageDpi;
  }
  const PdfScale scale = ScaleOf(page);
  const int content = objects_->Reserve();
  const std::string text = TextOf(page, scale, "/Text", codes_);
  objects_->AddStream(content, "", (image != 0 ? ShowImage(page, scale) : "") + text);
  pages_.push_back(objects_->Reserve());
  std::string body = "<< /Type /Page /Parent " + Reference(shared_.pages) + " /MediaBox [0 0 " +
                     Decimal(page.width * scale.x, 4) + " " + Decimal(page.height * scale.y, 4) +
                     "] /Contents " + Reference(content) + " /Resources <<";
  if (!text.empty()) body += " /Font << /Text " + Reference(shared_.font) + " >>";
  if (image != 0) body += " /XObject << /Scan " + Reference(image) + " >>";
  body += " >>";
  if (page.rotation != 0) body += " /Rotate " + std::to_string(page.rotation);
  objects_->Add(pages_.back(), body + " >>");
  return objects_->Take();
}

// A font without characters is none.
void PdfWriter::AddFont() {
  if (codes_.empty()) {
    objects_->Add(shared_.font, "null");
    return;
  }
  const int cid_font = objects_->Reserve(), descriptor = objects_->Reserve();
  const int file = objects_->Reserve(), unicode = objects_->Reserve(), map = objects_->Reserve();
  objects_->Add(shared_.font,
                "<< /Type /Font /Subtype /Type0 /BaseFont /PlatenEmpty /Encoding /Identity-H "
                "/DescendantFonts [" +
                    Reference(cid_font) + "] /ToUnicode " + Reference(unicode) + " >>");
  objects_->Add(cid_font,
                "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /PlatenEmpty /CIDSystemInfo << "
                "/Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 500 /FontDescriptor " +
                    Reference(descriptor) + " /CIDToGIDMap " + Reference(map) + " >>");
  objects_->Add(descriptor,
                "<< /Type /FontDescriptor /FontName /PlatenEmpty /Flags 4 /FontBBox [0 -250 500 "
                "750] /ItalicAngle 0 /Ascent 750 /Descent -250 /CapHeight 750 /StemV 80 "
                "/FontFile2 " +
                    Reference(file) + " >>");
  const std::string font = EmptyFont();
  objects_->AddStream(file, "/Length1 " + std::to_string(font.size()), font);
  objects_->AddStream(unicode, "", codes_.ToUnicode());
  objects_->AddStream(map, "", codes_.GlyphMap());
}

std::string PdfWriter::End() {
  AddFont();
  std::string kids;
  for (const int page : pages_) kids += (kids.empty() ? "" : " ") + Reference(page);
  objects_->Add(shared_.pages, "<< /Type /Pages /Kids [" + kids + "] /Count " +
                                   std::to_string(pages_.size()) + " >>");
  const int xmp = objects_->Reserve(), profile = objects_->Reserve();
  objects_->AddStream(xmp, "/Type /Metadata /Subtype /XML",
                      XmpPacket(info_.source, "platen " + info_.Setting("platen")));
  objects_->AddStream(profile, "/N 3", SrgbProfile());
  objects_->Add(shared_.catalog,
                "<< /Type /Catalog /Pages " + Reference(shared_.pages) + " /Metadata " +
                    Reference(xmp) +
                    " /OutputIntents [<< /Type /OutputIntent /S /GTS_PDFA1 "
                    "/OutputConditionIdentifier (sRGB) /Info (sRGB) /DestOutputProfile " +
                    Reference(profile) + " >>] >>");
  objects_->Finish(shared_.catalog);
  return objects_->Take();
}

}  // namespace platen
