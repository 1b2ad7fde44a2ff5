//! Many agents in one process: the memory of each, and the time of its events and turns, compared with hand-written structs.

mod charts;
mod events;
mod hand;
mod times;
mod weight;

use charts::Which;
use std::process::Command;
use std::task::{Context, Poll, Waker};

/// Prints a table with a column for each number of agents.
pub(crate) fn run(sizes: &[usize]) {
    print!("{:<48}", "agents");
    for size in sizes {
        print!(" {size:>10} {:>7}", "");
    }
    println!();
    for which in [Which::Tiny, Which::Social] {
        println!(
            "resident bytes of an idle agent, chart `{}`, and beside a struct by hand",
            which.name()
        );
        let mut hand = vec![None; sizes.len()];
        for (kind, words) in weight::KINDS {
            print!("  {words:<46}");
            for (size, hand) in sizes.iter().zip(&mut hand) {
                let bytes = told(&["weight", kind, which.name(), &size.to_string()]);
                cell(bytes, hand, "");
            }
            println!();
        }
    }
    println!("times, and beside the first of each group");
    let mut first = vec![None; sizes.len()];
    for (what, words, unit) in times::TIMES {
        if !words.starts_with(' ') {
            first.fill(None);
        }
        print!("  {:<46}", format!("{words}, {unit}"));
        for (size, first) in sizes.iter().zip(&mut first) {
            cell(told(&["time", what, &size.to_string()]), first, "");
        }
        println!();
    }
}

/// Prints a number and its ratio to the first number of its group.
fn cell(number: Option<f64>, first: &mut Option<f64>, none: &str) {
    let Some(number) = number else {
        print!(" {none:>10} {none:>7}");
        return;
    };
    let beside = first.filter(|first| *first > 0.0).map(|first| format!("{:.1}×", number / first));
    let digits = usize::from(number < 100.0);
    print!(" {number:>10.digits$} {:>7}", beside.unwrap_or_default());
    first.get_or_insert(number);
}

/// Measures one number, in a separate process.
pub(crate) fn report(words: &[String]) {
    let number = |word: &String| word.parse().unwrap_or_default();
    match words {
        [what, kind, which, agents] if what == "weight" => {
            if let Some(which) = Which::of(which) {
                weight::report(kind, which, number(agents));
            }
        }
        [what, time, agents] if what == "time" => times::report(time, number(agents)),
        _ => {}
    }
}

fn told(arguments: &[&str]) -> Option<f64> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new(program).arg("crowd-alone").args(arguments).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// Polls a future that never has to wait.
fn wait<T>(work: impl Future<Output = T>) -> T {
    match std::pin::pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => unreachable!("nothing in it waits for anybody else"),
    }
}
