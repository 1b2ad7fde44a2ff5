//! Tests of random charts, as a careful author writes them: a good way through, each way out of each state, each condition on both sides
//! of its bound, deadlines, answers that cannot be used. They come of what the chart is meant to do, and not of playing it.

use std::fmt::Write as _;

/// What a chart is meant to do.
pub(crate) struct Meant {
    pub(crate) states: Vec<Place>,
    /// Attempts of a step after the first one.
    pub(crate) retries: usize,
    /// The least balance of the rich.
    pub(crate) rich_from: usize,
}

/// A state, and where it leads.
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) next: String,
    pub(crate) back: String,
    /// Whether its prompt shows the notes.
    pub(crate) has_notes: bool,
    pub(crate) deed: Deed,
}

/// What is done in a state.
pub(crate) enum Deed {
    /// A model call: on for the rich, back for those who have patience left.
    Pay,
    /// A model call, and on.
    Work,
    /// A model call that may take a minute, and on.
    Hurry,
    /// A model says how they are.
    Feel,
    /// A model chooses; it starts over so many times at most.
    Choose(usize),
    /// Somebody replies within so many seconds.
    Await(usize),
}

/// The tests, in a file of their own.
pub(crate) fn scenarios(meant: &Meant) -> String {
    let mut out = String::from("import \"worker.chart\"\n");
    through(meant, &mut out);
    for place in &meant.states {
        match place.deed {
            Deed::Pay => pay(meant, place, &mut out),
            Deed::Work => work(meant, place, &mut out),
            Deed::Hurry => {
                work(meant, place, &mut out);
                hurry(place, &mut out);
            }
            Deed::Feel => feel(place, &mut out),
            Deed::Choose(most) => choose(meant, place, most, &mut out),
            Deed::Await(seconds) => wait(place, seconds, &mut out),
        }
        let name = &place.name;
        test(
            &mut out,
            &format!("who stops at {name} is canceled"),
            &format!("at {name}\nsend stop\nexpect at stopped\nexpect ended canceled"),
        );
    }
    out
}

fn test(out: &mut String, name: &str, body: &str) {
    let _ = writeln!(out, "\ntest \"{name}\" for Worker {{\n  given agent = \"ada\"");
    for line in body.lines() {
        let _ = writeln!(out, "  {line}");
    }
    let _ = writeln!(out, "}}");
}

/// The good way from the start to the end.
fn through(meant: &Meant, out: &mut String) {
    let (mut body, mut notes) = (String::new(), String::new());
    for place in &meant.states {
        let Place { name, next, has_notes, .. } = place;
        let _ = writeln!(body, "expect at {name}");
        let shown = if *has_notes { format!("Notes: {notes}") } else { String::new() };
        let prompt = |body: &mut String, step: &str, text: &str| {
            let _ = writeln!(body, "expect prompt of {step} contains \"{text}\"");
            if !shown.is_empty() {
                let _ = writeln!(body, "expect prompt of {step} contains \"{shown}\"");
            }
        };
        match place.deed {
            Deed::Pay | Deed::Work => {
                body.push_str("turn\n");
                prompt(&mut body, &format!("{name}_it"), "You are ada and have 100.");
                let _ = writeln!(body, "answers {name}_it noop");
            }
            Deed::Hurry => {
                body.push_str("turn\n");
                prompt(&mut body, &format!("{name}_it"), &format!("Do: {name}, ada."));
                let _ = writeln!(body, "answers {name}_it noop");
            }
            Deed::Feel => {
                body.push_str("turn\n");
                prompt(&mut body, &format!("{name}_it"), &format!("{name}: how are they, ada?"));
                let _ = writeln!(body, "answers {name}_it Mood.calm\nexpect mood == Mood.calm");
            }
            Deed::Choose(_) => {
                body.push_str("turn\n");
                prompt(&mut body, &format!("{name}_how"), "Tries so far: 0.");
                let _ = writeln!(body, "expect offered only go_on, again, leave");
                let _ = writeln!(body, "answers {name}_how go_on");
            }
            Deed::Await(_) => {
                let _ = writeln!(
                    body,
                    "send reply(\"it is {name}\")\nexpect notes == \"it is {name}\""
                );
                notes = format!("it is {name}");
            }
        }
        if next == "finished" {
            body.push_str("expect at finished\nexpect ended ok\n");
        }
    }
    test(out, "the good way through", &body);
}

fn pay(meant: &Meant, place: &Place, out: &mut String) {
    let Place { name, next, back, .. } = place;
    let rich = meant.rich_from;
    let ask = format!("turn\nanswers {name}_it noop\n");
    let case = |out: &mut String, what: &str, given: &str, balance: &str, then: &str| {
        let body = format!("{given}at {name}\nset balance = {balance}\n{ask}{then}");
        test(out, &format!("{name}: {what}"), &body);
    };
    let (enough, less) = (format!("{rich}.0"), format!("{}.9", rich - 1));
    case(
        out,
        "just rich enough",
        "",
        &enough,
        &format!("expect is_rich\nexpect at {next}\nexpect tries == 0"),
    );
    let again = format!("expect not is_rich\nexpect at {back}\nexpect tries == 3");
    case(out, "not rich enough, and patient for the last time", "given tries = 2\n", &less, &again);
    let over = "expect at given_up\nexpect ended stuck\nexpect result.why == \"no money\"\nexpect tries == 3";
    case(out, "patient no more", "given tries = 3\n", &less, over);
    let more = format!("expect at {back}\nexpect tries == 6");
    case(
        out,
        "as patient as it is told to be",
        "given patience = 6\ngiven tries = 5\n",
        &less,
        &more,
    );
}

/// A call that fails leaves things as they are.
fn work(meant: &Meant, place: &Place, out: &mut String) {
    let Place { name, next, .. } = place;
    let fails = format!("fails {name}_it \"down\"\n").repeat(meant.retries + 1);
    test(
        out,
        &format!("{name}: a model that is down"),
        &format!("at {name}\nturn\n{fails}expect at {name}\nexpect calls == {}", meant.retries + 1),
    );
    let fails = format!("fails {name}_it \"down\"\n").repeat(meant.retries);
    test(
        out,
        &format!("{name}: a model that is there again"),
        &format!("at {name}\nturn\n{fails}answers {name}_it noop\nexpect at {next}"),
    );
}

fn hurry(place: &Place, out: &mut String) {
    let name = &place.name;
    let body = format!(
        "at {name}\nturn\nwait 59s\nexpect at {name}\nwait 1s\nexpect at given_up\nexpect result.why == \"too slow\"\nexpect ended stuck"
    );
    test(out, &format!("{name}: a minute at most"), &body);
}

fn feel(place: &Place, out: &mut String) {
    let Place { name, next, back, .. } = place;
    for (mood, then) in [
        ("calm", format!("expect at {next}\nexpect mood == Mood.calm")),
        ("busy", format!("expect at {back}\nexpect mood == Mood.busy")),
        (
            "upset",
            "expect at given_up\nexpect ended stuck\nexpect result.why == \"upset\"".to_owned(),
        ),
    ] {
        let body = format!("at {name}\nturn\nanswers {name}_it Mood.{mood}\n{then}");
        test(out, &format!("{name}: they are {mood}"), &body);
    }
}

fn choose(meant: &Meant, place: &Place, most: usize, out: &mut String) {
    let Place { name, next, back, .. } = place;
    let case = |out: &mut String, what: &str, given: &str, then: &str| {
        test(out, &format!("{name}: {what}"), &format!("{given}at {name}\nturn\n{then}"));
    };
    let again = format!(
        "expect offered again\nanswers {name}_how again\nexpect at {back}\nexpect tries == {most}"
    );
    case(out, "over again for the last time", &format!("given tries = {}\n", most - 1), &again);
    let refused = format!(
        "expect offered only go_on, leave\nexpect prompt of {name}_how contains \"Tries so far: {most}.\"\nanswers {name}_how go_on\nexpect at {next}"
    );
    case(out, "not over again once more", &format!("given tries = {most}\n"), &refused);
    let leave = format!(
        "answers {name}_how leave(\"so\")\nexpect at given_up\nexpect ended stuck\nexpect result.why == \"so\""
    );
    case(out, "it cannot be done", "", &leave);
    let unusable = format!("answers {name}_how \"?\"\n").repeat(meant.retries + 1);
    case(
        out,
        "an answer that says nothing",
        "",
        &format!("{unusable}expect at {next}\nexpect tries == 0"),
    );
}

fn wait(place: &Place, seconds: usize, out: &mut String) {
    let Place { name, next, .. } = place;
    let body = format!(
        "at {name}\nwait {}s\nsend reply(\"yes\")\nexpect notes == \"yes\"\nexpect at {next}",
        seconds - 1
    );
    test(out, &format!("{name}: a late reply"), &body);
    let body = format!(
        "at {name}\nwait {}s\nexpect at {name}\nwait 1s\nexpect at given_up\nexpect ended stuck\nexpect result.why == \"nobody answers\"",
        seconds - 1
    );
    test(out, &format!("{name}: no reply"), &body);
}
