# slim-json.awk - of a benchmark report keep what is measured, not the host
/"(host_name|executable|date|load_avg)"/ { next }
{ print }
