//! Authentication: decides which requests are let in, and with which rights.

use crate::token::Token;
use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::request::Parts;

/// The tokens and host names against which each request is checked.
#[derive(Debug, Clone)]
pub struct AccessRules {
    /// The token of all clients.
    pub token: Token,
    /// The token of those who answer on behalf of people. It permits everything that `token` does, too.
    pub people: Token,
    /// The host names of the server. A `Host` header with another name is refused, which prevents DNS rebinding by web pages.
    pub hosts: Vec<String>,
}

/// The rights of a request that was let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visitor {
    Client,
    Person,
}

/// The refusal of a request: the HTTP status, an error code, and a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outside {
    pub(crate) status: StatusCode,
    pub(crate) kind: &'static str,
    pub(crate) why: &'static str,
}

const fn outside(status: StatusCode, kind: &'static str, why: &'static str) -> Outside {
    Outside { status, kind, why }
}

impl AccessRules {
    /// Checks host, origin and token of a request. A browser sets `Host` and `Origin` from the address of the page, which the page cannot
    /// change: this recognises the requests of foreign pages.
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

    /// Whether a host, with or without a port, is one of `hosts`.
    fn is_name(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            Some(_) | None => host,
        };
        self.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// The value of a header that occurs exactly once. With several, proxies and servers may disagree about which one counts.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    all.next().is_none().then_some(())?;
    first.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::{AccessRules, Visitor};
    use crate::token::Token;
    use hyper::Request;

    const TOKEN: &str = "client-token-0123456789";
    const PEOPLE: &str = "people-token-0123456789";

    /// Who comes in with these headers, or the kind of the refusal.
    fn pass(uri: &str, headers: &[(&str, &str)]) -> Result<Visitor, &'static str> {
        let token = |text| Token::new(text).expect("a token");
        let hosts = vec!["localhost".to_owned(), "[::1]".to_owned()];
        let gate = AccessRules { token: token(TOKEN), people: token(PEOPLE), hosts };
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).expect("a request").into_parts();
        gate.pass(&head).map_err(|outside| outside.kind)
    }

    #[test]
    fn a_token_says_who_comes_in() {
        let with = |text: &str| pass("/runs", &[("host", "localhost"), ("authorization", text)]);
        let table = [
            (format!("Bearer {TOKEN}"), Ok(Visitor::Client)),
            (format!("bearer {TOKEN}"), Ok(Visitor::Client)),
            (format!("BEARER   {TOKEN}"), Ok(Visitor::Client)),
            (format!("Bearer {PEOPLE}"), Ok(Visitor::Person)),
            (format!("Bearer {TOKEN}{PEOPLE}"), Err("token")),
            (format!("Bearer {TOKEN} {PEOPLE}"), Err("token")),
            (format!("Bearer {}", TOKEN.to_uppercase()), Err("token")),
            (format!("Basic {TOKEN}"), Err("token")),
            (TOKEN.to_owned(), Err("token")),
            ("Bearer".to_owned(), Err("token")),
            (String::new(), Err("token")),
        ];
        for (text, expected) in table {
            assert_eq!(with(&text), expected, "{text}");
        }
        let twice = format!("Bearer {TOKEN}");
        let twice = [("host", "localhost"), ("authorization", &twice), ("authorization", &twice)];
        assert_eq!(pass("/runs", &twice), Err("token"));
    }

    #[test]
    fn a_page_of_another_server_stays_outside() {
        let token = format!("Bearer {TOKEN}");
        let come = |uri: &str, headers: &[(&'static str, &str)]| {
            pass(uri, &[&[("authorization", token.as_str())], headers].concat())
        };
        let hosts = [
            ("localhost", true),
            ("LocalHost:7878", true),
            ("[::1]", true),
            ("[::1]:7878", true),
            ("::1", false),
            ("localhost.", false),
            ("localhost:x", false),
            ("localhost:1:2", false),
            ("user@localhost", false),
            ("evil.example", false),
            ("", false),
        ];
        for (host, is_own) in hosts {
            let expected = if is_own { Ok(Visitor::Client) } else { Err("host") };
            assert_eq!(come("/runs", &[("host", host)]), expected, "{host}");
        }
        assert_eq!(come("/runs", &[]), Err("host"));
        assert_eq!(come("/runs", &[("host", "localhost"), ("host", "localhost")]), Err("host"));
        let absolute = |uri| come(uri, &[("host", "localhost")]);
        assert_eq!(absolute("http://localhost/runs"), Ok(Visitor::Client));
        assert_eq!(absolute("http://evil.example/runs"), Err("host"));
        let origins = [
            ("http://localhost:7878", true),
            ("https://localhost:7878", true),
            ("http://localhost", false),
            ("http://localhost:7879", false),
            ("http://localhost:7878/", false),
            ("ws://localhost:7878", false),
            ("null", false),
            ("", false),
        ];
        for (origin, is_own) in origins {
            let expected = if is_own { Ok(Visitor::Client) } else { Err("origin") };
            let headers = [("host", "localhost:7878"), ("origin", origin)];
            assert_eq!(come("/runs", &headers), expected, "{origin}");
        }
    }
}
