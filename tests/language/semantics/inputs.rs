//! The words for inputs: `send go; at 1000; done think 1`.

use super::Sim;
use chartc_core::arena::{ChoiceId, EventId, StepId, ToolId};
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::machine::{Charge, Effect, Element, Input, LimitKind, Outcome, StepKey};

impl Sim {
    /// Gives inputs, one after another.
    pub(super) fn play(&mut self, inputs: &str) -> &mut Self {
        for input in inputs.split("; ") {
            self.input(input).unwrap_or_else(|why| panic!("`{input}`: {why}"));
        }
        self
    }

    /// Gives an input. Steps are named `think`, an element `think[1]`, a question of one of several leaves `think@p.a`; data are JSON,
    /// `1` where an answer has none.
    ///
    /// # Errors
    /// The text says no input.
    pub(super) fn input(&mut self, text: &str) -> Result<(), String> {
        let words: Vec<&str> = text.split(' ').collect();
        // What stands behind so many words.
        let data = |words: usize| json(text.splitn(words + 1, ' ').nth(words).unwrap_or_default());
        let answer = |words: usize| match data(words)? {
            given if given.is_empty() => Ok(vec![Value::Int(1)]),
            given => Ok::<_, String>(given),
        };
        let input = match words[..] {
            ["send", event, ..] => Input::Event(self.event(event)?, data(2)?),
            // An event whose data do not fit; why is a note.
            ["misfit", event, ..] => {
                let input = Input::Event(self.event(event)?, data(2)?);
                let given = self.machine.handle(input, self.now, &mut self.log);
                self.notes.push(given.err().ok_or("it fits")?.0);
                return Ok(());
            }
            ["turn"] => Input::Turn,
            // The clock goes on, and the machine is told.
            ["at", time] => {
                self.now = number(time)?;
                Input::Tick
            }
            // It is not told.
            ["wait", time] => {
                self.now = number(time)?;
                return Ok(());
            }
            ["input", name, ..] => {
                let value = data(2)?.pop().ok_or("no value")?;
                return self.machine.set_input(name, value).map_err(|e| format!("{e:?}"));
            }
            ["done", step, ..] => Input::Answer(self.open_key(step)?, Outcome::Done(answer(2)?)),
            // The newest key, which is not open any more.
            ["late", step, ..] => Input::Answer(self.newest_key(step)?, Outcome::Done(answer(2)?)),
            ["fail", step] => {
                let why = Outcome::Failed(vec![Value::Text("no answer".into())]);
                Input::Answer(self.open_key(step)?, why)
            }
            ["doubt", step] => Input::Answer(
                self.open_key(step)?,
                Outcome::Doubt(vec![Value::Text("in doubt".into())]),
            ),
            ["unusable", step] => Input::Answer(self.open_key(step)?, Outcome::Unusable),
            ["choose", step, option, ..] => {
                let choice = Outcome::Choice(self.choice(option)?, data(3)?);
                Input::Answer(self.open_key(step)?, choice)
            }
            ["late_choice", step, option] => {
                let choice = Outcome::Choice(self.choice(option)?, Vec::new());
                Input::Answer(self.newest_key(step)?, choice)
            }
            ["call", step, tool, ..] => {
                let tool = found(self.chart.tools.iter().map(|t| &t.name), tool)?;
                Input::Answer(self.open_key(step)?, Outcome::Call(ToolId::at(tool), data(3)?))
            }
            ["unmade", step] => Input::Unmade(self.newest_key(step)?),
            ["charge", step, tokens] => {
                let charge = Charge { tokens: number(tokens)?, cost: 0 };
                Input::Charge(self.newest_key(step)?, charge)
            }
            ["warn", "tokens"] => Input::Warn(LimitKind::Tokens),
            // The sink asks why guards held, from here on.
            ["why"] => {
                self.log.asks_why = true;
                return Ok(());
            }
            ["restart"] => {
                self.restart();
                return Ok(());
            }
            _ => return Err("there is no such input".to_owned()),
        };
        self.give(input);
        self.notes.extend(self.machine.take_notes().into_iter().map(|note| note.text));
        Ok(())
    }

    fn event(&self, name: &str) -> Result<EventId, String> {
        found(self.chart.events.iter().map(|e| &e.name), name).map(EventId::at)
    }

    pub(super) fn step(&self, name: &str) -> Result<StepId, String> {
        found(self.chart.steps.iter().map(|s| &s.name), name).map(StepId::at)
    }

    fn choice(&self, name: &str) -> Result<ChoiceId, String> {
        found(self.chart.choices.iter().map(|c| &c.name), name).map(ChoiceId::at)
    }

    /// The newest key of a step, open or not.
    fn newest_key(&self, name: &str) -> Result<StepKey, String> {
        let step = self.step(name)?;
        let key = |effect: &Effect| match effect {
            Effect::Start(key) | Effect::Ask(key) | Effect::Call(key, _) => Some(*key),
            Effect::Cancel(_) | Effect::Ended(_) => None,
        };
        let mut keys = self.log.effects.iter().rev().filter_map(key);
        keys.find(|key| key.step == step).ok_or_else(|| format!("`{name}` was never started"))
    }

    /// The oldest open key of a step.
    pub(super) fn open_key(&self, text: &str) -> Result<StepKey, String> {
        let (name, leaf) = text.split_once('@').map_or((text, None), |(n, leaf)| (n, Some(leaf)));
        let (name, element) = match name.split_once('[') {
            Some((name, nth)) => (name, Some(Element::at(number(nth.trim_end_matches(']'))?))),
            None => (name, None),
        };
        let step = self.step(name)?;
        let is_meant = |key: &&StepKey| {
            key.step == step
                && element.is_none_or(|nth| key.element == Some(nth))
                && leaf.is_none_or(|path| self.chart.state(key.leaf).path == path)
        };
        let keys = self.open_keys();
        let open = || format!("it is not open, but {}", self.names(keys.clone()).join(", "));
        keys.iter().find(is_meant).copied().ok_or_else(open)
    }
}

/// Where a name stands.
fn found<'n>(mut names: impl Iterator<Item = &'n String>, name: &str) -> Result<usize, String> {
    names.position(|n| n == name).ok_or_else(|| format!("there is no `{name}`"))
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

/// JSON values with blanks between them.
fn json(text: &str) -> Result<Vec<Value>, String> {
    let values = serde_json::Deserializer::from_str(text).into_iter();
    values.collect::<Result<_, _>>().map_err(|e| e.to_string())
}
