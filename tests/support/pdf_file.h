// PDF files of the tests' own.
#pragma once

#include <string>
#include <vector>

namespace platen::testing {

// Of these objects, numbered from 1. The first is the catalog.
inline std::string PdfFile(const std::vector<std::string>& objects) {
  std::string file = "%PDF-1.4\n", table = "0000000000 65535 f \n";
  for (size_t i = 0; i < objects.size(); ++i) {
    const std::string offset = std::to_string(file.size());
    table += std::string(10 - offset.size(), '0') + offset + " 00000 n \n";
    file += std::to_string(i + 1) + " 0 obj\n" + objects[i] + "\nendobj\n";
  }
  const std::string num_objects = std::to_string(objects.size() + 1);
  return file + "xref\n0 " + num_objects + "\n" + table + "trailer<</Size " + num_objects +
         "/Root 1 0 R>>\nstartxref\n" + std::to_string(file.size()) + "\n%%EOF\n";
}

// `entries`: of the dictionary, but for its length.
inline std::string PdfStream(const std::string& bytes, const std::string& entries = "") {
  return "<<" + entries + "/Length " + std::to_string(bytes.size()) + ">>stream\n" + bytes +
         "\nendstream";
}

struct PdfPage {
  std::string entries = "/MediaBox[0 0 72 72]";
  std::string content = "";
  std::string resources = "";  // but for /F1, Helvetica
  bool has_content = true;     // false: the file says that it has, and it has not
};

inline std::string PdfOfPages(const std::vector<PdfPage>& pages) {
  std::vector<std::string> objects = {"<</Type/Catalog/Pages 2 0 R>>", ""};
  std::string kids;
  for (const PdfPage& page : pages) {
    const size_t number = objects.size() + 1;
    kids += std::to_string(number) + " 0 R ";
    objects.push_back("<</Type/Page/Parent 2 0 R" + page.entries + "/Contents " +
                      (page.has_content ? std::to_string(number + 1) : "99999") +
                      " 0 R/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica"
                      "/Encoding/WinAnsiEncoding>>>>" +
                      page.resources + ">>>>");
    objects.push_back(PdfStream(page.content));
  }
  objects[1] = "<</Type/Pages/Kids[" + kids + "]/Count " + std::to_string(pages.size()) + ">>";
  return PdfFile(objects);
}

// A page of width x height points, covered by an image with this dictionary (but for its length).
inline std::string PdfOfImage(const std::string& entries, const std::string& stream, int width,
                              int height) {
  const std::string w = std::to_string(width), h = std::to_string(height);
  return PdfFile({"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
                  "<</Type/Page/Parent 2 0 R/MediaBox[0 0 " + w + " " + h +
                      "]/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>>>",
                  PdfStream("q " + w + " 0 0 " + h + " 0 0 cm /I Do Q"),
                  PdfStream(stream, entries)});
}

// A page that a gray picture of `ppi` pixels an inch covers; 0: there is none.
inline PdfPage ScannedPage(int width_in_points, int height_in_points, int ppi, int gray = 200) {
  const std::string width = std::to_string(width_in_points);
  const std::string height = std::to_string(height_in_points);
  PdfPage page = {.entries = "/MediaBox[0 0 " + width + " " + height + "]"};
  if (ppi == 0) return page;
  const int columns = width_in_points * ppi / 72, rows = height_in_points * ppi / 72;
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string pixels;
  for (int i = 0; i < columns * rows; ++i) pixels += {kDigits[gray / 16], kDigits[gray % 16]};
  page.content = "q " + width + " 0 0 " + height + " 0 0 cm BI /W " + std::to_string(columns) +
                 " /H " + std::to_string(rows) + " /CS /G /BPC 8 /F /AHx ID " + pixels + "> EI Q\n";
  return page;
}

}  // namespace platen::testing
