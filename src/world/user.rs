//! Skeleton: the person at the keyboard.
/// An answer that the scripted user gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserAnswer {
    pub tool: Option<String>,
    pub reply: UserReply,
    pub times: Option<u32>,
    pub optional: bool,
}
/// What the user says to a question.
#[derive(Debug, Clone, PartialEq)]
pub enum UserReply {
    Allow,
    Deny { comment: Option<String> },
}
impl Eq for UserReply {}
