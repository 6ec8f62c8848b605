// tests/flash_must_fail.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
// one promise too many in each case
#if CASE == 1
#define __FAST_MATH__ 1
#include "attn/exp2.hpp"
// expect: -ffast-math breaks the exponential
#elif CASE == 2
#define __ASSOCIATIVE_MATH__ 1
#include "attn/exp2.hpp"
// expect: -ffast-math breaks the exponential
#elif CASE == 3
#undef __FINITE_MATH_ONLY__
#define __FINITE_MATH_ONLY__ 1
#include "attn/exp2.hpp"
// expect: -ffast-math breaks the exponential
#elif CASE == 4
#undef __FLT_EVAL_METHOD__
#define __FLT_EVAL_METHOD__ 2
#include "attn/exp2.hpp"
// expect: sums must be rounded to their type
#endif
