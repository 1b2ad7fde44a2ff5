//! A failure again from what a trace tells of it.

use super::OracleError;

impl OracleError {
    /// The error of this kind whose message is `why`: what [`OracleError::kind`] and the message were made from.
    pub fn told(kind: &str, why: &str, retry_after: Option<u64>) -> Self {
        let after = |start: &str| why.strip_prefix(start).map(str::to_owned);
        let read = match kind {
            "denied" => after("no model may be asked: ").map(Self::Denied),
            "script" => Some(Self::Script(why.to_owned())),
            "timeout" => after("no answer after ")
                .and_then(|rest| rest.strip_suffix(" ms")?.parse().ok())
                .map(Self::Timeout),
            "refusal" => after("the model refused: ").map(Self::Refusal),
            "rate_limited" => Some(Self::RateLimited { retry_after }),
            "server" => after("the provider failed with status ")
                .and_then(|status| status.parse().ok())
                .map(|status| Self::Server { status, retry_after }),
            "connection" => after("connection lost: ").map(Self::Connection),
            "empty" => Some(Self::Empty),
            "endless" => Some(Self::Endless),
            _ => None,
        };
        read.unwrap_or_else(|| Self::Other(why.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_is_known_again_by_its_kind_and_message() {
        for error in [
            OracleError::Denied("nobody".into()),
            OracleError::Script("used up".into()),
            OracleError::Timeout(30),
            OracleError::Refusal("no".into()),
            OracleError::RateLimited { retry_after: None },
            OracleError::RateLimited { retry_after: Some(7) },
            OracleError::Server { status: 503, retry_after: None },
            OracleError::Connection("reset".into()),
            OracleError::Empty,
            OracleError::Endless,
            OracleError::Other("odd".into()),
        ] {
            let told = OracleError::told(error.kind(), &error.to_string(), error.retry_after());
            assert_eq!(told, error);
        }
    }
}
