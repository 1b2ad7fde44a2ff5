//! HTTP: the transport of servers that are elsewhere, and what its errors say.

use crate::fault::{Fault, short};
use crate::wire::MESSAGE;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::service::ClientInitializeError;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};
use std::error::Error;
use std::time::Duration;

pub(crate) fn transport(
    url: &str,
    headers: &[(String, String)],
) -> Result<StreamableHttpClientTransport<reqwest::Client>, Fault> {
    let client = client().map_err(|why| Fault::Start(why.to_string()))?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.to_owned())
        .max_sse_event_size(MESSAGE)
        .max_json_response_size(MESSAGE)
        // A call that went to a session that is gone is not sent again: it fails, and the next one opens another.
        .reinit_on_expired_session(false);
    let pair = |(name, value): &(String, String)| {
        let value = HeaderValue::from_str(value).ok().map(|mut value| {
            value.set_sensitive(true);
            value
        });
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, value?))
    };
    config.custom_headers = headers.iter().filter_map(pair).collect();
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// A client for HTTP that follows no redirects: they would take headers and arguments to somebody else.
pub(crate) fn client() -> Result<reqwest::Client, reqwest::Error> {
    // Somebody else may have installed one already.
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(10))
        .user_agent(concat!("chartc/", env!("CARGO_PKG_VERSION")))
        .build()
}

/// Why a handshake failed.
pub(crate) fn not_begun(why: ClientInitializeError) -> Fault {
    if let ClientInitializeError::TransportError { error, .. } = why {
        let fault = status(error.error.as_ref());
        return if let Fault::Gone(why) = fault { Fault::Start(why) } else { fault };
    }
    if let ClientInitializeError::JsonRpcError(error) = why {
        return Fault::Refused(error.message.into_owned());
    }
    if let ClientInitializeError::ConnectionClosed(why) = why {
        return Fault::Gone(why);
    }
    let is_malformed = matches!(
        why,
        ClientInitializeError::ExpectedInitResponse(_)
            | ClientInitializeError::ExpectedInitResult(_)
    );
    Fault::Protocol(if is_malformed {
        "its answer to `initialize` is malformed".into()
    } else {
        why.to_string()
    })
}

/// What HTTP says, if it says a status; otherwise the chain of causes.
pub(crate) fn status(why: &(dyn Error + 'static)) -> Fault {
    let mut at = Some(why);
    let mut words: Vec<String> = Vec::new();
    while let Some(error) = at {
        if let Some(http) = error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            if let StreamableHttpError::HttpStatus(http) = http {
                let seconds = http.retry_after.as_deref().and_then(|text| text.trim().parse().ok());
                let retry_after = seconds.map(|seconds: u64| seconds.saturating_mul(1000));
                return Fault::Status { status: http.status, retry_after };
            }
            if let StreamableHttpError::AuthRequired(_) = http {
                return Fault::Refused(
                    "status 401: it wants to know who asks; configure `headers`, such as Authorization = \"Bearer ${TOKEN}\"".into(),
                );
            }
            if let StreamableHttpError::InsufficientScope(_) = http {
                return Fault::Refused(
                    "status 403: the credentials in `headers` do not suffice".into(),
                );
            }
        }
        let text = error.to_string();
        if !words.iter().any(|before| before.contains(&text)) {
            words.push(text);
        }
        at = error.source();
    }
    Fault::Gone(short(&words.join(": "), 1000))
}
