//! Checks and reads the response of a server to a question.

use crate::body::{self, Body};
use crate::wire::{ModelAnswer, Wire};
use chartc_runtime::oracle::{Answer, OracleError};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};

/// Reads the text and the token usage from a response with status 2xx.
pub(crate) fn read(wire: &Wire, headers: &HeaderMap, body: Body) -> Result<Answer, OracleError> {
    let header = |name| headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let coding = header(CONTENT_ENCODING);
    if !matches!(coding, "" | "identity") {
        // `Server::signed` asks for no compression, so this server ignores `accept-encoding`.
        return Err(other(format!(
            "the answer is compressed with `{}`",
            crate::fault::short(coding)
        )));
    }
    let body = match body {
        Body::Whole(body) => body,
        Body::Long(_) => {
            return Err(other(format!("the answer is longer than {} MiB", body::MOST >> 20)));
        }
    };
    // A proxy or a wrong address often answers with an HTML page and status 200; this gives a better message than a JSON syntax error.
    let kind = header(CONTENT_TYPE);
    if !kind.trim_start().to_ascii_lowercase().starts_with("application/json") {
        return Err(other(format!("the answer is not JSON but `{}`", crate::fault::short(kind))));
    }
    let ModelAnswer { text, usage, cut } = (wire.read)(&body).map_err(|why| {
        if why.is_data() {
            other(format!("the answer has another form than {}", wire.whose))
        } else {
            other(format!("the answer is no JSON: {}", crate::fault::short(&why.to_string())))
        }
    })??;
    Ok(Answer { text, usage, cut })
}

fn other(why: String) -> OracleError {
    OracleError::Other(why)
}
