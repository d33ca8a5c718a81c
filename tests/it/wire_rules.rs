//! What the API rejects: each rule, the two ways to check them, recorded requests.

use proptest::prelude::*;
use rehearsal::wire::rules::{Checker, Head, Rule, Violation, check_all};
use rehearsal::wire::{self, BlockKind, Message, RequestBody, Response, StopReason};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

fn body(value: Value) -> RequestBody {
    serde_json::from_str(&value.to_string()).unwrap()
}

/// Checks a request message by message.
fn by_message(body: &RequestBody) -> Vec<Violation> {
    let head = Head::new(&body.tools, &body.system, body.cache_control.as_deref());
    let mut checker = Checker::new();
    let mut all = head.violations().to_vec();
    for message in &body.messages {
        all.extend(checker.push(message));
    }
    all.extend(checker.end(&head));
    all.sort();
    all
}

/// The rules that a request breaks, with their paths; both ways to check must agree.
fn broken(value: Value) -> Vec<(Rule, String)> {
    let body = body(value);
    let whole = check_all(&body);
    assert_eq!(by_message(&body), whole);
    whole
        .into_iter()
        .map(|violation| {
            assert!(!violation.text.is_empty());
            (violation.rule, violation.path)
        })
        .collect()
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "T", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "ok"})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// A conversation: `user` and `assistant` in turns, the user first.
fn talk(contents: &[Value]) -> Value {
    let messages: Vec<Value> = contents
        .iter()
        .enumerate()
        .map(|(n, content)| {
            let role = if n % 2 == 0 { "user" } else { "assistant" };
            json!({"role": role, "content": content})
        })
        .collect();
    json!({"model": "m", "messages": messages})
}

#[test]
fn what_the_api_takes_breaks_no_rule() {
    for good in [
        talk(&[json!("hi")]),
        talk(&[
            json!("hi"),
            json!([call("a"), call("b")]),
            json!([result("b"), result("a"), text("go on")]),
        ]),
        // Results in several messages of one turn.
        json!({"model": "m", "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [call("a")]},
            {"role": "assistant", "content": [call("b")]},
            {"role": "user", "content": [result("a")]},
            {"role": "user", "content": [result("b"), text("and")]},
        ]}),
        // The last assistant message may be empty.
        talk(&[json!("hi"), json!([])]),
        // A pause: the answer goes back as it is.
        talk(&[
            json!("hi"),
            json!([{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}]),
        ]),
        // A result of the vendor's may come in a later answer.
        talk(&[
            json!("hi"),
            json!([{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}, call("a")]),
            json!([result("a")]),
            json!([{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}, text("done")]),
            json!("thanks"),
        ]),
        json!({"model": "m", "messages": [
            {"role": "user", "content": "hi"},
            {"role": "system", "content": "be brief"},
            {"role": "system", "content": "be kind"},
            {"role": "assistant", "content": "yes"},
            {"role": "user", "content": "hi"},
            {"role": "system", "content": "be brief"},
        ]}),
        // An input that did not parse is recorded as an object.
        talk(&[
            json!("hi"),
            json!([{"type": "tool_use", "id": "a", "name": "T", "input": {"__unparsedToolInput": {"raw": "[", "len": 1}}}]),
            json!([result("a")]),
        ]),
        // An empty output is no error.
        talk(&[
            json!("hi"),
            json!([call("a")]),
            json!([{"type": "tool_result", "tool_use_id": "a"}]),
        ]),
    ] {
        assert_eq!(broken(good.clone()), [], "{good}");
    }
}

#[test]
fn each_rule_is_found_at_its_path() {
    use Rule::*;
    let error = |content: Value| json!({"type": "tool_result", "tool_use_id": "a", "is_error": true, "content": content});
    let cases: Vec<(Rule, &str, Value)> = vec![
        (FirstIsUser, "messages", talk(&[])),
        (
            FirstIsUser,
            "messages.0",
            json!({"model": "m", "messages": [{"role": "assistant", "content": "hi"}]}),
        ),
        (EmptyContent, "messages.0", talk(&[json!("")])),
        (EmptyContent, "messages.0", talk(&[json!([]), json!("hi")])),
        (
            EmptyContent,
            "messages.1",
            talk(&[json!("hi"), json!([]), json!("hi")]),
        ),
        (
            EmptyText,
            "messages.0.content.1",
            talk(&[json!([text("hi"), text("")])]),
        ),
        (BlankText, "messages.0.content.0", talk(&[json!(" \n")])),
        (
            TrailingSpace,
            "messages.1",
            talk(&[json!("hi"), json!("yes ")]),
        ),
        (
            MissingField,
            "messages.0.content.0.text.text",
            talk(&[json!([{"type": "text"}])]),
        ),
        (
            MissingField,
            "messages.0.content.0.type",
            talk(&[json!([{"text": "hi"}])]),
        ),
        (
            MissingField,
            "messages.1.content.0.thinking.signature",
            talk(&[json!("hi"), json!([{"type": "thinking", "thinking": "hm"}])]),
        ),
        (
            SystemPlace,
            "messages.1",
            json!({"model": "m", "messages": [
            {"role": "user", "content": "hi"}, {"role": "system", "content": "s"}, {"role": "user", "content": "hi"}]}),
        ),
        (
            SystemPlace,
            "messages.2",
            json!({"model": "m", "messages": [
            {"role": "user", "content": "hi"}, {"role": "assistant", "content": "hi"}, {"role": "system", "content": "s"}]}),
        ),
        (
            UnansweredCall,
            "messages.1",
            talk(&[json!("hi"), json!([call("a")])]),
        ),
        (
            UnansweredCall,
            "messages.1",
            talk(&[
                json!("hi"),
                json!([call("a"), call("b")]),
                json!([result("b")]),
            ]),
        ),
        (
            UnansweredCall,
            "messages.1",
            talk(&[json!("hi"), json!([call("a")]), json!("no"), json!("well")]),
        ),
        (
            ResultsFirst,
            "messages.2.content.1",
            talk(&[
                json!("hi"),
                json!([call("a")]),
                json!([text("so"), result("a")]),
            ]),
        ),
        (
            OrphanResult,
            "messages.0.content.0",
            talk(&[json!([result("a")])]),
        ),
        (
            DuplicateResult,
            "messages.2.content.1",
            talk(&[
                json!("hi"),
                json!([call("a")]),
                json!([result("a"), result("a")]),
            ]),
        ),
        (
            DuplicateCallId,
            "messages.3.content.0",
            talk(&[
                json!("hi"),
                json!([call("a")]),
                json!([result("a")]),
                json!([call("a")]),
                json!([result("a")]),
            ]),
        ),
        (
            CallIdCharacters,
            "messages.1.content.0.tool_use.id",
            talk(&[json!("hi"), json!([call("a.b")]), json!([result("a.b")])]),
        ),
        (
            CallInput,
            "messages.1.content.0.tool_use.input",
            talk(&[
                json!("hi"),
                json!([{"type": "tool_use", "id": "a", "name": "T", "input": "x"}]),
                json!([result("a")]),
            ]),
        ),
        (
            EmptyError,
            "messages.2.content.0.tool_result",
            talk(&[json!("hi"), json!([call("a")]), json!([error(json!(""))])]),
        ),
        (
            EmptyError,
            "messages.2.content.0.tool_result",
            talk(&[json!("hi"), json!([call("a")]), json!([error(json!([]))])]),
        ),
        (
            EmptyError,
            "messages.2.content.0.tool_result",
            talk(&[json!("hi"), json!([call("a")]), json!([error(Value::Null)])]),
        ),
        (
            ErrorTextOnly,
            "messages.2.content.0.tool_result",
            talk(&[
                json!("hi"),
                json!([call("a")]),
                json!([error(json!([text("bad"), {"type": "image", "source": {}}]))]),
            ]),
        ),
        (
            ResultContent,
            "messages.2.content.0.tool_result.content.0",
            talk(&[
                json!("hi"),
                json!([call("a")]),
                json!([{"type": "tool_result", "tool_use_id": "a", "content": [{"type": "redacted_thinking", "data": ""}]}]),
            ]),
        ),
        (
            UnresolvedServerCall,
            "messages.1.content.0",
            talk(&[
                json!("hi"),
                json!([{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}]),
                json!("and?"),
            ]),
        ),
        (
            OrphanServerResult,
            "messages.1.content.0",
            talk(&[
                json!("hi"),
                json!([{"type": "web_search_tool_result", "tool_use_id": "s", "content": []}]),
            ]),
        ),
        (
            ToolReference,
            "messages.2.content.0.tool_result.content.0",
            talk(&[
                json!("hi"),
                json!([call("a")]),
                json!([{"type": "tool_result", "tool_use_id": "a", "content": [{"type": "tool_reference", "tool_name": "X"}]}]),
            ]),
        ),
        (
            CachePlace,
            "messages.1.content.0.cache_control",
            talk(&[
                json!("hi"),
                json!([{"type": "thinking", "thinking": "", "signature": "s", "cache_control": {"type": "ephemeral"}}, text("x")]),
            ]),
        ),
    ];
    for (rule, path, request) in cases {
        assert_eq!(
            broken(request.clone()),
            [(rule, path.to_owned())],
            "{request}"
        );
    }
    // Blocks in the wrong place break more than one rule.
    let wrong = broken(talk(&[json!([call("a")]), json!([result("a")])]));
    assert_eq!(
        wrong,
        [
            (WrongRole, "messages.0.content.0".to_owned()),
            (WrongRole, "messages.1.content.0".to_owned()),
        ]
    );
}

#[test]
fn each_rule_of_tools_is_found_at_its_path() {
    use Rule::*;
    let tool = |name: &str| json!({"name": name, "input_schema": {"type": "object"}});
    let with = |name: &str, key: &str, value: Value| {
        let mut tool = tool(name);
        tool[key] = value;
        tool
    };
    let cache = |ttl: &str| json!({"type": "ephemeral", "ttl": ttl});
    let cases: Vec<(Rule, &str, Vec<Value>)> = vec![
        (ToolName, "tools.0.custom.name", vec![tool("a b")]),
        (
            ToolName,
            "tools.0.custom.name",
            vec![tool(&"a".repeat(129))],
        ),
        (DuplicateTool, "tools.1", vec![tool("a"), tool("a")]),
        (
            SchemaRoot,
            "tools.0.custom.input_schema",
            vec![json!({"name": "a"})],
        ),
        (
            SchemaRoot,
            "tools.0.custom.input_schema.type",
            vec![with("a", "input_schema", json!({}))],
        ),
        (
            SchemaRoot,
            "tools.0.custom.input_schema",
            vec![with(
                "a",
                "input_schema",
                json!({"type": "object", "anyOf": [{}]}),
            )],
        ),
        (
            Schema,
            "tools.0.custom.input_schema",
            vec![with(
                "a",
                "input_schema",
                json!({"type": "object", "required": "x"}),
            )],
        ),
        (
            AllDeferred,
            "tools",
            vec![with("a", "defer_loading", json!(true))],
        ),
        (
            CacheOrder,
            "tools.1",
            vec![
                with("a", "cache_control", cache("5m")),
                with("b", "cache_control", cache("1h")),
            ],
        ),
        (
            StrictTools,
            "tools",
            (0..21)
                .map(|n| with(&format!("t{n}"), "strict", json!(true)))
                .collect(),
        ),
        (
            CacheBreakpoints,
            "cache_control",
            (0..5)
                .map(|n| with(&format!("t{n}"), "cache_control", cache("5m")))
                .collect(),
        ),
    ];
    for (rule, path, tools) in cases {
        let mut request = talk(&[json!("hi")]);
        request["tools"] = json!(tools);
        assert_eq!(
            broken(request.clone()),
            [(rule, path.to_owned())],
            "{request}"
        );
    }
    let mut both = with("a", "defer_loading", json!(true));
    both["cache_control"] = cache("5m");
    let mut request = talk(&[json!("hi")]);
    request["tools"] = json!([tool("b"), both]);
    assert_eq!(broken(request), [(DeferredCache, "tools.1".to_owned())]);
    let mut request = talk(&[json!("hi")]);
    request["tools"] = json!([tool("a"), tool(&"a".repeat(128))]);
    assert_eq!(broken(request), []);
}

#[test]
fn a_cache_of_the_head_counts_with_those_of_the_messages() {
    let cached = |ttl: &str| json!([{"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": ttl}}]);
    let mut request = talk(&[cached("1h"), cached("5m")]);
    assert_eq!(broken(request.clone()), []);
    request["system"] = cached("5m");
    assert_eq!(
        broken(request.clone()),
        [(Rule::CacheOrder, "messages.0.content.0".to_owned())]
    );
    request["system"] = cached("1h");
    request["cache_control"] = json!({"type": "ephemeral"});
    assert_eq!(broken(request.clone()), []);
    let more = json!({"role": "user", "content": cached("5m")});
    request["messages"].as_array_mut().unwrap().push(more);
    assert_eq!(
        broken(request),
        [(Rule::CacheBreakpoints, "cache_control".to_owned())]
    );
}

// ---- The two ways to check agree, whatever the conversation.

fn block() -> impl Strategy<Value = Value> {
    let id = prop::sample::select(vec!["a", "b", "c", "d!"]);
    let cache = prop::sample::select(vec![None, None, None, Some("5m"), Some("1h")]);
    let plain = prop_oneof![
        3 => id.clone().prop_map(call),
        4 => id.clone().prop_map(result),
        1 => id.clone().prop_map(|id| json!({"type": "tool_result", "tool_use_id": id, "is_error": true})),
        1 => prop::sample::select(vec!["a", "X"]).prop_map(|name| json!({
            "type": "tool_result", "tool_use_id": "a", "content": [{"type": "tool_reference", "tool_name": name}]})),
        1 => prop::sample::select(vec!["", " ", "x", "y "]).prop_map(text),
        1 => id.clone().prop_map(|id| json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {}})),
        1 => id.clone().prop_map(|id| json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []})),
        1 => id.prop_map(|id| json!({"type": "mcp_tool_result", "tool_use_id": id, "content": []})),
        1 => Just(json!({"type": "novel"})),
        1 => Just(json!({"type": "thinking", "thinking": "hm"})),
    ];
    (plain, cache).prop_map(|(mut block, cache)| {
        if let Some(ttl) = cache {
            block["cache_control"] = json!({"type": "ephemeral", "ttl": ttl});
        }
        block
    })
}

fn message() -> impl Strategy<Value = Value> {
    let role = prop::sample::select(vec!["user", "assistant", "user", "assistant", "system"]);
    let content = prop_oneof![
        8 => prop::collection::vec(block(), 0..4).prop_map(|blocks| json!(blocks)),
        1 => prop::sample::select(vec!["", "x", " "]).prop_map(|text| json!(text)),
    ];
    (role, content).prop_map(|(role, content)| json!({"role": role, "content": content}))
}

fn tools() -> impl Strategy<Value = Value> {
    let tool = (
        prop::sample::select(vec!["a", "b", "c"]),
        any::<bool>(),
        prop::sample::select(vec![None, Some("5m"), Some("1h")]),
    )
        .prop_map(|(name, deferred, cache)| {
            let mut tool = json!({"name": name, "input_schema": {"type": "object"}});
            if deferred {
                tool["defer_loading"] = json!(true);
            }
            if let Some(ttl) = cache {
                tool["cache_control"] = json!({"type": "ephemeral", "ttl": ttl});
            }
            tool
        });
    prop::collection::vec(tool, 0..3).prop_map(|tools| json!(tools))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]
    #[test]
    fn message_by_message_is_as_good_as_all_at_once(
        messages in prop::collection::vec(message(), 0..9),
        tools in tools(),
    ) {
        let whole = body(json!({"model": "m", "tools": tools, "messages": messages}));
        let head = Head::new(&whole.tools, &whole.system, None);
        let mut checker = Checker::new();
        let mut told = head.violations().to_vec();
        // At every length, so that nothing told early is taken back later.
        for n in 0..=whole.messages.len() {
            let mut prefix = whole.clone();
            prefix.messages.truncate(n);
            let mut now = told.clone();
            now.extend(checker.end(&head));
            now.sort();
            prop_assert_eq!(now, check_all(&prefix), "{} messages", n);
            if let Some(message) = whole.messages.get(n) {
                told.extend(checker.push(message));
            }
        }
    }
}

#[test]
fn a_long_conversation_is_not_looked_at_twice() {
    // Were every turn to cost what the conversation holds, this would take minutes.
    let mut checker = Checker::new();
    let head = Head::default();
    checker.push(&Message::user_text("go"));
    for n in 0..20_000 {
        let id = format!("toolu_{n}");
        let ask: Message =
            serde_json::from_value(json!({"role": "assistant", "content": [call(&id)]})).unwrap();
        let answer: Message =
            serde_json::from_value(json!({"role": "user", "content": [result(&id)]})).unwrap();
        assert_eq!(checker.push(&ask), []);
        assert_eq!(checker.push(&answer), []);
        assert_eq!(checker.end(&head), []);
    }
    assert_eq!(checker.count(), 40_001);
}

// ---- Recorded requests: what the API took breaks no rule of ours.

/// A recorded exchange: the request's body and the status of the answer.
struct Exchange {
    file: String,
    body: RequestBody,
    status: u64,
    /// The answer's body, if it is text.
    answer: Option<String>,
}

/// The exchanges of a cassette, as far as their bodies are JSON text.
fn exchanges(file: &str, documents: &[Value]) -> Vec<Exchange> {
    let mut found = Vec::new();
    for document in documents {
        let pairs: Vec<(&Value, &Value)> = match document {
            _ if document["when"].is_object() => vec![(&document["when"], &document["then"])],
            _ => ["interactions", "http_interactions"]
                .iter()
                .filter_map(|key| document[key].as_array())
                .flatten()
                .map(|pair| (&pair["request"], &pair["response"]))
                .collect(),
        };
        for (request, response) in pairs {
            let url = ["uri", "url", "path"]
                .iter()
                .find_map(|key| request[key].as_str())
                .unwrap_or_default();
            if !url.contains("/v1/messages") || url.contains("openrouter") {
                continue;
            }
            let status = ["status", "status_code", "code"]
                .iter()
                .map(|key| &response[key])
                .find_map(|status| match status {
                    Value::Number(number) => number.as_u64(),
                    Value::String(text) => text.split(' ').next()?.parse().ok(),
                    other => other["code"].as_u64(),
                });
            let text = request["body"]
                .as_str()
                .or_else(|| request["body"]["string"].as_str())
                .map(str::to_owned)
                .or_else(|| {
                    let parsed = &request["parsed_body"];
                    parsed.is_object().then(|| parsed.to_string())
                });
            let body = text.and_then(|text| serde_json::from_str(&text).ok());
            if let (Some(body), Some(status)) = (body, status) {
                found.push(Exchange {
                    file: file.to_owned(),
                    body,
                    status,
                    answer: response["body"]
                        .as_str()
                        .or_else(|| response["body"]["string"].as_str())
                        .map(str::to_owned)
                        .or_else(|| Some(response["parsed_body"].to_string())),
                });
            }
        }
    }
    found
}

#[test]
fn recorded_requests_are_judged_as_the_api_judged_them() {
    let folder = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../shared/data/anthropic-api"
    ));
    if !folder.is_dir() {
        println!("skipped: no recordings at {}", folder.display());
        return;
    }
    let mut unread = Vec::new();
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        if !file.ends_with(".yaml") && !file.ends_with(".yml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        // Answers are recorded as binary too, and not looked at here.
        let options = serde_saphyr::options! {
            ignore_binary_tag_for_string: true,
        };
        match serde_saphyr::from_multiple_with_options::<Value>(&text, options) {
            Ok(documents) => all.extend(exchanges(&file, &documents)),
            Err(error) => unread.push((file, error.to_string())),
        }
    }
    all.sort_by(|a, b| a.file.cmp(&b.file));
    println!("{} exchanges, {} files unread", all.len(), unread.len());
    for (file, error) in &unread {
        println!(
            "unread: {file}: {}",
            error.lines().next().unwrap_or_default()
        );
    }
    let mut refused: BTreeMap<&str, Vec<Rule>> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut answers = 0;
    for exchange in &all {
        let mut violations = check_all(&exchange.body);
        assert_eq!(violations, by_message(&exchange.body), "{}", exchange.file);
        answers += usize::from(exchange.status == 200 && check_answer(exchange));
        // Another vendor's ids: two calls of different turns have the same, and the
        // API took it. The rule stays as it is reported, over the whole request.
        if exchange
            .file
            .contains("replay-google-gemini-3-flash-preview-anthr")
        {
            violations.retain(|violation| violation.rule != Rule::DuplicateCallId);
        }
        match exchange.status {
            200 if !violations.is_empty() => wrong.push((&exchange.file, violations)),
            400 => {
                let rules = violations.iter().map(|violation| violation.rule);
                refused.entry(&exchange.file).or_default().extend(rules);
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    println!("{answers} answers");
    assert!(answers > 250, "{answers} answers");
    assert!(all.len() > 300, "{} exchanges", all.len());
    // How complex a grammar of strict schemas may be is not ours to know.
    let unknown: Vec<&&str> = refused
        .iter()
        .filter(|(_, rules)| rules.is_empty())
        .map(|(file, _)| file)
        .collect();
    assert!(refused.len() >= 10, "{refused:?}");
    assert_eq!(
        unknown,
        [
            &"rig_strict_schema_limits_sixteen_union_parameters_in_one_schema_hit_internal_limit.yaml",
            &"rig_strict_schema_limits_twenty_five_optional_parameters_are_rejected.yaml",
            &"rig_strict_schema_limits_twenty_four_optional_parameters_in_one_schema_hit_internal_limit.yaml",
        ]
    );
}

/// Checks that nothing of a recorded answer is unknown; tells whether it was a message.
fn check_answer(exchange: &Exchange) -> bool {
    let answer = exchange.answer.as_deref().unwrap_or_default();
    let responses: Vec<Response> = if answer.trim_start().starts_with("event:") {
        let folded = wire::fold_all(wire::stream::decode(answer.as_bytes()));
        assert!(!folded.is_empty());
        for folded in &folded {
            assert_eq!(folded.end, wire::fold::End::Complete, "{}", exchange.file);
            // A gateway ends its streams as another API does.
            let lost = |event: &&wire::Event| &*event.data != "[DONE]";
            let lost: Vec<&wire::Event> = folded.leftover.iter().filter(lost).collect();
            assert!(lost.is_empty(), "{}: {lost:?}", exchange.file);
        }
        folded.into_iter().map(|folded| folded.response).collect()
    } else if answer.contains(r#""type":"message""#) {
        vec![serde_json::from_str(answer).unwrap()]
    } else {
        return false;
    };
    for response in responses {
        assert!(
            !matches!(
                response.stop_reason,
                StopReason::Unknown(_) | StopReason::Absent
            ),
            "{}",
            exchange.file
        );
        for block in &response.content {
            assert!(
                !matches!(
                    block.kind(),
                    BlockKind::Unknown(_) | BlockKind::Malformed { .. }
                ),
                "{}: {block:?}",
                exchange.file
            );
        }
    }
    true
}

#[test]
fn messages_are_shared_not_copied() {
    let message = Arc::new(Message::user_text("hi"));
    let mut checker = Checker::new();
    assert_eq!(checker.push(&message), []);
    assert_eq!(Arc::strong_count(&message), 1);
}
