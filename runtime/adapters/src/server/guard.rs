//! Authentication: decides which requests are let in, and with which rights.

use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::Uri;
use std::fmt::Write as _;
use std::sync::Arc;

/// The tokens and host names against which each request is checked.
#[derive(Debug, Clone)]
pub struct AccessRules {
    /// The tokens of clients, each with a name if there are several.
    pub clients: Vec<(Client, Token)>,
    /// The token of those who answer on behalf of people. It permits everything that `token` does, too.
    pub people: Token,
    /// The host names of the server. A `Host` header with another name is refused, which prevents DNS rebinding by web pages.
    pub hosts: Vec<String>,
}

/// The name of a client that has limits of its own; `None` where all share a token, and for people.
pub type Client = Option<Arc<str>>;

/// The rights of a request that was let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Visitor {
    Client(Client),
    Person,
}

impl Visitor {
    pub(super) fn client(&self) -> Client {
        match self {
            Self::Client(client) => client.clone(),
            Self::Person => None,
        }
    }
}

/// The refusal of a request: the HTTP status, an error code, and a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outside {
    pub(super) status: StatusCode,
    pub(super) kind: &'static str,
    pub(super) why: &'static str,
}

const fn outside(status: StatusCode, kind: &'static str, why: &'static str) -> Outside {
    Outside { status, kind, why }
}

impl AccessRules {
    /// Checks host, origin and token of a request. A browser sets `Host` and `Origin` from the address of the page, which the page cannot
    /// change: this recognises the requests of foreign pages.
    pub(super) fn pass(&self, headers: &HeaderMap, uri: &Uri) -> Result<Visitor, Outside> {
        let wrong_host = outside(
            StatusCode::FORBIDDEN,
            "host",
            "the header `Host` is none of the names of this server: add it with `--host`",
        );
        let host = only(headers, &HOST).ok_or(wrong_host)?;
        let named = uri.authority().map(hyper::http::uri::Authority::as_str);
        if !self.is_name(host) || named.is_some_and(|named| !self.is_name(named)) {
            return Err(wrong_host);
        }
        let is_own = |origin: &str| {
            let rest = origin.strip_prefix("http://").or(origin.strip_prefix("https://"));
            rest.is_some_and(|rest| rest.eq_ignore_ascii_case(host))
        };
        if headers.contains_key(&ORIGIN) && !only(headers, &ORIGIN).is_some_and(is_own) {
            return Err(outside(
                StatusCode::FORBIDDEN,
                "origin",
                "web pages of other servers may not call this one",
            ));
        }
        let shown = only(headers, &AUTHORIZATION).and_then(|text| {
            let (scheme, token) = text.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim().as_bytes())
        });
        match shown {
            Some(shown) if self.people.is(shown) => Ok(Visitor::Person),
            Some(shown) => match self.client(shown) {
                Some(client) => Ok(Visitor::Client(client)),
                None => Err(outside(StatusCode::UNAUTHORIZED, "token", "the token is another one")),
            },
            None => Err(outside(
                StatusCode::UNAUTHORIZED,
                "token",
                "a token is missing: send the header `Authorization: Bearer TOKEN`",
            )),
        }
    }

    /// The client whose token this is. All are compared, so that the time does not tell which one came near.
    fn client(&self, shown: &[u8]) -> Option<Client> {
        self.clients.iter().fold(
            None,
            |found, (client, token)| {
                if token.is(shown) { Some(client.clone()) } else { found }
            },
        )
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

// The secrets by which clients authenticate.

/// A secret that a client sends with each request. `Debug` hides it, so that it is not logged by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// The reason why a text cannot be a token, or no token could be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The text is short enough to be guessed.
    #[error("a token needs at least 16 characters")]
    Short,
    /// The text has characters that do not belong in a header.
    #[error("a token consists of letters, digits and `-._~+/=`")]
    Characters,
    /// The operating system provides no random numbers.
    #[error("this machine has no random numbers")]
    NoRandomness,
}

impl Token {
    /// Creates a token from a text that the operator has chosen.
    ///
    /// # Errors
    /// The text is shorter than 16 characters, or has characters other than letters, digits and `-._~+/=`.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
        if !text.chars().all(is_plain) {
            return Err(TokenError::Characters);
        }
        if text.len() < 16 {
            return Err(TokenError::Short);
        }
        Ok(Self(text.to_owned()))
    }

    /// Creates a token of 256 random bits.
    ///
    /// # Errors
    /// The operating system provides no random numbers.
    pub fn random() -> Result<Self, TokenError> {
        Ok(Self(hex(&random::<32>()?)))
    }

    /// The secret itself, to be shown to those who may use it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Compares in constant time: how long it takes does not tell how much of a guess is right.
    pub(super) fn is(&self, shown: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let differences = own.iter().zip(shown).fold(0, |sum, (a, b)| sum | (a ^ b));
        own.len() == shown.len() && differences == 0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// A random name of 64 bits, which no other run or event has.
pub(super) fn unique() -> Result<String, TokenError> {
    Ok(hex(&random::<8>()?))
}

fn random<const N: usize>() -> Result<[u8; N], TokenError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| TokenError::NoRandomness)?;
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` does not fail.
        _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::Token;
    use super::{AccessRules, Visitor};
    use hyper::Request;

    const TOKEN: &str = "client-token-0123456789";
    const PEOPLE: &str = "people-token-0123456789";

    /// Who comes in with these headers, or the kind of the refusal.
    fn pass(uri: &str, headers: &[(&str, &str)]) -> Result<Visitor, &'static str> {
        let token = |text| Token::new(text).expect("a token");
        let hosts = vec!["localhost".to_owned(), "[::1]".to_owned()];
        let gate =
            AccessRules { clients: vec![(None, token(TOKEN))], people: token(PEOPLE), hosts };
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).expect("a request").into_parts();
        gate.pass(&head.headers, &head.uri).map_err(|outside| outside.kind)
    }

    #[test]
    fn a_token_says_who_comes_in() {
        let with = |text: &str| pass("/runs", &[("host", "localhost"), ("authorization", text)]);
        let table = [
            (format!("Bearer {TOKEN}"), Ok(Visitor::Client(None))),
            (format!("bearer {TOKEN}"), Ok(Visitor::Client(None))),
            (format!("BEARER   {TOKEN}"), Ok(Visitor::Client(None))),
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
            let expected = if is_own { Ok(Visitor::Client(None)) } else { Err("host") };
            assert_eq!(come("/runs", &[("host", host)]), expected, "{host}");
        }
        assert_eq!(come("/runs", &[]), Err("host"));
        assert_eq!(come("/runs", &[("host", "localhost"), ("host", "localhost")]), Err("host"));
        let absolute = |uri| come(uri, &[("host", "localhost")]);
        assert_eq!(absolute("http://localhost/runs"), Ok(Visitor::Client(None)));
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
            let expected = if is_own { Ok(Visitor::Client(None)) } else { Err("origin") };
            let headers = [("host", "localhost:7878"), ("origin", origin)];
            assert_eq!(come("/runs", &headers), expected, "{origin}");
        }
    }
}

#[cfg(test)]
mod token_tests {
    use super::{Token, TokenError, unique};

    #[test]
    fn a_token_is_long_and_plain() {
        assert_eq!(Token::new("0123456789abcde").map(|_| ()), Err(TokenError::Short));
        assert_eq!(Token::new("").map(|_| ()), Err(TokenError::Short));
        for text in [
            "0123456789 abcdef",
            "0123456789\nabcdef",
            "0123456789ü-abcdef",
            "\u{1b}0123456789abcdef",
        ] {
            assert_eq!(Token::new(text).map(|_| ()), Err(TokenError::Characters), "{text:?}");
        }
        let token = Token::new("0123456789abcdef").expect("a token");
        assert!(token.is(b"0123456789abcdef"));
        for other in [
            "",
            "0",
            "0123456789abcde",
            "0123456789abcdeF",
            "0123456789abcdef0",
            "1123456789abcdef",
        ] {
            assert!(!token.is(other.as_bytes()), "{other}");
        }
        assert_eq!(format!("{token:?}"), "Token(…)");
    }

    #[test]
    fn random_ones_differ() {
        let (one, other) = (Token::random().expect("random"), Token::random().expect("random"));
        assert_ne!(one, other);
        assert_eq!(one.reveal().len(), 64);
        assert_eq!(Token::new(one.reveal()), Ok(one));
        assert_ne!(unique(), unique());
    }
}
