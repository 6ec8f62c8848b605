// c/exports.h: tangled from chapters/10a-doors.nw; edit that file, not this one.
#define ATTN_FUNCTION(name, parameters, arguments) attn_##name;
#define ATTN_OF_CACHE ATTN_FUNCTION
ATTN_1 {
  global:
    attn_message; attn_version; attn_cpu; attn_use_cpu;
#include "list.h"
  local: *;
};
