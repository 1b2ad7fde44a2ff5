//! The declarations of a file, as a tree.
