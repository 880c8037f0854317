#include "stages/formats/pdf_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "model/support/utf8.h"
#include "stages/formats/big_endian.h"
#include "stages/formats/xml_writer.h"

namespace platen {
namespace {

std::string Number(uint64_t value, int bytes) {
  std::string out;
  AppendBigEndian(value, bytes, out);
  return out;
}

std::string Padded(std::string bytes) {
  bytes.resize((bytes.size() + 3) / 4 * 4);
  return bytes;
}

uint32_t ChecksumOf(const std::string& padded) {
  uint32_t sum = 0;
  for (size_t i = 0; i < padded.size(); i += 4) {
    sum += BigEndian(std::string_view(padded).substr(i, 4));
  }
  return sum;
}

using Tables = std::vector<std::pair<std::string, std::string>>;  // name and bytes, by name

std::string Sfnt(const Tables& tables) {
  uint64_t power = 1, log = 0;
  for (; power * 2 <= tables.size(); power *= 2) ++log;
  std::string head = Number(0x00010000, 4) + Number(tables.size(), 2) + Number(power * 16, 2) +
                     Number(log, 2) + Number((tables.size() - power) * 16, 2);
  std::string body;
  for (const auto& [name, bytes] : tables) {
    const size_t offset = 12 + 16 * tables.size() + body.size();
    head +=
        name + Number(ChecksumOf(Padded(bytes)), 4) + Number(offset, 4) + Number(bytes.size(), 4);
    body += Padded(bytes);
  }
  return head + body;
}

// Of the glyph, in units of which the em has 1000.
std::string Bounds() {
  return Number(0, 2) + Number(0x10000 - 250, 2) + Number(500, 2) + Number(750, 2);
}

// From the lower left to the upper right and back: a contour without area. It gives the glyph its
// bounds; readers drop turned text whose glyphs have none.
std::string Contour() {
  return Number(1, 2) + Bounds() + Number(1, 2) + Number(0, 2) +  // last point, instructions
         Number(0x0101, 2) +                                      // both points lie on the curve
         Number(0, 2) + Number(500, 2) + Number(0x10000 - 250, 2) + Number(1000, 2);
}

// The head table; `adjustment` makes the checksum of the whole font what it must be.
std::string HeadTable(uint32_t adjustment) {
  return Number(0x00010000, 4) + Number(0x00010000, 4) + Number(adjustment, 4) +
         Number(0x5F0F3CF5, 4) + Number(0, 2) + Number(1000, 2) +  // flags, units per em
         Number(0, 8) + Number(0, 8) +                             // dates: none
         Bounds() + Number(0, 2) + Number(8, 2) + Number(2, 2) + Number(0, 2) + Number(0, 2);
}

std::string S15Fixed16(double value) {
  return Number(static_cast<uint32_t>(static_cast<int32_t>(std::lround(value * 65536))), 4);
}

std::string XyzTag(double x, double y, double z) {
  return "XYZ " + Number(0, 4) + S15Fixed16(x) + S15Fixed16(y) + S15Fixed16(z);
}

std::string TextTag(const std::string& ascii) {
  std::string out = "mluc" + Number(0, 4) + Number(1, 4) + Number(12, 4) + "enUS" +
                    Number(ascii.size() * 2, 4) + Number(28, 4);
  for (const char c : ascii) out += std::string(1, '\0') + c;
  return out;
}

// IEC 61966-2-1: a power of 2.4 with a straight beginning.
std::string SrgbCurve() {
  return "para" + Number(0, 4) + Number(3, 2) + Number(0, 2) + S15Fixed16(2.4) +
         S15Fixed16(1 / 1.055) + S15Fixed16(0.055 / 1.055) + S15Fixed16(1 / 12.92) +
         S15Fixed16(0.04045);
}

std::string AdaptationTag() {  // Bradford, D65 to D50
  static constexpr std::array<double, 9> kMatrix = {1.04788,  0.02292,  -0.05022, 0.02959, 0.99048,
                                                    -0.01707, -0.00925, 0.01508,  0.75168};
  std::string out = "sf32" + Number(0, 4);
  for (const double value : kMatrix) out += S15Fixed16(value);
  return out;
}

std::string Hex(uint64_t value, int digits) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (int i = digits - 1; i >= 0; --i) out += kDigits[value >> (4 * i) & 15];
  return out;
}

std::string Utf16Hex(uint32_t character) {
  if (character < 0x10000) return Hex(character, 4);
  const uint32_t rest = character - 0x10000;
  return Hex(0xD800 + (rest >> 10), 4) + Hex(0xDC00 + (rest & 0x3FF), 4);
}

}  // namespace

std::string EmptyFont() {
  const std::string hhea = Number(0x00010000, 4) + Number(750, 2) + Number(0x10000 - 250, 2) +
                           Number(0, 2) + Number(500, 2) + Number(0, 22) + Number(2, 2);
  const std::string maxp = Number(0x00010000, 4) + Number(2, 2) + Number(2, 2) + Number(1, 2) +
                           Number(0, 4) + Number(2, 2) + Number(0, 16);
  const auto with_head = [&](uint32_t adjustment) {
    return Sfnt({{"glyf", Contour()},
                 {"head", HeadTable(adjustment)},
                 {"hhea", hhea},
                 {"hmtx", Number(500, 2) + Number(0, 2) + Number(500, 2) + Number(0, 2)},
                 {"loca", Number(0, 4) + Number(Contour().size() / 2, 2)},
                 {"maxp", maxp}});
  };
  return with_head(0xB1B0AFBA - ChecksumOf(Padded(with_head(0))));
}

std::string SrgbProfile() {
  const std::vector<std::pair<std::string, std::string>> tags = {
      {"desc", TextTag("sRGB")},
      {"cprt", TextTag("No copyright, use freely")},
      {"wtpt", XyzTag(0.9642, 1, 0.8249)},
      {"chad", AdaptationTag()},
      {"rXYZ", XyzTag(0.43607, 0.22249, 0.01392)},
      {"gXYZ", XyzTag(0.38515, 0.71687, 0.09708)},
      {"bXYZ", XyzTag(0.14307, 0.06061, 0.7141)},
      {"rTRC", SrgbCurve()},
      {"gTRC", SrgbCurve()},
      {"bTRC", SrgbCurve()}};
  constexpr size_t kHeader = 128;
  std::string table = Number(tags.size(), 4), data;
  for (const auto& [name, bytes] : tags) {
    const size_t offset = kHeader + 4 + 12 * tags.size() + data.size();
    table += name + Number(offset, 4) + Number(bytes.size(), 4);
    data += Padded(bytes);
  }
  const size_t size = kHeader + table.size() + data.size();
  std::string header = Number(size, 4) + Number(0, 4) + Number(0x04200000, 4) + "mntrRGB XYZ ";
  header += Number(2026, 2) + Number(1, 2) + Number(1, 2) + Number(0, 6);  // a fixed date
  header += "acsp" + Number(0, 28) + S15Fixed16(0.9642) + S15Fixed16(1) + S15Fixed16(0.8249);
  header.resize(kHeader);
  return header + table + data;
}

std::string XmpPacket(const std::string& title, const std::string& producer) {
  return "<?xpacket begin=\"\xEF\xBB\xBF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n"
         "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\n"
         " <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n"
         "  <rdf:Description rdf:about=\"\" xmlns:pdfaid=\"http://www.aiim.org/pdfa/ns/id/\"\n"
         "    xmlns:dc=\"http://purl.org/dc/elements/1.1/\" "
         "xmlns:pdf=\"http://ns.adobe.com/pdf/1.3/\">\n"
         "   <pdfaid:part>2</pdfaid:part>\n"
         "   <pdfaid:conformance>B</pdfaid:conformance>\n"
         "   <dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">" +
         EscapeXmlText(title) +
         "</rdf:li></rdf:Alt></dc:title>\n"
         "   <pdf:Producer>" +
         EscapeXmlText(producer) +
         "</pdf:Producer>\n"
         "  </rdf:Description>\n"
         " </rdf:RDF>\n"
         "</x:xmpmeta>\n"
         "<?xpacket end=\"w\"?>";
}

std::string CodeTable::HexOf(const std::string& text) {
  constexpr uint32_t kReplacement = 0xFFFD;
  constexpr size_t kMostCodes = 0xFFFE;
  std::string out = "<";
  for (const uint32_t character : CodePoints(text)) {
    const bool fits = codes_.contains(character) || codes_.size() < kMostCodes;
    const auto [code, is_new] =
        codes_.try_emplace(fits ? character : kReplacement, static_cast<int>(codes_.size()) + 1);
    out += Hex(static_cast<uint64_t>(code->second), 4);
  }
  return out + ">";
}

std::string CodeTable::ToUnicode() const {
  constexpr size_t kMostInBlock = 100;
  std::vector<uint32_t> characters(codes_.size());
  for (const auto& [character, code] : codes_) {
    characters[static_cast<size_t>(code) - 1] = character;
  }
  std::string out =
      "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n"
      "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n"
      "/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n"
      "1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n";
  for (size_t i = 0; i < characters.size(); i += kMostInBlock) {
    const size_t count = std::min(kMostInBlock, characters.size() - i);
    out += std::to_string(count) + " beginbfchar\n";
    for (size_t k = i; k < i + count; ++k) {
      out += "<" + Hex(k + 1, 4) + "> <" + Utf16Hex(characters[k]) + ">\n";
    }
    out += "endbfchar\n";
  }
  return out + "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n";
}

std::string CodeTable::GlyphMap() const {
  std::string out = Number(0, 2);
  for (size_t i = 0; i < codes_.size(); ++i) AppendBigEndian(1, 2, out);
  return out;
}

}  // namespace platen
