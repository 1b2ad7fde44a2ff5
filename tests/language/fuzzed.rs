//! What the fuzz targets were given, once more: every input that a target once stumbled over, and the corpus. `tests/fuzz/README.md` tells
//! how new ones are found.

use test_support::kept;

#[allow(unreachable_pub, reason = "the fuzz targets are another crate, which names them")]
#[path = "../fuzz/src/language.rs"]
pub(crate) mod targets;

/// Runs a target on what is kept for it, and says how many inputs that is.
fn run(target: &str) -> usize {
    let (_, run) = targets::TARGETS.iter().find(|(name, _)| *name == target).expect("a target");
    kept::run(target, *run)
}

#[test]
fn the_chart_front_end_takes_what_is_kept() {
    assert!(run("chart") > 0);
}

#[test]
fn the_agent_front_end_takes_what_is_kept() {
    assert!(run("agent") > 0);
}

#[test]
fn the_scxml_front_end_takes_what_is_kept() {
    assert!(run("scxml") > 0);
}

#[test]
fn the_lowering_takes_what_is_kept() {
    assert!(run("lower") > 0);
}

#[test]
fn the_check_takes_what_is_kept() {
    assert!(run("check") > 0);
}

#[test]
fn the_ladder_takes_what_is_kept() {
    assert!(run("ladder") > 0);
}

/// 20,000 answers: each that is read as an option is one that the strict reader of `tests/fuzz/src/strict.rs` sees in it, too.
#[test]
fn an_option_is_only_read_where_a_strict_reader_sees_it() {
    let mut read: std::collections::BTreeMap<&str, u32> = std::collections::BTreeMap::new();
    for seed in 0..20_000_u64 {
        let data = bytes(seed + 1, 2 + seed as usize % 12);
        let rung = targets::read(&data).map_or("none", chartc_runtime::answer::Rung::word);
        *read.entry(rung).or_default() += 1;
    }
    for (rung, least) in [("whole", 500), ("cleaned", 50), ("mention", 300), ("none", 5_000)] {
        assert!(read.get(rung).is_some_and(|count| *count >= least), "{read:?}");
    }
}

/// Bytes that look random and are always the same.
fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as u8
    };
    (0..length).map(next).collect()
}

#[test]
fn most_grown_charts_are_whole() {
    let charts = 60;
    let (mut lowered, mut whole) = (0, 0);
    for seed in 1..=charts {
        let text = targets::grow(&bytes(seed, 30));
        let done = chartc::check(&["a.chart".into()], &chartc::load::Memory::of("a.chart", &text));
        let syntax = done.diagnostics.iter().find(|d| d.rule.code == "C0001");
        assert!(syntax.is_none(), "{:?} in\n{text}", syntax.map(|d| &d.message));
        lowered += usize::from(!done.lowered.is_empty());
        whole += usize::from(!done.charts.is_empty());
    }
    assert_eq!(lowered as u64, charts);
    assert!(whole > 10, "only {whole} are sound");
}
