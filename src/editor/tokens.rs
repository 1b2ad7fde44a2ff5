//! The kind of each word of a file.
