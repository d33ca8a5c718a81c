//! Skeleton of the semantic parameters.

/// A named set of semantic parameters.
#[derive(Debug, Clone)]
pub struct Profile {
    pub name: String,
}
