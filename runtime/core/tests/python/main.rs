//! What this crate computes is what CPython 3.11 computes: results stored by the scripts in `tests/data`.

mod arithmetic;
