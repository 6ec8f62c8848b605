// c/views.hpp: tangled from chapters/10a-doors.nw; edit that file, not this one.
#pragma once
#include "table.hpp"
#include "attn/flash.hpp"
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <list>
#include <string_view>

namespace attn::door {
/// More bytes than any address space has.
inline constexpr Index too_far = Index(1) << 60;

// know the size of an element
/// Bytes of an element, 0 for a type that is none.
inline Index bytes_of(int type) {
  switch (type) {
    case ATTN_F32: return 4;
    case ATTN_F64: return 8;
    case ATTN_BF16: case ATTN_F16: return 2;
    case ATTN_B8: return 1;
    default: return 0;
  }
}

// hold a view whose claims were examined
/// A caller's array of rank 4, strides in bytes; type 0 if there is none.
struct Array {
  std::string_view name;
  char* data = nullptr;
  int type = 0, rank = 0;
  Index place = 0;
  std::array<Index, 4> n{1, 1, 1, 1}, step{0, 0, 0, 0};
  bool given() const { return type != 0; }
  Index size() const { return n[0] * n[1] * n[2] * n[3]; }
  Index bytes() const { return bytes_of(type); }

  // find an element of an array
  char* at(Index b, Index h, Index i = 0, Index j = 0) const {
    return data + (n[0] > 1 ? b * step[0] : 0) +
           (n[1] > 1 ? h * step[1] : 0) + i * step[2] + j * step[3];
  }
};

// examine a view
/// v with its claims examined, of rank lo .. hi; a vector's entries are
/// rows.  Throws std::invalid_argument.
inline Array examined(const char* who, const char* name, attn_in v,
                      int lo, int hi, bool vector = false) {
  Array a{name};
  if (!v) return a;
  require(bytes_of(v->type) > 0, who, ": ", name, " has the type ",
          v->type);
  require(lo <= v->rank && v->rank <= hi, who, ": ", name, " has rank ",
          v->rank, ", expected ", lo, " to ", hi);
  a.type = v->type, a.rank = v->rank;
  a.data = static_cast<char*>(v->data);

  // take over extents and strides of a view
  const int first = 4 - a.rank - int(vector);
  Index volume = a.bytes(), reach = 0;
  for (int k = 0; k < a.rank; ++k) {
    const auto at = std::size_t(first + k);
    const Index n = v->extent[k], t = v->stride[k];
    Index step = 0, far = 0;
    require(n >= 0, who, ": ", name, " has a negative extent, ", n);

    // see whether an extent and a stride are too large
    const bool bad =
        __builtin_mul_overflow(volume, std::max<Index>(n, 1), &volume) ||
        __builtin_mul_overflow(t, a.bytes(), &step) ||
        step <= -too_far || step >= too_far ||
        __builtin_mul_overflow(step < 0 ? -step : step,
                               std::max<Index>(n - 1, 0), &far) ||
        __builtin_add_overflow(reach, far, &reach) || reach >= too_far;
    require(!bad, who, ": ", name, " is too large: extent ", n,
            " and stride ", t);
    a.n[at] = n, a.step[at] = step;
  }

  // refuse an address that cannot be one
  const auto address = reinterpret_cast<std::uintptr_t>(a.data);
  require(a.size() == 0 || a.data, who, ": ", name, " has no address");
  require(a.n[0] * a.n[1] <= 1 << 24, who, ": ", name, " has ",
          a.n[0] * a.n[1], " heads");
  require(address % std::uintptr_t(a.bytes()) == 0, who, ": ", name,
          " is not aligned to elements of ", a.bytes(), " bytes");

  // find the place of an array
  if (a.size() == 0) a.step = {};
  static_assert(sizeof(address) == 8 && sizeof(Index) == 8);
  a.place = Index(address << 8 >> 8);
  return a;
}

// say whether an array is nested
/// Is it certain that no two elements overlap (def. doors-nested)?
inline bool nested(const Array& a) {
  if (a.size() == 0) return true;

  // sort dimensions by their strides
  std::array<std::pair<Index, Index>, 4> dims;
  for (std::size_t k = 0; k < 4; ++k)
    dims[k] = {a.n[k] > 1 ? std::abs(a.step[k]) : 0, a.n[k]};
  std::sort(dims.begin(), dims.end());
  Index reach = 0;
  for (const auto& [step, n] : dims) {
    if (n <= 1) continue;
    if (step <= reach) return false;
    reach += (n - 1) * step;
  }
  return true;
}

// find the bytes that an array spans
/// Place of the first byte of an array and of the first behind it.
struct Span {
  Index lo, hi;
};
inline Span span_of(const Array& a) {
  Span s{a.place, a.place + a.bytes()};
  for (std::size_t k = 0; k < 4; ++k)
    (a.step[k] < 0 ? s.lo : s.hi) +=
        std::max<Index>(a.n[k] - 1, 0) * a.step[k];
  return s;
}

// say whether two arrays are disjoint
/// Is it certain that no byte belongs to both (prop. doors-fold)?
inline bool disjoint(Array a, Array b) {
  if (a.size() == 0 || b.size() == 0) return true;
  const Span s = span_of(a), t = span_of(b);
  if (s.hi <= t.lo || t.hi <= s.lo) return true;
  Index stride = 0;
  std::size_t p = 0, q = 0;

  // find the longest stride that both have
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      const Index x = std::abs(a.step[i]), y = std::abs(b.step[j]);
      if (a.n[i] > 1 && b.n[j] > 1 && x == y && x > stride)
        stride = x, p = i, q = j;
    }
  if (stride == 0) return false;
  a.n[p] = b.n[q] = 1;

  // move the second array near the first
  const Index from = span_of(a).lo;
  const Index away = (span_of(b).lo - from) % stride;
  b.place += (away < 0 ? away + stride : away) + from - span_of(b).lo;
  return std::max(span_of(a).hi, span_of(b).hi) - from <= stride &&
         disjoint(a, b);
}

// hold what a call reads and writes
/// The arrays of a call, examined as they are named.
struct Call {
  const char* who;
  std::vector<Array> in{}, out{};
  Call(const char* w) : who(w) { in.reserve(8), out.reserve(8); }

  // name what is read and what is written
  Array reads(const char* name, attn_in v, int lo = 2, int hi = 4,
              bool vector = false) {
    in.push_back(examined(who, name, v, lo, hi, vector));
    return in.back();
  }
  Array writes(const char* name, attn_out v, bool vector = false) {
    out.push_back(examined(who, name, v, vector ? 1 : 2, vector ? 3 : 4,
                           vector));
    return out.back();
  }

  // demand arrays that are there
  void needs(std::initializer_list<const Array*> all) const {
    for (const Array* a : all)
      require(a->given(), who, ": ", a->name, " is null");
  }

  // demand that nothing overlaps
  bool in_place = false;
  static bool same(const Array& a, const Array& b) {
    return a.place == b.place && a.type == b.type && a.n == b.n &&
           a.step == b.step;
  }
  void keeps_apart() const {
    const auto apart = [this](const Array& a, const Array& b) {
      require(disjoint(a, b) || disjoint(b, a), who, ": ", a.name,
              " overlaps ", b.name);
    };
    for (std::size_t k = 0; k < out.size(); ++k) {
      if (!out[k].given()) continue;
      require(nested(out[k]), who, ": elements of ", out[k].name,
              " overlap each other");
      for (const Array& a : in)
        if (a.given() && !(in_place && same(out[k], a))) apart(out[k], a);
      for (std::size_t l = 0; l < k; ++l)
        if (out[l].given()) apart(out[k], out[l]);
    }
  }

  // demand one kind of numbers
  /// Is the call one of double precision?  Throws std::invalid_argument for
  /// a mixture.
  bool in_double() const {
    bool any = false, all = true;
    for (const auto* list : {&in, &out})
      for (const Array& a : *list) {
        if (!a.given() || a.name == "keep") continue;
        require(a.type != ATTN_B8, who, ": ", a.name, " has no numbers");
        (a.type == ATTN_F64 ? any : all) = a.type == ATTN_F64;
      }
    require(any == all, who, ": double precision mixed with other types");
    return any;
  }
};

// convert elements one by one
template <class T, class E>
T converted(E x) {
  if constexpr (sizeof(T) == 2 || sizeof(E) == 2)
    return static_cast<T>(static_cast<float>(x));
  else
    return static_cast<T>(x);
}
/// Calls f with a number of the given type.
template <class F>
void with_type(int type, F f) {
  switch (type) {
    case ATTN_F32: return f(float{});
    case ATTN_F64: return f(double{});
    case ATTN_BF16: return f(Eigen::bfloat16{});
    case ATTN_F16: return f(Eigen::half{});
    default: return f(static_cast<unsigned char>(0));
  }
}

// meet the elements of a matrix
/// Calls f(e, i, j) for the elements e of one matrix of an array.
template <class F>
void each_element(const Array& a, Index b, Index h, F f) {
  if (a.size() == 0) return;
  with_type(a.type, [&]<class E>(E) {
    for (Index i = 0; i < a.n[2]; ++i) {
      char* const row = a.at(b, h, i);
      for (Index j = 0; j < a.n[3]; ++j)
        f(*reinterpret_cast<E*>(row + j * a.step[3]), i, j);
    }
  });
}

// make room for matrices
/// Matrices of a call in arithmetic T: views of the caller's where that is
/// possible, and copies.
template <class T>
struct Room {
  struct Pending {
    Array to;
    Index b, h;
    Matrix<T>* from;
  };
  std::list<Matrix<T>> kept{};
  std::vector<Pending> pending{};

  // see whether rows are contiguous
  static constexpr int type = sizeof(T) == 8 ? ATTN_F64 : ATTN_F32;
  static bool direct(const Array& a) {
    const Index size = sizeof(T);
    return a.type == type && (a.n[3] <= 1 || a.step[3] == size) &&
           (a.n[2] <= 1 || a.step[2] >= a.n[3] * size);
  }
  static Index stride(const Array& a) {
    return a.n[2] > 1 ? a.step[2] / Index(sizeof(T)) : a.n[3];
  }

  // take a matrix of an input
  In<T> in(const Array& a, Index b, Index h) {
    if (direct(a))
      return {reinterpret_cast<T*>(a.at(b, h)), a.n[2], a.n[3],
              Eigen::OuterStride<>(stride(a))};
    Matrix<T>& m = kept.emplace_back(a.n[2], a.n[3]);
    each_element(a, b, h, [&m](const auto& e, Index i, Index j) {
      m(i, j) = converted<T>(e);
    });
    return view_in<T>(m);
  }

  // give a matrix of an output
  Out<T> out(const Array& a, Index b, Index h) {
    if (direct(a))
      return {reinterpret_cast<T*>(a.at(b, h)), a.n[2], a.n[3],
              Eigen::OuterStride<>(stride(a))};
    Matrix<T>& m = kept.emplace_back(Matrix<T>::Zero(a.n[2], a.n[3]));
    pending.push_back({a, b, h, &m});
    return view_out(m);
  }
  template <class M>
  void fill(const char* who, const Array& a, Index b, Index h, M m) {
    require(m.rows() == a.n[2] && m.cols() == a.n[3], who, ": ", a.name,
            " is ", a.n[2], "x", a.n[3], ", expected ", shape(m));
    pending.push_back({a, b, h, &kept.emplace_back(std::move(m))});
  }

  // add to a matrix of an output
  void add(const Array& a, Index b, Index h, const Matrix<T>& m) {
    for (const Pending& p : pending)
      if (p.to.name == a.name && p.to.at(p.b, p.h) == a.at(b, h)) {
        *p.from += m;
        return;
      }
    pending.push_back({a, b, h, &kept.emplace_back(m)});
  }

  // deliver what was computed
  void deliver() {
    for (const Pending& p : pending)
      each_element(p.to, p.b, p.h, [&p]<class E>(E& e, Index i, Index j) {
        e = converted<E>((*p.from)(i, j));
      });
  }
};

// turn exceptions into numbers
/// Calls f; what it throws becomes a number and a message.
template <class F>
int guarded(F f) noexcept {
  try {
    f();
    return ATTN_OK;
  } catch (const std::invalid_argument& e) {
    return attn_fail(ATTN_ARGUMENT, e.what());
  } catch (const std::domain_error& e) {
    return attn_fail(ATTN_VALUE, e.what());
  } catch (const std::bad_alloc&) {
    return attn_fail(ATTN_MEMORY, "out of memory");
  } catch (const std::length_error&) {
    return attn_fail(ATTN_MEMORY, "more elements than memory can hold");
  } catch (const std::exception& e) {
    return attn_fail(ATTN_INTERNAL, e.what());
  } catch (...) {
    return attn_fail(ATTN_INTERNAL, "an unknown exception");
  }
}
}  // namespace attn::door
