//! Builds the responses of the HTTP server.

use crate::guard::Outside;
use crate::refusal::Refusal;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};
use std::convert::Infallible;

pub(crate) type Body = UnsyncBoxBody<Bytes, Infallible>;
pub(crate) type Reply = Response<Body>;

/// An error response: the HTTP status, an error code, a message and the `Allow` header.
pub(crate) struct Refused {
    status: StatusCode,
    kind: &'static str,
    why: String,
    allow: Option<&'static str>,
}

const fn refused(status: StatusCode, kind: &'static str, why: String) -> Refused {
    Refused { status, kind, why, allow: None }
}

impl Refused {
    pub(crate) fn new(status: StatusCode, kind: &'static str, why: impl Into<String>) -> Self {
        refused(status, kind, why.into())
    }

    pub(crate) fn nowhere() -> Self {
        let why = "there is nothing at this address: docs/serve.md lists the addresses";
        Self::new(StatusCode::NOT_FOUND, "nowhere", why)
    }

    pub(crate) fn person() -> Self {
        let why = "this token may not answer for people: use the people's token, or `chartc store … reply`";
        Self::new(StatusCode::FORBIDDEN, "person", why)
    }

    pub(crate) fn streams() -> Self {
        let why = "as many traces are followed or read as this server takes: try again later";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "too_many", why)
    }

    pub(crate) fn method(allow: &'static str) -> Self {
        let why = format!("this address takes {allow}");
        Self { allow: Some(allow), ..Self::new(StatusCode::METHOD_NOT_ALLOWED, "method", why) }
    }

    pub(crate) fn reply(self) -> Reply {
        let Self { status, kind, why, allow } = self;
        let mut reply = json(status, &json!({"error": {"kind": kind, "message": why}}));
        if status == StatusCode::UNAUTHORIZED {
            reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(allow) = allow {
            reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
        }
        reply
    }
}

impl From<Outside> for Refused {
    fn from(outside: Outside) -> Self {
        Self::new(outside.status, outside.kind, outside.why)
    }
}

impl From<Refusal> for Refused {
    fn from(why: Refusal) -> Self {
        let status = match why {
            Refusal::NoChart { .. } | Refusal::NoRun(_) => StatusCode::NOT_FOUND,
            Refusal::Taken(_) | Refusal::NotNow(_) | Refusal::NotOpen(_) => StatusCode::CONFLICT,
            Refusal::Misfit(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Refusal::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Refusal::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, why.kind(), why.to_string())
    }
}

pub(crate) fn json(status: StatusCode, value: &Value) -> Reply {
    let text = format!("{value}\n");
    with(status, "application/json", Full::new(Bytes::from(text)).boxed_unsync())
}

/// A 204 response without a body. It tells clients that follow a trace not to connect again.
pub(crate) fn nothing() -> Reply {
    let mut reply = Response::new(Full::default().boxed_unsync());
    *reply.status_mut() = StatusCode::NO_CONTENT;
    reply
}

pub(crate) fn with(status: StatusCode, kind: &'static str, body: Body) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}
