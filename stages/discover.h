// Which documents to read, and where their outputs go.
//
// Inputs are files, folders, glob patterns and lists of names. Names are bytes, never assumed to be
// UTF-8. The result is in a fixed order: arguments as given, folders in natural order (page2 before
// page10), whatever order the file system lists them in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace platen {

struct InputSpec {
  std::vector<std::string> arguments;      // files, folders, patterns with * ? [ ]
  std::vector<std::string> listed;         // names from lists (ParseNameList): never patterns
  std::string output_dir;                  // never read; need not exist yet
  std::string input_root;                  // if not empty: outputs mirror paths relative to it
};

struct InputDocument {
  std::string path;    // as the user named it, or below the folder the user named
  std::string output;  // path below the output folder, without the format's extension
  std::string error;   // not empty: named by the user but not readable, e.g. it does not exist
};

struct Discovery {
  std::vector<InputDocument> documents;
  int64_t skipped_hidden = 0;   // names beginning with a dot, met while walking folders
  int64_t skipped_foreign = 0;  // not an input format by extension, or not a regular file
  int64_t repeated = 0;         // the same path named twice
};

// Finds the documents. A name that does not exist or is not a regular file becomes a document with
// an error; the rest is read all the same.
//
// Outputs keep the input's full name: a/b.tif -> a/b.tif (+ ".txt"). A relative path is kept whole.
// An absolute path, or one that climbs out with "..", is shortened the way `cp -r` does: a folder
// contributes its own name and what is below it, a file its name. With `input_root`, paths are
// relative to that folder instead.
//
// Throws Error(kUsage) if two inputs would write the same output, naming both, if an input is not
// below `input_root`, or if it is the output folder itself; Error(kInput) if the folder "." cannot be
// listed.
Discovery DiscoverDocuments(const InputSpec& spec);

// Names of a list: separated by NUL if it contains one, else by line breaks (a carriage return
// before the break is dropped). Empty names are ignored.
std::vector<std::string> ParseNameList(const std::string& bytes);

// "page2" < "page10": runs of digits compare as numbers, everything else as bytes.
bool NaturalLess(const std::string& a, const std::string& b);

// True for names whose extension is one of an input format's, in any case.
bool HasInputExtension(const std::string& name);

// Page numbers such as "1-5,9": first and last page of each range, 1-based and inclusive; an open
// end ("7-") is INT_MAX. Throws Error(kUsage) for anything else, also for 0 and for 5-1.
struct PageRange {
  int first = 1;
  int last = 1;
};
std::vector<PageRange> ParsePageRanges(const std::string& text);

// The chosen pages of a document of `num_pages`, ascending, each once; all if `ranges` is empty.
std::vector<int> SelectPages(const std::vector<PageRange>& ranges, int num_pages);

}  // namespace platen
