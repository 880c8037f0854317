#include "stages/readers/file_kind.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <span>

#include "stages/readers/byte_view.h"
#include "stages/readers/container_kind.h"
#include "stages/readers/input_file.h"

namespace platen {
namespace {

using std::literals::operator""sv;

bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// --- What a name claims ---

struct Extension {
  std::string_view text;
  DocumentFormat format;  // kUnknown: not read
  const char* name;
};

// The one list of extensions. Those of Office and archives are not in it: they say nothing about a
// file whose content does not.
constexpr auto kExtensions = std::to_array<Extension>({
    {"png", DocumentFormat::kPng, "PNG"},
    {"jpg", DocumentFormat::kJpeg, "JPEG"},
    {"jpeg", DocumentFormat::kJpeg, "JPEG"},
    {"jpe", DocumentFormat::kJpeg, "JPEG"},
    {"jfif", DocumentFormat::kJpeg, "JPEG"},
    {"tif", DocumentFormat::kTiff, "TIFF"},
    {"tiff", DocumentFormat::kTiff, "TIFF"},
    {"webp", DocumentFormat::kWebp, "WebP"},
    {"bmp", DocumentFormat::kBmp, "BMP"},
    {"dib", DocumentFormat::kBmp, "BMP"},
    {"pnm", DocumentFormat::kPnm, "PNM"},
    {"pbm", DocumentFormat::kPnm, "PNM"},
    {"pgm", DocumentFormat::kPnm, "PNM"},
    {"ppm", DocumentFormat::kPnm, "PNM"},
    {"pdf", DocumentFormat::kPdf, "PDF"},
    {"gif", DocumentFormat::kGif, "GIF"},
    {"jp2", DocumentFormat::kJpeg2000, "JPEG 2000"},
    {"j2k", DocumentFormat::kJpeg2000, "JPEG 2000"},
    {"j2c", DocumentFormat::kJpeg2000, "JPEG 2000"},
    {"jpc", DocumentFormat::kJpeg2000, "JPEG 2000"},
    {"jpf", DocumentFormat::kJpeg2000, "JPEG 2000"},
    {"jpx", DocumentFormat::kJpeg2000, "JPEG 2000"},
    {"jpm", DocumentFormat::kUnknown, "JPM"},
    {"jxl", DocumentFormat::kUnknown, "JPEG XL"},
    {"jxr", DocumentFormat::kUnknown, "JPEG XR"},
    {"wdp", DocumentFormat::kUnknown, "JPEG XR"},
    {"hdp", DocumentFormat::kUnknown, "JPEG XR"},
    {"heic", DocumentFormat::kUnknown, "HEIF"},
    {"heif", DocumentFormat::kUnknown, "HEIF"},
    {"hif", DocumentFormat::kUnknown, "HEIF"},
    {"avif", DocumentFormat::kUnknown, "AVIF"},
    {"djvu", DocumentFormat::kUnknown, "DjVu"},
    {"djv", DocumentFormat::kUnknown, "DjVu"},
    {"jb2", DocumentFormat::kUnknown, "JBIG2"},
    {"jbig2", DocumentFormat::kUnknown, "JBIG2"},
    {"psd", DocumentFormat::kUnknown, "Photoshop"},
    {"ps", DocumentFormat::kUnknown, "PostScript"},
    {"eps", DocumentFormat::kUnknown, "EPS"},
    {"dcm", DocumentFormat::kUnknown, "DICOM"},
    {"pam", DocumentFormat::kUnknown, "PAM"},
});

// In small letters; empty for "name", ".name" and "name.".
std::string ExtensionOf(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return "";
  std::string extension(name.substr(dot + 1));
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

// --- Formats that are read ---

bool LooksLikeBmp(std::string_view head) {
  if (!head.starts_with("BM") || head.size() < 18) return false;
  const auto* bytes = reinterpret_cast<const uint8_t*>(head.data());
  const uint32_t header_bytes = ByteView({bytes, head.size()}, ByteOrder::kLittle).U32(14);
  return header_bytes >= 12 && header_bytes <= 124;
}

// "P1" to "P6", then numbers with white space and comments between them: two for bitmaps, else
// three; fewer if the head ends before. A name that claims PNM needs no more than the first number.
bool LooksLikePnm(std::string_view head, bool is_named_pnm) {
  if (head.size() < 4 || head[0] != 'P' || head[1] < '1' || head[1] > '6') return false;
  if (!IsSpace(head[2])) return false;
  const int num_needed = is_named_pnm ? 1 : head[1] == '1' || head[1] == '4' ? 2 : 3;
  size_t at = 2;
  for (int i = 0; i < num_needed; ++i) {
    const size_t gap_at = at;
    while (at < head.size() && (IsSpace(head[at]) || head[at] == '#')) {
      at = head[at] == '#' ? std::min(head.find('\n', at), head.size()) : at + 1;
    }
    const bool has_comment = head.substr(gap_at, at - gap_at).find('#') != std::string_view::npos;
    if (at == head.size()) return i > 0 || has_comment;
    if (at == gap_at || !IsDigit(head[at])) return false;
    while (at < head.size() && IsDigit(head[at])) ++at;
  }
  return at == head.size() || IsSpace(head[at]) || head[at] == '#' || is_named_pnm;
}

// A PDF may begin after other bytes, such as a printer's job header. Where they are text that
// speaks of PDF, "%PDF-" stands in the midst of a line.
bool LooksLikePdf(std::string_view head, bool is_named_pdf) {
  constexpr size_t kMaxBefore = 1024;
  constexpr std::string_view kMark = "%PDF-";
  head = head.substr(0, kMaxBefore + kMark.size() + 1);
  for (size_t at = 0; (at = head.find(kMark, at)) != std::string_view::npos; ++at) {
    if (at == 0 || is_named_pdf) return true;
    const auto before = static_cast<unsigned char>(head[at - 1]);
    const bool begins_a_line = before < ' ' || before > '~' || head.find_first_not_of(" \t") == at;
    const size_t version = at + kMark.size();
    if (begins_a_line && version < head.size() && IsDigit(head[version])) return true;
  }
  return false;
}

// A codestream, or boxes around one. The brands of compound files, whose pages are put together
// from layers, and of films stand in the second box.
constexpr std::string_view kJp2Signature = "\0\0\0\x0CjP  \r\n\x87\n"sv;

std::string_view Jp2Brand(std::string_view head) {
  return head.starts_with(kJp2Signature) && head.size() >= 24 ? head.substr(20, 4) : "";
}

bool LooksLikeJpeg2000(std::string_view head) {
  if (head.starts_with("\xFF\x4F\xFF\x51"sv)) return true;
  const std::string_view brand = Jp2Brand(head);
  return head.starts_with(kJp2Signature) && brand != "jpm " && brand != "mjp2";
}

DocumentFormat FormatOf(std::string_view head, DocumentFormat claimed) {
  if (head.starts_with("\x89PNG\r\n\x1A\n"sv)) return DocumentFormat::kPng;
  if (head.starts_with("\xFF\xD8\xFF"sv)) return DocumentFormat::kJpeg;
  for (const std::string_view magic : {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv}) {
    if (head.starts_with(magic)) return DocumentFormat::kTiff;
  }
  if (head.starts_with("RIFF"sv) && head.substr(0, 12).ends_with("WEBP"sv)) {
    return DocumentFormat::kWebp;
  }
  if (head.starts_with("GIF87a"sv) || head.starts_with("GIF89a"sv)) return DocumentFormat::kGif;
  if (LooksLikeJpeg2000(head)) return DocumentFormat::kJpeg2000;
  if (LooksLikeBmp(head)) return DocumentFormat::kBmp;
  if (LooksLikePnm(head, claimed == DocumentFormat::kPnm)) return DocumentFormat::kPnm;
  return head.starts_with("%PDF-") ? DocumentFormat::kPdf : DocumentFormat::kUnknown;
}

// --- Formats that are known but not read ---

struct Signature {
  std::string_view bytes;
  const char* name;
  size_t at = 0;
};

constexpr auto kSignatures = std::to_array<Signature>({
    {"\0\0\0\x0CJXL \r\n\x87\n"sv, "JPEG XL"},
    {"\xFF\x0A"sv, "JPEG XL"},
    {"II\xBC"sv, "JPEG XR"},
    {"AT&TFORM"sv, "DjVu"},
    {"\x97JB2\r\n\x1A\n"sv, "JBIG2"},
    {"8BPS\0"sv, "Photoshop"},
    {"%!PS"sv, "PostScript"},
    {"\x04%!PS"sv, "PostScript"},
    {"\xC5\xD0\xD3\xC6"sv, "EPS"},
    {"{\\rtf"sv, "RTF"},
    {"P7\n"sv, "PAM"},
    {"DICM"sv, "DICOM", 128},
    {"ustar"sv, "tar archive", 257},
    {"\x1F\x8B\x08"sv, "gzip archive"},
    {"\xFD"
     "7zXZ\0"sv,
     "xz archive"},
    {"\x28\xB5\x2F\xFD"sv, "zstd archive"},
    {"7z\xBC\xAF\x27\x1C"sv, "7z archive"},
    {"Rar!\x1A\x07"sv, "RAR archive"},
});

bool LooksLikeBzip2(std::string_view head) {
  if (head.size() < 10 || !head.starts_with("BZh") || !IsDigit(head[3])) return false;
  const std::string_view block = head.substr(4, 6);  // the first, or the mark of the end
  return block == "1AY&SY" || block == "\x17\x72\x45\x38\x50\x90"sv;
}

// Images in boxes as of MPEG-4: "ftyp", a brand, a version, further brands. Films have others.
const char* NameByBrand(std::string_view head) {
  if (head.size() < 12 || head.substr(4, 4) != "ftyp") return nullptr;
  const auto* bytes = reinterpret_cast<const uint8_t*>(head.data());
  const uint64_t box_bytes = ByteView({bytes, head.size()}, ByteOrder::kBig).U32(0);
  constexpr std::string_view kHeifBrands[] = {"heic", "heix", "heim", "heis", "hevc", "hevx",
                                              "hevm", "hevs", "mif1", "mif2", "msf1"};
  bool is_heif = false;
  for (size_t at = 8; at + 4 <= std::min<uint64_t>(box_bytes, head.size()); at += 4) {
    if (at == 12) continue;  // the version
    const std::string_view brand = head.substr(at, 4);
    if (brand == "avif" || brand == "avis") return "AVIF";
    is_heif = is_heif || std::ranges::find(kHeifBrands, brand) != std::end(kHeifBrands);
  }
  return is_heif ? "HEIF" : nullptr;
}

// A compound file without Office's streams is a cache of thumbnails, an installer or a mail.
std::string CompoundFileName(std::string_view head, const ReadBytes& read,
                             const std::string& extension) {
  const CompoundFileKind kind = KindOfCompoundFile(head, read);
  if (!kind.is_compound_file || kind.is_listed) return kind.name;
  if (extension == "doc" || extension == "dot") return "Word document";
  if (extension == "xls" || extension == "xlt") return "Excel workbook";
  if (extension == "ppt" || extension == "pps") return "PowerPoint presentation";
  return "";
}

// Empty if it is nothing known.
std::string ForeignName(std::string_view head, const ReadBytes& read,
                        const std::string& extension) {
  for (const Signature& signature : kSignatures) {
    if (head.size() > signature.at && head.substr(signature.at).starts_with(signature.bytes)) {
      return signature.name;
    }
  }
  if (Jp2Brand(head) == "jpm ") return "JPM";
  if (Jp2Brand(head) == "mjp2") return "Motion JPEG 2000";
  if (LooksLikeBzip2(head)) return "bzip2 archive";
  if (const char* name = NameByBrand(head)) return name;
  if (std::string name = ZipKind(head); !name.empty()) return name;
  return CompoundFileName(head, read, extension);
}

FileKind Document(DocumentFormat format) {
  return {FileClass::kDocument, format, FormatName(format)};
}

FileKind KindOfContent(std::string_view head, std::string_view name, const ReadBytes& read) {
  const FileKind claim = KindOfName(name);
  const DocumentFormat format = FormatOf(head, claim.format);
  if (format != DocumentFormat::kUnknown) return Document(format);
  std::string foreign = ForeignName(head, read, ExtensionOf(name));
  if (!foreign.empty()) {
    return {FileClass::kKnownUnread, DocumentFormat::kUnknown, std::move(foreign)};
  }
  // After the others: an archive may hold a PDF near its start.
  if (LooksLikePdf(head, claim.format == DocumentFormat::kPdf)) {
    return Document(DocumentFormat::kPdf);
  }
  if (claim.cls == FileClass::kOther) return {};
  return {FileClass::kDocument, DocumentFormat::kUnknown, claim.name};
}

}  // namespace

const char* FormatName(DocumentFormat format) {
  switch (format) {
    case DocumentFormat::kPng:
      return "PNG";
    case DocumentFormat::kJpeg:
      return "JPEG";
    case DocumentFormat::kTiff:
      return "TIFF";
    case DocumentFormat::kWebp:
      return "WebP";
    case DocumentFormat::kBmp:
      return "BMP";
    case DocumentFormat::kPnm:
      return "PNM";
    case DocumentFormat::kJpeg2000:
      return "JPEG 2000";
    case DocumentFormat::kGif:
      return "GIF";
    case DocumentFormat::kPdf:
      return "PDF";
    case DocumentFormat::kUnknown:
      break;
  }
  return "unknown";
}

FileKind KindOf(std::string_view head, std::string_view name) {
  return KindOfContent(head, name, [head](uint64_t offset, size_t size) {
    return std::string(head.substr(std::min<uint64_t>(offset, head.size()), size));
  });
}

FileKind LookAtFile(const InputFile& file) {
  const auto read = [&file](uint64_t offset, size_t size) {
    std::string bytes(size, '\0');
    bytes.resize(file.ReadAt(offset, {reinterpret_cast<uint8_t*>(bytes.data()), size}));
    return bytes;
  };
  return KindOfContent(read(0, kFileHeadBytes), file.path(), read);
}

FileKind LookAtFile(const std::string& path) { return LookAtFile(InputFile(path)); }

FileKind KindOfName(std::string_view name) {
  const std::string extension = ExtensionOf(name);
  for (const Extension& known : kExtensions) {
    if (extension != known.text) continue;
    const bool is_read = known.format != DocumentFormat::kUnknown;
    return {is_read ? FileClass::kDocument : FileClass::kKnownUnread, known.format, known.name};
  }
  return {};
}

std::string WhyNotRead(const FileKind& kind) {
  if (kind.cls != FileClass::kKnownUnread) {
    return "not an image platen can read. " + ReadableFormats();
  }
  // "HEIF files", "ZIP archives", "Motion JPEG 2000 files".
  const size_t last_word = kind.name.rfind(' ') + 1;  // npos + 1 is 0
  const bool is_noun = std::islower(static_cast<unsigned char>(kind.name[last_word])) != 0;
  return kind.name + (is_noun ? "s" : " files") + " are not read. " + ReadableFormats();
}

std::string ReadableFormats() {
  return "Readable: PNG, JPEG, JPEG 2000, TIFF, WebP, GIF, BMP, PNM and PDF";
}

}  // namespace platen
