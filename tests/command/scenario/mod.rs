//! `chartc test` and `chartc explore`: tests of charts, played from the command line.

mod checking;
mod coverage;
mod exploring;
mod hostile;
mod output;
mod shipped;

use crate::found;
use chartc::diagnostic::Severity;
use std::path::{Path, PathBuf};
use std::process::Command;
use test_support::cases::{Files, Form, Found, compare};

/// A chart that asks a model, a host function, a tool and a person.
const DESK: &str = r#"
type Order { id: Text  total: Float }
tool shop.order(id: Text) -> Order
tools shop = shop.*
fn vip(name: Text) -> Bool else false
do tell(text: Text)
enum Verdict { yes  no }

chart Desk {
  param limit: Float in 0.0..100.0 = 50.0
  input hour: Int = 9
  event knock(name: Text)
  event leave
  var name: Text = ""
  var order: Order? = none
  var verdict: Verdict = Verdict.no
  initial idle
  state idle {
    on knock(who) if vip(who) -> done { tell("welcome " + who) }
    on knock(who) -> sorting { name = who }
  }
  state sorting {
    ask next on turn else idle { prompt "{name} at {hour}: {options}"  retry 1 }
    may call shop into order
    may note(text: Text) "keep it" -> asking { tell(text) }
    may drop "forget it"           -> idle
    after 10m -> idle
  }
  state asking {
    human approve "Well?" {
      returns Verdict into verdict
      done if verdict == Verdict.yes -> done
      done -> idle
    }
    on leave -> idle
    advice "Somebody has to answer."
  }
  state done { llm sum { prompt "Sum up."  returns Int }  on done(sum) as n -> over(n) }
  final over(count: Int) : partial
}
"#;

/// A fresh folder of this name.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("scenario-{name}"));
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("the folder is the test's own");
    }
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

/// What a command prints, and its exit code.
fn chartc(folder: &Path, arguments: &[&str]) -> (String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_chartc"))
        .args(arguments)
        .current_dir(folder)
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .output()
        .expect("chartc runs");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).expect("chartc prints text");
    (text, output.status.code().expect("it ends by itself"))
}

/// Plays the tests of a text.
pub(crate) fn play(name: &str, text: &str) -> (String, i32) {
    let folder = folder(name);
    std::fs::write(folder.join("it.chart"), text).expect("the folder can be written");
    chartc(&folder, &["test", "it.chart"])
}

/// Errors of a check, and a finding for each failed test.
fn played(files: &Files) -> Vec<Found> {
    let done = found::checked(files);
    let errors = done.diagnostics.iter().filter(|d| d.severity == Severity::Error).cloned();
    let failed = chartc::scenario::failed(&done);
    errors.chain(failed).map(|d| found::listed(&done, &d)).collect()
}

#[track_caller]
fn listed(file: &str) {
    let path = format!("tests/command/scenario/{file}.cases");
    compare(&path, Form::File("it.chart"), &played);
}

/// What is expected holds, or the test fails there and says what was found. Nothing is answered that the test does not answer.
#[test]
fn desk() {
    listed("desk");
}

/// What happens at the same time: charts that run others, elements of a step, regions.
#[test]
fn together() {
    listed("together");
}

/// Where a failed test says that the fault may lie.
#[test]
fn blaming() {
    listed("blaming");
}
