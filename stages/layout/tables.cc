#include "stages/layout/tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "stages/layout/disjoint_sets.h"

namespace platen::layout {
namespace {

// In letter heights unless said otherwise.
constexpr double kTouch = 1.0;       // rulings that come so near touch
constexpr double kSameRuling = 0.8;  // rulings of one boundary
constexpr double kOpenSide = 2.0;    // horizontals that reach this far beyond the verticals
constexpr double kDrawn = 0.5;       // share of a cell's side that is ruled
constexpr size_t kMostBoundaries = 200;
constexpr double kChannel = 0.6;    // white between two columns
constexpr double kCrossing = 0.12;  // share of the rows that may reach across a channel
constexpr int kTableRows = 3;
constexpr int kTableColumns = 3;
constexpr size_t kFewestFullRows = 4;

// Mean positions of values that lie together, ascending.
std::vector<double> Cluster(std::vector<double> values, double reach) {
  std::sort(values.begin(), values.end());
  std::vector<double> centres;
  for (size_t i = 0; i < values.size();) {
    size_t end = i;
    double sum = 0;
    while (end < values.size() && values[end] - values[i] <= reach) sum += values[end++];
    centres.push_back(sum / static_cast<double>(end - i));
    i = end;
  }
  return centres;
}

// The index of the interval between boundaries that holds the value; -1: none.
int IntervalOf(const std::vector<double>& boundaries, double value) {
  const auto next = std::upper_bound(boundaries.begin(), boundaries.end(), value);
  if (next == boundaries.begin() || next == boundaries.end()) return -1;
  return static_cast<int>(next - boundaries.begin()) - 1;
}

// The column between edges that holds x, or the outermost one on its side.
int ColumnOf(const std::vector<double>& edges, double x) {
  const auto next = std::upper_bound(edges.begin(), edges.end(), x);
  return std::clamp(static_cast<int>(next - edges.begin()) - 1, 0,
                    static_cast<int>(edges.size()) - 2);
}

// How much of [from, to] at `at` is ruled.
double Ruled(const std::vector<Ruling>& rulings, double at, double from, double to, double reach) {
  double covered = 0;
  for (const Ruling& r : rulings) {
    if (std::abs(r.at - at) > reach) continue;
    covered += std::max(0.0, std::min(r.to, to) - std::max(r.from, from));
  }
  return covered / std::max(1.0, to - from);
}

// Cells between boundaries, joined where nothing parts them.
class RuledGrid {
 public:
  RuledGrid(const std::vector<Box>& lines, const Rulings& rulings, double xh,
            std::vector<double> xs, std::vector<double> ys)
      : lines_(lines), rulings_(rulings), xh_(xh), xs_(std::move(xs)), ys_(std::move(ys)) {}

  Grid Make() {
    rows_ = static_cast<int>(ys_.size()) - 1;
    columns_ = static_cast<int>(xs_.size()) - 1;
    Fill();
    DisjointSets joined(inside_.size());
    for (int r = 0; r < rows_; ++r) {
      for (int c = 0; c < columns_; ++c) {
        if (c + 1 < columns_ && OpenBeside(r, c)) joined.Join(At(r, c), At(r, c + 1));
      }
    }
    for (int c = 0; c < columns_; ++c) {
      for (int r = 0; r + 1 < rows_; ++r) {
        if (OpenBelow(r, c)) joined.Join(At(r, c), At(r + 1, c));
      }
    }
    Grid grid;
    grid.rows = rows_;
    grid.columns = columns_;
    grid.box = {xs_.front(), ys_.front(), xs_.back(), ys_.back()};
    for (const std::vector<int>& set : joined.Groups()) AddCells(set, grid);
    std::sort(grid.cells.begin(), grid.cells.end(), [](const GridCell& a, const GridCell& b) {
      return std::pair(a.row, a.column) < std::pair(b.row, b.column);
    });
    return grid;
  }

 private:
  int At(int row, int column) const { return row * columns_ + column; }
  double Left(int c) const { return xs_[static_cast<size_t>(c)]; }
  double Top(int r) const { return ys_[static_cast<size_t>(r)]; }

  void Fill() {
    inside_.resize(static_cast<size_t>(rows_ * columns_));
    for (size_t i = 0; i < lines_.size(); ++i) {
      const int r = IntervalOf(ys_, lines_[i].center_y()),
                c = IntervalOf(xs_, lines_[i].center_x());
      if (r >= 0 && c >= 0) inside_[static_cast<size_t>(At(r, c))].push_back(static_cast<int>(i));
    }
  }

  bool Empty(int row, int column) const {
    return inside_[static_cast<size_t>(At(row, column))].empty();
  }

  bool OpenBeside(int r, int c) const {
    const double at = Left(c + 1);
    const double ruled = Ruled(rulings_.down, at, Top(r), Top(r + 1), kSameRuling * xh_);
    return ruled < kDrawn && (Empty(r, c) || Empty(r, c + 1));
  }

  bool OpenBelow(int r, int c) const {
    const double at = Top(r + 1);
    const double ruled = Ruled(rulings_.across, at, Left(c), Left(c + 1), kSameRuling * xh_);
    return ruled < kDrawn && (Empty(r, c) || Empty(r + 1, c));
  }

  // A joined set as one cell; as single cells if it is no rectangle.
  void AddCells(const std::vector<int>& set, Grid& grid) const {
    int top = rows_, left = columns_, bottom = 0, right = 0;
    for (int cell : set) {
      top = std::min(top, cell / columns_);
      bottom = std::max(bottom, cell / columns_);
      left = std::min(left, cell % columns_);
      right = std::max(right, cell % columns_);
    }
    const int rows = bottom - top + 1, columns = right - left + 1;
    if (static_cast<size_t>(rows * columns) == set.size()) {
      grid.cells.push_back(Cell(top, left, rows, columns));
      return;
    }
    for (int cell : set) grid.cells.push_back(Cell(cell / columns_, cell % columns_, 1, 1));
  }

  GridCell Cell(int row, int column, int rows, int columns) const {
    GridCell cell = {row,
                     column,
                     rows,
                     columns,
                     {Left(column), Top(row), Left(column + columns), Top(row + rows)},
                     {}};
    std::vector<int> all;
    for (int r = row; r < row + rows; ++r) {
      for (int c = column; c < column + columns; ++c) {
        const std::vector<int>& some = inside_[static_cast<size_t>(At(r, c))];
        all.insert(all.end(), some.begin(), some.end());
      }
    }
    for (const std::vector<int>& band : BandsOf(lines_, all)) {
      cell.lines.insert(cell.lines.end(), band.begin(), band.end());
    }
    return cell;
  }

  const std::vector<Box>& lines_;
  const Rulings& rulings_;
  double xh_;
  std::vector<double> xs_, ys_;
  int rows_ = 0, columns_ = 0;
  std::vector<std::vector<int>> inside_;  // by cell: lines whose middle lies in it
};

// Rulings that touch one another.
std::vector<Rulings> Connected(const Rulings& rulings, double xh) {
  const size_t n = rulings.across.size();
  DisjointSets sets(n + rulings.down.size());
  const double reach = kTouch * xh;
  for (size_t i = 0; i < n; ++i) {
    const Ruling& a = rulings.across[i];
    for (size_t j = 0; j < rulings.down.size(); ++j) {
      const Ruling& d = rulings.down[j];
      const bool touch = d.at > a.from - reach && d.at < a.to + reach && a.at > d.from - reach &&
                         a.at < d.to + reach;
      if (touch) sets.Join(static_cast<int>(i), static_cast<int>(n + j));
    }
  }
  std::vector<Rulings> groups;
  for (const std::vector<int>& set : sets.Groups()) {
    Rulings group;
    for (int i : set) {
      const auto at = static_cast<size_t>(i);
      if (at < n) {
        group.across.push_back(rulings.across[at]);
      } else {
        group.down.push_back(rulings.down[at - n]);
      }
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<double> Positions(const std::vector<Ruling>& rulings) {
  std::vector<double> at;
  for (const Ruling& r : rulings) at.push_back(r.at);
  return at;
}

// Adds the sides of a table that is open at the left or right.
void CloseSides(const std::vector<Ruling>& across, double reach, std::vector<double>& xs) {
  double left = xs.front(), right = xs.back();
  for (const Ruling& r : across) {
    left = std::min(left, r.from);
    right = std::max(right, r.to);
  }
  if (left < xs.front() - reach) xs.insert(xs.begin(), left);
  if (right > xs.back() + reach) xs.push_back(right);
}

// White channels that nearly all rows leave free, as the middles between columns.
std::vector<double> ColumnEdges(const std::vector<Box>& lines,
                                const std::vector<std::vector<int>>& bands, double xh) {
  std::map<double, int> steps;  // how many rows begin (+) or end (-) to cover at x
  double left = 1e18, right = -1e18;
  for (const std::vector<int>& band : bands) {
    for (int i : band) {
      const Box& b = lines[static_cast<size_t>(i)];
      ++steps[b.x0];
      --steps[b.x1];
      left = std::min(left, b.x0);
      right = std::max(right, b.x1);
    }
  }
  const double most = kCrossing * static_cast<double>(bands.size());
  std::vector<double> edges = {left};
  int covering = 0;
  double free_from = left;
  bool free = false, any_column = false;
  for (const auto& [x, step] : steps) {
    const bool was_free = free;
    const int before = covering;
    covering += step;
    free = static_cast<double>(covering) <= most;
    if (!was_free && free) free_from = x;
    // Before the first column there is none, though a row or two may begin further left.
    if (any_column && was_free && !free && x - free_from >= kChannel * xh && before <= most) {
      edges.push_back((free_from + x) / 2);
    }
    any_column = any_column || !free;
  }
  edges.push_back(right);
  return edges;
}

// What stands between two neighbouring edges.
struct Strip {
  std::vector<bool> rows;             // that have a line here
  double left = 1e18, right = -1e18;  // of its ink

  size_t Count() const { return static_cast<size_t>(std::count(rows.begin(), rows.end(), true)); }
  bool Complements(const Strip& other) const {
    for (size_t r = 0; r < rows.size(); ++r) {
      if (rows[r] && other.rows[r]) return false;
    }
    return true;
  }
};

// Heads at the left and figures at the right of one column leave a channel between them: strips of
// which no row has both are one column, if one of them has lines in few rows only.
void JoinHeads(const std::vector<Box>& lines, const std::vector<std::vector<int>>& bands,
               std::vector<double>& edges) {
  std::vector<Strip> strips(edges.size() - 1);
  for (Strip& strip : strips) strip.rows.resize(bands.size(), false);
  for (size_t r = 0; r < bands.size(); ++r) {
    for (int i : bands[r]) {
      const Box& b = lines[static_cast<size_t>(i)];
      Strip& strip = strips[static_cast<size_t>(ColumnOf(edges, b.center_x()))];
      strip.rows[r] = true;
      strip.left = std::min(strip.left, b.x0);
      strip.right = std::max(strip.right, b.x1);
    }
  }
  const auto few = [&](const Strip& s) {
    return s.Count() <= std::max<size_t>(1, bands.size() / 4);
  };
  while (strips.size() > 2) {
    // A head is left of its figures; only where there are none it is right of them.
    size_t best = strips.size();
    double least = 1e18;
    for (const bool head_first : {true, false}) {
      for (size_t k = 0; k + 1 < strips.size(); ++k) {
        const Strip &a = strips[k], &b = strips[k + 1];
        if (!few(head_first ? a : b) || !a.Complements(b) || b.left - a.right >= least) continue;
        best = k;
        least = b.left - a.right;
      }
      if (best < strips.size()) break;
    }
    if (best == strips.size()) return;
    Strip &a = strips[best], &b = strips[best + 1];
    for (size_t r = 0; r < a.rows.size(); ++r) a.rows[r] = a.rows[r] || b.rows[r];
    a.left = std::min(a.left, b.left);
    a.right = std::max(a.right, b.right);
    strips.erase(strips.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    edges.erase(edges.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

// The cells of one row, from the left; a line that reaches well into a column covers it.
std::vector<GridCell> CellsOfRow(const std::vector<Box>& lines, const std::vector<int>& band,
                                 const std::vector<double>& xs, double xh) {
  const int columns = static_cast<int>(xs.size()) - 1;
  std::vector<GridCell> cells;
  int free = 0;  // first column without a cell
  const auto leave_empty = [&](int end) {
    for (; free < end; ++free) cells.push_back({0, free, 1, 1, {}, {}});
  };
  for (int i : band) {
    const Box& b = lines[static_cast<size_t>(i)];
    const int first = ColumnOf(xs, std::min(b.x0 + xh, b.center_x()));
    const int last = std::max(first, ColumnOf(xs, std::max(b.x1 - xh, b.center_x())));
    leave_empty(first);
    if (first >= free) cells.push_back({0, free, 1, 0, {}, {}});
    GridCell& cell = cells.back();
    cell.lines.push_back(i);
    free = std::max(free, last + 1);
    cell.column_span = free - cell.column;
  }
  leave_empty(columns);
  return cells;
}

bool BetweenRulings(const Box& box, const Rulings& rulings, double xh) {
  int lines = 0;
  for (const Ruling& r : rulings.across) {
    const bool near = r.at > box.y0 - 3 * xh && r.at < box.y1 + 3 * xh;
    if (near && r.from < box.x0 + 2 * xh && r.to > box.x1 - 2 * xh) ++lines;
  }
  return lines >= 2;
}

}  // namespace

std::vector<std::vector<int>> BandsOf(const std::vector<Box>& lines, std::vector<int> group) {
  const auto core = [&](int i) {  // ascenders and descenders of two rows may interlock
    const Box& b = lines[static_cast<size_t>(i)];
    return std::pair(b.y0 + 0.25 * b.height(), b.y1 - 0.25 * b.height());
  };
  const auto left = [&](int i) { return lines[static_cast<size_t>(i)].x0; };
  const auto top = [&](int i) { return lines[static_cast<size_t>(i)].y0; };
  std::sort(group.begin(), group.end(), [&](int a, int b) {
    return std::tuple(core(a).first, left(a), a) < std::tuple(core(b).first, left(b), b);
  });
  std::vector<std::vector<int>> bands;
  double bottom = 0;
  for (int i : group) {
    const auto [from, to] = core(i);
    if (bands.empty() || from >= bottom) {
      bands.emplace_back();
      bottom = to;
    }
    bands.back().push_back(i);
    bottom = std::max(bottom, to);
  }
  for (std::vector<int>& band : bands) {
    std::sort(band.begin(), band.end(), [&](int a, int b) {
      return std::tuple(left(a), top(a), a) < std::tuple(left(b), top(b), b);
    });
  }
  return bands;
}

std::vector<Grid> FindRuledTables(const std::vector<Box>& lines, const Rulings& rulings,
                                  double letter_height) {
  const double xh = letter_height;
  std::vector<Grid> tables;
  for (const Rulings& group : Connected(rulings, xh)) {
    if (group.across.size() < 2 || group.down.empty()) continue;
    std::vector<double> xs = Cluster(Positions(group.down), kSameRuling * xh);
    const std::vector<double> ys = Cluster(Positions(group.across), kSameRuling * xh);
    CloseSides(group.across, kOpenSide * xh, xs);
    if (xs.size() < 3 || ys.size() < 3) continue;
    if (xs.size() > kMostBoundaries || ys.size() > kMostBoundaries) continue;
    tables.push_back(RuledGrid(lines, group, xh, xs, ys).Make());
  }
  return tables;
}

std::vector<double> TableEdges(const std::vector<Box>& boxes, double letter_height) {
  std::vector<int> all(boxes.size());
  std::iota(all.begin(), all.end(), 0);
  const std::vector<std::vector<int>> bands = BandsOf(boxes, std::move(all));
  std::vector<double> edges = ColumnEdges(boxes, bands, letter_height);
  if (edges.size() > 3) JoinHeads(boxes, bands, edges);
  size_t full = 0;  // rows
  for (const std::vector<int>& band : bands) {
    std::set<int> columns;
    for (int i : band) {
      columns.insert(ColumnOf(edges, boxes[static_cast<size_t>(i)].center_x()));
    }
    full += columns.size() >= kTableColumns;
  }
  if (bands.size() < kFewestFullRows || full * 10 < bands.size() * 6) edges.clear();
  return edges;
}

std::optional<Grid> GridOfRows(const std::vector<Box>& lines, const std::vector<int>& group,
                               const Rulings& rulings, double letter_height) {
  const std::vector<std::vector<int>> bands = BandsOf(lines, group);
  std::vector<double> xs = ColumnEdges(lines, bands, letter_height);
  if (xs.size() > 3) JoinHeads(lines, bands, xs);
  Grid grid;
  grid.rows = static_cast<int>(bands.size());
  grid.columns = static_cast<int>(xs.size()) - 1;
  if (grid.rows < 2 || grid.columns < 2) return std::nullopt;
  grid.box = lines[static_cast<size_t>(group[0])];
  for (int i : group) grid.box = Union(grid.box, lines[static_cast<size_t>(i)]);
  grid.is_table = grid.rows >= kTableRows && (grid.columns >= kTableColumns ||
                                              BetweenRulings(grid.box, rulings, letter_height));
  double top = grid.box.y0;
  for (size_t r = 0; r < bands.size(); ++r) {
    Box row = lines[static_cast<size_t>(bands[r][0])];
    for (int i : bands[r]) row = Union(row, lines[static_cast<size_t>(i)]);
    double bottom = grid.box.y1;
    if (r + 1 < bands.size()) {
      double next = 1e18;
      for (int i : bands[r + 1]) next = std::min(next, lines[static_cast<size_t>(i)].y0);
      bottom = (row.y1 + next) / 2;
    }
    for (GridCell& cell : CellsOfRow(lines, bands[r], xs, letter_height)) {
      cell.row = static_cast<int>(r);
      cell.box = {xs[static_cast<size_t>(cell.column)], top,
                  xs[static_cast<size_t>(cell.column + cell.column_span)], bottom};
      grid.cells.push_back(std::move(cell));
    }
    top = bottom;
  }
  return grid;
}

}  // namespace platen::layout
