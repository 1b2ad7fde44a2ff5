//! A driver whose calls wait at the gate.

use super::{Gate, Ticket, Wish};
use crate::rates::Spent;
use chartc_core::host::ToolCall;
use chartc_runtime::budget::{OUTPUT, Prices};
use chartc_runtime::driver::{CallId, Driver, Probe};
use chartc_runtime::oracle::{Answer, Asking, Kind, OracleError, Question};
use chartc_runtime::tools::Calling;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A driver whose calls of models and tools wait until the gate admits them. Questions to people do not wait.
pub struct Gated<D: ?Sized> {
    gate: Gate,
    /// The agent that makes the calls; `None` if it has the name of the run.
    agent: Option<Arc<str>>,
    provider: Arc<str>,
    inner: Arc<D>,
}

impl<D: Driver + ?Sized> Gated<D> {
    /// A driver for the calls of one agent. `provider` is the one for models without a provider in their names; `*` if it is unknown.
    pub fn new(gate: Gate, agent: &str, provider: &str, inner: Arc<D>) -> Self {
        Self { agent: Some(agent.into()), ..Self::of_runs(gate, provider, inner) }
    }

    /// A driver for the calls of many agents. The name of a run is that of its agent: see
    /// [`Session::with_run`](chartc_runtime::Session::with_run).
    pub fn of_runs(gate: Gate, provider: &str, inner: Arc<D>) -> Self {
        Self { gate, agent: None, provider: provider.into(), inner }
    }

    fn agent(&self, id: &CallId) -> String {
        self.agent.as_ref().unwrap_or(&id.run).to_string()
    }

    fn wish(&self, id: &CallId, question: &mut Question) -> Wish {
        let provider = match question.model.model.split_once(':') {
            Some((provider, _)) => provider.to_owned(),
            None => self.provider.to_string(),
        };
        let input = question.token_bound();
        let most = self.gate.state().windows.most(&provider, "llm_tokens");
        if let (None, Some(room)) =
            (question.model.max_tokens, most.and_then(|most| most.checked_sub(input)))
            && room < OUTPUT
            && room > 0
        {
            // No one has limited the length of the answer, so it may be as long as a whole window allows. With the default, the call would
            // never fit.
            question.model.max_tokens = Some(room);
        }
        let output = question.model.max_tokens.unwrap_or(OUTPUT);
        let prices = question.model.prices;
        let llm_tokens = input.saturating_add(output);
        let cost = prices.of(input, output);
        Wish {
            agent: self.agent(id),
            call: id.to_string(),
            provider,
            amounts: vec![("llm_calls", 1), ("llm_tokens", llm_tokens)],
            bound: Spent { llm_calls: 1, llm_tokens, cost },
            prices,
        }
    }

    fn waits(&self, wish: Wish) -> Waits {
        let id = self.gate.state().ticket(wish);
        Waits { gate: self.gate.clone(), id: Some(id) }
    }
}

impl<D: Driver + ?Sized + 'static> Driver for Gated<D> {
    fn ask(&self, id: &CallId, mut question: Arc<Question>) -> Asking {
        // A recording already contains the waits.
        if question.kind == Kind::Human || self.inner.keeps_time() {
            return self.inner.ask(id, question);
        }
        let wish = self.wish(id, Arc::make_mut(&mut question));
        let (waits, inner, id) = (self.waits(wish), self.inner.clone(), id.clone());
        Box::pin(async move {
            let mut pass = waits.await?;
            let answer = inner.ask(&id, question).await;
            pass.settle(&answer);
            answer
        })
    }

    fn call(&self, id: &CallId, call: ToolCall) -> Calling {
        if self.inner.keeps_time() {
            return self.inner.call(id, call);
        }
        let waits = self.waits(Wish {
            agent: self.agent(id),
            call: id.to_string(),
            provider: String::new(),
            amounts: vec![("tool_calls", 1)],
            bound: Spent::default(),
            prices: Prices::default(),
        });
        let (inner, id) = (self.inner.clone(), id.clone());
        Box::pin(async move {
            let _pass = waits.await?;
            inner.call(&id, call).await
        })
    }

    fn probe(&self, id: &CallId) -> Probe {
        self.inner.probe(id)
    }

    fn keeps_time(&self) -> bool {
        self.inner.keeps_time()
    }

    fn has_answered(&self) -> bool {
        self.gate.state().has_answered || self.inner.has_answered()
    }

    fn name(&self) -> String {
        self.inner.name()
    }
}

/// A future that resolves when the gate has decided. Dropping it before withdraws the ticket.
struct Waits {
    gate: Gate,
    id: Option<u64>,
}

impl Future for Waits {
    type Output = Result<Pass, OracleError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(id) = self.id else { return Poll::Pending };
        let mut state = self.gate.state();
        let Some(ticket) = state.tickets.get_mut(&id) else { return Poll::Pending };
        if ticket.verdict.is_none() {
            ticket.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let ticket = state.tickets.remove(&id);
        if let Some(Ticket { wish, verdict: Some(Ok(number)), .. }) = &ticket {
            state.begin(wish, *number);
        }
        drop(state);
        self.id = None;
        let Some(Ticket { wish, verdict: Some(verdict), .. }) = ticket else {
            return Poll::Pending;
        };
        Poll::Ready(
            verdict.map(|number| Pass { gate: self.gate.clone(), call: Some((wish, number)) }),
        )
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.gate.state().withdraw(id);
        }
    }
}

/// An admitted call. If it is dropped without an answer, the amounts that were held for it count as used.
struct Pass {
    gate: Gate,
    call: Option<(Wish, u64)>,
}

impl Pass {
    fn settle(&mut self, answer: &Result<Answer, OracleError>) {
        let Some((wish, number)) = self.call.take() else { return };
        let spent = |tokens, cost| Spent { llm_calls: 1, llm_tokens: tokens, cost };
        let actual = match answer {
            Ok(Answer { usage: Some(usage), .. }) => {
                let amount = wish.prices.amount(*usage);
                Some(spent(amount.tokens, amount.cost))
            }
            Ok(Answer { usage: None, .. }) => None,
            Err(error) if error.may_be_billed() => None,
            // Errors before the provider did any work cost nothing.
            Err(_) => Some(spent(0, 0)),
        };
        let mut state = self.gate.state();
        state.has_answered |= answer.is_ok();
        state.settle(&wish, number, actual);
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if let Some((wish, number)) = self.call.take() {
            self.gate.state().settle(&wish, number, None);
        }
    }
}
