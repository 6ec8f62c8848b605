# bench-table.awk - medians of a benchmark report, for the terminal
match($0, /"run_name": "([^"]*)"/, m) { run = m[1] }
match($0, /"aggregate_name": "([^"]*)"/, m) { agg = m[1] }
match($0, /"cpu_time": ([-+.eE0-9]+)/, m) { cpu = m[1] }
match($0, /"time_unit": "([^"]*)"/, m) && agg == "median" {
  printf "%-48s %14.1f %s\n", run, cpu, m[1] }
