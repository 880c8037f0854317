#include "stages/formats/old_pdf_text.h"

#include <algorithm>
#include <utility>

#include "model/support/error.h"
#include "stages/formats/base64.h"
#include "stages/formats/pdf_content.h"

namespace platen {
namespace {

using Json = QpdfObjects::Json;

constexpr size_t kPagesAtOnce = 32;
constexpr size_t kMostObjects = 10'000;  // fetched at once
constexpr int kDeepest = 8;              // forms in forms

// "12 0 R" -> "12,0"; empty: it is no reference.
std::string NumberOf(const Json& reference) {
  if (!reference.is_string()) return "";
  const auto& text = reference.get_ref<const std::string&>();
  const size_t space = text.find(' ');
  if (space == std::string::npos || !text.ends_with(" R")) return "";
  const std::string number = text.substr(0, space);
  const std::string generation = text.substr(space + 1, text.size() - space - 3);
  const auto digits = [](const std::string& part) {
    return !part.empty() && part.size() < 10 &&
           std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  return digits(number) && digits(generation) ? number + "," + generation : "";
}

const Json& Entry(const Json& object, const char* key) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

bool IsForm(const Json& dictionary) { return Entry(dictionary, "/Subtype") == "/Form"; }

}  // namespace

PageWithoutText OldPdfText::Without(size_t index, const Json& resources, const MakeObject& make) {
  PageWithoutText page;
  page.keeps_text = true;
  if (StreamsOf(index) == nullptr) return page;
  std::string content;
  for (const Json& part : Entry(objects_.pages()[index], "contents")) {
    const auto data = DataOf(part);
    if (!data) return page;
    content += *data + "\n";
  }
  auto change = WithoutInvisibleText(content);
  if (!change) return page;
  bool other_text = change->other_text;
  Json forms = Json::object();
  if (!FormsWithout(change->drawn, resources, 0, make, forms, other_text)) return page;
  if (change->removed) page.content = std::move(change->content);
  page.forms = std::move(forms);
  page.keeps_text = other_text;
  return page;
}

// False: of one of them it cannot be said.
bool OldPdfText::FormsWithout(const std::map<std::string, int>& drawn, const Json& resources,
                              int depth, const MakeObject& make, Json& instead, bool& other_text) {
  const Json& forms = objects_.Resolved(Entry(resources, "/XObject"));
  for (const auto& [name, mode] : drawn) {
    const Json& reference = Entry(forms, name.c_str());
    if (!IsForm(Entry(objects_.Stream(reference), "dict"))) continue;
    const std::optional<Form> form = FormWithout(reference, mode, depth, make);
    if (!form) return false;
    if (form->instead) instead[name] = *form->instead;
    other_text = other_text || form->other_text;
  }
  return true;
}

std::optional<OldPdfText::Form> OldPdfText::FormWithout(const Json& reference, int mode, int depth,
                                                        const MakeObject& make) {
  if (!reference.is_string() || depth == kDeepest) return std::nullopt;
  const std::pair key(reference.get<std::string>(), mode);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  const auto look = [&]() -> std::optional<Form> {
    const auto data = DataOf(reference);
    if (!data) return std::nullopt;
    auto change = WithoutInvisibleText(*data, mode);
    if (!change) return std::nullopt;
    Json dictionary = Entry(objects_.Stream(reference), "dict");
    Json resources = objects_.Resolved(Entry(dictionary, "/Resources"));
    // A form without resources has those of the page that draws it: an old habit, seldom met.
    if (!resources.is_object() && !change->drawn.empty()) return std::nullopt;
    Form form = {std::nullopt, change->other_text};
    Json instead = Json::object();
    if (!FormsWithout(change->drawn, resources, depth + 1, make, instead, form.other_text)) {
      return std::nullopt;
    }
    if (!change->removed && instead.empty()) return form;
    if (!instead.empty()) {
      Json forms = objects_.Resolved(Entry(resources, "/XObject"));
      forms.update(instead);
      resources["/XObject"] = std::move(forms);
      dictionary["/Resources"] = std::move(resources);
    }
    for (const char* of_data : {"/Length", "/Filter", "/DecodeParms"}) dictionary.erase(of_data);
    form.instead =
        make({{"stream", {{"data", Base64(change->content)}, {"dict", std::move(dictionary)}}}});
    return form;
  };
  return known_[key] = look();
}

// What the stream decodes to; a page may name one that is not there. Nothing: it cannot be decoded.
std::optional<std::string> OldPdfText::DataOf(const Json& reference) const {
  if (objects_.Stream(reference).is_null()) return "";
  const Json& stream = streams_.Stream(reference);
  const Json& data = Entry(stream, "data");
  if (!data.is_string() || !Entry(Entry(stream, "dict"), "/Filter").is_null()) return std::nullopt;
  return FromBase64(data.get_ref<const std::string&>());
}

// Null: they cannot be had.
const QpdfObjects* OldPdfText::StreamsOf(size_t index) {
  if (index >= first_ && index < end_) return &streams_;
  const size_t count = std::min(kPagesAtOnce, objects_.pages().size() - index);
  return Fetch(index, count) || (count > 1 && Fetch(index, 1)) ? &streams_ : nullptr;
}

bool OldPdfText::Fetch(size_t first, size_t count) {
  std::vector<std::string> objects;
  for (size_t i = first; i < first + count; ++i) {
    const Json& listed = objects_.pages()[i];
    for (const Json& part : Entry(listed, "contents")) AddStreams(part, 0, objects);
    AddForms(objects_.Inherited(objects_.Resolved(Entry(listed, "object")), "/Resources"), 0,
             objects);
  }
  std::sort(objects.begin(), objects.end());
  objects.erase(std::unique(objects.begin(), objects.end()), objects.end());
  if (!describe_ || objects.size() > kMostObjects) return false;
  const auto described = objects.empty() ? std::nullopt : describe_(objects);
  if (!objects.empty() && !described) return false;
  try {
    streams_ = described ? QpdfObjects(*described) : QpdfObjects();
  } catch (const Error&) {
    return false;
  }
  first_ = first;
  end_ = first + count;
  return true;
}

void OldPdfText::AddStreams(const Json& reference, int depth,
                            std::vector<std::string>& objects) const {
  const std::string number = NumberOf(reference);
  const Json& stream = objects_.Stream(reference);
  if (number.empty() || stream.is_null() || objects.size() > kMostObjects) return;
  objects.push_back(number);
  const Json& dictionary = Entry(stream, "dict");
  if (IsForm(dictionary)) {
    AddForms(objects_.Resolved(Entry(dictionary, "/Resources")), depth + 1, objects);
  }
}

void OldPdfText::AddForms(const Json& resources, int depth,
                          std::vector<std::string>& objects) const {
  if (depth == kDeepest) return;
  const Json& forms = objects_.Resolved(Entry(resources, "/XObject"));
  if (!forms.is_object()) return;
  for (const Json& form : forms) {
    if (IsForm(Entry(objects_.Stream(form), "dict"))) AddStreams(form, depth, objects);
  }
}

}  // namespace platen
