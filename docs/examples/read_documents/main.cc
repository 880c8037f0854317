// Reads documents at the same time and prints their text in the order of the arguments; says what
// was doubtful or could not be read.
//
//   read_documents FILE...
#include <platen/platen.h>

#include <cstdio>
#include <iostream>

namespace {

// Words that the model was unsure of, with their places.
void PrintDoubtfulWords(const platen::Page& page) {
  for (const platen::Region& region : page.regions) {
    for (const platen::Line& line : region.lines) {
      for (const platen::Word& word : line.words) {
        if (word.confidence >= 0.5) continue;
        std::fprintf(stderr, "page %d: \"%s\" at %.0f, %.0f: sure by %.2f\n", page.number,
                     word.text.c_str(), word.quad[0].x, word.quad[0].y, word.confidence);
      }
    }
  }
}

int Run(const std::vector<std::string>& files) {
  platen::UseNoOpenCvThreads();
  platen::Reader reader;  // the bundled model; {.model = "GLM-OCR"} for another
  std::vector<platen::Ticket> tickets;
  for (const std::string& file : files) {
    tickets.push_back(reader.Submit(platen::Input::File(file)));
  }
  int failed = 0;
  for (platen::Ticket& ticket : tickets) {
    try {
      const platen::Document document = ticket.document.get();
      std::cout << document.As(platen::Format::kText);
      for (const platen::Page& page : document.pages()) {
        PrintDoubtfulWords(page);
        if (page.error.empty()) continue;
        std::fprintf(stderr, "page %d: %s\n", page.number, page.error.c_str());
        ++failed;
      }
    } catch (const platen::Exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      ++failed;
    }
  }
  return failed > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run({argv + 1, argv + argc});
  } catch (const platen::Exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 3;
  }
}
