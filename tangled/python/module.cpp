// python/module.cpp: tangled from chapters/10b-python.nw; edit that file, not this one.
#include "attn.h"
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
namespace nb = nanobind;

// hold what is passed from Python

// name the types of arguments
using nb::detail::const_name;
struct In {
  nb::handle from;
  static constexpr auto is = const_name("Array");
};
struct Out {
  nb::handle from;
  static constexpr auto is = const_name("Array");
};
struct AnyRule {
  nb::handle from;
  static constexpr auto is = const_name("Rule");
};
struct Cache {
  attn_cache* c = nullptr;
  ~Cache() { attn_cache_free(c); }
};

// accept any object of Python
namespace nanobind::detail {
template <class T>
struct accepting {
  NB_TYPE_CASTER(T, T::is)
  bool from_python(handle h, std::uint32_t, cleanup_list*) noexcept {
    value.from = h;
    return true;
  }
};
template <> struct type_caster<In> : accepting<In> {};
template <> struct type_caster<Out> : accepting<Out> {};
template <> struct type_caster<AnyRule> : accepting<AnyRule> {};
}  // namespace nanobind::detail

// hold an array of Python
struct Held {
  nb::ndarray<> written;
  nb::ndarray<nb::ro> read;
  attn_view view{};
  bool given = false;
  operator attn_in() const { return given ? &view : nullptr; }
};

// say what the type of an array is
static std::string words_of(nb::dlpack::dtype t) {
  static constexpr const char* kinds[]{
      "signed integers", "unsigned integers", "floating-point numbers",
      nullptr, "numbers of bfloat", "complex numbers", "truth values"};
  const bool known = t.code < std::size(kinds) && kinds[t.code];
  const std::string kind =
      known ? kinds[t.code] : "numbers of kind " + std::to_string(t.code);
  const std::string lanes =
      t.lanes == 1 ? "" : " in " + std::to_string(t.lanes) + " lanes";
  return kind + " of " + std::to_string(t.bits) + " bits" + lanes;
}

// know the type of an array
static int type_of(const std::string& name, nb::dlpack::dtype t) {
  using nb::dlpack::dtype_code;
  const auto is = [&t](dtype_code code, int bits) {
    return t.code == std::uint8_t(code) && t.bits == bits && t.lanes == 1;
  };
  if (is(dtype_code::Float, 32)) return ATTN_F32;
  if (is(dtype_code::Float, 64)) return ATTN_F64;
  if (is(dtype_code::Bfloat, 16)) return ATTN_BF16;
  if (is(dtype_code::Float, 16)) return ATTN_F16;
  if (is(dtype_code::Bool, 8) || is(dtype_code::UInt, 8)) return ATTN_B8;
  throw nb::value_error((name + ": elements are " + words_of(t)).c_str());
}

// describe an array of Python
template <class Array>
static attn_view view_of(const std::string& name, const Array& a) {
  // refuse what no view can describe
  if (a.device_type() != nb::device::cpu::value)
    throw nb::value_error((name + ": is not in this computer's memory"
                           ).c_str());
  if (a.ndim() > 4)
    throw nb::value_error((name + ": rank " + std::to_string(a.ndim()) +
                           ", expected 1 to 4").c_str());
  attn_view v{};
  v.data = const_cast<void*>(static_cast<const void*>(a.data()));
  v.type = type_of(name, a.dtype()), v.rank = std::int32_t(a.ndim());
  for (std::size_t k = 0; k < a.ndim(); ++k)
    v.extent[k] = std::int64_t(a.shape(k)), v.stride[k] = a.stride(k);
  return v;
}
/// Forgets what was raised, if it is a refusal.
static void refusal() {
  if (!PyErr_ExceptionMatches(PyExc_Exception)) throw nb::python_error();
  PyErr_Clear();
}
static bool writable(nb::handle h) {
  Py_buffer b;
  if (!PyObject_CheckBuffer(h.ptr())) return true;
  if (PyObject_GetBuffer(h.ptr(), &b, PyBUF_STRIDED) != 0)
    return refusal(), false;
  return PyBuffer_Release(&b), true;
}
/// Why a tensor of PyTorch is not what its memory says, or nothing.
static const char* hidden(nb::handle h) {
  const nb::object g = nb::getattr(h, "requires_grad", nb::none());
  if (g.ptr() == Py_True) return ", since it needs a gradient";
  if (g.ptr() == Py_False && nb::hasattr(h, "is_neg") &&
      h.attr("is_neg")().ptr() == Py_True)
    return ", since its sign is still to be changed";
  return "";
}
/// h, or a memoryview of it; nothing if there can be none.
static nb::object with_strides(nb::handle h) {
  if (nb::hasattr(h.type(), "__dlpack__") || !PyObject_CheckBuffer(h.ptr()))
    return nb::borrow(h);
  nb::object view = nb::steal(PyMemoryView_FromObject(h.ptr()));
  if (!view.is_valid()) refusal();
  return view;
}
/// What h shows by DLPack, in the older or the newer form, or nothing.
static nb::object shown(nb::handle h, bool newer) {
  static const auto& version = *new nb::tuple(nb::make_tuple(1, 0));
  try {
    const nb::object ask = h.attr("__dlpack__");
    return newer ? ask(nb::arg("max_version") = version) : ask();
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_Exception)) throw;
    return nb::object();
  }
}
static bool shows(nb::handle h, bool write, Held& x) {
  if (*hidden(h)) return false;
  nb::object o = with_strides(h);
  if (nb::hasattr(h.type(), "__dlpack__")) {
    o = shown(h, write);
    if (!o.is_valid()) o = shown(h, !write);
    if (!o.is_valid() && PyObject_CheckBuffer(h.ptr())) o = nb::borrow(h);
  }
  if (!o.is_valid()) return false;
  return write ? writable(h) && nb::try_cast(o, x.written, false)
               : nb::try_cast(o, x.read, false);
}
static Held see(const std::string& name, nb::handle h, bool write) {
  Held x;
  if (h.is_none()) return x;
  x.given = true;
  if (!shows(h, write, x))
    throw nb::value_error((name + ": " +
        std::string(nb::type_name(h.type()).c_str()) +
        (write ? " is no array that can be written"
               : " is no array that can be read") + hidden(h)).c_str());
  x.view = write ? view_of(name, x.written) : view_of(name, x.read);
  return x;
}

// hold a rule of Python
struct HeldRule {
  attn_rule c{};
  Held arrays[4]{};
  explicit HeldRule(nb::handle from) {
    c.size = sizeof c;
    nb::dict given;
    if (PyDict_Update(given.ptr(), from.ptr()) != 0) {
      if (!PyErr_ExceptionMatches(PyExc_AttributeError) &&
          !PyErr_ExceptionMatches(PyExc_TypeError))
        throw nb::python_error();
      PyErr_Clear();
      throw nb::value_error("rule: is not a dictionary");
    }
    for (auto [key, value] : given)
      if (std::string name; !nb::try_cast(key, name, false))
        throw nb::value_error("rule: a name is no text");
      else set(name, value);
  }

  // set a field of a rule
  void set(const std::string& name, nb::handle x) {
  #define NUMBER(field, bit)                                     \
    if (name == #field) {                                        \
      if (x.is_none()) return;                                   \
      c.has |= bit;                                              \
      if (nb::try_cast(x, c.field)) return;                      \
      throw nb::value_error("rule: " #field " is no number"); \
    }
  #define ARRAY(k, field)                                        \
    if (name == #field) {                                        \
      arrays[k] = see(name, x, false);                           \
      c.field = arrays[k];                                       \
      return;                                                    \
    }

    // try all fields of a rule
    NUMBER(scale, ATTN_SCALE)
    NUMBER(softcap, ATTN_SOFTCAP)
    NUMBER(slope, ATTN_SLOPE)
    NUMBER(sink, ATTN_SINK)
    NUMBER(offset, ATTN_OFFSET)
    NUMBER(left, ATTN_LEFT)
    NUMBER(right, ATTN_RIGHT)
    NUMBER(queries, ATTN_QUERIES)
    NUMBER(keys, ATTN_KEYS)
    ARRAY(0, bias)
    ARRAY(1, keep)
    ARRAY(2, slopes)
    ARRAY(3, sinks)
  #undef NUMBER
  #undef ARRAY
    throw nb::value_error(("rule: no field is called " + name).c_str());
  }
};

// give an argument the form that C takes
struct RuleHolder {
  std::unique_ptr<HeldRule> rule;
  operator const attn_rule*() const { return rule ? &rule->c : nullptr; }
};
static Held raw(const std::string& n, In x) { return see(n, x.from, false); }
static Held raw(const std::string& n, Out x) { return see(n, x.from, true); }
static RuleHolder raw(const std::string&, const AnyRule* r) {
  return {r && !r->from.is_none() ? std::make_unique<HeldRule>(r->from)
                                  : nullptr};
}
static attn_cache* raw(const std::string&, Cache* x) { return x->c; }
static attn_cache** raw(const std::string&, Cache** x) { return &(*x)->c; }
template <class T> static T raw(const std::string&, T x) { return x; }

// raise what a call refused
static void refuse(int code) {
  PyObject* const kind = code == ATTN_MEMORY ? PyExc_MemoryError
                       : code == ATTN_INTERNAL ? PyExc_RuntimeError
                                               : PyExc_ValueError;
  const char* said = attn_message();
  const auto text = nb::steal(PyUnicode_DecodeUTF8(
      said, Py_ssize_t(std::strlen(said)), "replace"));
  if (text.is_valid()) PyErr_SetObject(kind, text.ptr());
  throw nb::python_error();
}

// find the next name
static std::string next_name(const char*& at) {
  while (*at == '(' || *at == ',' || *at == ' ') ++at;
  const char* from = at;
  while (*at != ',' && *at != ')') ++at;
  return {from, at};
}

// call without Python's lock
template <class F>
struct Call {
  F* f;
  const char* names;
  template <class... X>
  void operator()(X... x) const {
    const char* at = names;
    const std::tuple held{raw(next_name(at), x)...};
    int code;
    {
      const nb::gil_scoped_release others_run;
      code = std::apply(f, held);
    }
    if (code != ATTN_OK) refuse(code);
  }
};

// make the functions that Python sees
#define attn_in In
#define attn_out Out
#define attn_rule AnyRule
#define attn_cache Cache
#define ATTN_FUNCTION(name, parameters, arguments)                        \
  [[maybe_unused]] static void name parameters {                          \
    Call<decltype(::attn_##name)>{::attn_##name, #arguments} arguments; \
  }
#define ATTN_OF_CACHE ATTN_FUNCTION
namespace door {
#include "list.h"
}  // namespace door
#undef attn_in
#undef attn_out
#undef attn_rule
#undef attn_cache
#undef ATTN_FUNCTION
#undef ATTN_OF_CACHE

// keep the list as a text
static const std::string list =
#include "list_text.h"
    ;
/// The comment above the entry of that name.
static const char* doc_of(const std::string& name) {
  static std::deque<std::string> docs;
  const auto at = list.find("(" + name + ",");
  const auto from = list.rfind("/**", at) + 3, to = list.rfind("*/", at);
  std::istringstream words(list.substr(from, to - from));
  std::string& doc = docs.emplace_back();
  for (std::string w; words >> w;) doc += (doc.empty() ? "" : " ") + w;
  return doc.c_str();
}

// define a function in Python
template <class P>
static auto named(const char* name) {
  if constexpr (std::is_arithmetic_v<P>) return nb::arg(name);
  else return nb::arg(name).none();
}
template <class To, class... P>
static void define(To& to, const char* as, const std::string& name,
                   const char* names, void (*f)(P...)) {
  constexpr bool method = !std::is_same_v<To, nb::module_>;
  constexpr bool in_c = ((std::is_same_v<P, Cache**> ||
                          std::is_same_v<P, std::int64_t*> ||
                          std::is_same_v<P, char*>) || ...);
  if constexpr (!in_c && sizeof...(P) > method) {
    static std::deque<std::string> kept;
    if (method) next_name(names);
    [&]<std::size_t... k>(std::index_sequence<k...>) {
      const char* n[]{(static_cast<void>(k), kept.emplace_back(
                           next_name(names)).c_str())...};
      to.def(as, f, doc_of(name), named<std::tuple_element_t<
                 k + method, std::tuple<P...>>>(n[k])...);
    }(std::make_index_sequence<sizeof...(P) - method>{});
  }
}

// define all functions of the list
static void define_list(nb::module_& module, nb::class_<Cache>& cache) {
#define ATTN_FUNCTION(name, parameters, arguments) \
  define(module, #name, #name, #arguments, door::name);
#define ATTN_OF_CACHE(name, parameters, arguments)            \
  define(cache, #name + (#name[0] == 'c' ? 6 : 0), #name,     \
         #arguments, door::name);
#include "list.h"
#undef ATTN_FUNCTION
#undef ATTN_OF_CACHE
}

// define the rest of the module
NB_MODULE(_attn, m) {
  nb::set_leak_warnings(false);

  // define a cache in Python
  nb::class_<Cache> cache(m, "Cache",
      "Keys and values of G heads; type 1 is float, 2 double.");
  cache.def("__init__", [](Cache* self, int type, std::int64_t G,
                           std::int64_t d, std::int64_t e) {
    new (self) Cache;
    door::cache_new(type, G, d, e, &self);
  }, nb::arg("type"), nb::arg("G"), nb::arg("d"), nb::arg("e"));
  cache.def("__len__", [](Cache& self) {
    std::int64_t first, end;
    door::cache_rows(&self, &first, &end);
    return end - first;
  });
  define_list(m, cache);

  // define a text that C writes
  m.def("subscripts", [](const std::string& text) {
    if (text.find('\0') != text.npos)
      throw nb::value_error("eq: a text with a zero in it");
    char program[1024];
    door::subscripts(text.c_str(), program, sizeof program);
    return std::string(program);
  }, nb::arg("text"), doc_of("subscripts"));
  m.def("cpu", [] { return attn_cpu(); }, "The code in use.");
  m.def("version", [] { return attn_version(); });
  m.def("use_cpu", [](const std::optional<std::string>& name) {
    if (const int code = attn_use_cpu(name ? name->c_str() : nullptr))
      refuse(code);
  }, nb::arg("name").none());
}
