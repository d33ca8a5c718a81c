//! Long strings, kept once beside the trace.

use memchr::memmem::Finder;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Bytes that a string may have, as it stands between its quotes, before it is kept
/// beside the trace.
pub(super) const INLINE_MAX_BYTES: usize = 4096;

/// What a string begins with that stands for one beside the trace: `blob:<hash>` for
/// a text, `blob:raw:<hash>` for one that is kept as it was escaped.
const MARK: &str = "blob:";
const RAW_MARK: &str = "raw:";

/// Long strings by the blake3 hash of their bytes, in 64 hexadecimal digits.
pub type Blobs = BTreeMap<String, String>;

/// Whether some JSON can hold a string value that [`store`] moves. Quick, and `true` for
/// some that hold none.
pub(super) fn may_hold(json: &[u8]) -> bool {
    static QUOTED_MARK: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"blob:"));
    json.len() > INLINE_MAX_BYTES || QUOTED_MARK.find(json).is_some()
}

/// Moves the long string values of a line of JSON into `blobs`.
///
/// A value that itself begins with the mark is moved as well, whatever its length,
/// so that what stands in the line with a mark is always ours.
pub(super) fn store(line: &str, blobs: &mut Blobs) -> Option<String> {
    let moves = |body: &str| body.len() > INLINE_MAX_BYTES || body.starts_with(MARK);
    replace_values(line, moves, |body| {
        let (mark, content) = match plain_text(body) {
            Some(text) => ("", text),
            None => (RAW_MARK, body.to_owned()),
        };
        let hash = address(&content);
        let reference = format!("{MARK}{mark}{hash}");
        blobs.insert(hash, content);
        Some(reference)
    })
}

/// Puts the long strings of a line back. `fetch` gives the content of a hash; a
/// reference whose content is not there, or not what was hashed, stays and is added
/// to `missing`.
pub(super) fn resolve(
    line: &str,
    fetch: &mut dyn FnMut(&str) -> Option<String>,
    missing: &mut Vec<String>,
) -> Option<String> {
    // Nearly every line holds none.
    memchr::memmem::find(line.as_bytes(), b"\"blob:")?;
    replace_values(
        line,
        |body| body.starts_with(MARK),
        |body| {
            let reference = body.strip_prefix(MARK)?;
            let raw = reference.strip_prefix(RAW_MARK);
            let hash = raw.unwrap_or(reference);
            match fetch(hash).filter(|content| address(content) == hash) {
                Some(content) if raw.is_some() => Some(content),
                Some(content) => escaped(&content),
                None => {
                    missing.push(hash.to_owned());
                    None
                }
            }
        },
    )
}

/// The name under which a content is kept.
fn address(content: &str) -> String {
    blake3::hash(content.as_bytes()).to_hex().to_string()
}

/// The text that `body` stands for between quotes, if writing that text gives
/// `body` again. Lone surrogates and needless escapes do not.
fn plain_text(body: &str) -> Option<String> {
    let text: String = serde_json::from_str(&format!("\"{body}\"")).ok()?;
    (escaped(&text)? == body).then_some(text)
}

/// A text as it is written between quotes.
fn escaped(text: &str) -> Option<String> {
    let mut quoted = serde_json::to_string(text).ok()?;
    quoted.pop();
    Some(quoted.split_off(1))
}

/// Replaces the bodies (between the quotes) of the string values of one line of JSON
/// that are `wanted`; keys stay. `None` if nothing was replaced.
fn replace_values(
    line: &str,
    wanted: impl Fn(&str) -> bool,
    mut replace: impl FnMut(&str) -> Option<String>,
) -> Option<String> {
    let mut out: Option<String> = None;
    let mut copied = 0;
    let mut at = 0;
    while let Some((body, end)) = next_string(line, at) {
        at = end + 1;
        let is_key = || line[at..].trim_start().starts_with(':');
        if !wanted(&line[body..end]) || is_key() {
            continue;
        }
        if let Some(new) = replace(&line[body..end]) {
            let out = out.get_or_insert_default();
            out.push_str(&line[copied..body]);
            out.push_str(&new);
            copied = end;
        }
    }
    let mut out = out?;
    out.push_str(&line[copied..]);
    Some(out)
}

/// The next string from `from` on: where its body begins, and where its closing quote is.
fn next_string(line: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = line.as_bytes();
    let body = from + memchr::memchr(b'"', bytes.get(from..)?)? + 1;
    let mut at = body;
    loop {
        let found = at + memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(found) == Some(&b'"') {
            return Some((body, found));
        }
        // The escaped character is ASCII, whatever it is.
        at = found + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(line: &str) -> (String, Blobs) {
        let mut blobs = Blobs::new();
        let stored = store(line, &mut blobs).unwrap_or_else(|| line.to_owned());
        let mut missing = Vec::new();
        let back = resolve(&stored, &mut |hash| blobs.get(hash).cloned(), &mut missing);
        assert_eq!(back.as_deref().unwrap_or(&stored), line);
        assert!(missing.is_empty());
        (stored, blobs)
    }

    #[test]
    fn the_limit_is_exact_and_content_is_kept_once() {
        let at_limit = "é".repeat(INLINE_MAX_BYTES / 2);
        let (stored, blobs) = round_trip(&format!(r#"{{"a":"{at_limit}"}}"#));
        assert!(blobs.is_empty() && stored.contains(&at_limit));
        let over = format!("{at_limit}x");
        let (stored, blobs) = round_trip(&format!(r#"{{"a":"{over}","b":["{over}"]}}"#));
        assert_eq!(blobs.len(), 1);
        assert_eq!(stored.matches("blob:").count(), 2);
        assert_eq!(blobs.values().next(), Some(&over));
    }

    #[test]
    fn a_text_is_kept_as_text_and_odd_escapes_as_they_are() {
        let lines = "a \\\"quote\\\"\\n".repeat(500);
        let (stored, blobs) = round_trip(&format!(r#"{{"a":"{lines}"}}"#));
        assert!(!stored.contains("blob:raw:"));
        assert_eq!(
            blobs.values().next().map(|text| text.lines().count()),
            Some(500)
        );
        let surrogates = "\\ud800".repeat(1_000);
        let (stored, blobs) = round_trip(&format!(r#"{{"a":"{surrogates}"}}"#));
        assert!(stored.contains("blob:raw:"));
        assert_eq!(blobs.values().next(), Some(&surrogates));
    }

    #[test]
    fn what_looks_like_ours_is_moved_out_of_the_way_and_keys_stay() {
        let hash = address("x");
        let line = format!(
            r#"{{"a":"blob:{hash}","blob:key" : "blob:","q":"\"blob:{hash}","e":"\\","z":""}}"#
        );
        let (stored, blobs) = round_trip(&line);
        assert_eq!(blobs.len(), 2);
        assert!(stored.contains(r#""blob:key" : "blob:"#));
        let long_key = "k".repeat(5_000);
        let (_, blobs) = round_trip(&format!(r#"{{"{long_key}":1}}"#));
        assert!(blobs.is_empty());
    }

    #[test]
    fn a_missing_or_spoilt_content_is_named_and_left() {
        let hash = address("right");
        let line = format!(r#"{{"a":"blob:{hash}"}}"#);
        for there in [None, Some("wrong".to_owned())] {
            let mut missing = Vec::new();
            assert_eq!(resolve(&line, &mut |_| there.clone(), &mut missing), None);
            assert_eq!(missing, [hash.as_str()]);
        }
    }
}
