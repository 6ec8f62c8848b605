// tests/prelude.hpp: tangled from chapters/91-checking.nw; edit that file, not this one.
#include <boost/test/results_collector.hpp>
#include <boost/test/unit_test.hpp>
#include <rapidcheck.h>
#include <Eigen/Dense>
