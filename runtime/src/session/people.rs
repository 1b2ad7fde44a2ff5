//! Open questions to people, and the host's answers to them.

use super::calls::{Call, Work};
use super::{At, Session};
use crate::error::RunError;
use crate::oracle::{Answer, Kind, NotOpen, Question, find_open};
use crate::trace;
use chartc_core::host::Machine;
use std::sync::Arc;

impl Call {
    /// The question to a person for which this call waits.
    fn asked(&self) -> Option<&Question> {
        match &self.work {
            Work::Question(question, ..) if question.kind == Kind::Human => Some(question),
            _ => None,
        }
    }
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// The open questions to people, in the order in which they were asked.
    pub fn asked(&self) -> impl Iterator<Item = &Question> {
        self.extra.busy.calls.iter().filter_map(Call::asked)
    }

    /// Answers the open question to a person that has this [id](Question::id). The driver's own call for it is dropped. Returns the
    /// permanent id of that call. The effects of the answer begin with the next call of
    /// [`go_as_far_as_possible`](Self::go_as_far_as_possible) or [`settle`](Self::settle).
    ///
    /// # Errors
    /// See [`RunError`]. The inner error means that no open question has this id; nothing has changed then.
    pub fn reply(
        &mut self,
        question: &str,
        text: String,
    ) -> Result<Result<String, NotOpen>, RunError> {
        let calls = self.extra.busy.calls.iter().enumerate();
        let open = calls.filter_map(|(index, call)| Some((index, call.asked()?)));
        let index = match find_open(open, question) {
            Ok(index) => index,
            Err(why) => return Ok(Err(why)),
        };
        let Call { at, work } = self.extra.busy.calls.remove(index);
        let name = self.name_of(&at, false).to_string();
        let now = self.submit_earlier_retries()?;
        if let Work::Question(question, ..) = work {
            self.ended(now, at, &question, Ok(Answer::from(text)))?;
        }
        Ok(Ok(name))
    }

    /// Gives a question to a person its id. Questions to models get none.
    pub(super) fn name_question(&self, at: &At, question: &mut Arc<Question>) {
        if question.kind == Kind::Human && question.id.is_empty() {
            let call = self.name_of(at, false).to_string();
            Arc::make_mut(question).name(&call);
        }
    }
}
