//! What is shown between the words of a file.
