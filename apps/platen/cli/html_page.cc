#include "apps/platen/cli/html_page.h"

#include "model/support/digest.h"
#include "model/support/hex.h"
#include "stages/formats/base64.h"

namespace platen {
namespace {

// What the style element holds, and nothing else, may be used.
std::string PolicyFor(const std::string& style) {
  const std::string bytes = BytesOfHex(Sha256Hex(style)).value();
  return "default-src 'none'; img-src data:; style-src 'sha256-" + Base64(bytes) + "'";
}

}  // namespace

std::string BeginHtmlPage(const std::string& title, const std::string& style, XmlWriter& xml) {
  xml.Open("html", {{"lang", "en"}});
  xml.Open("head");
  xml.Empty("meta", {{"charset", "utf-8"}});
  xml.Empty("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", PolicyFor(style)}});
  xml.Empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  xml.Leaf("title", {}, title);
  std::string text = "<!DOCTYPE html>\n" + xml.Take() + "<style>" + style + "</style>\n";
  xml.Close();
  xml.Open("body");
  return text + xml.Take();
}

}  // namespace platen
