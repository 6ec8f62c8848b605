// c/first.c: tangled from chapters/10a-doors.nw; edit that file, not this one.
#include <attn.h>
#include <stdio.h>

// show an array of two columns
static attn_view rows(double *data, int64_t n, int64_t d) {
  attn_view v = {data, ATTN_F64, 2, {n, d, 0, 0}, {d, 1, 0, 0}};
  return v;
}
int main(void) {
  double Q[4] = {1, 0, 0, 1}, V[2] = {1, 2}, O[2];
  attn_view q = rows(Q, 2, 2), v = rows(V, 2, 1), o = rows(O, 2, 1);
  if (attn_flash(&q, &q, &v, NULL, &o, NULL) != ATTN_OK) {
    fprintf(stderr, "%s\n", attn_message());
    return 1;
  }
  printf("%f %f\n%s\n", O[0], O[1], attn_cpu());
  return 0;
}
