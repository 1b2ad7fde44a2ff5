//! A store of runs whose file somebody has changed.

mod damage;
mod keep;

use chartc_store::Store;
use damage::{Bytes, changed, damaged};
use keep::{RUNS, Told, begin, look, resume};
use std::sync::OnceLock;

/// Damages the file of a store. The first byte of the input says how: bytes, cells, or cells with a correct checksum. The store is then
/// opened, checked and read, and each run gets an event. The result may be an error or a broken run. A run without a changed cell must
/// continue as before.
pub fn store(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    static BEGUN: OnceLock<(Vec<u8>, Told)> = OnceLock::new();
    let (begun, before) = BEGUN.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("s.db");
        begin(&file);
        let begun = std::fs::read(&file).expect("a file");
        (begun, resume(&file, false).expect("a store"))
    });
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("s.db");
    let mut bytes = Bytes(rest);
    let touched = if first % 3 == 0 {
        std::fs::write(&file, damaged(begun.clone(), &mut bytes)).expect("a disk");
        None
    } else {
        std::fs::write(&file, begun).expect("a disk");
        changed(&file, &mut bytes, first % 3 == 2)
    };
    if let Ok(store) = Store::open(&file) {
        look(&store);
    }
    let told = resume(&file, first & 128 != 0);
    let Some(touched) = touched else { return };
    // A checksum detects damage, not forgery: with the right one, a row may have what nobody writes.
    let Ok(told) = told else { return assert_eq!(first % 3, 2, "{told:?}") };
    for run in RUNS.iter().filter(|run| !touched.contains(**run)) {
        assert_eq!(told.get(run), before.get(run), "{run} beside {touched:?}");
    }
}
