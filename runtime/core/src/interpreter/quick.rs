//! Runs compiled guards and actions. A case that they do not cover is left to the evaluator.

use super::data::Data;
use super::program::Runner;
use crate::expr::Value;
use crate::expr::quick::{Act, Scalars};
use crate::host::Host;
use crate::outbox::Outbox;
use crate::program::{Block, View};
use alloc::vec::Vec;

impl Data {
    #[inline]
    pub(super) fn scalars<'a>(&'a self, configuration: &'a [u64]) -> Scalars<'a> {
        Scalars { variables: &self.variables, payload: self.payloads(), configuration }
    }

    /// Runs compiled actions until one needs the machine or the evaluator. Returns the number of actions that have run.
    #[inline]
    pub(super) fn run(&mut self, acts: &[Act], configuration: &[u64]) -> usize {
        for (done, act) in acts.iter().enumerate() {
            let went = match act {
                Act::Step(variable, by) => self.step(*variable, *by),
                // The outbox is needed, which only `run_quickly` has.
                Act::Raise(_) => None,
                Act::Int(variable, value) => value
                    .value(&self.scalars(configuration))
                    .and_then(|value| self.assign_int(*variable, value)),
                Act::Float(variable, value) => value
                    .value(&self.scalars(configuration))
                    .and_then(|value| self.assign(*variable, Value::Float(value))),
                Act::Bool(variable, value) => value
                    .holds(&self.scalars(configuration))
                    .and_then(|value| self.assign(*variable, Value::Bool(value))),
            };
            if went.is_none() {
                return done;
            }
        }
        acts.len()
    }

    #[inline]
    fn step(&mut self, variable: u32, by: i64) -> Option<()> {
        let Value::Int(n) = self.variables.get_mut(variable as usize)?.as_mut()? else {
            return None;
        };
        *n = n.checked_add(by)?;
        Some(())
    }

    /// Sets a variable to a value that has its type.
    fn assign(&mut self, variable: u32, value: Value) -> Option<()> {
        *self.variables.get_mut(variable as usize)? = Some(value);
        Some(())
    }

    #[inline]
    fn assign_int(&mut self, variable: u32, value: i64) -> Option<()> {
        let place = self.variables.get_mut(variable as usize)?;
        if let Some(Value::Int(old)) = place {
            *old = value;
        } else {
            *place = Some(Value::Int(value));
        }
        Some(())
    }
}

impl<'p, H: Host> Runner<'p, H> {
    /// The actions of a block, if it is compiled; otherwise empty.
    #[inline]
    pub(super) fn compiled(&self, block: Block) -> &'p [Act] {
        match block {
            Block::Transition(line) => self.quick.line(line),
            Block::Entry(state, nth) => self.quick.entry(state, nth),
            Block::Exit(state, nth) => self.quick.exit(state, nth),
            Block::Default(_) => &[],
        }
    }

    /// Runs compiled actions from index `from` on, until one needs the evaluator. Returns the number of actions that have run, `from`
    /// included.
    pub(super) fn run_quickly(
        &mut self,
        acts: &[Act],
        from: usize,
        view: &View<'_>,
        outbox: &mut Outbox<'_>,
    ) -> usize {
        let mut done = from;
        loop {
            done += self.data.run(&acts[done..], view.cells.configuration);
            let Some(Act::Raise(event)) = acts.get(done) else { return done };
            if !outbox.raise(*event) {
                return done;
            }
            self.data.raised.push_back((*event, Vec::new()));
            done += 1;
        }
    }
}
