//! What the API answers when it refuses or fails.

use super::raw::{self, Fields};
use serde::Serialize;
use serde_json::value::RawValue;
use std::fmt;
use std::sync::Arc;

/// The type of an API error (`protocol.md §5`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorKind {
    InvalidRequest,
    Authentication,
    Billing,
    Permission,
    NotFound,
    Conflict,
    RequestTooLarge,
    RateLimit,
    Api,
    Timeout,
    Overloaded,
    Unknown(String),
}

impl ErrorKind {
    /// The word as the API writes it.
    pub fn as_str(&self) -> &str {
        match self {
            ErrorKind::InvalidRequest => "invalid_request_error",
            ErrorKind::Authentication => "authentication_error",
            ErrorKind::Billing => "billing_error",
            ErrorKind::Permission => "permission_error",
            ErrorKind::NotFound => "not_found_error",
            ErrorKind::Conflict => "conflict_error",
            ErrorKind::RequestTooLarge => "request_too_large",
            ErrorKind::RateLimit => "rate_limit_error",
            ErrorKind::Api => "api_error",
            ErrorKind::Timeout => "timeout_error",
            ErrorKind::Overloaded => "overloaded_error",
            ErrorKind::Unknown(word) => word,
        }
    }

    /// The kind that `word` spells, any other kept.
    pub fn from_word(word: &str) -> ErrorKind {
        match word {
            "invalid_request_error" => ErrorKind::InvalidRequest,
            "authentication_error" => ErrorKind::Authentication,
            "billing_error" => ErrorKind::Billing,
            "permission_error" => ErrorKind::Permission,
            "not_found_error" => ErrorKind::NotFound,
            "conflict_error" => ErrorKind::Conflict,
            "request_too_large" => ErrorKind::RequestTooLarge,
            "rate_limit_error" => ErrorKind::RateLimit,
            "api_error" => ErrorKind::Api,
            "timeout_error" => ErrorKind::Timeout,
            "overloaded_error" => ErrorKind::Overloaded,
            other => ErrorKind::Unknown(other.to_owned()),
        }
    }

    /// The HTTP status that goes with the kind; 500 for one that is not known.
    pub fn status(&self) -> u16 {
        match self {
            ErrorKind::InvalidRequest => 400,
            ErrorKind::Authentication => 401,
            ErrorKind::Billing => 402,
            ErrorKind::Permission => 403,
            ErrorKind::NotFound => 404,
            ErrorKind::Conflict => 409,
            ErrorKind::RequestTooLarge => 413,
            ErrorKind::RateLimit => 429,
            ErrorKind::Api | ErrorKind::Unknown(_) => 500,
            ErrorKind::Timeout => 504,
            ErrorKind::Overloaded => 529,
        }
    }

    /// The kind that goes with an HTTP status.
    pub fn of_status(status: u16) -> ErrorKind {
        match status {
            401 => ErrorKind::Authentication,
            402 => ErrorKind::Billing,
            403 => ErrorKind::Permission,
            404 => ErrorKind::NotFound,
            409 => ErrorKind::Conflict,
            413 => ErrorKind::RequestTooLarge,
            429 => ErrorKind::RateLimit,
            504 => ErrorKind::Timeout,
            529 => ErrorKind::Overloaded,
            400..=499 => ErrorKind::InvalidRequest,
            _ => ErrorKind::Api,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Whether a client that is told nothing else sends the request again: 408, 409,
/// 429 and everything from 500 (`protocol.md §5`).
pub fn status_is_retryable(status: u16) -> bool {
    matches!(status, 408 | 409 | 429) || status >= 500
}

/// An error of the API, of a whole answer or of an event in a stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("HTTP {status} {kind}: {message}")]
pub struct ApiError {
    /// 200 for an event in a stream: the headers had been sent.
    pub status: u16,
    pub kind: ErrorKind,
    pub message: String,
    /// Such as `req_…`.
    pub request_id: Option<String>,
    /// The header `retry-after`, in whole seconds.
    pub retry_after_s: Option<u64>,
    /// The header `x-should-retry`; it overrides the status.
    pub should_retry: Option<bool>,
    /// Fields of `error` beside type and message, among them `details`.
    pub extra: Fields,
}

impl ApiError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> ApiError {
        ApiError {
            status: kind.status(),
            kind,
            message: message.into(),
            request_id: None,
            retry_after_s: None,
            should_retry: None,
            extra: Fields::new(),
        }
    }

    /// Makes the error that goes with a status.
    pub fn of_status(status: u16, message: impl Into<String>) -> ApiError {
        ApiError {
            status,
            ..ApiError::new(ErrorKind::of_status(status), message)
        }
    }

    /// Whether a client sends the request again; never after an event in a stream.
    pub fn is_retryable(&self) -> bool {
        self.should_retry
            .unwrap_or_else(|| status_is_retryable(self.status))
    }

    /// The machine-readable code in the details, if there is one.
    pub fn error_code(&self) -> Option<String> {
        Fields::of(self.extra.get("details")?)?.text("error_code")
    }

    /// Reads a body, or the data of an error event; `None` if it is neither.
    pub fn from_body(status: u16, body: &RawValue) -> Option<ApiError> {
        let mut outer = Fields::of(body)?;
        if outer.text("type").as_deref() != Some("error") {
            return None;
        }
        let mut error = Fields::of(&outer.take("error")?)?;
        let kind = raw::string(&error.take("type")?)?;
        let message = error
            .take("message")
            .and_then(|message| raw::string(&message))
            .unwrap_or_default();
        Some(ApiError {
            status,
            kind: ErrorKind::from_word(&kind),
            message,
            request_id: outer.text("request_id"),
            retry_after_s: None,
            should_retry: None,
            extra: error,
        })
    }

    /// The body, or the data of an error event.
    pub fn to_body(&self) -> Arc<RawValue> {
        #[derive(Serialize)]
        struct Body<'a> {
            r#type: &'static str,
            error: Fields,
            #[serde(skip_serializing_if = "Option::is_none")]
            request_id: &'a Option<String>,
        }
        let mut error = Fields::new();
        error.set("type", raw::of(self.kind.as_str()));
        error.set("message", raw::of(&self.message));
        for (key, value) in self.extra.iter() {
            error.set(key, value.clone());
        }
        raw::of(&Body {
            r#type: "error",
            error,
            request_id: &self.request_id,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_reads_back() {
        let text = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded","details":{"error_code":"x"}},"request_id":"req_1"}"#;
        let error = ApiError::from_body(529, &raw::from_text(text).unwrap()).unwrap();
        assert_eq!(error.kind, ErrorKind::Overloaded);
        assert_eq!(error.error_code().as_deref(), Some("x"));
        assert!(error.is_retryable());
        assert_eq!(error.to_body().get(), text);
    }

    #[test]
    fn the_header_overrides_the_status() {
        let mut error = ApiError::of_status(400, "no");
        assert!(!error.is_retryable());
        error.should_retry = Some(true);
        assert!(error.is_retryable());
        assert!(ApiError::of_status(409, "busy").is_retryable());
        assert!(!ApiError::of_status(422, "no").is_retryable());
    }

    #[test]
    fn kinds_and_statuses_agree() {
        for status in [400, 401, 402, 403, 404, 409, 413, 429, 500, 504, 529] {
            let kind = ErrorKind::of_status(status);
            assert_eq!(kind.status(), status);
            assert_eq!(ErrorKind::from_word(kind.as_str()), kind);
        }
    }
}
