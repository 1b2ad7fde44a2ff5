//! What can be done about findings: their fixes, and a comment that allows them.
