//! Steps of random charts.

use super::actions::Around;
use super::guards::{Bound, Returns};
use super::render::Writer;
use super::spec::Step;
use super::tree::Kind;

/// Kinds of steps.
const KINDS: u8 = 16;
/// Those of charts about calls of several regions.
const TALKS: [u8; 20] = [1, 2, 6, 7, 3, 8, 13, 11, 5, 10, 6, 3, 12, 9, 13, 4, 14, 15, 0, 14];
/// The events that start a step, and what its texts show of their data.
const EVENTS: [(&str, &str); 4] =
    [(" on a", ""), (" on c(u)", " {u}"), (" on b", ""), (" on c(u)", " {u}")];
/// What the model of a step may call, and under which conditions.
const TOOLS: [&str; 8] = [
    "",
    "tools w.* - w.find calls 3  ",
    "tools any calls 4  tool w.count up to 1 if m < 9  ",
    "tools found | w.count  tool w.find human \"Find {q} for {m}?\"  ",
    "tools any calls 3  tool w.* up to 2  tool w.count if x human \"Count {n:>3}?\"  ",
    "",
    "tools any calls 5  tool any human \"May it go on?\"  tool w.find up to 3 if len(last_result) < 40  ",
    "tools any - w.find  tool w.count up to 2 human \"{t} {n}\"  ",
];
/// What an element without an answer means, and how many answers end a step with an `each`.
const LOST: [&str; 5] = ["", "else skip  ", "else none  ", "else skip  enough 2  ", "enough 1  "];

impl Writer<'_> {
    fn kind(&self, step: Step) -> u8 {
        if self.talks() { TALKS[usize::from(step.kind) % TALKS.len()] } else { step.kind % KINDS }
    }

    /// What a step of this chart gives, where it gives something of a known type.
    pub(super) fn returns(&self, step: Step) -> Option<Returns> {
        if self.is_run(step) {
            return Some(Returns::Open);
        }
        if !self.agent {
            return None;
        }
        match self.kind(step) {
            2 | 6 => Some(Returns::Int),
            1 | 11 => Some(Returns::Open),
            5 | 7 => Some(Returns::Text),
            8 => Some(Returns::List),
            9 => Some(Returns::Record),
            10 => Some(Returns::Enum),
            12 => Some(Returns::Bool),
            13 | 14 if !lost(step).contains("none") => Some(Returns::List),
            _ => None,
        }
    }

    /// Whether a step runs another chart.
    pub(super) fn is_run(&self, step: Step) -> bool {
        !self.children.is_empty() && (step.kind / 16).is_multiple_of(3)
    }

    /// A step that runs another chart.
    fn run(&self, step: Step, name: &str, guard: &str, target: &str) -> String {
        let pick = usize::from(step.pick);
        let (child, spec) = &self.children[pick % self.children.len()];
        let name_of = if spec.taste.flavour.is_agent() { "name: t, " } else { "" };
        let given = ["step: 3", "step: m", "pause: pause * 2, step: w", "pause: 1s"][pick / 2 % 4];
        let is_each = step.kind % 4 == 3;
        let at_entry = if step.kind.is_multiple_of(2) { " at entry" } else { "" };
        let body = [
            format!("timeout 5s -> {target}"),
            "returns Json into j".to_owned(),
            format!("done -> {target}  error {{ t = \"failed\" }}"),
            format!("retry 1 then skip  done if m > 1 -> {target}"),
            "timeout 4s { m = 0 }  retry 2 then fail".to_owned(),
            format!("done if bool({name}) {{ j = {name} }}  error -> {target}"),
        ];
        let body = &body[pick / 8 % body.len()];
        if is_each {
            let list = ["[1, 2, m]", "l", "[3, 4, 20, 6]"][pick % 3];
            return format!(
                "run {name} each i in {list} {child}({name_of}step: i){guard} {{ {}{body} }}",
                lost(step)
            );
        }
        format!("run {name} {child}({name_of}{given}){at_entry}{guard} {{ {body} }}")
    }

    /// A step that does its work for each element of a list.
    fn each(&self, step: Step, name: &str, guard: &str, target: &str) -> String {
        let pick = usize::from(step.pick);
        let numbers =
            ["[4, m]", "[1, 2, m]", "[5, 3, m, 4, 5]", "[m, 12 div m, 3]", "[n + m for n in l]"];
        let (on, data) = event(step);
        let numbers = if data.is_empty() { numbers[pick % 5] } else { "[u, m, 2]" };
        let lost = lost(step);
        let many = ["", "2 at a time  ", "1 at a time  up to 3  "][pick / 4 % 3];
        let retry = pick / 2 % 3;
        let outcome = [
            format!("done if len({name}) > 1 -> {target}  error {{ m = 0 }}"),
            format!("done {{ t = \"{{{name}}}\" }}  error -> {target}  timeout 4s {{ m = 1 }}"),
            format!("error if m > 1 -> {target}  doubt {{ m = 3 }}"),
        ];
        let rest = format!("{many}{lost}retry {retry}  {}", outcome[pick / 8 % 3]);
        let into = if lost.contains("none") { "" } else { " into l" };
        match self.kind(step) {
            13 => format!(
                "llm {name}{on} each i in {numbers}{guard} {{ prompt \"{{i}} {{t}}{data} {{[n + i for n in l]}}\"  returns Int{into}  {rest} }}"
            ),
            14 if pick.is_multiple_of(5) => format!(
                "call {name} each i in j w.find(\"{{i}} {{m}}\"){guard} {{ returns Json  {rest} }}"
            ),
            14 => format!("call {name}{on} each i in {numbers} w.count(i){guard} {{ {rest} }}"),
            _ => format!(
                "human {name}{on} each s in [t, \"b\", said] \"which {{s}} of {{m}}{data}?\"{guard} {{ returns Bool  {rest} }}"
            ),
        }
    }

    /// The names of steps that have a prompt.
    pub(super) fn models(&self) -> Vec<String> {
        let steps = self.spec.steps.iter().enumerate();
        let steps = steps.filter(|(_, s)| !self.is_run(**s));
        let steps = steps.filter(|(_, s)| matches!(self.kind(**s), 1..=4 | 7..=10 | 12 | 13));
        steps.map(|(number, _)| format!("k{number}")).collect()
    }

    /// Whether a question of this state may be open in several leaves at a time.
    fn splits(&self, state: usize) -> bool {
        let state = &self.states[state];
        state.kind == Kind::Parallel || state.children.iter().any(|child| self.splits(*child))
    }

    /// The text of a step of the state `place`.
    pub(super) fn step(&self, step: Step, number: usize, place: usize) -> String {
        let is_plain = self.talks() && step.guard >= 64;
        let guard = self.guarded(if is_plain { 0 } else { step.guard }, Bound::Nothing);
        let target = self.target(step.target);
        let pick = step.pick;
        let name = format!("k{number}");
        let failed = ["", " else skip", " else fail", ""][usize::from(pick) % 4];
        let failed = if pick >= 240 { format!(" else -> {target}") } else { failed.to_owned() };
        if self.is_run(step) {
            return self.run(step, &name, &guard, &target);
        }
        if !self.agent {
            let action =
                self.actions(&[pick / 16 * 16], Around { bound: Bound::Nothing, quiet: true });
            let action = if action.contains(" = ") { action } else { "m = m + 2".to_owned() };
            return format!("code {name}{guard} {{ {action} }}{failed}");
        }
        let with = ["", "", " with fast", " with slow"][usize::from(pick / 4) % 4];
        let retry = [
            "0",
            "1",
            "2",
            "2 on timeout, unusable",
            "1 on server wait 1s",
            "3 on unusable wait 2s up to 9s",
        ][usize::from(pick) % 6];
        let (on, data) = event(step);
        let shown = if data.is_empty() { "asked.m" } else { "u" };
        let ends = |text: &'static str| if on.is_empty() { text } else { "" };
        let tools = TOOLS[usize::from(pick / 3) % TOOLS.len()];
        match self.kind(step) {
            0 => {
                let body = [
                    "m = m + 1",
                    "m = 7 div m",
                    "if m > 1 { m = 0 } else { t = \"b\" }",
                    "for i in l { m = m + i }",
                    "l = [m, 2]",
                    "for i in l { if i > 2 { t = t[0:9] + \"c\"  o = i } else { m = 12 div i } }",
                    "kept = Found { n: m  by: t }  counts = {\"a\": w}",
                ][usize::from(pick) % 7];
                format!("code {name}{guard} {{ {body} }}{failed}")
            }
            1 => format!(
                "llm {name}{on}{with}{guard} {{ prompt \"{{t}} {{talk}} {{photo}} {{m}}{data}\" retry {retry} then skip }} -> {target}"
            ),
            2 => format!(
                "llm {name}{on}{with}{guard} {{ prompt \"{{name}}{data}\" {tools}returns Int in 0..9 into m  done if {name} > 2 -> {target}  \
                 error -> {target} {{ m = asked.w }}{} }}",
                ends("  ends turn if x")
            ),
            3 => {
                let has_data = pick % 4 > 1 && pick & 8 != 0 && !self.splits(place);
                let on = ["turn", "turn", "a", "c"][usize::from(pick) % 4];
                let (on, data, error) = if has_data {
                    ("c(u)", " {u}", "error { m = u + asked.m }  ")
                } else {
                    (on, "", "")
                };
                let always = if pick & 16 != 0 { " always" } else { "" };
                let exact = if pick & 64 != 0 { " exact" } else { "" };
                let other = if pick & 32 != 0 { "stay" } else { &target };
                format!(
                    "ask {name}{exact}{with} on {on}{always} else {other}{guard} {{ prompt \"{{options}} {{l}}{data}\" {error}retry {retry} }}"
                )
            }
            4 => {
                let on = ["turn", "b", "word", "d.two"][usize::from(pick) % 4];
                let outcome = [
                    "timeout 4s { m = 0 }",
                    "error if m > 1 { t = \"failed\" }",
                    "doubt { m = 3 }",
                    "timeout 2s if x { m = 9 }  error { l = [] }  doubt { m = 3 }",
                ][usize::from(pick / 4) % 4];
                format!(
                    "ask {name} on {on} else {target}{guard} {{ prompt \"{{options}} {{advice}}\"  {outcome} }}"
                )
            }
            5 => format!(
                "human {name}{on} \"which {{m}}{data}?\"{guard} {{ timeout 4s -> {target}  done {{ t = {name}  m = {shown} }}  doubt {{ m = 0 }} }}"
            ),
            6 => format!(
                "call {name}{on} w.count({}){guard} {{ done {{ m = m + 1 }}  retry {retry} then fail }}",
                if data.is_empty() { "m" } else { "u" }
            ),
            7 => format!(
                "llm {name}{on}{guard} {{ prompt \"{{t}}{data} {{w:>4}}\" {tools}returns Text into t  retry 0 then {}  timeout 3s -> {target} }}",
                if pick & 1 == 0 { "fail".to_owned() } else { format!("-> {target}") }
            ),
            8 => format!(
                "llm {name}{with}{guard} {{ prompt \"{{l}}\" {tools}returns List(Int) into l  done if len({name}) > 1 -> {target} }}"
            ),
            9 => format!(
                "llm {name}{guard} {{ prompt \"{{kept}}\" returns Found into kept  retry 1 then -> {target}  \
                 done if {name}.n > m {{ t = {name}.by }} }}"
            ),
            10 => format!(
                "llm {name}{guard} {{ prompt \"{{e}} {{mode}}\" returns E into e  skip }} -> {target} {{ m = m + 1 }}"
            ),
            11 => {
                format!("call {name} w.find(t){guard} {{ returns Json into j  error -> {target} }}")
            }
            13..=15 => self.each(step, &name, &guard, &target),
            _ => format!(
                "human {name}{on} \"Is it {{m:>3}}{data}?\"{guard} {{ returns Bool  done if {name} and asked.m >= m -> {target}{} }}",
                ends("  ends turn")
            ),
        }
    }
}

fn lost(step: Step) -> &'static str {
    LOST[usize::from(step.pick / 3) % LOST.len()]
}

/// The event that starts a step, if one does, and what its texts show of the event.
fn event(step: Step) -> (&'static str, &'static str) {
    let pick = usize::from(step.pick / 5);
    if pick % 3 == 1 { EVENTS[pick / 3 % EVENTS.len()] } else { ("", "") }
}
