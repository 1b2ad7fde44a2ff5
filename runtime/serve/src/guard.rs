//! Who may come in.

use crate::token::Token;
use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::request::Parts;

/// Who may come in.
#[derive(Debug, Clone)]
pub struct Gate {
    /// Shown by all clients.
    pub token: Token,
    /// Shown by those who answer for people, who may do all else, too.
    pub people: Token,
    /// The names of the server: a web page that calls it by another one, which its author has led here, stays outside.
    pub hosts: Vec<String>,
}

/// Who has come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visitor {
    Client,
    Person,
}

/// Why somebody may not come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outside {
    pub(crate) status: StatusCode,
    pub(crate) kind: &'static str,
    pub(crate) why: &'static str,
}

const fn outside(status: StatusCode, kind: &'static str, why: &'static str) -> Outside {
    Outside { status, kind, why }
}

impl Gate {
    pub(crate) fn pass(&self, head: &Parts) -> Result<Visitor, Outside> {
        let wrong_host = outside(
            StatusCode::FORBIDDEN,
            "host",
            "the header `Host` is none of the names of this server: add it with `--host`",
        );
        let host = only(&head.headers, &HOST).ok_or(wrong_host)?;
        let named = head.uri.authority().map(hyper::http::uri::Authority::as_str);
        if !self.is_name(host) || named.is_some_and(|named| !self.is_name(named)) {
            return Err(wrong_host);
        }
        let is_own = |origin: &str| {
            let rest = origin.strip_prefix("http://").or(origin.strip_prefix("https://"));
            rest.is_some_and(|rest| rest.eq_ignore_ascii_case(host))
        };
        if head.headers.contains_key(&ORIGIN) && !only(&head.headers, &ORIGIN).is_some_and(is_own) {
            return Err(outside(
                StatusCode::FORBIDDEN,
                "origin",
                "web pages of other servers may not call this one",
            ));
        }
        let shown = only(&head.headers, &AUTHORIZATION).and_then(|text| {
            let (scheme, token) = text.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim().as_bytes())
        });
        match shown {
            Some(shown) if self.people.is(shown) => Ok(Visitor::Person),
            Some(shown) if self.token.is(shown) => Ok(Visitor::Client),
            Some(_) => Err(outside(StatusCode::UNAUTHORIZED, "token", "the token is another one")),
            None => Err(outside(
                StatusCode::UNAUTHORIZED,
                "token",
                "a token is missing: send the header `Authorization: Bearer TOKEN`",
            )),
        }
    }

    /// Whether a host, with or without a port, is one of the names.
    fn is_name(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            Some(_) | None => host,
        };
        self.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// A header that is there once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    all.next().is_none().then_some(())?;
    first.to_str().ok()
}
