// Damaging a copy of a snapshot with the edits of tests/golden/bad/mutations.json.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/support/temp_folder.h"

namespace platen::testing {

using OrderedJson = nlohmann::ordered_json;

// A safetensors file taken apart. The header keeps the order of its keys.
struct SafetensorsParts {
  OrderedJson header;
  std::string data;
};

inline std::string LittleEndian64(uint64_t value) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &value, 8);
  return bytes;
}

inline SafetensorsParts SplitSafetensors(const std::string& bytes) {
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  return {OrderedJson::parse(bytes.substr(8, length)), bytes.substr(8 + length)};
}

// The header is padded with spaces to a multiple of 8 bytes.
inline std::string JoinSafetensors(const SafetensorsParts& parts) {
  std::string header = parts.header.dump();
  header.append((8 - header.size() % 8) % 8, ' ');
  return LittleEndian64(header.size()) + header + parts.data;
}

inline std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

inline void EditBytes(const nlohmann::json& edit, std::string& bytes) {
  const std::string op = edit["op"];
  if (op == "set_header_length") {
    bytes.replace(0, 8, LittleEndian64(edit["value"].get<uint64_t>()));
  } else if (op == "truncate") {
    bytes.resize(edit["size"].get<size_t>());
  } else if (op == "truncate_by") {
    bytes.resize(bytes.size() - edit["bytes"].get<size_t>());
  } else if (op == "append") {
    bytes += FromHex(edit["hex"]);
  } else if (op == "set_bytes") {
    const std::string replacement = FromHex(edit["hex"]);
    bytes.replace(edit["offset"].get<size_t>(), replacement.size(), replacement);
  } else {
    throw std::runtime_error("unknown edit " + op);
  }
}

inline void EditJson(const nlohmann::json& edit, std::string& bytes) {
  const std::string op = edit["op"];
  OrderedJson document = OrderedJson::parse(bytes);
  OrderedJson* parent = &document;
  const nlohmann::json& path = edit["path"];
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const nlohmann::json& step = path[i];
    parent =
        step.is_number() ? &(*parent)[step.get<size_t>()] : &(*parent)[step.get<std::string>()];
  }
  const std::string last = path.back();
  if (op == "json_delete") {
    parent->erase(last);
  } else if (op == "json_set") {
    (*parent)[last] = edit["value"];
  } else if (op == "json_add") {
    (*parent)[last] = (*parent)[last].get<int64_t>() + edit["delta"].get<int64_t>();
  } else if (op == "json_append") {
    (*parent)[last].push_back(OrderedJson(edit["value"]));
  } else {
    throw std::runtime_error("unknown edit " + op);
  }
  bytes = document.dump();
}

// Removes a tensor with its bytes and moves later ones down.
inline void DropTensor(const std::string& name, SafetensorsParts& parts) {
  const auto begin = parts.header[name]["data_offsets"][0].get<uint64_t>();
  const auto end = parts.header[name]["data_offsets"][1].get<uint64_t>();
  parts.header.erase(name);
  parts.data.erase(begin, end - begin);
  for (auto& [key, entry] : parts.header.items()) {
    if (key == "__metadata__" || entry["data_offsets"][0].get<uint64_t>() < end) continue;
    for (OrderedJson& offset : entry["data_offsets"]) {
      offset = offset.get<uint64_t>() - (end - begin);
    }
  }
}

inline void EditTensor(const nlohmann::json& edit, std::string& bytes) {
  const std::string op = edit["op"];
  const std::string name = edit["tensor"];
  SafetensorsParts parts = SplitSafetensors(bytes);
  OrderedJson& entry = parts.header.at(name);
  if (op == "header_set") {
    const std::string field = edit["field"];
    const OrderedJson value = edit.contains("copy_from")
                                  ? parts.header.at(edit["copy_from"].get<std::string>()).at(field)
                                  : OrderedJson(edit["value"]);
    entry[field] = value;
  } else if (op == "header_add") {
    for (size_t i = 0; i < 2; ++i) {
      OrderedJson& number = entry[edit["field"].get<std::string>()][i];
      number = number.get<int64_t>() + edit["delta"][i].get<int64_t>();
    }
  } else if (op == "header_swap_offsets") {
    std::swap(entry["data_offsets"][0], entry["data_offsets"][1]);
  } else if (op == "header_reverse_shape") {
    std::reverse(entry["shape"].begin(), entry["shape"].end());
  } else if (op == "header_delete") {
    parts.header.erase(name);
  } else if (op == "drop_tensor") {
    DropTensor(name, parts);
  } else if (op == "header_rename") {
    const OrderedJson moved = entry;
    parts.header.erase(name);
    parts.header[edit["to"].get<std::string>()] = moved;
  } else if (op == "set_tensor_bytes") {
    const std::string replacement = FromHex(edit["hex"]);
    const size_t at = entry["data_offsets"][0].get<size_t>() + edit["offset"].get<size_t>();
    parts.data.replace(at, replacement.size(), replacement);
  } else {
    throw std::runtime_error("unknown edit " + op);
  }
  bytes = JoinSafetensors(parts);
}

// Applies one edit to the snapshot in `folder`.
inline void ApplyEdit(const nlohmann::json& edit, const TempFolder& folder) {
  const std::string file = edit.value("file", "model.safetensors");
  if (edit["op"] == "delete") {
    std::filesystem::remove(folder / file);
    return;
  }
  std::string bytes = ReadFile(folder / file);
  if (edit.contains("path")) {
    EditJson(edit, bytes);
  } else if (edit.contains("tensor")) {
    EditTensor(edit, bytes);
  } else {
    EditBytes(edit, bytes);
  }
  folder.Write(file, bytes);
}

// A fresh copy of `snapshot_dir` in `folder`.
inline void CopySnapshot(const std::string& snapshot_dir, const TempFolder& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(snapshot_dir)) {
    folder.Write(entry.path().filename().string(), ReadFile(entry.path().string()));
  }
}

}  // namespace platen::testing
