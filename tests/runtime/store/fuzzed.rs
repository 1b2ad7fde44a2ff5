//! Replays the fuzz target of stores.

#[allow(unreachable_pub, reason = "the fuzz targets are another crate, which names them")]
#[path = "../../fuzz/src/store/mod.rs"]
pub(crate) mod targets;

use test_support::kept;

#[test]
fn a_store_takes_what_is_kept() {
    assert!(kept::run("store", targets::store) > 0);
}
