#!/bin/sh
# Newton's method for a square root, in a shell: parameters are variables, metrics are JSON lines.
set -eu
awk -v guess="$GUESS" -v damping="$DAMPING" -v steps="$1" 'BEGIN {
    for (step = 0; step < steps; step++) {
        error = guess * guess - 2
        printf "{\"step\": %d, \"error\": %.12g}\n", step, error < 0 ? -error : error
        guess -= damping * error / (2 * guess)
    }
}'
