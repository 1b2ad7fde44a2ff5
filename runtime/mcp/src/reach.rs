//! The HTTP transport of remote servers, and the reading of its errors.

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
        // A session that has expired is not replaced and the call is not sent again, since it may have had effects. The call fails, and the
        // next one opens a new connection.
        .reinit_on_expired_session(false);
    let pair = |(name, value): &(String, String)| {
        let value = HeaderValue::from_str(value).ok().map(|mut value| {
            // Sensitive values are not shown by `Debug`, so they do not reach logs.
            value.set_sensitive(true);
            value
        });
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, value?))
    };
    config.custom_headers = headers.iter().filter_map(pair).collect();
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// A client that follows no redirects, because they could lead headers with credentials, and arguments, to another server.
pub(crate) fn client() -> Result<reqwest::Client, reqwest::Error> {
    // It fails only if another part of the program has installed a provider, which works as well.
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(10))
        .user_agent(concat!("chartc/", env!("CARGO_PKG_VERSION")))
        .build()
}

/// Converts the error of a handshake.
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

/// Converts an error of the transport: to its HTTP status if there is one in the chain of causes, otherwise to the texts of the causes.
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
        // Wrappers often repeat the text of their cause.
        if !words.iter().any(|before| before.contains(&text)) {
            words.push(text);
        }
        at = error.source();
    }
    Fault::Gone(short(&words.join(": "), 1000))
}
