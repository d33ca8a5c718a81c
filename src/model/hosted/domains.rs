//! Which sites a hosted tool may go to.

use super::HostedTool;

/// The host of a URL, in lower case; `None` for what is no web address.
pub(super) fn host(url: &str) -> Option<String> {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?.split(':').next()?;
    // The dot of the root names the same host.
    let host = host.trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

impl HostedTool {
    /// Whether the tool may show or fetch a URL: one of its domains or below one, with the
    /// path that the domain may name.
    pub(super) fn may_go_to(&self, url: &str) -> bool {
        let Some(host) = host(url) else {
            return false;
        };
        let listed = |domains: &[String]| domains.iter().any(|domain| covers(domain, &host, url));
        (self.allowed_domains.is_empty() || listed(&self.allowed_domains))
            && !listed(&self.blocked_domains)
    }
}

fn covers(domain: &str, host: &str, url: &str) -> bool {
    let (name, path) = match domain.split_once('/') {
        Some((name, path)) => (name, Some(path)),
        None => (domain, None),
    };
    let name = name.to_ascii_lowercase();
    let is_host = host == name
        || host
            .strip_suffix(&name)
            .is_some_and(|front| front.ends_with('.'));
    let below = |path: &str| {
        let rest = url.splitn(4, '/').nth(3).unwrap_or_default();
        rest.strip_prefix(path.trim_end_matches('/'))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']))
    };
    is_host && path.is_none_or(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_stands_for_what_is_below_it() {
        let tool = |allowed: &[&str], blocked: &[&str]| HostedTool {
            allowed_domains: allowed.iter().map(|d| (*d).to_owned()).collect(),
            blocked_domains: blocked.iter().map(|d| (*d).to_owned()).collect(),
            ..HostedTool::default()
        };
        let docs = tool(&["docs.rs", "example.com/blog"], &[]);
        assert!(docs.may_go_to("https://docs.rs/serde"));
        assert!(docs.may_go_to("https://API.docs.rs:443/x"));
        assert!(docs.may_go_to("https://example.com/blog/1"));
        assert!(!docs.may_go_to("https://example.com/shop"));
        assert!(!docs.may_go_to("https://example.com/blogger"));
        assert!(!docs.may_go_to("https://notdocs.rs/"));
        assert!(!docs.may_go_to("https://docs.rs@evil.example/"));
        assert!(!docs.may_go_to("file:///etc/passwd"));
        assert!(!tool(&[], &["docs.rs"]).may_go_to("https://docs.rs/"));
        assert!(!tool(&[], &["docs.rs"]).may_go_to("https://docs.rs./x"));
        assert!(tool(&[], &["docs.rs"]).may_go_to("https://crates.io/"));
    }
}
