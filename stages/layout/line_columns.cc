#include "stages/layout/line_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "stages/layout/disjoint_sets.h"
#include "stages/layout/strip_index.h"
#include "stages/layout/tables.h"

namespace platen::layout {
namespace {

// In letter heights unless said otherwise.
constexpr double kColumnGap = 4.5;   // white between two lines of a column, at most
constexpr double kOverlap = 0.5;     // two lines of a column overlap by this share of the narrower
constexpr double kIndent = 8.0;      // ... and begin within this, or are indented
constexpr double kEdge = 2.0;        // ... or end, or are centred, within this
constexpr double kTextLine = 11.0;   // lines of running text are wider than this
constexpr double kTextShare = 0.4;   // ... and than this share of their column
constexpr size_t kFewestText = 3;    // lines
constexpr double kTextPitch = 5.5;   // from line to line, at most; those of a form stand apart
constexpr double kSameHeight = 0.6;  // lines of one row overlap by this share of the lower one
constexpr double kRowsShared = 0.7;  // share of the shorter column's lines that do
constexpr double kNumberGap = 4.0;   // white between a number and the text it stands before
constexpr double kFormGap = 12.0;    // white between label and value, at most
constexpr size_t kTableRows = 5;     // ... unless there are so many rows
constexpr double kFormEdge = 1.0;    // columns of a form begin within this
constexpr double kFormGoesOn = 6.0;  // white between two parts of a form, at most
constexpr double kFormRows = 10.0;   // white between its rows, at most
constexpr double kMuchCloser = 1.8;  // times

// Lines below one another.
struct Column {
  std::vector<int> lines;
  Box box;
  bool wide = false;  // its lines are as wide as those of running text
  bool text = false;  // ... and there are enough of them
};

class Grouper {
 public:
  Grouper(const std::vector<Box>& lines, double xh) : lines_(lines), xh_(xh) {}

  std::vector<LineGroup> Group() {
    FindColumns();
    DisjointSets sets(columns_.size());
    const std::vector<Pair> pairs = PairsOfRows();
    std::vector<double> nearest(columns_.size(), std::numeric_limits<double>::max());
    for (const Pair& pair : pairs) {
      for (int c : {pair.left, pair.right}) {
        nearest[static_cast<size_t>(c)] = std::min(nearest[static_cast<size_t>(c)], pair.gap);
      }
    }
    std::vector<Pair> joined;
    for (const Pair& pair : pairs) {
      if (ReadRowByRow(pair, nearest)) joined.push_back(pair);
    }
    for (const Pair& pair : pairs) {
      if (GoesOn(pair, joined)) sets.Join(pair.left, pair.right);
    }
    JoinHeads(sets);
    JoinForms(sets);
    std::vector<LineGroup> groups;
    for (const std::vector<int>& set : sets.Groups()) {
      LineGroup group;
      group.in_rows = set.size() > 1;
      for (int c : set) {
        const std::vector<int>& lines = columns_[static_cast<size_t>(c)].lines;
        group.lines.insert(group.lines.end(), lines.begin(), lines.end());
      }
      if (group.in_rows) group.lines = InRows(group.lines);
      groups.push_back(std::move(group));
    }
    return groups;
  }

 private:
  std::vector<int> InRows(const std::vector<int>& lines) const {
    std::vector<int> ordered;
    for (const std::vector<int>& row : BandsOf(lines_, lines)) {
      ordered.insert(ordered.end(), row.begin(), row.end());
    }
    return ordered;
  }

  const Box& At(int i) const { return lines_[static_cast<size_t>(i)]; }

  // Whether the line `below` may be the next of the column of `above`.
  bool Below(const Box& above, const Box& below) const {
    const double lower = std::min(above.height(), below.height());
    return below.center_y() > above.center_y() + 0.5 * lower &&
           below.y0 - above.y1 < kColumnGap * xh_ && OverlapX(above, below) > 0;
  }

  bool SameColumn(const Box& a, const Box& b) const {
    if (OverlapX(a, b) <= kOverlap * std::min(a.width(), b.width())) return false;
    return std::abs(a.x0 - b.x0) < kIndent * xh_ || std::abs(a.x1 - b.x1) < kEdge * xh_ ||
           std::abs(a.center_x() - b.center_x()) < kEdge * xh_;
  }

  // Whether `line` reaches over another line that stands beside `other`.
  bool SpansRowOf(int other, int line, const StripIndex& index) const {
    std::vector<int> near;
    index.Find(At(other).y0, At(other).y1, near);
    return std::any_of(near.begin(), near.end(), [&](int i) {
      return i != other && i != line && OverlapX(At(i), At(line)) > 0 && OnOneRow(At(i), At(other));
    });
  }

  bool IsWithin(const Box& inner, const Box& outer) const {
    return inner.x0 > outer.x0 - xh_ && inner.x1 < outer.x1 + xh_;
  }

  // Where other columns end over which a line, wider than the column above it, goes on; 0: there
  // are none. An inset that reaches out of both is no column.
  double EndOfOthersAbove(const Column& column, int line, const StripIndex& index) const {
    const Box wider = Union(column.box, At(line));
    if (IsWithin(wider, column.box)) return 0;
    std::vector<int> near;
    index.Find(column.box.y0, column.box.y1, near);
    double end = 0;
    for (int i : near) {
      const double middle = At(i).center_y();
      const bool beside = middle > column.box.y0 && middle < column.box.y1 &&
                          OverlapX(At(i), wider) > xh_ && OverlapX(At(i), column.box) <= 0;
      if (beside && IsWithin(At(i), wider)) end = std::max(end, At(i).y1);
    }
    return end;
  }

  // Leaves the last lines of a column to be found again: what stands below the end of the columns
  // beside it belongs to what comes next, as a heading does.
  void LeaveLinesBelow(double end, Column& column, std::vector<bool>& taken) const {
    while (column.lines.size() > 1 && At(column.lines.back()).y0 > end - 0.5 * xh_) {
      taken[static_cast<size_t>(column.lines.back())] = false;
      column.lines.pop_back();
    }
  }

  // Whether the column has become one of several under wider lines of its own: other lines stand
  // beside the next one, within the width of those above. An inset reaches out of it.
  bool StandsBesideOthers(const Column& column, int line, int next, const StripIndex& index) const {
    std::vector<int> near;
    index.Find(At(line).y0, At(next).y1, near);
    return std::any_of(near.begin(), near.end(), [&](int i) {
      const double middle = At(i).center_y();
      return i != line && i != next && middle > At(line).center_y() && middle < At(next).y1 &&
             IsWithin(At(i), column.box) && OverlapX(At(i), At(next)) <= 0;
    });
  }

  // A line whose only neighbour below has no other neighbour above goes on in it.
  void FindColumns() {
    const int n = static_cast<int>(lines_.size());
    std::vector<std::vector<int>> below(lines_.size()), above(lines_.size());
    const StripIndex index(lines_, 3 * xh_);
    std::vector<int> near;
    for (int i = 0; i < n; ++i) {
      index.Find(At(i).y0, At(i).y1 + (kColumnGap + 1) * xh_, near);
      std::vector<int> next;
      for (int j : near) {
        if (j != i && Below(At(i), At(j))) next.push_back(j);
      }
      for (int j : next) {
        // Lines behind another one are not neighbours.
        const bool hidden = std::any_of(next.begin(), next.end(),
                                        [&](int k) { return k != j && Below(At(k), At(j)); });
        if (hidden) continue;
        below[static_cast<size_t>(i)].push_back(j);
        above[static_cast<size_t>(j)].push_back(i);
      }
    }
    std::vector<int> order(lines_.size());
    for (int i = 0; i < n; ++i) order[static_cast<size_t>(i)] = i;
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return std::tuple(At(a).center_y(), At(a).x0, a) < std::tuple(At(b).center_y(), At(b).x0, b);
    });
    std::vector<bool> taken(lines_.size(), false);
    for (int i : order) {
      if (taken[static_cast<size_t>(i)]) continue;
      Column column;
      column.box = At(i);
      for (int line = i;;) {
        taken[static_cast<size_t>(line)] = true;
        column.lines.push_back(line);
        const std::vector<int>& next = below[static_cast<size_t>(line)];
        if (next.size() != 1 || above[static_cast<size_t>(next[0])].size() != 1) break;
        if (taken[static_cast<size_t>(next[0])] || !SameColumn(At(line), At(next[0]))) break;
        if (SpansRowOf(line, next[0], index) || SpansRowOf(next[0], line, index)) break;
        if (const double end = EndOfOthersAbove(column, next[0], index); end > 0) {
          LeaveLinesBelow(end, column, taken);
          break;
        }
        if (StandsBesideOthers(column, line, next[0], index)) break;
        column.box = Union(column.box, At(next[0]));
        line = next[0];
      }
      Describe(column);
      columns_.push_back(std::move(column));
    }
  }

  void Describe(Column& column) const {
    column.box = At(column.lines[0]);
    std::vector<double> widths;
    for (int i : column.lines) {
      column.box = Union(column.box, At(i));
      widths.push_back(At(i).width());
    }
    const double width = Quantile(std::move(widths), 0.6);
    column.wide = width > kTextLine * xh_ && width > kTextShare * column.box.width();
    if (!column.wide || column.lines.size() < kFewestText) return;
    const double height = At(column.lines.back()).center_y() - At(column.lines[0]).center_y();
    column.text = height < kTextPitch * xh_ * static_cast<double>(column.lines.size() - 1);
  }

  // Lines of the one that have a line of the other beside them.
  size_t SharedRows(const Column& a, const Column& b) const {
    return static_cast<size_t>(std::count_if(a.lines.begin(), a.lines.end(), [&](int i) {
      return std::any_of(b.lines.begin(), b.lines.end(),
                         [&](int j) { return OnOneRow(At(i), At(j)); });
    }));
  }

  // A line alone that stands on a row of a table, within its width, is part of it: a head over two
  // columns, or at the left of the figures below it.
  void JoinHeads(DisjointSets& sets) const {
    const std::vector<std::vector<int>> groups = sets.Groups();
    for (size_t h = 0; h < columns_.size(); ++h) {
      if (columns_[h].lines.size() > 1) continue;
      for (const std::vector<int>& group : groups) {
        if (!HasRows(group) || !IsHeadOf(columns_[h].box, group)) continue;
        sets.Join(static_cast<int>(h), group[0]);
        break;
      }
    }
  }

  // Whether these columns are those of a table of several rows.
  bool HasRows(const std::vector<int>& group) const {
    return group.size() > 1 && std::any_of(group.begin(), group.end(), [&](int c) {
             return columns_[static_cast<size_t>(c)].lines.size() > 1;
           });
  }

  // Rows far apart whose labels and values begin at the same places are one form.
  void JoinForms(DisjointSets& sets) const {
    struct Rows {
      int set;
      double first, second;  // where its columns begin
      Box box;
    };
    std::vector<Rows> forms;
    for (const std::vector<int>& group : sets.Groups()) {
      if (group.size() < 2) continue;
      std::vector<double> begins;
      Box box = columns_[static_cast<size_t>(group[0])].box;
      for (int c : group) {
        const Box& column = columns_[static_cast<size_t>(c)].box;
        begins.push_back(column.x0);
        box = Union(box, column);
      }
      std::sort(begins.begin(), begins.end());
      forms.push_back({group[0], begins[0], begins[1], box});
    }
    std::sort(forms.begin(), forms.end(), [](const Rows& a, const Rows& b) {
      return std::tuple(a.box.y0, a.box.x0, a.set) < std::tuple(b.box.y0, b.box.x0, b.set);
    });
    for (size_t i = 0; i + 1 < forms.size(); ++i) {
      const Rows &a = forms[i], &b = forms[i + 1];
      const bool aligned = std::abs(a.first - b.first) < kFormEdge * xh_ &&
                           std::abs(a.second - b.second) < kFormEdge * xh_;
      const Box between = {std::min(a.box.x0, b.box.x0), a.box.y1, std::max(a.box.x1, b.box.x1),
                           b.box.y0};
      const bool near = between.height() < kFormRows * xh_;
      if (aligned && near && !AnyLineIn(between)) sets.Join(a.set, b.set);
    }
  }

  bool AnyLineIn(const Box& box) const {
    return std::any_of(lines_.begin(), lines_.end(), [&](const Box& line) {
      return line.center_y() > box.y0 && line.center_y() < box.y1 && OverlapX(line, box) > 0;
    });
  }

  bool IsHeadOf(const Box& head, const std::vector<int>& group) const {
    bool on_row = false, over_column = false;
    Box table = columns_[static_cast<size_t>(group[0])].box;
    for (int c : group) {
      const Column& column = columns_[static_cast<size_t>(c)];
      table = Union(table, column.box);
      over_column = over_column || OverlapX(head, column.box) > xh_;
      on_row = on_row || std::any_of(column.lines.begin(), column.lines.end(),
                                     [&](int i) { return OnOneRow(At(i), head); });
    }
    return on_row && (over_column || IsWithin(head, table));
  }

  // Two columns that may be those of a table or form, not of running text.
  struct Pair {
    int left, right;
    double gap;   // pixels of white between them
    size_t rows;  // that they share
  };

  // The last word of a line set very wide stands right of most of the running text above or below
  // it.
  bool EndsLineOfText(const Box& word) const {
    return std::any_of(columns_.begin(), columns_.end(), [&](const Column& c) {
      return c.wide && IsWithin(word, c.box) && word.center_x() > c.box.center_x() &&
             -OverlapY(word, c.box) < kColumnGap * xh_;
    });
  }

  std::optional<Pair> PairOf(int i, int j) const {
    const Column& a = columns_[static_cast<size_t>(i)];
    const Column& b = columns_[static_cast<size_t>(j)];
    if (OverlapX(a.box, b.box) > 0 || OverlapY(a.box, b.box) <= 0) return std::nullopt;
    if ((a.text && b.wide) || (b.text && a.wide)) return std::nullopt;
    const bool a_shorter = a.lines.size() <= b.lines.size();
    const Column& shorter = a_shorter ? a : b;
    const size_t rows = SharedRows(shorter, a_shorter ? b : a);
    if (static_cast<double>(rows) <= kRowsShared * static_cast<double>(shorter.lines.size())) {
      return std::nullopt;
    }
    const double gap = -OverlapX(a.box, b.box);
    // Beside running text: a column of figures, or the number before it; not the first word of a
    // line of the next column.
    if ((a.text || b.text) && rows < kFewestText) {
      const Box &text = a.text ? a.box : b.box, &other = a.text ? b.box : a.box;
      if (other.x0 > text.x0 || gap > kNumberGap * xh_) return std::nullopt;
      if (EndsLineOfText(other)) return std::nullopt;
    }
    return Pair{i, j, gap, rows};
  }

  std::vector<Pair> PairsOfRows() const {
    const int n = static_cast<int>(columns_.size());
    std::vector<Pair> pairs;
    for (int i = 0; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) {
        const std::optional<Pair> pair = PairOf(i, j);
        if (pair) pairs.push_back(*pair);
      }
    }
    return pairs;
  }

  // Whether a pair is one of those that are read row by row, or goes on below or above one of them:
  // its columns begin at the same places.
  bool GoesOn(const Pair& pair, const std::vector<Pair>& joined) const {
    const auto begin = [&](int c) { return columns_[static_cast<size_t>(c)].box.x0; };
    const auto box = [&](const Pair& p) {
      return Union(columns_[static_cast<size_t>(p.left)].box,
                   columns_[static_cast<size_t>(p.right)].box);
    };
    return std::any_of(joined.begin(), joined.end(), [&](const Pair& other) {
      if (other.left == pair.left && other.right == pair.right) return true;
      return std::abs(begin(pair.left) - begin(other.left)) < kFormEdge * xh_ &&
             std::abs(begin(pair.right) - begin(other.right)) < kFormEdge * xh_ &&
             -OverlapY(box(pair), box(other)) < kFormGoesOn * xh_;
    });
  }

  // A line between two columns, on the row in which the first begins: the head of a column between
  // them, or, if the second begins in the next row, its own head at the left of its figures.
  bool HasHeadBetween(const Pair& pair) const {
    const Column &first = columns_[static_cast<size_t>(pair.left)],
                 &second = columns_[static_cast<size_t>(pair.right)];
    const Box& begin = At(second.lines[0]);
    const bool together = OnOneRow(At(first.lines[0]), begin);
    const bool next_row = first.lines.size() > 1 && OnOneRow(At(first.lines[1]), begin);
    if (!together && !next_row) return false;
    return std::any_of(columns_.begin(), columns_.end(), [&](const Column& c) {
      return c.lines.size() == 1 && c.box.x0 > std::min(first.box.x1, second.box.x1) &&
             c.box.x1 < std::max(first.box.x0, second.box.x0) &&
             OnOneRow(c.box, At(first.lines[0]));
    });
  }

  // Over a wide gap only if neither column has another beside it that is much closer: an address
  // stands apart from the labels and values beside it.
  // `nearest`: for each column, the least gap of its pairs.
  bool ReadRowByRow(const Pair& pair, const std::vector<double>& nearest) const {
    if (pair.gap < kFormGap * xh_ || pair.rows >= kTableRows) return true;
    const bool one_row = columns_[static_cast<size_t>(pair.left)].lines.size() == 1 &&
                         columns_[static_cast<size_t>(pair.right)].lines.size() == 1;
    if (one_row || HasHeadBetween(pair)) return true;
    const double least =
        std::min(nearest[static_cast<size_t>(pair.left)], nearest[static_cast<size_t>(pair.right)]);
    return pair.gap <= kMuchCloser * least;
  }

  const std::vector<Box>& lines_;
  double xh_;
  std::vector<Column> columns_;
};

}  // namespace

bool OnOneRow(const Box& a, const Box& b) {
  return OverlapY(a, b) > kSameHeight * std::min(a.height(), b.height());
}

std::vector<LineGroup> GroupLines(const std::vector<Box>& lines, double letter_height) {
  return Grouper(lines, letter_height).Group();
}

}  // namespace platen::layout
