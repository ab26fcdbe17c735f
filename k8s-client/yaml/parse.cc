// Builds the tree from yaml-cpp's events, not from its nodes: events show duplicate keys, quoting
// and aliases as they are in the text, and allow every limit to be checked on the way.
#include "k8s-client/shown.h"
#include "k8s-client/yaml/scalar.h"
#include "k8s-client/yaml/value.h"

#include <simdjson.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <istream>
#include <map>
#include <streambuf>
#include <unordered_set>

namespace k8s::yaml {
namespace {

// For a secret text, in place of messages that quote it.
constexpr const char* kUnusable = "not YAML, or a key or value that is not allowed here";

constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxValues = 1'000'000;
// Text and key paths together, aliases counted each time: a limit of memory.
constexpr std::size_t kMaxExpandedBytes = std::size_t{256} << 20;

// Leaves yaml-cpp's parser, which is the caller, as it does itself: by an exception.
struct Refusal {
  int line;
  std::string text;
  bool quotes = false;  // a key or a value
};

// A read-only stream over the caller's text.
class TextBuffer : public std::streambuf {
 public:
  explicit TextBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // streambuf has no const get area
    setg(begin, begin, begin + text.size());
  }
};

std::string child_path(const std::string& parent, const std::string& key) {
  const bool plain = std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  if (!plain || key.empty()) return parent + "[" + key + "]";
  return parent.empty() ? key : parent + "." + key;
}

std::string child_path(const std::string& parent, std::size_t index) {
  return parent + "[" + std::to_string(index) + "]";
}

Refusal unknown_tag(int line, const std::string& tag) {
  return {line, "the tag " + shown(tag) + " is not supported", true};
}

std::string standard_tag(const std::string& tag) {
  constexpr std::string_view kPrefix = "tag:yaml.org,2002:";
  return tag.starts_with(kPrefix) ? "!!" + tag.substr(kPrefix.size()) : tag;
}

class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string_view text) : text_(text) {}

  // The document just read; null if it was empty.
  Value take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // yaml-cpp ends a document where its grammar ends and takes what follows for another one.
    const int line = mark.line + 1;
    if (documents_++ > 0 && !is_separator(mark.line)) {
      throw Refusal{line,
                    "unexpected text after the end of the document (indented wrongly? a new "
                    "document starts with ---)"};
    }
    root_ = Value{};
    stack_.clear();
    anchors_.clear();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(nullptr, mark.line + 1, anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    const int line = mark.line + 1;
    // yaml-cpp makes a single byte of each of these, which is not UTF-8.
    if (!simdjson::validate_utf8(text)) {
      throw Refusal{line,
                    "a backslash before N or _ is not supported; write u0085 or u00a0 behind it"};
    }
    const std::string kind = standard_tag(tag);
    if (expects_key() && kind == "?" && text == "<<") {
      throw Refusal{line, "merge keys (<<) are not supported; write the fields out"};
    }
    if (kind == "!" || kind == "!!str") return add(text, line, anchor);
    if (kind != "?" && kind != "") throw unknown_tag(line, kind);
    auto data = resolve_plain(text);
    if (!data) throw Refusal{line, "'" + shown(text) + "' is not a number that JSON knows", true};
    add(std::move(*data), line, anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const int line = mark.line + 1;
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw Refusal{line, "the alias names a value that contains it"};
    if (expects_key()) return set_key(found->second, line);
    const std::string path = next_path();
    attach(copy_of(found->second, path, stack_.size() + 1), 0);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Value::List{}, mark.line + 1, tag, "!!seq", anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Value::Map{}, mark.line + 1, tag, "!!map", anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    Value value;
    YAML::anchor_t anchor = 0;
    std::optional<std::string> key;  // of a map: it was read, its value comes next
    std::unordered_set<std::string> keys;
  };

  [[nodiscard]] bool expects_key() const {
    return !stack_.empty() && stack_.back().value.map() != nullptr && !stack_.back().key;
  }

  // Whether line `line` (from 0) begins with ---. Lines are asked for in ascending order.
  bool is_separator(int line) {
    while (line_ < line && line_start_ != std::string_view::npos) {
      const std::size_t end = text_.find('\n', line_start_);
      line_start_ = end == std::string_view::npos ? end : end + 1;
      ++line_;
    }
    return line_start_ != std::string_view::npos && text_.substr(line_start_).starts_with("---");
  }

  [[nodiscard]] std::string next_path() const {
    if (stack_.empty()) return "";
    const Frame& top = stack_.back();
    if (const auto* list = top.value.list()) return child_path(top.value.path, list->size());
    return child_path(top.value.path, *top.key);
  }

  void count(const Value& value) {
    bytes_ += value.path.size();
    if (const auto* text = value.string()) bytes_ += text->size();
    if (++values_ > kMaxValues) {
      throw Refusal{value.line, "more than a million values (aliases count each time)"};
    }
    if (bytes_ > kMaxExpandedBytes) {
      throw Refusal{value.line, "too large once its aliases are written out"};
    }
  }

  void add(Value::Data data, int line, YAML::anchor_t anchor) {
    Value value{std::move(data), line, {}};
    if (expects_key()) {
      if (anchor != 0) anchors_[anchor] = value;
      return set_key(value, line);
    }
    value.path = next_path();
    count(value);
    attach(std::move(value), anchor);
  }

  void set_key(const Value& key, int line) {
    const auto* text = key.string();
    if (text == nullptr) {
      throw Refusal{line, "a key must be a string, found " + std::string(key.kind_name()) +
                              "; put it in quotes"};
    }
    Frame& top = stack_.back();
    if (!top.keys.insert(*text).second) {
      throw Refusal{line, shown(child_path(top.value.path, *text)) + ": the key stands here twice",
                    true};
    }
    top.key = *text;
  }

  void open(Value::Data data, int line, const std::string& tag, std::string_view standard,
            YAML::anchor_t anchor) {
    const std::string kind = standard_tag(tag);
    if (kind != "?" && kind != "!" && kind != "" && kind != standard) {
      throw unknown_tag(line, kind);
    }
    if (expects_key()) throw Refusal{line, "a key must be a string, not a list or a map"};
    if (stack_.size() >= kMaxDepth) throw Refusal{line, "nested deeper than 64 levels"};
    Frame frame;
    frame.value = Value{std::move(data), line, next_path()};
    frame.anchor = anchor;
    count(frame.value);
    stack_.push_back(std::move(frame));
  }

  void close() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    attach(std::move(frame.value), frame.anchor);
  }

  void attach(Value value, YAML::anchor_t anchor) {
    // The copy stored for aliases counts, too: otherwise nested anchors would multiply memory
    // unseen.
    if (anchor != 0) anchors_[anchor] = copy_of(value, value.path, stack_.size() + 1);
    if (stack_.empty()) {
      root_ = std::move(value);
      return;
    }
    Frame& top = stack_.back();
    if (auto* list = std::get_if<Value::List>(&top.value.data)) {
      list->push_back(std::move(value));
      return;
    }
    std::get<Value::Map>(top.value.data).emplace_back(std::move(*top.key), std::move(value));
    top.key.reset();
  }

  // A copy that stands at `path`, `depth` levels down; counted like any other value.
  Value copy_of(const Value& original, const std::string& path, std::size_t depth) {
    if (depth > kMaxDepth + 1) throw Refusal{original.line, "nested deeper than 64 levels"};
    Value copy{nullptr, original.line, path};
    if (const auto* list = original.list()) {
      Value::List items;
      for (const Value& item : *list) {
        items.push_back(copy_of(item, child_path(path, items.size()), depth + 1));
      }
      copy.data = std::move(items);
    } else if (const auto* map = original.map()) {
      Value::Map entries;
      for (const auto& [key, value] : *map) {
        entries.emplace_back(key, copy_of(value, child_path(path, key), depth + 1));
      }
      copy.data = std::move(entries);
    } else {
      copy.data = original.data;
    }
    count(copy);
    return copy;
  }

  std::string_view text_;
  int line_ = 0;                // the last line for is_separator() …
  std::size_t line_start_ = 0;  // … and where it begins in the text
  int documents_ = 0;
  Value root_;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, Value> anchors_;
  std::size_t values_ = 0;
  std::size_t bytes_ = 0;
};

tl::unexpected<Error> failure(const std::string& file, int line, const std::string& text) {
  return config_error(file + (line > 0 ? ":" + std::to_string(line) : "") + ": " + text);
}

// The line (from 1) of the first byte that is not allowed in YAML text, or 0. yaml-cpp takes some
// of these bytes for the end of the text and would ignore the rest.
int line_of_control_character(std::string_view text) {
  int line = 1;
  for (const char c : text) {
    if (c == '\n') ++line;
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7f) return line;
  }
  return 0;
}

// The line of the first byte that belongs to no character, or 0. yaml-cpp lets it through, and the
// JSON that is made of the value would not be JSON.
int line_of_no_utf8(std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return 0;
  for (int line = 1;; ++line) {
    const auto end = std::min(text.find('\n'), text.size());
    if (end == text.size() || !simdjson::validate_utf8(text.data(), end)) return line;
    text.remove_prefix(end + 1);
  }
}

std::vector<Value> read_documents(std::string_view text) {
  TextBuffer buffer(text);
  std::istream stream(&buffer);
  YAML::Parser parser(stream);
  TreeBuilder builder(text);
  std::vector<Value> documents;
  while (parser.HandleNextDocument(builder)) {
    Value document = builder.take();
    if (!document.is_null()) documents.push_back(std::move(document));
  }
  return documents;
}

}  // namespace

Result<std::vector<Value>> parse(std::string_view text, const std::string& file,
                                 Contents contents) {
  const bool may_quote = contents == Contents::kPublic;
  if (text.size() > kMaxBytes) return failure(file, 0, "larger than 16 MiB");
  if (const int line = line_of_control_character(text); line != 0) {
    return failure(file, line, "a control character; the file must be UTF-8 text");
  }
  if (const int line = line_of_no_utf8(text); line != 0) {
    return failure(file, line, "a byte that is in no character; the file must be UTF-8 text");
  }
  try {
    return read_documents(text);
  } catch (const Refusal& refusal) {
    const bool told = may_quote || !refusal.quotes;
    return failure(file, refusal.line, told ? refusal.text : kUnusable);
  } catch (const YAML::Exception& error) {
    return failure(file, error.mark.line + 1, may_quote ? "not YAML: " + error.msg : kUnusable);
  } catch (const std::exception& error) {
    return failure(file, 0, may_quote ? std::string("not YAML: ") + error.what() : kUnusable);
  }
}

}  // namespace k8s::yaml
