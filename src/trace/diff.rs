//! Skeleton.
/// The first place where two traces differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    pub line: u64,
    pub path: String,
    pub left: String,
    pub right: String,
}
pub fn first_divergence(_a: &super::Trace, _b: &super::Trace) -> Option<Divergence> {
    None
}
