// What files are told to be by their first bytes and, where these do not decide, by their names.
#include "stages/readers/file_kind.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "model/support/error.h"
#include "stages/readers/document_reader.h"
#include "tests/support/images.h"
#include "tests/support/temp_files.h"

namespace platen {
namespace {

using std::literals::operator""s;
using ::platen::testing::Bytes;
using ::platen::testing::ReadBytes;
using ::platen::testing::SourcePath;
using ::platen::testing::TempFolder;

void PutU16(std::string& bytes, size_t at, uint16_t value) {
  bytes[at] = static_cast<char>(value & 255);
  bytes[at + 1] = static_cast<char>(value >> 8);
}

void PutU32(std::string& bytes, size_t at, uint32_t value) {
  PutU16(bytes, at, static_cast<uint16_t>(value));
  PutU16(bytes, at + 2, static_cast<uint16_t>(value >> 16));
}

// A stored member of a ZIP archive.
std::string Member(const std::string& name, const std::string& content = "") {
  std::string header = "PK\x03\x04"s + std::string(26, '\0');
  PutU32(header, 18, static_cast<uint32_t>(content.size()));
  PutU32(header, 22, static_cast<uint32_t>(content.size()));
  PutU16(header, 26, static_cast<uint16_t>(name.size()));
  return header + name + content;
}

// A compound file whose directory lists these names, four in a sector; its sectors lie `gap`
// sectors apart, after `gap` sectors of something else.
std::string CompoundFile(const std::vector<std::string>& names, uint32_t gap = 1) {
  constexpr size_t kSector = 512;
  const auto num_sectors = static_cast<uint32_t>((names.size() + 3) / 4);
  const auto sector_of = [gap](uint32_t i) { return gap * (i + 1); };
  std::string file(kSector * (2 + sector_of(num_sectors - 1)), '\0');
  file.replace(0, 8, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1");
  PutU16(file, 30, 9);             // sectors of 512 bytes
  PutU32(file, 48, sector_of(0));  // the directory
  PutU32(file, 76, 0);             // the table of chains
  for (uint32_t i = 0; i < num_sectors; ++i) {
    PutU32(file, kSector + 4 * sector_of(i), i + 1 < num_sectors ? sector_of(i + 1) : 0xFFFFFFFE);
  }
  for (uint32_t i = 0; i < names.size(); ++i) {
    const size_t entry = kSector * (1 + sector_of(i / 4)) + 128 * (i % 4);
    for (size_t k = 0; k < names[i].size(); ++k) file[entry + 2 * k] = names[i][k];
    PutU16(file, entry + 64, static_cast<uint16_t>(2 * names[i].size() + 2));
  }
  return file;
}

std::string Box(const std::string& type, const std::string& content) {
  return std::string(3, '\0') + static_cast<char>(content.size() + 8) + type + content;
}

std::string At(size_t offset, const std::string& bytes) {
  return std::string(offset, '\0') + bytes;
}

struct Head {
  std::string bytes;
  std::string name;  // what it is
};

// Formats that are known but not read.
std::vector<Head> UnreadHeads() {
  const std::string version(4, '\0');
  return {
      {"\0\0\0\x0CjP  \r\n\x87\n"s + Box("ftyp", "jpm " + version + "jpm "), "JPM"},
      {"\0\0\0\x0CjP  \r\n\x87\n"s + Box("ftyp", "mjp2" + version), "Motion JPEG 2000"},
      {"\0\0\0\x0CJXL \r\n\x87\n"s + Box("ftyp", "jxl " + version + "jxl "), "JPEG XL"},
      {"\xFF\x0A\xFA\x3F\x01\x91\x08\x06"s, "JPEG XL"},
      {Box("ftyp", "heic" + version + "mif1heic"), "HEIF"},
      {Box("ftyp", "heix" + version + "mif1heix"), "HEIF"},
      {Box("ftyp", "msf1" + version + "hevc"), "HEIF"},
      {Box("ftyp", "mif1" + version + "miafMiHB"), "HEIF"},
      {Box("ftyp", "MiHE" + version + "heic"), "HEIF"},
      {Box("ftyp", "avif" + version + "avifmif1miaf"), "AVIF"},
      {Box("ftyp", "avis" + version + "msf1"), "AVIF"},
      {Box("ftyp", "mif1" + version + "miafavif"), "AVIF"},
      {"AT&TFORM\0\0\x10\0DJVUINFO"s, "DjVu"},
      {"AT&TFORM\0\0\x10\0DJVMDIRM"s, "DjVu"},
      {"II\xBC\x01\x08\0\0\0"s, "JPEG XR"},
      {"\x97JB2\r\n\x1A\n\x01\0\0\0\x01"s, "JBIG2"},
      {"8BPS\0\x01\0\0\0\0\0\0\0\x03"s, "Photoshop"},
      {"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "PostScript"},
      {"\x04%!PS-Adobe-3.0\n", "PostScript"},
      {"\xC5\xD0\xD3\xC6\x1E\0\0\0"s, "EPS"},
      {"{\\rtf1\\ansi text}", "RTF"},
      {"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nMAXVAL 255\nENDHDR\n.", "PAM"},
      {At(128, "DICM\x02\0\0\0UL"s), "DICOM"},
      {At(257,
          "ustar\0"
          "00"s),
       "tar archive"},
      {"scan.png" + At(249, "ustar  \0"s), "tar archive"},
      {"\x1F\x8B\x08\0\0\0\0\0\0\x03"s, "gzip archive"},
      {"BZh91AY&SY\x01\x02"s, "bzip2 archive"},
      {"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0"s, "bzip2 archive"},
      {"\xFD"
       "7zXZ\0\0\x04"s,
       "xz archive"},
      {"\x28\xB5\x2F\xFD\x24\0"s, "zstd archive"},
      {"7z\xBC\xAF\x27\x1C\0\x04"s, "7z archive"},
      {"Rar!\x1A\x07\x01\0"s, "RAR archive"},
      {"Rar!\x1A\x07\0"s, "RAR archive"},
      {"PK\x05\x06"s + std::string(18, '\0'), "ZIP archive"},
      {Member("scan.png", "\x89PNG\r\n\x1A\n"), "ZIP archive"},
      {Member("a.pdf", "%PDF-1.4\n"), "ZIP archive"},
      {Member("words/a.txt", "text") + Member("xl/a.txt"), "ZIP archive"},
      {Member("[Content_Types].xml", "<xml/>") + Member("_rels/.rels", "<xml/>") +
           Member("word/document.xml", "<xml/>"),
       "Word document"},
      {Member("word/numbering.xml", "<xml/>"), "Word document"},
      {Member("[Content_Types].xml") + Member("xl/workbook.xml"), "Excel workbook"},
      {Member("[Content_Types].xml") + Member("ppt/presentation.xml"), "PowerPoint presentation"},
      {Member("[Content_Types].xml") + Member("visio/document.xml"), "Visio drawing"},
      {Member("[Content_Types].xml") + Member("FixedDocSeq.fdseq"), "XPS document"},
      {Member("[Content_Types].xml", std::string(9000, 'x')), "Office document"},
      {Member("mimetype", "application/vnd.oasis.opendocument.text"), "OpenDocument file"},
      {Member("mimetype", "application/epub+zip"), "EPUB book"},
      {Member("mimetype", "image/openraster"), "ZIP archive"},
      {CompoundFile({"Root Entry", "WordDocument"}), "Word document"},
      {CompoundFile({"Root Entry", "1Table", "Data", "\5SummaryInformation", "WordDocument"}),
       "Word document"},
      {CompoundFile({"Root Entry", "Workbook"}), "Excel workbook"},
      {CompoundFile({"Root Entry", "Book"}), "Excel workbook"},
      {CompoundFile({"Root Entry", "Workbook", "PowerPoint Document"}), "PowerPoint presentation"},
      {CompoundFile({"Root Entry", "VisioDocument"}), "Visio drawing"},
      {CompoundFile({"Root Entry", "EncryptionInfo", "EncryptedPackage"}),
       "encrypted Office document"},
  };
}

// Formats that are read.
std::vector<Head> ReadHeads() {
  const std::string version(4, '\0');
  std::vector<Head> heads = {
      {"P1\n2 2\n10 01", "PNM"},
      {"P4\n# made by hand\n8 1\n.", "PNM"},
      {"P5 2 1 255\n..", "PNM"},
      {"P6 # " + std::string(5000, 'x'), "PNM"},
      {"P6\n100 1", "PNM"},
      {"%PDF-1.7\n", "PDF"},
      {"\xEF\xBB\xBF%PDF-1.7\n", "PDF"},
      {"  %PDF-1.7\n", "PDF"},
      {"junk before\n%PDF-1.7\n", "PDF"},
      {"\x1B%-12345X@PJL ENTER LANGUAGE=PDF\r\n%PDF-1.4\n", "PDF"},
      {At(128, "%PDF-1.4\n"), "PDF"},
      {"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xFF\xFF\xFF,\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0;"s,
       "GIF"},
      {"GIF87a\x01\0\x01\0\0\0\0"s, "GIF"},
      {"\0\0\0\x0CjP  \r\n\x87\n"s + Box("ftyp", "jp2 " + version + "jp2 "), "JPEG 2000"},
      {"\0\0\0\x0CjP  \r\n\x87\n"s + Box("ftyp", "jpx " + version + "jp2 "), "JPEG 2000"},
      {"\0\0\0\x0CjP  \r\n\x87\n"s, "JPEG 2000"},
      {"\xFF\x4F\xFF\x51\0\x2F\0\0"s, "JPEG 2000"},
  };
  const std::pair<const char*, const char*> kSamples[] = {{"rgb8.png", "PNG"},
                                                          {"gray.jpg", "JPEG"},
                                                          {"exif6.jpg", "JPEG"},
                                                          {"rgb8.tif", "TIFF"},
                                                          {"gray16.big.tif", "TIFF"},
                                                          {"rgb8.bigtiff.tif", "TIFF"},
                                                          {"rgb8.bigtiff.be.tif", "TIFF"},
                                                          {"lossy.webp", "WebP"},
                                                          {"alpha.webp", "WebP"},
                                                          {"bits24.bmp", "BMP"},
                                                          {"refused/bits4.core.bmp", "BMP"},
                                                          {"two_pages.pdf", "PDF"}};
  for (const auto& [file, name] : kSamples) {
    const Bytes bytes = ReadBytes(SourcePath(std::string("tests/data/images/") + file));
    heads.push_back({{bytes.begin(), bytes.end()}, name});
  }
  return heads;
}

// Neither documents nor archives.
std::vector<std::string> OtherHeads() {
  const std::string version(4, '\0');
  return {
      "",
      "P",
      "P5 is a grade of paper",
      "P1 2023 report",
      "P2 10 20 thirty",
      "BM is a pair of letters, not a bitmap",
      "Files that start with %PDF-1.4 are PDF.\n",
      "grep '%PDF-1.4' *\n",
      "name,value\n1,2\n",
      "<!DOCTYPE html><html></html>",
      "<?xml version=\"1.0\"?><alto/>",
      "{\"pages\": []}",
      "#!/bin/sh\n",
      "\x7F"
      "ELF\x02\x01\x01\0"s,
      "MZ\x90\0\x03\0\0\0"s,
      "SQLite format 3\0"s,
      "\0\0\0\x01"
      "Bud1"s,
      "ID3\x04\0\0"s,
      "RIFF\x24\0\0\0WAVEfmt "s,
      "RIFF\x24\0\0\0AVI LIST"s,
      "OggS\0\x02"s,
      Box("ftyp", "isom" + version + "isomavc1mp41"),
      Box("ftyp", "qt  " + version),
      CompoundFile({"Root Entry", "Catalog", "1", "2", "3", "4", "5"}),  // Thumbs.db
      CompoundFile({"Root Entry", "256_0123456789abcdef"}),
      "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"s,
  };
}

TEST(FileKind, FormatsThatAreReadAreDocumentsWhateverTheirName) {
  for (const Head& head : ReadHeads()) {
    for (const char* name : {"", "a", "a.txt", "a.png", "a.gif", "a.db"}) {
      SCOPED_TRACE(head.name + " named " + name + ": " + head.bytes.substr(0, 20));
      const FileKind kind = KindOf(head.bytes, name);
      EXPECT_EQ(kind.cls, FileClass::kDocument);
      EXPECT_EQ(kind.name, head.name);
      EXPECT_EQ(FormatName(kind.format), head.name);
    }
  }
}

TEST(FileKind, FormatsThatAreNotReadAreNamedWhateverTheirName) {
  for (const Head& head : UnreadHeads()) {
    for (const char* name : {"", "a", "a.txt", "a.png", "a.pdf", "a.db"}) {
      SCOPED_TRACE(head.name + " named " + name);
      const FileKind kind = KindOf(head.bytes, name);
      EXPECT_EQ(kind.cls, FileClass::kKnownUnread);
      EXPECT_EQ(kind.name, head.name);
      EXPECT_EQ(kind.format, DocumentFormat::kUnknown);
    }
  }
}

TEST(FileKind, TheRestIsOther) {
  for (const std::string& bytes : OtherHeads()) {
    for (const char* name : {"", "a", "Thumbs.db", ".DS_Store", "a.txt", "dir.png/a", ".png"}) {
      SCOPED_TRACE(bytes.substr(0, 20) + " named " + name);
      const FileKind kind = KindOf(bytes, name);
      EXPECT_EQ(kind.cls, FileClass::kOther);
      EXPECT_EQ(kind.name, "");
    }
  }
}

TEST(FileKind, UnknownContentUnderAnImagesNameIsADamagedDocument) {
  const std::pair<const char*, const char*> kNames[] = {
      {"a.png", "PNG"},       {"dir/A.PNG", "PNG"}, {"a.b.Jpeg", "JPEG"}, {"a.tiff", "TIFF"},
      {"a.webp", "WebP"},     {"a.dib", "BMP"},     {"a.ppm", "PNM"},     {"a.gif", "GIF"},
      {"a.jp2", "JPEG 2000"}, {"a.heic", "HEIF"},   {"a.djvu", "DjVu"}};
  for (const auto& [file_name, name] : kNames) {
    for (const std::string& bytes : OtherHeads()) {
      if (bytes.starts_with("P") && name == "PNM"s) continue;
      SCOPED_TRACE(bytes.substr(0, 20) + " named " + file_name);
      const FileKind kind = KindOf(bytes, file_name);
      EXPECT_EQ(kind.cls, FileClass::kDocument);
      EXPECT_EQ(kind.format, DocumentFormat::kUnknown);
      EXPECT_EQ(kind.name, name);
    }
  }
}

TEST(FileKind, NamesDecideWhatContentLeavesOpen) {
  EXPECT_EQ(KindOf("P2 1 x 255\n1", "a.pgm").format, DocumentFormat::kPnm);
  EXPECT_EQ(KindOf("P2 1 x 255\n1", "a.txt").cls, FileClass::kOther);
  EXPECT_EQ(KindOf("some words, %PDF-1.4\n", "a.pdf").format, DocumentFormat::kPdf);
  // Only the header is there: the directory lies beyond what is known.
  const std::string header = CompoundFile({"Root Entry", "WordDocument"}).substr(0, 512);
  EXPECT_EQ(KindOf(header, "a.doc").name, "Word document");
  EXPECT_EQ(KindOf(header, "a.XLS").name, "Excel workbook");
  EXPECT_EQ(KindOf(header, "Thumbs.db").cls, FileClass::kOther);
}

TEST(FileKind, NamesAloneClaimAFormatOrNone) {
  EXPECT_EQ(KindOfName("x/page.TIF").format, DocumentFormat::kTiff);
  EXPECT_EQ(KindOfName("page.jfif").cls, FileClass::kDocument);
  EXPECT_EQ(KindOfName("page.jp2").format, DocumentFormat::kJpeg2000);
  EXPECT_EQ(KindOfName("page.heic").cls, FileClass::kKnownUnread);
  for (const char* name : {"", ".", "png", ".png", "x/.png", "a.", "a.txt", "a.png/b", "a.pngx"}) {
    EXPECT_EQ(KindOfName(name).cls, FileClass::kOther) << name;
  }
}

TEST(FileKind, FilesAreLookedAtAsTheirBytesAre) {
  const TempFolder folder;
  for (const Head& head : UnreadHeads()) {
    EXPECT_EQ(LookAtFile(folder.Write("x", head.bytes)).name, head.name);
  }
  for (const Head& head : ReadHeads()) {
    EXPECT_EQ(LookAtFile(folder.Write("x", head.bytes)).name, head.name);
  }
  // A directory of which only a file knows, not its head.
  const std::vector<std::string> names = {"Root Entry", "a", "b", "c", "d", "WordDocument"};
  const std::string far = CompoundFile(names, 50);
  EXPECT_EQ(LookAtFile(folder.Write("x", far)).name, "Word document");
  EXPECT_EQ(KindOf(std::string_view(far).substr(0, kFileHeadBytes), "x").cls, FileClass::kOther);
}

// System calls of this process that read; -1 if the system does not tell.
int64_t NumReads() {
  std::ifstream in("/proc/self/io");
  for (std::string name; in >> name;) {
    int64_t number = 0;
    in >> number;
    if (name == "syscr:") return number;
  }
  return -1;
}

TEST(FileKind, AFileIsReadOnce) {
  const TempFolder folder;
  if (NumReads() < 0) GTEST_SKIP() << "/proc/self/io is not there";
  for (const std::string& bytes : {"hello, world"s, std::string(9000, 'x'), ReadHeads()[3].bytes,
                                   ReadHeads().back().bytes, UnreadHeads()[0].bytes}) {
    const std::string path = folder.Write("x", bytes);
    const int64_t before = NumReads();
    for (int i = 0; i < 100; ++i) LookAtFile(path);
    EXPECT_LT(NumReads() - before, 110) << bytes.substr(0, 20);
  }
}

TEST(FileKind, WhatIsNoReadableFileIsAnError) {
  const TempFolder folder;
  EXPECT_THROW(LookAtFile(folder.path() + "/missing"), Error);
  EXPECT_THROW(LookAtFile(folder.path()), Error);
  const std::string pipe = folder.path() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(LookAtFile(pipe), Error);  // and does not wait for a writer
}

TEST(FileKind, EveryPrefixAndEveryFlipOfEveryHeadIsSomething) {
  std::vector<std::string> heads = OtherHeads();
  for (const Head& head : UnreadHeads()) heads.push_back(head.bytes);
  for (const Head& head : ReadHeads()) heads.push_back(head.bytes);
  std::mt19937 random(7);
  size_t num_other = 0;
  for (const std::string& head : heads) {
    for (size_t size = 0; size <= std::min<size_t>(head.size(), 600); ++size) {
      // A copy of its own, so that reading beyond it shows.
      const std::vector<char> prefix(head.begin(), head.begin() + static_cast<ptrdiff_t>(size));
      num_other += KindOf({prefix.data(), size}, "a").cls == FileClass::kOther;
    }
    for (int round = 0; round < 200 && !head.empty(); ++round) {
      std::string flipped = head.substr(0, kFileHeadBytes);
      flipped[random() % std::min<size_t>(flipped.size(), 600)] = static_cast<char>(random());
      KindOf(flipped, "a.doc");
    }
  }
  EXPECT_GT(num_other, 500U);
}

TEST(FileKind, RandomBytesAreNearlyAlwaysOther) {
  std::mt19937 random(11);
  int num_other = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string bytes(random() % 2000, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    num_other += KindOf(bytes, "a").cls == FileClass::kOther;
  }
  EXPECT_GT(num_other, 995);
}

std::string ReasonOfOpening(const std::string& path) {
  try {
    DocumentReader::Open(path, {});
  } catch (const Error& error) {
    return error.reason();
  }
  return "";
}

TEST(FileKind, OpeningSaysWhyAFileIsNotRead) {
  const TempFolder folder;
  const std::string readable = " Readable: PNG, JPEG, JPEG 2000, TIFF, WebP, GIF, BMP, PNM and PDF";
  EXPECT_EQ(ReasonOfOpening(folder.Write("a.png", "AT&TFORM....")),
            "DjVu files are not read." + readable);
  EXPECT_EQ(ReasonOfOpening(folder.Write("a", Box("ftyp", "heic"))),
            "HEIF files are not read." + readable);
  EXPECT_EQ(ReasonOfOpening(folder.Write("a.pdf", Member("x"))),
            "ZIP archives are not read." + readable);
  EXPECT_EQ(ReasonOfOpening(folder.Write("a", CompoundFile({"Root Entry", "WordDocument"}))),
            "Word documents are not read." + readable);
  EXPECT_EQ(ReasonOfOpening(folder.Write("a.txt", "hello, world")),
            "not an image platen can read." + readable);
  EXPECT_EQ(ReasonOfOpening(folder.Write("a.PNG", "hello, world")),
            "named .PNG, but its content is no image that platen knows");
  EXPECT_EQ(ReasonOfOpening(folder.Write("a.jp2", std::string(100, '\0'))),
            "named .jp2, but its content is no image that platen knows");
  EXPECT_EQ(ReasonOfOpening(folder.Write("a.png", "")), "the file is empty");
  EXPECT_EQ(ReasonOfOpening(folder.Write("a", "")), "the file is empty");
}

TEST(FileKind, ImagesUnderOtherNamesAreRead) {
  const TempFolder folder;
  for (const char* name : {"scan", "scan.txt", "scan.gif"}) {
    const Bytes jpeg = ReadBytes(SourcePath("tests/data/images/gray.jpg"));
    EXPECT_EQ(DocumentReader::Open(folder.Write(name, jpeg), {})->format(), DocumentFormat::kJpeg);
  }
}

}  // namespace
}  // namespace platen
