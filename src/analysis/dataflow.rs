//! Which variables are set before they are read.
