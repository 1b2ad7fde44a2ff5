//! Scripts as text: one thing a line, words without blanks.

use super::{HEAD, Script, Step};
use chartc_core::arena::{ChoiceId, EventId, StateId, StepId, ToolId};
use chartc_core::expr::{Map, Value};
use chartc_core::machine::{Charge, Element, Input, LimitKind, Outcome, StepKey};
use std::collections::VecDeque;
use std::fmt::Write;

/// The text of a script.
pub(crate) fn write(script: &Script) -> String {
    let mut out = format!("{HEAD}{}\n", word(&script.chart));
    if script.kin {
        out.push_str("kin\n");
    }
    for (name, value) in &script.params {
        let _ = writeln!(out, "param {}{}", word(name), values(std::slice::from_ref(value)));
    }
    for (name, all) in &script.answers {
        let _ = writeln!(out, "host {}{}", word(name), values(all));
    }
    for step in &script.steps {
        let _ = writeln!(out, "{}", line(step));
    }
    out
}

/// A step as a line of a script.
pub(crate) fn line(step: &Step) -> String {
    let (now, input) = match step {
        Step::Set(name, value) => {
            return format!("set {}{}", word(name), values(std::slice::from_ref(value)));
        }
        Step::Tell(member, now, input) => {
            let way = member.iter().map(|key| format!(" {}", number(key)));
            let rest = line(&Step::Give(*now, input.clone()));
            return format!("tell {}{} {rest}", member.len(), way.collect::<String>());
        }
        Step::Give(now, input) => (now, input),
    };
    match input {
        Input::Start => format!("start {now}"),
        Input::Turn => format!("turn {now}"),
        Input::Tick => format!("tick {now}"),
        Input::Stop => format!("stop {now}"),
        Input::Exhausted(key, kind) => format!("exhausted {now} {} {}", number(key), limit(*kind)),
        Input::Unmade(key) => format!("unmade {now} {}", number(key)),
        Input::Warn(kind) => format!("warn {now} {}", limit(*kind)),
        Input::Charge(key, Charge { tokens, cost }) => {
            format!("charge {now} {} {tokens} {cost}", number(key))
        }
        Input::Event(id, payload) => format!("event {now} {}{}", id.0, values(payload)),
        Input::Answer(key, outcome) => {
            let outcome = match outcome {
                Outcome::Done(answer) => format!("done{}", values(answer)),
                Outcome::Choice(id, arguments) => format!("choice {}{}", id.0, values(arguments)),
                Outcome::Call(id, arguments) => format!("call {}{}", id.0, values(arguments)),
                Outcome::Forbidden(id) => format!("forbidden {}", id.0),
                Outcome::Unusable => "unusable".to_owned(),
                Outcome::Failed(reason) => format!("failed{}", values(reason)),
                Outcome::Final(reason) => format!("final{}", values(reason)),
                Outcome::Doubt(reason) => format!("doubt{}", values(reason)),
            };
            format!("answer {now} {} {outcome}", number(key))
        }
    }
}

/// What a host counts, as it stands in a script.
fn limit(kind: LimitKind) -> &'static str {
    match kind {
        LimitKind::Tokens => "tokens",
        LimitKind::Cost | LimitKind::Calls | LimitKind::Turns | LimitKind::Time => "cost",
    }
}

fn number(key: &StepKey) -> String {
    let StepKey { step, leaf, event, attempt, element } = key;
    let element = element.map_or("-".to_owned(), |element| element.index().to_string());
    format!("{} {} {event} {attempt} {element}", step.0, leaf.0)
}

/// A text without blanks, never empty.
fn word(text: &str) -> String {
    let mut out = String::from("'");
    for c in text.chars() {
        if c.is_whitespace() || c == '%' || c.is_control() {
            let _ = write!(out, "%{:x};", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// Values, each after a blank.
fn values(all: &[Value]) -> String {
    let mut out = String::new();
    for value in all {
        match value {
            Value::None => out.push_str(" n"),
            Value::Bool(true) => out.push_str(" t"),
            Value::Bool(false) => out.push_str(" f"),
            Value::Int(i) => _ = write!(out, " i{i}"),
            Value::Float(x) => _ = write!(out, " x{:x}", x.to_bits()),
            Value::Text(text) => _ = write!(out, " {}", word(text)),
            Value::Duration(ms) => _ = write!(out, " d{ms}"),
            Value::List(items) => _ = write!(out, " [{} ]", values(items)),
            Value::Map(map) => {
                out.push_str(" {");
                for (key, value) in map.iter() {
                    let value = values(std::slice::from_ref(value));
                    let _ = write!(out, " {}{value}", word(key));
                }
                out.push_str(" }");
            }
        }
    }
    out
}

/// Reads what [`write`] writes, one script after the other; `None` where it is anything else.
pub(crate) fn read(text: &str) -> Option<Vec<Script>> {
    let mut scripts: Vec<Script> = Vec::new();
    for line in text.lines() {
        let mut words = Words(line.split(' ').collect());
        let kind = words.next()?;
        if kind == HEAD.trim_end() {
            scripts.push(Script { chart: words.text()?, ..Script::default() });
            continue;
        }
        let script = scripts.last_mut()?;
        match kind {
            "param" => script.params.push((words.text()?, words.value()?)),
            "host" => script.answers.push((words.text()?, words.values()?)),
            "kin" => script.kin = true,
            "tell" => {
                let count: usize = words.number()?;
                let member = (0..count).map(|_| words.key()).collect::<Option<_>>()?;
                let kind = words.next()?;
                let now = words.number()?;
                script.steps.push(Step::Tell(member, now, words.input(kind)?));
            }
            "set" => script.steps.push(Step::Set(words.text()?, words.value()?)),
            _ => {
                let now = words.number()?;
                script.steps.push(Step::Give(now, words.input(kind)?));
            }
        }
    }
    Some(scripts)
}

/// The rest of a line.
struct Words<'t>(VecDeque<&'t str>);

impl<'t> Words<'t> {
    fn next(&mut self) -> Option<&'t str> {
        self.0.pop_front()
    }

    fn number<T: std::str::FromStr>(&mut self) -> Option<T> {
        self.next()?.parse().ok()
    }

    fn text(&mut self) -> Option<String> {
        unword(self.next()?)
    }

    fn key(&mut self) -> Option<StepKey> {
        Some(StepKey {
            step: StepId(self.number()?),
            leaf: StateId(self.number()?),
            event: self.number()?,
            attempt: self.number()?,
            element: match self.next()? {
                "-" => None,
                number => Some(Element::at(number.parse().ok()?)),
            },
        })
    }

    fn limit(&mut self) -> Option<LimitKind> {
        Some(if self.next()? == "tokens" { LimitKind::Tokens } else { LimitKind::Cost })
    }

    fn input(&mut self, kind: &str) -> Option<Input<Vec<Value>>> {
        Some(match kind {
            "start" => Input::Start,
            "turn" => Input::Turn,
            "tick" => Input::Tick,
            "stop" => Input::Stop,
            "exhausted" => Input::Exhausted(self.key()?, self.limit()?),
            "unmade" => Input::Unmade(self.key()?),
            "warn" => Input::Warn(self.limit()?),
            "charge" => {
                let key = self.key()?;
                let (tokens, cost) = (self.number()?, self.number()?);
                Input::Charge(key, Charge { tokens, cost })
            }
            "event" => Input::Event(EventId(self.number()?), self.values()?),
            "answer" => {
                let key = self.key()?;
                let outcome = match self.next()? {
                    "done" => Outcome::Done(self.values()?),
                    "choice" => Outcome::Choice(ChoiceId(self.number()?), self.values()?),
                    "call" => Outcome::Call(ToolId(self.number()?), self.values()?),
                    "forbidden" => Outcome::Forbidden(ToolId(self.number()?)),
                    "unusable" => Outcome::Unusable,
                    "failed" => Outcome::Failed(self.values()?),
                    "final" => Outcome::Final(self.values()?),
                    "doubt" => Outcome::Doubt(self.values()?),
                    _ => return None,
                };
                Input::Answer(key, outcome)
            }
            _ => return None,
        })
    }

    fn values(&mut self) -> Option<Vec<Value>> {
        let mut values = Vec::new();
        while !self.0.is_empty() {
            values.push(self.value()?);
        }
        Some(values)
    }

    fn value(&mut self) -> Option<Value> {
        let word = self.next()?;
        let rest = word.get(1..)?;
        Some(match word.get(..1)? {
            "n" => Value::None,
            "t" => Value::Bool(true),
            "f" => Value::Bool(false),
            "i" => Value::Int(rest.parse().ok()?),
            "x" => Value::Float(f64::from_bits(u64::from_str_radix(rest, 16).ok()?)),
            "d" => Value::Duration(rest.parse().ok()?),
            "'" => Value::Text(unword(word)?),
            "[" => {
                let mut items = Vec::new();
                while *self.0.front()? != "]" {
                    items.push(self.value()?);
                }
                self.next()?;
                Value::List(items)
            }
            "{" => {
                let mut entries = Vec::new();
                while *self.0.front()? != "}" {
                    entries.push((self.text()?, self.value()?));
                }
                self.next()?;
                Value::Map(entries.into_iter().collect::<Map>())
            }
            _ => return None,
        })
    }
}

fn unword(word: &str) -> Option<String> {
    let mut rest = word.strip_prefix('\'')?;
    let mut out = String::new();
    while let Some((before, after)) = rest.split_once('%') {
        let (code, after) = after.split_once(';')?;
        out.push_str(before);
        out.push(char::from_u32(u32::from_str_radix(code, 16).ok()?)?);
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}
