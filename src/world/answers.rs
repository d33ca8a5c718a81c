//! Lists of scripted answers, searched from the top.

use std::sync::{Mutex, MutexGuard};

/// One entry of a list of answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer<T> {
    pub value: T,
    /// Whether the entry says what it answers. If not, it is used once.
    pub has_matcher: bool,
    /// How many times it may be used; without, an entry with a matcher has no limit.
    pub times: Option<u32>,
    /// Whether it may stay unused.
    pub optional: bool,
    /// What complaints call it.
    pub label: String,
}

impl<T> Answer<T> {
    fn limit(&self) -> u32 {
        let without = if self.has_matcher { u32::MAX } else { 1 };
        self.times.unwrap_or(without)
    }
}

/// A list of answers that remembers which were used.
#[derive(Debug)]
pub struct Answers<T> {
    entries: Vec<Answer<T>>,
    /// How often each entry was used.
    used: Mutex<Vec<u32>>,
}

impl<T> Answers<T> {
    pub fn new(entries: Vec<Answer<T>>) -> Answers<T> {
        let used = Mutex::new(vec![0; entries.len()]);
        Answers { entries, used }
    }

    /// Whether there is no entry at all, used or not.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Uses the first entry that is not used up and that `matches`; an entry
    /// without a matcher should match everything.
    pub fn take(&self, mut matches: impl FnMut(&T) -> bool) -> Option<T>
    where
        T: Clone,
    {
        let mut used = self.lock();
        let found = self
            .entries
            .iter()
            .zip(used.iter_mut())
            .find(|(entry, used)| **used < entry.limit() && matches(&entry.value));
        let (entry, used) = found?;
        *used += 1;
        Some(entry.value.clone())
    }

    /// Whether [`Answers::take`] would find an entry, without using it.
    pub fn has(&self, mut matches: impl FnMut(&T) -> bool) -> bool {
        let used = self.lock();
        self.entries
            .iter()
            .zip(used.iter())
            .any(|(entry, used)| *used < entry.limit() && matches(&entry.value))
    }

    /// What every entry answers with, in order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|entry| &entry.value)
    }

    /// The labels of the entries that were never used and are not optional, in order.
    pub fn left(&self) -> Vec<String> {
        let used = self.lock();
        self.entries
            .iter()
            .zip(used.iter())
            .filter(|(entry, used)| **used == 0 && !entry.optional)
            .map(|(entry, _)| entry.label.clone())
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u32>> {
        self.used.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl<T> Default for Answers<T> {
    fn default() -> Answers<T> {
        Answers::new(Vec::new())
    }
}

/// A copy begins where the original is: used entries stay used.
impl<T: Clone> Clone for Answers<T> {
    fn clone(&self) -> Answers<T> {
        Answers {
            entries: self.entries.clone(),
            used: Mutex::new(self.lock().clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(value: &str, has_matcher: bool, times: Option<u32>) -> Answer<String> {
        Answer {
            value: value.to_owned(),
            has_matcher,
            times,
            optional: false,
            label: format!("answer {value}"),
        }
    }

    /// A value `x=…` matches questions that begin with x; others match everything.
    fn ask(answers: &Answers<String>, question: &str) -> Option<String> {
        answers.take(|value| match value.split_once('=') {
            Some((wanted, _)) => question.starts_with(wanted),
            None => true,
        })
    }

    #[test]
    fn entries_without_a_matcher_are_used_once_in_order() {
        let answers = Answers::new(vec![
            answer("one", false, None),
            answer("two", false, None),
            answer("twice", false, Some(2)),
        ]);
        assert!(answers.has(|_| true));
        let given: Vec<_> = (0..5).map(|_| ask(&answers, "q")).collect();
        assert!(!answers.has(|_| true));
        let words = ["one", "two", "twice", "twice"].map(|w| Some(w.to_owned()));
        assert_eq!(given[..4], words);
        assert_eq!(given[4], None);
    }

    #[test]
    fn an_entry_with_a_matcher_answers_until_its_times_are_up() {
        let answers = Answers::new(vec![
            answer("a=first", true, Some(2)),
            answer("a=then", true, None),
            answer("rest", false, None),
        ]);
        let given: Vec<_> = ["a", "b", "a", "a", "a", "b"]
            .map(|q| ask(&answers, q))
            .into();
        let words = ["a=first", "rest", "a=first", "a=then", "a=then"].map(|w| Some(w.to_owned()));
        assert_eq!(given[..5], words);
        assert_eq!(given[5], None);
    }

    #[test]
    fn the_top_wins_even_without_a_matcher() {
        let answers = Answers::new(vec![answer("any", false, None), answer("a=x", true, None)]);
        assert_eq!(ask(&answers, "a").as_deref(), Some("any"));
        assert_eq!(ask(&answers, "a").as_deref(), Some("a=x"));
    }

    #[test]
    fn what_was_never_used_is_complained_about_unless_optional() {
        let mut optional = answer("c=x", true, None);
        optional.optional = true;
        let answers = Answers::new(vec![
            answer("a=x", true, Some(3)),
            answer("b=x", true, None),
            optional,
            answer("z", false, None),
        ]);
        assert_eq!(answers.left(), ["answer a=x", "answer b=x", "answer z"]);
        ask(&answers, "a");
        assert_eq!(answers.left(), ["answer b=x", "answer z"]);
        assert_eq!(answers.clone().left(), answers.left());
    }
}
