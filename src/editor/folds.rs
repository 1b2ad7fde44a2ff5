//! Parts of a file that can be folded.
