//! The language server: the Language Server Protocol on standard input and output, around [`crate::editor`].
