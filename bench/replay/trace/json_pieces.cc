#include "bench/replay/trace/json_pieces.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace bench::replay {
namespace {

// The kind of a piece by the kind of its list: "PodList" → "Pod"; "List" gives none.
std::string_view item_kind(std::string_view list_kind) {
  constexpr std::string_view kList = "List";
  if (!list_kind.ends_with(kList)) return "";
  return list_kind.substr(0, list_kind.size() - kList.size());
}

// Goes over a text. The first error is stored, and the pass is then at its end.
class JsonSplitter {
 public:
  JsonSplitter(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  k8s::Result<std::vector<JsonPiece>> split() {
    for (skip_space(); !at_end(); skip_space()) {
      if (text_[at_] == '[') {
        elements({});
      } else {
        document();
      }
    }
    if (error_) return tl::unexpected(*error_);
    return std::move(pieces_);
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }

  void complain(std::size_t where, const std::string& what) {
    at_ = text_.size();
    if (error_) return;
    const std::string_view before = text_.substr(0, where);
    const auto line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    error_ =
        k8s::decode_error(fmt::format("{}:{}:{}: {}", file_, line, where - line_start + 1, what))
            .value();
  }

  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  // Whether `byte` comes next; then it is skipped.
  bool take(char byte) {
    skip_space();
    if (at_end() || text_[at_] != byte) return false;
    ++at_;
    return true;
  }

  void expect(char byte) {
    if (!take(byte)) complain(at_, fmt::format("not JSON: want '{}'", byte));
  }

  // From its opening quote; gives what is between the quotes, escapes as they are.
  std::string_view string() {
    skip_space();
    const std::size_t begin = at_;
    if (at_end() || text_[at_] != '"') {
      complain(at_, "not JSON: want a quoted name");
      return {};
    }
    for (++at_; !at_end(); ++at_) {
      if (text_[at_] == '"') return text_.substr(begin + 1, at_++ - begin - 1);
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
    }
    complain(begin, "not JSON: breaks off in a string");
    return {};
  }

  // Over an object or an array, to behind its closing bracket.
  void skip_nested() {
    const std::size_t begin = at_;
    std::size_t depth = 0;
    while (!at_end()) {
      const char byte = text_[at_];
      if (byte == '"') {
        string();
        continue;
      }
      ++at_;
      if (byte == '{' || byte == '[') ++depth;
      if (byte == '}' || byte == ']') --depth;
      if (depth == 0) return;
    }
    complain(begin, "not JSON: breaks off before this is closed");
  }

  void skip_value() {
    skip_space();
    if (at_end()) return;
    if (text_[at_] == '"') {
      string();
    } else if (text_[at_] == '{' || text_[at_] == '[') {
      skip_nested();
    } else {
      at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
    }
  }

  std::size_t line_of(std::size_t where) {
    const auto counted = text_.substr(counted_to_, where - counted_to_);
    line_ += static_cast<std::size_t>(std::count(counted.begin(), counted.end(), '\n'));
    counted_to_ = where;
    return line_;
  }

  // One object, as a piece.
  void piece(std::string_view kind) {
    skip_space();
    const std::size_t begin = at_;
    if (at_end() || text_[at_] != '{') {
      complain(at_, "want an object, \"{…}\"");
      return;
    }
    skip_nested();
    if (error_) return;
    pieces_.push_back(
        {.text = text_.substr(begin, at_ - begin), .line = line_of(begin), .kind = kind});
  }

  // An array of objects.
  void elements(std::string_view kind) {
    expect('[');
    if (take(']')) return;
    do {
      piece(kind);
    } while (!error_ && take(','));
    expect(']');
  }

  // The members of a document that matter here.
  struct Members {
    std::string_view kind;
    std::optional<std::size_t> items;  // where the array begins
  };

  Members members() {
    Members found;
    expect('{');
    if (take('}')) return found;
    do {
      const std::string_view name = string();
      expect(':');
      skip_space();
      if (name == "items" && !at_end() && text_[at_] == '[') found.items = at_;
      if (name == "kind" && !at_end() && text_[at_] == '"') {
        found.kind = string();
      } else {
        skip_value();
      }
    } while (!error_ && take(','));
    expect('}');
    return found;
  }

  // An object, or the items of a list.
  void document() {
    const std::size_t begin = at_;
    const Members found = members();
    if (error_) return;
    const std::size_t end = at_;
    if (found.items) {
      at_ = *found.items;
      elements(item_kind(found.kind));
    } else {
      at_ = begin;
      piece({});
    }
    if (!error_) at_ = end;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::size_t counted_to_ = 0;  // newlines up to here are in line_
  std::size_t line_ = 1;
  std::vector<JsonPiece> pieces_;
  std::optional<k8s::Error> error_;
};

}  // namespace

k8s::Result<std::vector<JsonPiece>> json_pieces(std::string_view text, const std::string& file) {
  return JsonSplitter(text, file).split();
}

}  // namespace bench::replay
