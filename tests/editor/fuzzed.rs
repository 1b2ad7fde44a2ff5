//! Replays the fuzz target of the language server.

#[allow(unreachable_pub, reason = "the fuzz targets are another crate, which names them")]
#[path = "../fuzz/src/editor/mod.rs"]
pub(crate) mod editor;

use test_support::kept;

#[test]
fn the_language_server_takes_what_is_kept() {
    assert!(kept::run("lsp", editor::lsp) > 0);
}
