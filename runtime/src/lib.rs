//! Runs charts.
