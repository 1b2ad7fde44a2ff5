//! What whoever runs the crowd relies on.

use crowd_example::options::Options;
use crowd_example::{World, show};

fn options(agents: usize, seed: u64) -> Options {
    Options { agents, rounds: 12, seed }
}

/// What is shown of some rounds, each of which is checked.
fn shown(options: &Options) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let mut world = World::new(options, &mut |_, _| ()).await.expect("they are made");
        let mut lines = Vec::new();
        for number in 1..=options.rounds {
            world.round(&mut |_, _| ()).await.expect("a round");
            let states = world.state_distribution();
            let all: usize = states.iter().map(|(_, count)| count).sum();
            assert_eq!(all, options.agents, "nobody is lost, and nobody is counted twice");
            let bar = show::bar(&states, false);
            assert_eq!(bar.len(), show::WIDTH, "{bar}");
            lines.push(format!("{number} {states:?} {}", world.stand_in.asked()));
        }
        assert!(world.stand_in.asked() > 0, "somebody was asked");
        let counts = world.done.counts();
        assert!(counts.iter().all(|count| *count > 0), "all is done by somebody: {counts:?}");
        lines.push(format!("{counts:?}"));
        let counted = world.state_distribution();
        let sessions = world.into_sessions();
        for (state, count) in counted {
            let there = sessions.iter().filter(|one| one.machine().is_in(state)).count();
            assert_eq!(count, there, "{state}");
        }
        lines
    })
}

#[test]
fn a_crowd_of_one_seed_lives_the_same() {
    let one = shown(&options(1000, 7));
    assert_eq!(one, shown(&options(1000, 7)));
    assert_ne!(one, shown(&options(1000, 8)));
}

#[test]
fn the_command_line_says_what_is_wrong_with_it() {
    let read = |line: &str| Options::read(line.split_whitespace().map(str::to_owned));
    let wanted = Options { agents: 10, rounds: 3, seed: 5 };
    assert_eq!(read("--agents 10 --rounds 3 --seed 5"), Ok(Some(wanted)));
    assert_eq!(read(""), Ok(Some(Options::default())));
    assert_eq!(read("--agents 10 --help"), Ok(None));
    for (line, why) in [
        ("--agnets 10", "there is no option `--agnets`; `--help` lists them"),
        ("--agents", "`--agents` needs a number"),
        ("--agents many", "`--agents` needs a number, not `many`"),
        ("--rounds 0", "`--rounds` must be from 1 to 1000000, and is 0"),
    ] {
        assert_eq!(read(line), Err(why.to_owned()), "{line}");
    }
}

#[test]
fn a_bar_is_full_whatever_the_shares_are() {
    let states = crowd_example::social::State::ALL;
    let basic: Vec<_> = states.into_iter().filter(|s| !s.to_string().is_empty()).collect();
    for counts in [[1, 0, 0], [1, 1, 1], [999_999, 1, 0], [7, 11, 13]] {
        let shares: Vec<_> = basic.iter().copied().zip(counts).collect();
        assert_eq!(show::bar(&shares, false).len(), show::WIDTH);
        assert!(show::bar(&shares, true).contains("\x1b[0m"));
        assert!(!show::bar(&shares, false).contains('\x1b'));
    }
    assert_eq!(show::bar(&[], false), "");
    assert_eq!(show::grouped(1_234_567), "1,234,567");
}
