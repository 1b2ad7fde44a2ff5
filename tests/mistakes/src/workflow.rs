//! Random agents as their authors would write them: a way from the start to an end, with turns back, questions, waits and code.

use crate::random::Random;
use crate::scenarios::{Deed, Meant, Place, scenarios};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const DEEDS: &[&str] = &[
    "gather", "sort", "draft", "review", "check", "repair", "publish", "compare", "answer", "plan",
];
const MOODS: &str = "calm  busy  upset";

/// A chart of 4 to 9 states, and its tests; most have no findings.
pub(crate) fn workflow(random: &mut Random) -> (String, String) {
    let count = 4 + random.below(6);
    let mut deeds: Vec<&str> = DEEDS.to_vec();
    random.shuffle(&mut deeds);
    let names: Vec<&str> = deeds[..count].to_vec();
    let mut out = String::new();
    let has_mood = random.chance(40);
    if has_mood {
        let _ = writeln!(out, "enum Mood {{ {MOODS} }}\n");
    }
    let _ = writeln!(out, "/// Works through a ticket.\nchart Worker {{");
    let _ = writeln!(out, "  param agent: Text\n  param patience: Int in 1..9 = 3");
    let _ =
        writeln!(out, "  input balance: Float = 100.0\n  event stop\n  event reply(text: Text)\n");
    let _ = writeln!(
        out,
        "  var tries: Int = 0\n  var notes: Text = \"\"\n  var is_rich: Bool = false"
    );
    if has_mood {
        let _ = writeln!(out, "  var mood: Mood = Mood.calm");
    }
    let (retries, turns) = (1 + random.below(3), 50 + 10 * random.below(20));
    let _ = writeln!(
        out,
        "\n  defaults {{ retry {retries} then fail }}\n  limits {{ turns {turns} }}\n"
    );
    let rich_from = 10 + random.below(90);
    let _ = writeln!(out, "  code measure {{\n    is_rich = balance >= {rich_from}.0\n  }}\n");
    let mut meant = Meant { states: Vec::new(), retries, rich_from };
    // The moves of half of them stand in a table, too.
    let (has_table, mut moves, mut body) = (random.chance(50), BTreeSet::new(), String::new());
    let uses_mood = has_mood.then(|| random.below(count));
    let (rich_at, note_at) = (random.below(count), random.below(count));
    for i in 0..count {
        let next = names.get(i + 1).copied().unwrap_or("finished");
        let back = names[random.below(i + 1)];
        let of = State {
            name: names[i],
            next,
            back,
            mood: uses_mood == Some(i),
            rich: rich_at == i,
            note: note_at == i,
        };
        let deed = state(&mut body, &mut moves, random, &of);
        meant.states.push(Place {
            name: names[i].to_owned(),
            next: next.to_owned(),
            back: back.to_owned(),
            has_notes: of.note && matches!(deed, Deed::Pay | Deed::Work | Deed::Choose(_)),
            deed,
        });
    }
    for (from, to) in moves.iter().filter(|_| has_table) {
        let _ = writeln!(out, "  allow {from} -> {to}");
    }
    let _ = writeln!(out, "  initial {}\n\n{body}  on stop -> stopped\n", names[0]);
    let _ = writeln!(
        out,
        "  final finished\n  final stopped : canceled\n  final given_up(why: Text) : stuck\n"
    );
    let _ = writeln!(out, "  check reaches(finished)\n  check always_reaches(finished)");
    // Nothing is left out on the way.
    for pair in names.windows(2) {
        let _ = writeln!(out, "  check never({} before {})", pair[1], pair[0]);
    }
    let _ = writeln!(out, "  check never(finished before {})\n}}", names[count - 1]);
    (out, scenarios(&meant))
}

struct State<'n> {
    name: &'n str,
    next: &'n str,
    back: &'n str,
    mood: bool,
    rich: bool,
    note: bool,
}

/// Writes a state, and notes where its steps and options lead; says what is done there.
fn state(
    out: &mut String,
    moves: &mut BTreeSet<(String, String)>,
    random: &mut Random,
    of: &State<'_>,
) -> Deed {
    let State { name, next, back, .. } = of;
    let mut leads = |all: &[&str]| {
        moves.extend(all.iter().map(|to| ((*name).to_owned(), (*to).to_owned())));
    };
    let _ = writeln!(out, "  state {name} {{");
    let note = if of.note { "Notes: {notes}\n        " } else { "" };
    let kind = if of.mood {
        3
    } else if of.rich {
        0
    } else if of.note {
        1
    } else {
        random.below(4)
    };
    let deed = match kind {
        0 => {
            let _ = writeln!(
                out,
                "    llm {name}_it {{\n      prompt \"\"\"\n        You are {{agent}} and have {{balance:.0f}}.\n        {note}Do: {name}.\n        \"\"\""
            );
            if of.rich {
                leads(&[next, back, "given_up"]);
                let _ = writeln!(
                    out,
                    "      done if is_rich -> {next}\n      done if tries < patience -> {back} {{ tries = tries + 1 }}\n      done -> given_up(\"no money\")\n    }}"
                );
            } else {
                leads(&[next]);
                let _ = writeln!(out, "    }} -> {next}");
            }
            if of.rich { Deed::Pay } else { Deed::Work }
        }
        1 => {
            leads(&[next, back, "given_up"]);
            let _ = writeln!(
                out,
                "    ask {name}_how on turn else {next} {{\n      prompt \"\"\"\n        {note}Tries so far: {{tries}}.\n        {{options}}\n        \"\"\"\n    }}"
            );
            let _ = writeln!(out, "    may go_on \"it is good\" -> {next}");
            let most = 2 + random.below(5);
            let _ = writeln!(
                out,
                "    may again \"start over\" if tries < {most} -> {back} {{ tries = tries + 1 }}"
            );
            let _ =
                writeln!(out, "    may leave(why: Text) \"it cannot be done\" -> given_up(why)");
            Deed::Choose(most)
        }
        2 => {
            let seconds = 10 + random.below(60);
            let _ = writeln!(
                out,
                "    on reply(words) -> {next} {{ notes = words }}\n    after {seconds}s -> given_up(\"nobody answers\")"
            );
            Deed::Await(seconds)
        }
        _ if of.mood => {
            leads(&[next, back, "given_up"]);
            let _ = writeln!(
                out,
                "    llm {name}_it {{\n      prompt \"\"\"{name}: how are they, {{agent}}?\"\"\"\n      returns Mood into mood"
            );
            let _ = writeln!(
                out,
                "      done if mood == Mood.calm -> {next}\n      done if mood == Mood.busy -> {back}\n      done -> given_up(\"upset\")\n    }}"
            );
            Deed::Feel
        }
        _ => {
            leads(&[next, "given_up"]);
            let _ = writeln!(
                out,
                "    llm {name}_it {{\n      prompt \"\"\"Do: {name}, {{agent}}.\"\"\"\n      timeout 60s -> given_up(\"too slow\")\n    }} -> {next}"
            );
            Deed::Hurry
        }
    };
    let _ = writeln!(out, "  }}");
    deed
}
