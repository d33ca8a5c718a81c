//! Skeleton: lists of answers, searched from the top.
/// A list of answers of one kind.
#[derive(Debug, Clone, Default)]
pub struct Answers<T> {
    pub entries: Vec<T>,
}
/// The entries never used.
#[derive(Debug, Clone, Default)]
pub struct AnswersLeft {
    pub unused: Vec<String>,
}
