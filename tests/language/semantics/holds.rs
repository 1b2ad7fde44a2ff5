//! The words for what holds: `at p.a, p.b`, `n = 2`, `open think`.

use super::Sim;
use super::words::{quoted, shown};
use chartc_core::host::Machine;
use chartc_core::machine::{Effect, Record, StepKey, WalkEnd};

impl Sim {
    /// What holds instead of this, in the same words: the same text, if it holds. Lists that are empty are `none`.
    ///
    /// # Errors
    /// The text says nothing of a machine.
    pub(super) fn told(&mut self, text: &str) -> Result<String, String> {
        if let Some((name, _)) = text.split_once(" = ")
            && !name.contains(' ')
        {
            let variables = self.machine.variables();
            let found = variables.iter().find(|(n, _)| n == name);
            let (_, value) = found.ok_or_else(|| format!("there is no `{name}`"))?;
            return Ok(format!("{name} = {}", quoted(value)));
        }
        let (word, rest) = text.split_once([' ', '\n']).unwrap_or((text, ""));
        let is = match word {
            // The leaves.
            "at" => list(self.leaves()),
            "ended" => self.machine.ended().map_or("none", |status| status.word()).to_owned(),
            "result" => {
                list(self.machine.result().iter().map(|(n, v)| format!("{n}={}", shown(v))))
            }
            "receipt" => format!("{:?}", self.receipt),
            "turns" => self.machine.turns().to_string(),
            "walking" => if self.machine.is_walking() { "yes" } else { "no" }.to_owned(),
            "deadline" => self.machine.next_deadline().map_or("none".into(), |at| at.to_string()),
            // Events that are sent and wait.
            "sends" => list(self.sends()),
            // Deferred events that are kept.
            "deferred" => list(self.deferred()),
            // Events that some active state would handle or defer.
            "enabled" => {
                let events = self.machine.enabled_events();
                list(events.iter().map(|e| self.chart.events[e.index()].name.clone()))
            }
            // Functions of the host that were called.
            "calls" => list(self.host.0.borrow().clone()),
            // Steps that are started and not ended, those that were started, `code` included, and those that were canceled.
            "open" => list(self.names(self.open_keys())),
            "started" => list(self.started()),
            "canceled" => list(self.canceled()),
            // Calls of tools under way.
            "calling" => list(self.calling()),
            // What a question offers; with what it says of that to the model; what it asks.
            "options" | "offers" | "prompt" => {
                let (step, _) = rest.split_once(": ").ok_or("a step is missing")?;
                self.step(step.split(['[', '@']).next().unwrap_or_default())?;
                let told = match self.open_key(step) {
                    Ok(key) => self.asked(word, key),
                    Err(why) => why,
                };
                format!("{step}: {told}")
            }
            // What the last inputs did to walks.
            "does" => self.does(),
            "trace" => return self.traced(text, rest),
            "notes" => return Ok(format!("notes{}", block(&self.notes))),
            // The alternatives that held, of each guard of which there are several.
            "reasons" => return Ok(format!("reasons{}", block(&self.reasons()))),
            _ => return Err(format!("nothing is called `{word}`")),
        };
        Ok(format!("{word} {is}"))
    }

    fn sends(&self) -> Vec<String> {
        let sends = self.machine.sends();
        let name = |event: chartc_core::arena::EventId| &self.chart.events[event.index()].name;
        let sends = sends.iter().filter(|sent| !sent.is_deferred());
        sends.map(|sent| format!("{} at {}", name(sent.event), sent.due)).collect()
    }

    fn deferred(&self) -> Vec<String> {
        let sends = self.machine.sends();
        let kept = sends.iter().filter(|sent| sent.is_deferred());
        kept.map(|sent| self.chart.events[sent.event.index()].name.clone()).collect()
    }

    fn started(&self) -> Vec<String> {
        let keys = self.log.records.iter().filter_map(|record| match record {
            Record::Started(key) => Some(*key),
            _ => None,
        });
        self.names(keys)
    }

    fn canceled(&self) -> Vec<String> {
        let keys = self.log.effects.iter().filter_map(|effect| match effect {
            Effect::Cancel(key) => Some(*key),
            Effect::Start(_) | Effect::Ask(_) | Effect::Call(..) | Effect::Ended(_) => None,
        });
        self.names(keys)
    }

    fn calling(&mut self) -> Vec<String> {
        let calls = self.open_keys().into_iter().filter_map(|key| self.machine.call(key).ok());
        let mut found: Vec<String> = calls
            .map(|call| {
                let arguments: Vec<String> =
                    call.arguments.iter().map(|(_, v)| quoted(v)).collect();
                format!("{}({})", call.tool, arguments.join(", "))
            })
            .collect();
        found.sort();
        found
    }

    fn asked(&mut self, word: &str, key: StepKey) -> String {
        match word {
            "prompt" => self.machine.prompt(key).expect("it can be written"),
            "options" => list(self.machine.options(key).into_iter().map(|o| o.name.into_owned())),
            _ => {
                let offers = self.machine.options(key).into_iter();
                list(offers.map(|offer| format!("{} {:?}", offer.name, offer.text)))
            }
        }
    }

    /// Steps started, done, failed and canceled, transitions taken, walks and turns ended, since the mark.
    fn does(&self) -> String {
        let (records, effects) = self.mark;
        let mut did: Vec<String> =
            self.log.records[records..].iter().filter_map(|r| self.walked(*r)).collect();
        did.extend(self.log.effects[effects..].iter().filter_map(|effect| match effect {
            Effect::Cancel(key) => Some(format!("cancel {}", self.element(*key))),
            Effect::Start(_) | Effect::Ask(_) | Effect::Call(..) | Effect::Ended(_) => None,
        }));
        let receipt = format!("{:?}", self.receipt);
        if receipt != "Handled" {
            did.push(receipt);
        }
        list(did)
    }

    fn walked(&self, record: Record) -> Option<String> {
        let step = |s| self.step_name(s);
        Some(match record {
            Record::Started(key) => self.element(key),
            Record::ElementDone(key) => format!("{} done", self.element(key)),
            Record::ElementLost(key) => format!("{} lost", self.element(key)),
            Record::Done(s) => format!("{} done", step(s)),
            Record::Failed(s) => format!("{} failed", step(s)),
            Record::Skipped(s) => format!("{} skipped", step(s)),
            Record::Dropped(key) => format!("{} dropped", step(key.step)),
            Record::Taken(line) => {
                let text = self.line(line);
                match text.rsplit_once(" -> ") {
                    Some((from, "")) => from.to_owned(),
                    Some((_, to)) => format!("-> {to}"),
                    None => text,
                }
            }
            Record::WalkEnded(WalkEnd::Calls(region)) => match &*self.chart.state(region).path {
                "" => "calls used up".to_owned(),
                path => format!("calls of {path} used up"),
            },
            Record::WalkEnded(WalkEnd::EndsTurn) => "ends turn".to_owned(),
            Record::WalkEnded(WalkEnd::Failed(s)) => format!("ended by {}", step(s)),
            Record::WalkEnded(WalkEnd::Ended) => "ended".to_owned(),
            Record::TurnEnded(_) => "turn ended".to_owned(),
            _ => return None,
        })
    }

    /// The text, if the trace has a line or lines together, so often or at its end; else the end of the trace.
    fn traced(&self, text: &str, rest: &str) -> Result<String, String> {
        let trace: Vec<String> = self.log.records.iter().map(|r| self.tell(*r)).collect();
        let (word, lines) = rest.split_once([' ', '\n']).unwrap_or((rest, ""));
        let lines: Vec<String> = lines.lines().map(|line| line.trim().to_owned()).collect();
        if lines.is_empty() {
            return Err("no line of the trace".to_owned());
        }
        let times = trace.windows(lines.len()).filter(|all| **all == *lines).count();
        let holds = match word {
            "has" => times > 0,
            "never" => times == 0,
            "once" => times == 1,
            "twice" => times == 2,
            "ends" => trace.ends_with(&lines),
            _ => return Err(format!("nothing is called `trace {word}`")),
        };
        let end = &trace[trace.len().saturating_sub(50)..];
        Ok(if holds { text.to_owned() } else { format!("trace{}", block(end)) })
    }

    fn reasons(&self) -> Vec<String> {
        let held = self.log.held.iter().map(|(line, bits)| {
            let texts = self.chart.alternative_texts[line].iter().enumerate();
            let held = texts.filter(|(nth, _)| bits & (1 << nth) != 0);
            held.map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("; ")
        });
        held.collect()
    }
}

fn list(all: impl IntoIterator<Item = String>) -> String {
    let all: Vec<String> = all.into_iter().collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

/// Lines below a word.
fn block(lines: &[String]) -> String {
    if lines.is_empty() { " none".to_owned() } else { format!("\n  {}", lines.join("\n  ")) }
}
