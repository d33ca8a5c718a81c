//! Tools that the vendor hosts, and how a script uses them.

use super::answers::{Read, read_list, read_patterns};
use super::complaint::Complaint;
use super::fields::{Fields, MAX_INT, Reader};
use super::keys_hosted as keys;
use super::node::{Data, Node};
use crate::model::hosted::{Gives, Hit, HostedAnswer, HostedCall, HostedTool};
use serde_json::{Map, Value};

pub(super) fn read_hosted(r: &mut Reader, node: Option<&Node>) -> Vec<HostedTool> {
    let mut found: Vec<HostedTool> = Vec::new();
    for (at, node) in node
        .and_then(|n| r.list(n, "hosted tools"))
        .unwrap_or_default()
        .iter()
        .enumerate()
    {
        let Some(tool) = read_one(r, node, at) else {
            continue;
        };
        if found.iter().any(|earlier| earlier.name() == tool.name()) {
            r.complain(Complaint::error(
                &node.at,
                format!("a second hosted tool {}", tool.name().unwrap_or_default()),
                "every tool once",
            ));
            continue;
        }
        found.push(tool);
    }
    found
}

fn read_one(r: &mut Reader, node: &Node, at: usize) -> Option<HostedTool> {
    let kind = |r: &mut Reader, n: &Node| {
        r.word(n, &keys::types(), |word| {
            keys::types().contains(&word).then(|| word.to_owned())
        })
    };
    if !matches!(node.data, Data::Map(_)) {
        return Some(HostedTool {
            kind: kind(r, node)?,
            ..HostedTool::default()
        });
    }
    let mut f = r.fields(node, &keys::HOSTED)?;
    let named = f.get("type").and_then(|n| kind(r, n));
    let max_uses = f.get("max_uses").and_then(|n| r.int(n, 1, MAX_INT));
    f.only_one(r, &["allowed_domains", "blocked_domains"], false);
    let mut domains = |r: &mut Reader, key: &'static str| -> Vec<String> {
        let list = f.get(key).and_then(|n| r.list(n, "domains"));
        list.unwrap_or_default()
            .iter()
            .filter_map(|n| r.text(n))
            .collect()
    };
    let allowed_domains = domains(r, "allowed_domains");
    let blocked_domains = domains(r, "blocked_domains");
    let answers = read_list(
        r,
        f.get("answers"),
        &format!("hosted[{at}].answers"),
        read_answer,
        &keys::HOSTED_ANSWER,
    );
    f.done();
    Some(HostedTool {
        kind: named?,
        max_uses,
        allowed_domains,
        blocked_domains,
        answers,
    })
}

fn read_answer(r: &mut Reader, f: &mut Fields<'_>) -> Option<Read<HostedAnswer>> {
    let input = f
        .get("input")
        .map(|n| read_patterns(r, n))
        .unwrap_or_default();
    f.only_one(r, &["results", "text", "stdout", "error"], true);
    let title = f.text(r, "title");
    let stderr = f.text(r, "stderr").unwrap_or_default();
    let return_code = f
        .get("return_code")
        .and_then(|n| r.int(n, 0, 255))
        .unwrap_or(0);
    let gives = if let Some(node) = f.get("results") {
        let hits = r.list(node, "hits").unwrap_or_default();
        Gives::Hits(hits.iter().filter_map(|n| read_hit(r, n)).collect())
    } else if let Some(text) = f.text(r, "text") {
        Gives::Page { title, text }
    } else if let Some(stdout) = f.text(r, "stdout") {
        Gives::Ran {
            stdout,
            stderr,
            return_code: return_code as i64,
        }
    } else {
        Gives::Error(f.text(r, "error")?)
    };
    let has_matcher = !input.is_empty();
    Some(Read {
        value: HostedAnswer { input, gives },
        has_matcher,
    })
}

fn read_hit(r: &mut Reader, node: &Node) -> Option<Hit> {
    let mut f = r.fields(node, &keys::HIT)?;
    let (url, title, page_age) = (f.text(r, "url"), f.text(r, "title"), f.text(r, "page_age"));
    f.done();
    Some(Hit {
        url: url?,
        title: title.unwrap_or_default(),
        page_age,
    })
}

/// The uses of a turn: `{web_search: {query: x}}`, or with `tool`, `id`, `input`, `pending`.
pub(super) fn read_uses(r: &mut Reader, node: Option<&Node>) -> Vec<HostedCall> {
    let nodes = node.and_then(|n| r.list(n, "uses of hosted tools"));
    nodes
        .unwrap_or_default()
        .iter()
        .filter_map(|n| read_use(r, n))
        .collect()
}

fn read_use(r: &mut Reader, node: &Node) -> Option<HostedCall> {
    if let Data::Map(entries) = &node.data
        && let [entry] = entries.as_slice()
        && keys::USE.key(&entry.key).is_none()
    {
        return Some(HostedCall {
            tool: entry.key.clone(),
            id: None,
            input: json(&entry.value),
            pending: false,
        });
    }
    let mut f = r.fields(node, &keys::USE)?;
    let (tool, id) = (f.text(r, "tool"), f.text(r, "id"));
    let input = f
        .get("input")
        .map_or_else(|| Value::Object(Map::new()), json);
    let pending = f.bool(r, "pending").unwrap_or(false);
    f.done();
    Some(HostedCall {
        tool: tool?,
        id,
        input,
        pending,
    })
}

fn json(node: &Node) -> Value {
    match node.is_null() {
        true => Value::Object(Map::new()),
        false => node.to_json(),
    }
}
