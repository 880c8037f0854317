#include "stages/formats/pdf_objects.h"

#include <utility>

namespace platen {

PdfObjects::PdfObjects() : hasher_(std::make_unique<Hasher>()) {
  Append("%PDF-1.7\n%\xE2\xE3\xCF\xD3\n");  // the second line says that it is no text
}

void PdfObjects::Append(std::string_view bytes) {
  out_ += bytes;
  written_ += bytes.size();
  hasher_->Add(bytes);
}

int PdfObjects::Reserve() {
  offsets_.push_back(0);
  return static_cast<int>(offsets_.size());
}

void PdfObjects::Add(int number, std::string_view body) {
  offsets_.at(static_cast<size_t>(number) - 1) = written_;
  Append(std::to_string(number) + " 0 obj\n");
  Append(body);
  Append("\nendobj\n");
}

void PdfObjects::AddStream(int number, std::string_view entries, std::string_view bytes) {
  offsets_.at(static_cast<size_t>(number) - 1) = written_;
  Append(std::to_string(number) + " 0 obj\n<< ");
  Append(entries);
  Append(std::string(entries.empty() ? "" : " ") + "/Length " + std::to_string(bytes.size()) +
         " >>\nstream\n");
  Append(bytes);
  Append("\nendstream\nendobj\n");
}

void PdfObjects::Finish(int catalog) {
  const uint64_t table = written_;
  const std::string size = std::to_string(offsets_.size() + 1);
  std::string text = "xref\n0 " + size + "\n0000000000 65535 f \n";
  for (const uint64_t offset : offsets_) {
    const std::string digits = std::to_string(offset);
    text += std::string(digits.size() < 10 ? 10 - digits.size() : 0, '0') + digits + " 00000 n \n";
  }
  Append(text);
  const std::string id = hasher_->Hex();
  Append("trailer\n<< /Size " + size + " /Root " + std::to_string(catalog) + " 0 R /ID [<" + id +
         "> <" + id + ">] >>\nstartxref\n" + std::to_string(table) + "\n%%EOF\n");
}

std::string PdfObjects::Take() { return std::exchange(out_, std::string()); }

}  // namespace platen
