// What every searchable PDF holds beside its pages, made here so that it has no licence of others.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace platen {

// A TrueType font of two glyphs without any ink, each half as wide as the font is high.
std::string EmptyFont();

// A colour profile of the sRGB space (ICC version 4), with its white and primaries adapted to D50.
std::string SrgbProfile();

// XMP metadata that calls the file PDF/A-2b. No dates.
std::string XmpPacket(const std::string& title, const std::string& producer);

// Characters of text as codes of two bytes, numbered in the order in which they first come, so that
// any text needs a table of its own characters alone.
class CodeTable {
 public:
  // "<00010002…>", of text in UTF-8; at most 65,535 different characters, all others are U+FFFD.
  std::string HexOf(const std::string& text);

  bool empty() const { return codes_.empty(); }  // no character was asked for
  // A ToUnicode CMap.
  std::string ToUnicode() const;
  // All codes show the second glyph: a CIDToGIDMap.
  std::string GlyphMap() const;

 private:
  std::map<uint32_t, int> codes_;  // by character, from 1
};

}  // namespace platen
