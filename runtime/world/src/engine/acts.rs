//! Executes the actions that agents have chosen, one after the other.

use super::slot::{Loop, Mail};
use super::{Engine, Maker, Output, Recipe};
use crate::request::Request;
use chartc_core::expr::{Map, Value};
use chartc_core::host::Machine;
use chartc_runtime::clock::Clock;
use chartc_runtime::trace::{Cause, What};
use std::io;

impl<M: Machine + Send, K: Maker<M>, O: Output> Engine<M, K, O> {
    /// Executes the actions of all agents that have finished thinking, in an order given by the seed. Returns the number of these agents.
    pub(super) async fn act_all(&mut self, of: u64) -> io::Result<usize> {
        let mut order: Vec<usize> = self.thought.drain(..).collect();
        // Sorted first, so that the seed alone decides, and not the order in which agents finished thinking.
        order.sort_unstable();
        self.chance(of).shuffle(&mut order);
        for index in &order {
            self.act(*index).await?;
        }
        Ok(order.len())
    }

    /// Executes the action that an agent's turn has chosen.
    async fn act(&mut self, index: usize) -> io::Result<()> {
        let Some(mut slot) = self.slots.get_mut(index).and_then(Option::take) else {
            return Ok(());
        };
        if slot.mode.is_over() {
            // The agent was stopped in the meantime, so its action is not executed.
            self.slots[index] = Some(slot);
            return Ok(());
        }
        // The action's line follows the last one of the trace, so events that it causes name this line as their cause.
        let before = Cause { agent: slot.name.to_string(), seq: slot.agent.session().seq() };
        let done = slot.agent.act_on_turn().await;
        slot.is_changed = true;
        let lines = slot.lines.take();
        let has_acted = lines.iter().any(|(_, line)| matches!(line.what, What::Acted { .. }));
        let has_failed = lines.iter().any(|(_, line)| {
            matches!(line.what, What::NotActed { .. })
                || matches!(&line.what, What::Acted { failed, .. } if !failed.is_empty())
        });
        let is_failed_turn =
            lines.iter().any(|(_, line)| matches!(line.what, What::NotActed { .. }))
                || slot.agent.session().failed_step().is_some();
        slot.failures = if has_failed || is_failed_turn { slot.failures + 1 } else { 0 };
        let (name, is_service) = (slot.name.clone(), slot.is_service());
        let has_ended = slot.agent.session().status().is_some();
        if let Err(why) = done {
            slot.mode = Loop::Broken(why.to_string());
        }
        let broken = slot.mode.broken().map(str::to_owned);
        self.slots[index] = Some(slot);
        self.write(&name, lines)?;
        if !is_service && !is_failed_turn {
            self.tick_stats.count_active(&name);
            if !has_acted {
                self.tick_stats.act("noop");
            }
        }
        if let Some(why) = broken {
            self.broken(&name, &why)?;
        } else if has_ended {
            self.stop_slot(index);
        }
        self.after_action(&before)
    }

    /// Handles an agent that cannot continue.
    pub(super) fn broken(&mut self, name: &str, why: &str) -> io::Result<()> {
        self.tick_stats.summary.errors += 1;
        self.tick_stats.note(format!("{name} cannot go on: {why}"));
        let mut data = Map::new();
        data.insert("agent".into(), Value::Text(name.to_owned()));
        data.insert("why".into(), Value::Text(why.to_owned()));
        self.say("broken", data)
    }

    /// Executes the requests that an action has made, and reports its changes.
    pub(super) fn after_action(&mut self, cause: &Cause) -> io::Result<()> {
        for notice in self.world.take_notices() {
            self.tick_stats.notice(&notice);
            self.say(&notice.event, notice.data)?;
        }
        for request in self.world.take_requests() {
            match request {
                Request::Deliver { to, event, arguments, .. } => {
                    self.deliver(&to, &event, arguments, cause.clone());
                }
                Request::Spawn(spawn) => {
                    if let Err(why) = self.add(&spawn.agent, Recipe::Spawned(&spawn)) {
                        let mut data = Map::new();
                        data.insert("agent".into(), Value::Text(spawn.agent.clone()));
                        data.insert("parent".into(), Value::Text(spawn.parent.clone()));
                        data.insert("why".into(), Value::Text(why));
                        self.say("not_spawned", data)?;
                    }
                }
                Request::Pause { agent, by } => {
                    self.pause(&agent, &format!("`{by}` has paused it"));
                }
                Request::Resume { agent } => {
                    self.resume(&agent);
                }
                Request::Stop { agent } => {
                    if let Some(index) = self.by_name.get(&*agent).copied() {
                        self.thinking.remove(&index);
                        self.stop_slot(index);
                    }
                }
            }
        }
        Ok(())
    }

    /// Puts an event into an agent's mailbox.
    fn deliver(&mut self, to: &str, event: &str, arguments: Vec<Value>, cause: Cause) {
        let Some(index) = self.by_name.get(to).copied() else { return };
        let Some(slot) = self.slots.get_mut(index).and_then(Option::as_mut) else { return };
        let data = {
            let tables = slot.agent.session().machine().tables();
            chartc_runtime::data::by_position(tables, event, arguments)
        };
        slot.mail.push_back(Mail { event: event.to_owned(), data, cause });
        slot.is_changed = true;
        // A sleeping agent is woken by the event at once, before its next turn would begin.
        if matches!(slot.mode, Loop::Sleeping(_)) {
            let now = self.clock.now();
            slot.mode = Loop::Sleeping(Some(now));
            self.turns.insert((now, index));
        }
        self.woken.put(index);
    }
}
