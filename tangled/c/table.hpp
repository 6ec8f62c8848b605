// c/table.hpp: tangled from chapters/10a-doors.nw; edit that file, not this one.
#pragma once
#include "attn.h"

/// What the code for one kind of processor can do.
struct attn_table {
#define ATTN_FUNCTION(name, parameters, arguments) int(*name) parameters;
#define ATTN_OF_CACHE ATTN_FUNCTION
#define ATTN_ONLY_KERNEL
#include "list.h"
#undef ATTN_ONLY_KERNEL
#undef ATTN_OF_CACHE
#undef ATTN_FUNCTION
};

// know what stands behind the opaque address
struct attn_table;
struct attn_cache {
  const attn_table* table;
  void* state;
};
/// Keeps a message for this thread; returns the code.
extern "C" int attn_fail(int code, const char* message);
