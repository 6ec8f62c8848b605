#include "worked.hpp"

double in_float() { return worked_example<float>(); }
