// What was read on a page: plain data between the assemble stage and the output formats.
//
// Nothing in here depends on time, order, threads or speculation, so the same input, model and
// options always give the same values.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/families/reading_config.h"

namespace platen {

// Page pixels of the upright page: x to the right, y down.
struct ResultPoint {
  double x = 0;
  double y = 0;
};

struct ResultBox {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

// Probability the model gave the tokens it chose. tokens == 0: nothing was generated, the other two
// mean nothing.
struct Confidence {
  int tokens = 0;
  double mean = 0;
  double min = 0;
};

// One generated token: where its text ends in the text it is part of (bytes), and the probability
// the model gave it. A token that ends within a character ends where that character begins.
struct TokenResult {
  int end = 0;
  double probability = 0;
};

// A word of a line: text between spaces. Its place is estimated from the white gaps of the line and
// from usual widths of letters; the model does not say where it read a word.
struct WordResult {
  int begin = 0, end = 0;                // bytes of the line's text
  std::array<ResultPoint, 4> quad = {};  // along the line, as high as the line
  double confidence = 0;                 // least probability of its tokens
};

// One text line (or one piece of text the model was asked for). Text is UTF-8.
struct LineResult {
  std::array<ResultPoint, 4> quad = {};  // along the line: top-left, top-right, bottom-right, ...
  std::array<ResultPoint, 2> baseline = {};  // its ends; both the same point: not measured
  ResultBox box;
  double x_height = 0;  // of its small letters, pixels; 0: like the page's
  double weight = 0;    // ink in the boxes of its letters, 0..1; 0: not measured
  std::string text;
  Confidence confidence;
  std::vector<TokenResult> tokens;
  std::vector<WordResult> words;
  std::vector<std::string> warnings;
  std::string finish;  // why the text ends there; empty: nothing was generated
  std::string error;   // empty: read
  // The text is the page's own, and words stand where it says: no token was generated.
  bool from_text_layer = false;
};

// A cell of a table that was read line by line. Rows and columns count from 0.
struct CellResult {
  int row = 0, column = 0;
  int row_span = 1, column_span = 1;
  std::array<ResultPoint, 4> quad = {};  // its room on the page
  ResultBox box;
  std::vector<int> lines;  // indices into the region's lines
};

// Rows of cells, from the top left. Spans stay within the table and do not overlap.
struct TableResult {
  int rows = 0, columns = 0;
  std::vector<CellResult> cells;
};

// A typed part of the page, in reading order. Read line by line, it has the lines' text joined by
// line breaks; read as a whole, it has the text and its tokens and no lines; of a kind that is not
// read (a figure), neither.
struct RegionResult {
  RegionKind kind = RegionKind::kText;
  std::string native_label;                // what the layout model calls it; empty: none was used
  TextSyntax syntax = TextSyntax::kPlain;  // of the text
  std::array<ResultPoint, 4> quad = {};    // outline, as the detector gives it
  double score = 1;                        // of the detector, 0..1
  ResultBox box;                           // of what was read
  std::string text;
  Confidence confidence;
  std::vector<TokenResult> tokens;
  std::vector<LineResult> lines;
  // How the lines stand: of a table, or of a region of text whose rows belong together (a form).
  // Its text then has a row on each line, cells parted by tabs.
  std::optional<TableResult> table;
  std::string image;  // URL of its picture, from the output folder; empty: none was made
  std::vector<std::string> warnings;
  std::string finish;  // likewise; of several crops the one that is furthest from "stop"
  std::string error;   // empty: read; else why (part of) the region is missing
};

bool HasTextLayer(const RegionResult& region);  // any line of it is the page's own text

// Why a page that was read may not hold what stands on it.
enum class DoubtKind {
  kNoText,         // not blank, but nothing was read
  kLowConfidence,  // too many lines the model was unsure of
  kForeignScript,  // so unsure throughout as with scripts it was not trained for
  kRepetition,     // text was cut because it repeated itself without end
  kTokenLimit,     // text was cut at the limit of tokens
};

struct Doubt {
  DoubtKind kind = DoubtKind::kNoText;
  std::string text;  // a sentence with the figures
};

// "no_text", "low_confidence", "foreign_script", "repetition", "token_limit": stable, for programs
// that read results.
const char* DoubtCode(DoubtKind kind);

// A page in its file, as the file's orientation tag turns it: before it was stretched to square
// pixels and turned upright. No width: it was not stretched.
struct FilePage {
  int width = 0;
  int height = 0;
  double dpi_x = 0;
  double dpi_y = 0;
};

struct PageResult {
  int page = 0;   // 1-based in its document; 0: the document could not be opened
  int width = 0;  // of the upright page, pixels; 0: never decoded
  int height = 0;
  double dpi_x = 0;  // along the width of the upright page; 0: the input does not say
  double dpi_y = 0;
  int rotation = 0;  // degrees the page was turned clockwise to be upright: 0 90 180 270
  FilePage in_file;
  double skew_degrees = 0;
  double x_height = 0;  // of most text, pixels; 0: none was found
  std::vector<RegionResult> regions;
  std::vector<std::string> warnings;
  std::vector<Doubt> doubts;  // empty: nothing speaks against what was read; see stages/doubts.h
  std::string error;          // empty: the page was read
};

bool HasTextLayer(const PageResult& page);

// One of the settings that results depend on.
struct DocumentSetting {
  std::string name;
  std::string value;
  bool is_literal = false;  // the value is a number or a truth value of JSON, no text

  bool operator==(const DocumentSetting&) const = default;
};

// What stands at the head of a document's outputs.
struct DocumentInfo {
  std::string source;  // the input, relative to the tree the outputs mirror; see DisplayName
  std::vector<DocumentSetting> settings;  // model, task, ...: in this order
  std::string sha256 = {};                // of the input's bytes, in hex; empty: not known

  std::string Setting(const std::string& name) const;  // its value; empty: there is none
};

}  // namespace platen
