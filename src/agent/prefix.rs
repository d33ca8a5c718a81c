//! What a prompt cache can keep of a request: the tools, the system prompt and the
//! messages of the request before it, byte for byte. Checked from each request to the
//! next, at the cost of what is new.

use super::Conversation;
use crate::wire::{ToolDef, estimate_tokens, estimate_tool_tokens, estimate_tools_tokens};
use std::sync::Arc;

/// What the last request began with.
#[derive(Debug)]
pub(super) struct Prefix {
    tools: Arc<[ToolDef]>,
    /// What tells one tools block from another.
    pub tools_hash: String,
    /// Estimated, of the tools that the block began with.
    tools_tokens: u64,
    /// Estimated, of those that were loaded into it: a reference brings in the whole
    /// definition, deferred or not.
    pub loaded_tokens: u64,
    system_tokens: u64,
    begun_with: usize,
    system: String,
    messages: Option<Sent>,
}

/// The messages of a request: how many, and what tells them from others.
#[derive(Debug, Clone, Copy)]
struct Sent {
    count: usize,
    digest: blake3::Hash,
}

/// How a request begins, held against the one before it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Compared {
    /// Whether a cache could keep everything that the last request held.
    pub is_stable: bool,
    /// What is not as it must be.
    pub broken: Vec<String>,
}

impl Prefix {
    pub fn new(tools: Arc<[ToolDef]>, system: &str) -> Prefix {
        Prefix {
            tools_hash: hash_of(&tools),
            tools_tokens: estimate_tools_tokens(&tools),
            loaded_tokens: 0,
            system_tokens: estimate_tokens(system),
            begun_with: tools.len(),
            tools,
            system: system.to_owned(),
            messages: None,
        }
    }

    /// Estimated, of everything before the messages.
    pub fn tokens(&self) -> u64 {
        self.tools_tokens + self.loaded_tokens + self.system_tokens
    }

    pub fn tools(&self) -> &Arc<[ToolDef]> {
        &self.tools
    }

    /// Takes the next request; `tools` is `None` if its tools are those of the last one.
    pub fn next(
        &mut self,
        tools: Option<Arc<[ToolDef]>>,
        system: &str,
        conversation: &Conversation,
    ) -> Compared {
        let mut compared = Compared {
            is_stable: true,
            broken: Vec::new(),
        };
        if let Some(tools) = tools {
            self.replace_tools(tools, &mut compared);
        }
        if self.system != system {
            compared.breaks("the system prompt differs from that of the last request");
            self.system = system.to_owned();
            self.system_tokens = estimate_tokens(system);
        }
        if let Some(sent) = self.messages
            && conversation.digest_at(sent.count) != Some(sent.digest)
        {
            compared
                .breaks("the messages of the last request are not those that this one begins with");
        }
        let count = conversation.messages().len();
        self.messages = conversation
            .digest_at(count)
            .map(|digest| Sent { count, digest });
        compared
    }

    /// Loaded tools may come to the end of the block. Those that are marked as deferred do
    /// not stand in the prompt's beginning; others move everything behind them.
    fn replace_tools(&mut self, tools: Arc<[ToolDef]>, compared: &mut Compared) {
        let was = self.tools.len();
        let begun = self.tools.get(..self.begun_with);
        let changed = if tools.get(..was) == Some(&self.tools[..]) {
            &tools[was..]
        } else if begun == Some(&tools[..]) {
            // All of them were forgotten, as they are where they last a turn.
            &self.tools[self.begun_with..]
        } else {
            if self.messages.is_some() {
                compared.breaks("the tools block does not begin with that of the last request");
            }
            &[]
        };
        let moves = changed.iter().any(|tool| !tool.is_deferred());
        compared.is_stable &= self.messages.is_none() || !moves;
        self.tools_hash = hash_of(&tools);
        let loaded = tools.get(self.begun_with..).unwrap_or_default();
        self.loaded_tokens = loaded.iter().map(estimate_tool_tokens).sum();
        self.tools = tools;
    }
}

impl Compared {
    fn breaks(&mut self, what: &str) {
        self.is_stable = false;
        self.broken.push(what.to_owned());
    }
}

fn hash_of(tools: &[ToolDef]) -> String {
    let bytes = serde_json::to_vec(tools).unwrap_or_default();
    blake3::hash(&bytes).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Message;
    use serde_json::json;

    fn tools(names: &[&str], deferred: bool) -> Arc<[ToolDef]> {
        let def = |name: &&str| {
            let mut def = ToolDef::custom(*name, "Does it.", &json!({"type": "object"}));
            def.defer_loading = (deferred && *name != "a").then_some(true);
            def
        };
        names.iter().map(def).collect()
    }

    fn said(texts: &[&str]) -> Conversation {
        let mut conversation = Conversation::default();
        for (n, text) in texts.iter().enumerate() {
            let message = match n % 2 {
                0 => Message::user(vec![crate::wire::Block::text(*text)]),
                _ => Message::assistant(vec![crate::wire::Block::text(*text)]),
            };
            conversation.push(Arc::new(message));
        }
        conversation
    }

    fn next(first: &[&str], then: Arc<[ToolDef]>, system: &str, texts: &[&str]) -> Compared {
        let mut prefix = Prefix::new(tools(first, false), "s");
        let begun = prefix.next(None, "s", &said(&["one"]));
        assert_eq!((begun.is_stable, begun.broken.len()), (true, 0));
        prefix.next(Some(then), system, &said(texts))
    }

    #[test]
    fn what_was_sent_stays() {
        let grown = &["one", "two", "three"];
        let same = next(&["a"], tools(&["a"], false), "s", grown);
        assert_eq!((same.is_stable, same.broken.len()), (true, 0));
        for broken in [
            next(&["a"], tools(&["a"], false), "t", grown),
            next(&["a"], tools(&["a"], false), "s", &["ONE", "two", "three"]),
            next(&["a"], tools(&["b"], false), "s", grown),
            next(&["a"], tools(&["b", "a"], false), "s", grown),
            next(&["a", "b"], tools(&["b"], false), "s", grown),
        ] {
            assert_eq!((broken.is_stable, broken.broken.len()), (false, 1));
        }
    }

    #[test]
    fn loaded_tools_come_last() {
        let plain = next(&["a"], tools(&["a", "b"], false), "s", &["one"]);
        assert_eq!((plain.is_stable, plain.broken.len()), (false, 0));
        let deferred = next(&["a"], tools(&["a", "b"], true), "s", &["one"]);
        assert_eq!((deferred.is_stable, deferred.broken.len()), (true, 0));
        let mut prefix = Prefix::new(tools(&["a"], false), "s");
        let mut next =
            |names: &[&str]| prefix.next(Some(tools(names, false)), "s", &said(&["one"]));
        next(&["a"]);
        next(&["a", "b"]);
        // Forgotten, and another in its place; but never one of two.
        assert!(next(&["a"]).broken.is_empty() && next(&["a", "c", "d"]).broken.is_empty());
        assert_eq!(next(&["a", "d"]).broken.len(), 1);
    }
}
