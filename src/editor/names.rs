//! Where a name is declared, where it is used, and how to rename it.
