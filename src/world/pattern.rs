//! Skeleton: globs in the matchers of a scenario.
/// A glob over a whole text.
#[derive(Debug, Clone)]
pub struct Pattern(pub String);
