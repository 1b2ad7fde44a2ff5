//! Receives the events that the host sends to a session.

use super::Session;
use crate::data;
use crate::error::RunError;
use crate::trace::{self, What};
use chartc_core::arena::EventId;
use chartc_core::expr::{Map, Value};
use chartc_core::host::{Machine, Mismatch, Typed};
use chartc_core::machine::{Input, Receipt};
use std::borrow::Cow;

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Sends an event with its data by field name, and waits for the resulting calls.
    ///
    /// # Errors
    /// See [`RunError`]. An event that no transition handles is not an error: the receipt reports it.
    pub async fn send(&mut self, event: &str, data: Map) -> Result<Receipt, RunError> {
        let receipt = self.post(event, data).await?;
        self.settle().await?;
        Ok(receipt)
    }

    /// Like [`Session::send`], for a generated machine: the event is a value of the generated enum.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn tell(&mut self, event: M::Event) -> Result<Receipt, RunError>
    where
        M: Typed,
    {
        let (event, data) = M::data_of(event);
        self.send(event, data).await
    }

    /// Sends an event, and returns without waiting for the resulting calls.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn post(&mut self, event: &str, data: Map) -> Result<Receipt, RunError> {
        if !self.started {
            self.start().await?;
        }
        self.hand_over(event, Cow::Owned(data))
    }

    /// Like [`Session::post`], for a session that has been started.
    pub(crate) fn hand_over(
        &mut self,
        event: &str,
        data: Cow<'_, Map>,
    ) -> Result<Receipt, RunError> {
        // Without a trace, the data need not be copied.
        if self.tracer.sink.is_deaf() {
            let tables = self.family.root().tables();
            if data.is_empty()
                && let Some(id) = tables.event_named(event)
                && tables.events[id.index()].fields.len == 0
            {
                return self.take_event(event, id, Vec::new(), Value::None);
            }
            let (id, payload) = data::payload_of(self.family.root().tables(), event, data)?;
            return self.take_event(event, id, payload, Value::None);
        }
        // The event's line in the trace contains its data.
        let sending = data.clone().into_owned();
        let (id, payload) = data::payload_of(self.family.root().tables(), event, data)?;
        let kept = if sending.is_empty() { Value::None } else { Value::Map(sending.clone()) };
        self.extra.busy.sending = Some(Value::Map(sending));
        self.take_event(event, id, payload, kept)
    }

    #[inline]
    fn take_event(
        &mut self,
        event: &str,
        id: EventId,
        payload: Vec<Value>,
        kept: Value,
    ) -> Result<Receipt, RunError> {
        self.reset_call_count();
        let receipt = self
            .apply_of_the_host(Input::Event(id, payload))?
            .map_err(|Mismatch(why)| RunError::event(event, &why))?;
        if self.extra.busy.sending.is_some() {
            self.extra.busy.sending = None;
        }
        self.not_taken(event, receipt, kept)?;
        self.release_idle_parts();
        Ok(receipt)
    }

    pub(super) fn not_taken(
        &mut self,
        input: &str,
        receipt: Receipt,
        data: Value,
    ) -> Result<(), RunError> {
        let why = match receipt {
            Receipt::Closed => "closed",
            Receipt::Busy => "busy",
            Receipt::Handled | Receipt::Unhandled | Receipt::Refused => return Ok(()),
        };
        let now = self.common.clock.now();
        self.trace(now, "", |_| What::NotTaken { input: input.into(), why: why.into(), data })
    }
}
