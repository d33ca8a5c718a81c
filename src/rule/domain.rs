//! `WebFetch(domain:…)`: hosts, exact or with `*` (`semantics.md §1.4`).

use super::Problem;

/// A host, in lower case and without a dot at its end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DomainPattern {
    text: String,
}

impl DomainPattern {
    /// Reads what follows `domain:`.
    pub fn new(text: &str) -> Result<DomainPattern, Problem> {
        let text = text.trim().trim_end_matches('.').to_lowercase();
        let wrong = |c: char| c.is_whitespace() || "/@?#\\".contains(c);
        if text.is_empty() || text.contains(wrong) {
            return Err(Problem::unusable("`domain:` and a host name alone")
                .hint("without scheme, path or spaces: `WebFetch(domain:example.com)`"));
        }
        Ok(DomainPattern { text })
    }

    /// The host, if it holds no `*`.
    pub fn exact(&self) -> Option<&str> {
        (!self.text.contains('*')).then_some(&*self.text)
    }

    /// Whether it stands for `host`, given as [`host_of`] gives it. A leading `*.` is
    /// any subdomain and not the domain itself; elsewhere `*` never crosses a dot.
    pub fn matches(&self, host: &str) -> bool {
        if self.text == "*" {
            return true;
        }
        if let Some(domain) = self.text.strip_prefix("*.") {
            let parts = domain.split('.').count();
            let labels: Vec<&str> = host.split('.').collect();
            let Some(above) = labels.len().checked_sub(parts).filter(|n| *n > 0) else {
                return false;
            };
            return labels_match(domain, &labels[above..]);
        }
        labels_match(&self.text, &host.split('.').collect::<Vec<_>>())
    }
}

fn labels_match(pattern: &str, labels: &[&str]) -> bool {
    let patterns: Vec<&str> = pattern.split('.').collect();
    patterns.len() == labels.len()
        && patterns.iter().zip(labels).all(|(pattern, label)| {
            super::name::wildcard(&pattern.split('*').collect::<Vec<_>>(), label)
        })
}

/// The host that a request for `url` goes to, in lower case and without a dot at its
/// end; `None` if there is none.
pub fn host_of(url: &str) -> Option<String> {
    let url = url.trim();
    let rest = match url.split_once("://") {
        Some((scheme, rest)) if scheme.chars().all(|c| c.is_ascii_alphanumeric()) => rest,
        _ => url,
    };
    // A browser takes a backslash for a slash here.
    let authority = rest.split(['/', '\\', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next()?,
        None => host.split(':').next()?,
    };
    let host = decode(host).trim_end_matches('.').to_lowercase();
    (!host.is_empty()).then_some(host)
}

/// Replaces `%41` and the like.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|d| std::str::from_utf8(d).ok());
        let code = digits.and_then(|d| u8::from_str_radix(d, 16).ok());
        match (first, code) {
            (b'%', Some(code)) => {
                bytes.push(code);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        let table = [
            ("example.com", "https://example.com/x", true),
            ("EXAMPLE.com.", "http://Example.COM:80", true),
            ("example.com", "https://example.com./", true),
            ("example.com", "https://a.example.com", false),
            ("example.com", "https://badexample.com", false),
            ("*.example.com", "https://a.b.example.com", true),
            ("*.example.com", "https://example.com", false),
            ("*", "https://x.y", true),
            ("api-*.example.com", "https://api-1.example.com", true),
            ("api-*.example.com", "https://api-1.x.example.com", false),
            ("a.*.com", "https://a.b.com", true),
            ("a.*.com", "https://a.b.c.com", false),
            ("example.com", "https://evil.com/example.com", false),
            ("example.com", "https://example.com@evil.com/", false),
            ("evil.com", "https://example.com@evil.com/", true),
            ("evil.com", "https://evil.com\\@example.com/", true),
            ("evil.com", "https://%65vil.com/", true),
            ("example.com", "example.com/x", true),
        ];
        for (pattern, url, expected) in table {
            let pattern = DomainPattern::new(pattern).unwrap();
            let host = host_of(url).unwrap();
            assert_eq!(pattern.matches(&host), expected, "{pattern:?} {url}");
        }
        for wrong in ["", "https://x.com", "x.com/y", "a b"] {
            assert!(DomainPattern::new(wrong).is_err(), "{wrong}");
        }
        assert_eq!(host_of("https://[::1]:80/").as_deref(), Some("::1"));
        assert_eq!(host_of("https:///x"), None);
    }
}
