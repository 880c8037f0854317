#include "stages/readers/container_kind.h"

#include <array>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "stages/readers/byte_view.h"

namespace platen {
namespace {

using std::literals::operator""sv;

ByteView LittleEndian(std::string_view bytes) {
  return {{reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, ByteOrder::kLittle};
}

// --- ZIP: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT ---

constexpr std::string_view kLocalHeader = "PK\x03\x04"sv;
constexpr size_t kLocalHeaderBytes = 30;

struct ZipMember {
  std::string_view name;
  std::string_view content;  // as stored: from the member's first byte to the end of what is known
};

// Members that begin in `head`. They are searched for, since the length of one may be written only
// after it. (So what is stored uncompressed in a member could pass for one; it costs a wrong name.)
std::vector<ZipMember> FirstMembers(std::string_view head) {
  std::vector<ZipMember> members;
  for (size_t at = 0; (at = head.find(kLocalHeader, at)) != std::string_view::npos;) {
    const ByteView view = LittleEndian(head.substr(at));
    const size_t name_bytes = view.U16(26);
    const size_t content_at = kLocalHeaderBytes + name_bytes + view.U16(28);
    if (view.Has(0, kLocalHeaderBytes + name_bytes)) {
      members.push_back({head.substr(at + kLocalHeaderBytes, name_bytes),
                         view.Has(0, content_at) ? head.substr(at + content_at) : ""});
    }
    at += kLocalHeader.size();
  }
  return members;
}

// Books and OpenDocument files name their kind in a first member of its own.
std::string KindByMimeType(const ZipMember& member) {
  if (member.name != "mimetype") return "";
  if (member.content.starts_with("application/epub+zip")) return "EPUB book";
  if (member.content.starts_with("application/vnd.oasis.opendocument.")) return "OpenDocument file";
  return "";
}

// Members that only documents of one Office program have.
std::string KindByMember(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, const char*>, 4> kFolders = {
      {{"word/", "Word document"},
       {"xl/", "Excel workbook"},
       {"ppt/", "PowerPoint presentation"},
       {"visio/", "Visio drawing"}}};
  if (name.ends_with(".fdseq")) return "XPS document";
  if (!name.ends_with(".xml") && !name.ends_with(".rels")) return "";
  for (const auto& [folder, kind] : kFolders) {
    if (name.starts_with(folder)) return kind;
  }
  return "";
}

// --- Compound files: Microsoft's [MS-CFB] ---

constexpr std::string_view kCompoundMagic = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv;
constexpr size_t kEntryBytes = 128;
constexpr size_t kNameBytes = 64;
constexpr uint64_t kTablesInHeader = 109;  // sector numbers of the tables of chains
constexpr int kMaxDirectorySectors = 32;   // entries of documents stand among the first

class CompoundFile {
 public:
  CompoundFile(std::string_view head, const ReadBytes& read)
      : header_(head), read_(read), sector_bits_(LittleEndian(head).U16(30)) {}

  // Names of the directory's entries, as far as they can be read.
  std::set<std::string> Names() const {
    std::set<std::string> names;
    if (sector_bits_ != 9 && sector_bits_ != 12) return names;
    std::optional<uint32_t> sector = LittleEndian(header_).U32(48);
    for (int i = 0; i < kMaxDirectorySectors && sector; ++i) {
      const std::string bytes = read_(OffsetOf(*sector), size_t{1} << sector_bits_);
      for (size_t at = 0; at + kEntryBytes <= bytes.size(); at += kEntryBytes) {
        names.insert(NameOf(std::string_view(bytes).substr(at, kEntryBytes)));
      }
      sector = NextSector(*sector);
    }
    return names;
  }

 private:
  uint64_t OffsetOf(uint32_t sector) const { return (uint64_t{sector} + 1) << sector_bits_; }

  std::optional<uint32_t> NextSector(uint32_t sector) const {
    const uint32_t numbers_per_sector = 1U << (sector_bits_ - 2);
    const uint64_t table = sector / numbers_per_sector;
    if (table >= kTablesInHeader) return std::nullopt;
    const uint64_t at = OffsetOf(LittleEndian(header_).U32(76 + 4 * table)) +
                        uint64_t{4} * (sector % numbers_per_sector);
    const std::string number = read_(at, 4);
    constexpr uint32_t kLastSector = 0xFFFFFFFA;
    const uint32_t next = LittleEndian(number).U32(0);
    if (number.size() < 4 || next >= kLastSector) return std::nullopt;
    return next;
  }

  // UTF-16; letters that matter here are ASCII.
  static std::string NameOf(std::string_view entry) {
    std::string name;
    for (size_t i = 0; i < kNameBytes; i += 2) {
      const uint16_t letter = LittleEndian(entry).U16(i);
      if (letter == 0) break;
      name += letter < 128 ? static_cast<char>(letter) : '?';
    }
    return name;
  }

  std::string_view header_;
  const ReadBytes& read_;
  unsigned sector_bits_;
};

}  // namespace

std::string ZipKind(std::string_view head) {
  if (head.starts_with("PK\x05\x06"sv) || head.starts_with("PK\x07\x08"sv)) return "ZIP archive";
  if (!head.starts_with(kLocalHeader)) return "";
  bool is_office = false;
  for (const ZipMember& member : FirstMembers(head)) {
    if (std::string kind = KindByMimeType(member); !kind.empty()) return kind;
    if (std::string kind = KindByMember(member.name); !kind.empty()) return kind;
    is_office = is_office || member.name == "[Content_Types].xml";
  }
  return is_office ? "Office document" : "ZIP archive";
}

CompoundFileKind KindOfCompoundFile(std::string_view head, const ReadBytes& read) {
  if (!head.starts_with(kCompoundMagic)) return {};
  const std::set<std::string> names = CompoundFile(head, read).Names();
  CompoundFileKind kind = {.is_compound_file = true, .is_listed = !names.empty(), .name = ""};
  // In this order: a text may hold tables, and either may be shown on slides.
  constexpr std::array<std::pair<const char*, const char*>, 6> kStreams = {
      {{"WordDocument", "Word document"},
       {"PowerPoint Document", "PowerPoint presentation"},
       {"Workbook", "Excel workbook"},
       {"Book", "Excel workbook"},
       {"VisioDocument", "Visio drawing"},
       {"EncryptedPackage", "encrypted Office document"}}};
  for (const auto& [stream, name] : kStreams) {
    if (names.contains(stream)) {
      kind.name = name;
      break;
    }
  }
  return kind;
}

}  // namespace platen
