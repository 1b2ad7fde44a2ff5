//! The secrets by which clients authenticate.

use std::fmt::Write as _;

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
    pub(crate) fn is(&self, shown: &[u8]) -> bool {
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
pub(crate) fn unique() -> Result<String, TokenError> {
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
