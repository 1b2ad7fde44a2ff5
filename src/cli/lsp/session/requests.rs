//! Handles requests of the client, and responses to requests of the server.

use super::{Session, Waiting};
use crate::cli::lsp::answer::{self, Refusal, View};
use crate::cli::lsp::capabilities::Wishes;
use gen_lsp_types as lsp;
use lsp_server::{ErrorCode, Request, RequestId, Response};
use serde_json::{Value, json};
use std::cell::RefCell;

impl Session {
    pub(super) fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        if method == "shutdown" {
            self.shuts_down = true;
            self.send(Response::new_ok(id, Value::Null));
            return;
        }
        // After `shutdown` the protocol allows no request.
        if self.shuts_down {
            let why = "the server was shut down".to_owned();
            self.send(Response::new_err(id, ErrorCode::InvalidRequest as i32, why));
            return;
        }
        if !answer::knows(&method) {
            let why = format!("there is no method {method}");
            self.send(Response::new_err(id, ErrorCode::MethodNotFound as i32, why));
            return;
        }
        // Where the requests of the protocol, of chartc's extension and of commands have the address of their text.
        let uri = ["/textDocument/uri", "/uri", "/arguments/0"]
            .iter()
            .find_map(|path| params.pointer(path));
        let uri = uri.and_then(Value::as_str).and_then(|uri| uri.parse::<lsp::Uri>().ok());
        let Some(uri) = uri else {
            // The request is about all texts, so it waits for none.
            let result = self.answer(&method, params, None);
            self.respond(id, result);
            return;
        };
        let Some(version) = self.texts.get(&uri).map(|open| open.version) else {
            let why = Refusal::NotOpen;
            self.respond(id, Err(why));
            return;
        };
        self.waiting.push(Waiting { id, method, params, uri, version });
        self.answer_waiting();
    }

    /// Answers the requests whose text has been checked as it is now.
    pub(super) fn answer_waiting(&mut self) {
        let (ready, waiting) = std::mem::take(&mut self.waiting).into_iter().partition(|asked| {
            let known = self.known.get(&asked.uri);
            known.is_none_or(|known| known.checked.is_some())
        });
        self.waiting = waiting;
        let ready: Vec<Waiting> = ready;
        for Waiting { id, method, params, uri, version } in ready {
            let open = self.texts.get(&uri).map(|open| open.version);
            let result = if open.is_none() {
                Err(Refusal::NotOpen)
            // Positions in the request refer to the text as it was then.
            } else if open != Some(version) {
                Err(Refusal::Changed)
            } else {
                self.answer(&method, params, Some(&uri))
            };
            self.respond(id, result);
        }
    }

    pub(super) fn answer(
        &mut self,
        method: &str,
        params: Value,
        uri: Option<&lsp::Uri>,
    ) -> Result<Value, Refusal> {
        let known = uri.and_then(|uri| self.known.get(uri));
        let done = known.and_then(|known| known.compilation.clone());
        let view = View {
            client: &self.client,
            places: &self.places,
            texts: &self.texts,
            settings: &self.settings,
            uri,
            compilation: done,
            told: RefCell::default(),
        };
        let result = answer::answer(&view, method, params);
        for told in view.told.into_inner() {
            let message = chartc_core::visible::text(&told).into_owned();
            self.tell("window/showMessage", &json!({ "type": 3, "message": message }));
        }
        result
    }

    pub(super) fn respond(&self, id: RequestId, result: Result<Value, Refusal>) {
        self.send(match result {
            Ok(value) => Response::new_ok(id, value),
            Err(refusal) => Response::new_err(id, refusal.code(), refusal.message()),
        });
    }

    pub(super) fn response(&mut self, response: Response) {
        let Response { id, response_result } = response;
        let is_settings = self.asked_settings.as_ref() == Some(&id);
        if let (true, Ok(result)) = (is_settings, response_result) {
            let first = result.as_array().and_then(|all| all.first()).cloned().unwrap_or_default();
            self.client.settings = Wishes::from_value(first);
        }
    }

    pub(super) fn cancel(&mut self, id: Option<&Value>) {
        let Some(id) = id.and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok())
        else {
            return;
        };
        let before = self.waiting.len();
        self.waiting.retain(|asked| asked.id != id);
        if self.waiting.len() < before {
            self.respond(id, Err(Refusal::Canceled));
        }
    }
}
