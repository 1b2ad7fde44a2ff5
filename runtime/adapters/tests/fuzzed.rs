//! Replays the fuzz targets of the server and of tool servers.

#[allow(unreachable_pub, reason = "the fuzz targets are another crate, which names them")]
#[allow(clippy::disallowed_methods, reason = "tests read and write files")]
#[path = "../../../tests/fuzz/src/network/mod.rs"]
pub(crate) mod network;

use test_support::kept;

#[test]
fn the_server_takes_what_is_kept() {
    assert!(kept::run("http", network::http) > 0);
}

#[test]
fn the_context_protocol_takes_what_is_kept() {
    assert!(kept::run("mcp", network::mcp) > 0);
}
