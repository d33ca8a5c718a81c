//! Whether and when a request that failed is sent again, on the virtual clock.

use crate::model::ModelError;

/// Attempts of one request in all (`protocol.md §5`).
pub const ATTEMPTS_MAX: u32 = 3;
/// The first delay; each further one is twice as long.
const FIRST_DELAY_MS: u64 = 500;
const DELAY_MAX_MS: u64 = 8_000;

/// How long to wait before attempt `attempt + 1` (attempts count from 1); `None` if the
/// failure is final.
///
/// Nothing of an answer is acted on before all of it is there, so a cut stream can be
/// asked for again: no effect happens twice.
pub fn delay_ms(error: &ModelError, attempt: u32) -> Option<u64> {
    if attempt >= ATTEMPTS_MAX {
        return None;
    }
    let backoff = (FIRST_DELAY_MS << (attempt - 1)).min(DELAY_MAX_MS);
    match error {
        ModelError::Api {
            status,
            retry_after_s,
            ..
        } => {
            let again = matches!(status, 408 | 409 | 429) || *status >= 500;
            again.then(|| retry_after_s.map_or(backoff, |s| s.saturating_mul(1_000)))
        }
        ModelError::Cut { .. } => Some(backoff),
        ModelError::Garbage(_) | ModelError::Script(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api(status: u16, retry_after_s: Option<u64>) -> ModelError {
        ModelError::Api {
            status,
            kind: String::new(),
            message: String::new(),
            retry_after_s,
        }
    }

    #[test]
    fn what_passes_is_tried_again_and_what_does_not_is_not() {
        assert_eq!(delay_ms(&api(529, None), 1), Some(500));
        assert_eq!(delay_ms(&api(529, None), 2), Some(1_000));
        assert_eq!(delay_ms(&api(529, None), 3), None);
        assert_eq!(delay_ms(&api(429, Some(2)), 1), Some(2_000));
        assert_eq!(delay_ms(&api(400, None), 1), None);
        assert_eq!(delay_ms(&ModelError::Script(String::new()), 1), None);
    }
}
