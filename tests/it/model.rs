//! The scripted model: turns by class, demands, faults, sessions taken up again; and
//! the model that refuses what the API refuses.

use futures_util::FutureExt;
use rehearsal::model::{
    ExpectRequest, ExpectResult, Fault, Model, ModelError, Request, Scripted, ScriptedCall, Strict,
    Turn, When, class_of_result,
};
use rehearsal::wire::{
    Block, ErrorKind, Message, Response, StopReason, ToolDef, Usage, estimate_tokens, raw,
};
use rehearsal::words::Class;
use serde_json::json;
use std::sync::Arc;

/// A conversation with a model, as an agent holds it.
struct Talk<M> {
    model: M,
    messages: Vec<Arc<Message>>,
    tools: Vec<ToolDef>,
    seen: usize,
    turn: u32,
}

impl<M: Model> Talk<M> {
    fn new(model: M) -> Talk<M> {
        Talk {
            model,
            messages: vec![Arc::new(Message::user_text("go"))],
            tools: vec![ToolDef::custom(
                "Read",
                "Reads.",
                &json!({"type": "object"}),
            )],
            seen: 0,
            turn: 1,
        }
    }

    /// Asks, and keeps the answer.
    fn ask(&mut self) -> Result<Response, ModelError> {
        let request = Request {
            turn: self.turn,
            tools: &self.tools,
            system: "",
            messages: &self.messages,
            seen: self.seen,
            tokens_estimate: 17,
        };
        let response = self.model.respond(&request).now_or_never().unwrap()?;
        self.seen = self.messages.len();
        self.turn += 1;
        self.messages.push(Arc::new(response.to_message()));
        Ok(response)
    }

    fn user(&mut self, blocks: Vec<Block>) {
        self.messages.push(Arc::new(Message::user(blocks)));
    }

    /// Answers every call of the last answer with a result of the class.
    fn answer(&mut self, class: Class) {
        let calls: Vec<_> = self.messages.last().unwrap().tool_uses().cloned().collect();
        let results = calls.iter().map(|call| result(&call.id, class)).collect();
        self.user(results);
    }
}

fn result(id: &str, class: Class) -> Block {
    let text = match class {
        Class::Ok => "fine".to_owned(),
        class => format!("error: {class}: try something else"),
    };
    Block::tool_result(id, text, class.is_error())
}

fn say(text: &str) -> Turn {
    Turn {
        label: text.to_owned(),
        say: vec![text.to_owned()],
        ..Turn::default()
    }
}

fn call(tool: &str, id: Option<&str>) -> ScriptedCall {
    ScriptedCall {
        tool: tool.to_owned(),
        id: id.map(str::to_owned),
        input: r#"{ "n": 1e400}"#.to_owned(),
    }
}

fn calls(calls: Vec<ScriptedCall>) -> Turn {
    Turn {
        label: "a turn with calls".to_owned(),
        calls,
        ..Turn::default()
    }
}

fn when(when: When, turn: Turn, otherwise: Option<Turn>) -> Turn {
    Turn {
        when: Some(when),
        otherwise: otherwise.map(Box::new),
        ..turn
    }
}

fn class(class: Class) -> When {
    When {
        class: Some(class),
        ..When::default()
    }
}

fn text(response: &Response) -> &str {
    response.content[0].as_text().unwrap()
}

fn complaint(result: Result<Response, ModelError>) -> String {
    match result {
        Err(ModelError::Script(what)) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_turn_is_said_as_it_is_written() {
    let turn = Turn {
        thinking: Some("hm".to_owned()),
        say: vec!["one".to_owned(), "two".to_owned()],
        blocks: vec![raw::from_text(r#"{"type":"redacted_thinking", "data":"x"}"#).unwrap()],
        ..calls(vec![call("Read", None), call("Grep", Some("toolu_mine"))])
    };
    let mut talk = Talk::new(Scripted::new(vec![turn, say("done")]));
    let response = talk.ask().unwrap();
    let written: Vec<&str> = response
        .content
        .iter()
        .map(|block| block.raw().get())
        .collect();
    assert_eq!(
        written,
        [
            r#"{"type":"thinking","thinking":"hm","signature":"scripted"}"#,
            r#"{"type":"text","text":"one"}"#,
            r#"{"type":"text","text":"two"}"#,
            r#"{"type":"redacted_thinking", "data":"x"}"#,
            r#"{"type":"tool_use","id":"toolu_0001_1","name":"Read","input":{ "n": 1e400}}"#,
            r#"{"type":"tool_use","id":"toolu_mine","name":"Grep","input":{ "n": 1e400}}"#,
        ]
    );
    assert_eq!(response.id, "msg_0001");
    assert_eq!(response.stop_reason, StopReason::ToolUse);
    let output = written.iter().map(|block| estimate_tokens(block)).sum();
    assert_eq!(response.usage, Usage::new(17, output));
    talk.answer(Class::Ok);
    let response = talk.ask().unwrap();
    assert_eq!(text(&response), "done");
    assert_eq!(response.stop_reason, StopReason::EndTurn);
    assert!(talk.model.leftover().is_empty());
}

#[test]
fn stop_and_usage_can_be_given() {
    let turn = Turn {
        stop: Some(StopReason::Refusal),
        usage: Some(Usage::new(3, 4)),
        ..say("no")
    };
    let response = Talk::new(Scripted::new(vec![turn])).ask().unwrap();
    assert_eq!(response.stop_reason, StopReason::Refusal);
    assert_eq!(response.usage, Usage::new(3, 4));
}

#[test]
fn a_long_text_comes_whole() {
    let long = "é漢😀 \"quoted\"\n".repeat(5_000);
    let response = Talk::new(Scripted::new(vec![say(&long)])).ask().unwrap();
    assert_eq!(text(&response), long);
}

/// What a script says after its one call of Read had a result of the class.
fn after(result_class: Class, turns: Vec<Turn>) -> Result<String, String> {
    let mut script = vec![calls(vec![call("Read", Some("toolu_it"))])];
    script.extend(turns);
    let mut talk = Talk::new(Scripted::new(script));
    talk.ask().unwrap();
    talk.answer(result_class);
    match talk.ask() {
        Ok(response) => Ok(text(&response).to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn a_turn_is_chosen_by_the_class_of_a_result() {
    let script = || {
        vec![
            when(
                class(Class::Stale),
                say("stale"),
                Some(when(class(Class::NotFound), say("gone"), None)),
            ),
            say("next"),
        ]
    };
    assert_eq!(after(Class::Stale, script()).unwrap(), "stale");
    assert_eq!(after(Class::NotFound, script()).unwrap(), "gone");
    // Neither holds, and nothing else is there: the script goes on.
    assert_eq!(after(Class::Ok, script()).unwrap(), "next");
    let script = || vec![when(class(Class::Ok), say("yes"), Some(say("no")))];
    assert_eq!(after(Class::Ok, script()).unwrap(), "yes");
    assert_eq!(after(Class::Timeout, script()).unwrap(), "no");
}

#[test]
fn a_result_is_named_by_id_number_or_tool() {
    let named = |name: &str| When {
        result: Some(name.to_owned()),
        ..When::default()
    };
    let tool = |glob: &str| When {
        tool: Some(glob.into()),
        ..When::default()
    };
    let is_error = |is_error: bool| When {
        is_error: Some(is_error),
        ..When::default()
    };
    for (condition, holds) in [
        (named("toolu_it"), true),
        (named("toolu_other"), false),
        (named("1"), true),
        (named("2"), false),
        (tool("Re*"), true),
        (tool("Edit"), false),
        (is_error(true), true),
        (is_error(false), false),
    ] {
        let expected = if holds { "yes" } else { "no" };
        let script = vec![when(condition.clone(), say("yes"), Some(say("no")))];
        assert_eq!(
            after(Class::Stale, script).unwrap(),
            expected,
            "{condition:?}"
        );
    }
}

#[test]
fn only_results_since_the_last_answer_count() {
    let mut talk = Talk::new(Scripted::new(vec![
        calls(vec![call("Read", Some("toolu_it"))]),
        calls(vec![call("Read", None)]),
        when(class(Class::Stale), say("old"), Some(say("new"))),
    ]));
    talk.ask().unwrap();
    talk.answer(Class::Stale);
    talk.ask().unwrap();
    talk.answer(Class::Ok);
    // A remark after the results hides them not.
    talk.user(vec![Block::text("by the way")]);
    assert_eq!(text(&talk.ask().unwrap()), "new");
}

#[test]
fn a_script_that_is_at_its_end_says_what_it_passed_over() {
    let script = vec![when(class(Class::Stale), say("the stale turn"), None)];
    let error = after(Class::Ok, script).unwrap_err();
    assert!(error.contains("no turn left for request 2"), "{error}");
    assert!(error.contains("the stale turn"), "{error}");
    assert!(error.contains("toolu_it ok"), "{error}");
}

#[test]
fn turns_that_were_never_taken_are_told() {
    let model = Scripted::new(vec![
        say("a"),
        say("b"),
        when(class(Class::Stale), say("c"), None),
    ]);
    let mut talk = Talk::new(model);
    talk.ask().unwrap();
    assert_eq!(talk.model.leftover(), ["b"]);
}

#[test]
fn a_turn_demands_what_the_request_must_be() {
    let demand = |expect: ExpectRequest| {
        let turn = Turn {
            expect_request: Some(expect),
            ..say("turn 2")
        };
        after(Class::Stale, vec![turn])
    };
    let of_result = |result: ExpectResult| ExpectRequest {
        results: vec![("1".to_owned(), result)],
        ..ExpectRequest::default()
    };
    let good = ExpectRequest {
        tools: vec!["Read".to_owned()],
        without_tools: vec!["Bash".to_owned()],
        messages: Some(3),
        results: vec![(
            "toolu_it".to_owned(),
            ExpectResult {
                is_error: Some(true),
                class: Some(Class::Stale),
                contains: vec!["something else".to_owned()],
            },
        )],
    };
    assert_eq!(demand(good).unwrap(), "turn 2");
    let bad = [
        (
            ExpectRequest {
                tools: vec!["Bash".to_owned()],
                ..ExpectRequest::default()
            },
            "expected the tool Bash",
        ),
        (
            ExpectRequest {
                without_tools: vec!["Read".to_owned()],
                ..ExpectRequest::default()
            },
            "expected no tool Read",
        ),
        (
            ExpectRequest {
                messages: Some(9),
                ..ExpectRequest::default()
            },
            "expected 9 messages, found 3",
        ),
        (
            ExpectRequest {
                results: vec![("toolu_x".to_owned(), ExpectResult::default())],
                ..ExpectRequest::default()
            },
            "expected a result of toolu_x in the last message, found none",
        ),
        (
            of_result(ExpectResult {
                is_error: Some(false),
                ..ExpectResult::default()
            }),
            "expected is_error false, found true",
        ),
        (
            of_result(ExpectResult {
                class: Some(Class::Ok),
                ..ExpectResult::default()
            }),
            "expected class ok, found stale",
        ),
        (
            of_result(ExpectResult {
                contains: vec!["magic".to_owned()],
                ..ExpectResult::default()
            }),
            "expected \"magic\" in the result",
        ),
    ];
    for (expect, words) in bad {
        let error = demand(expect).unwrap_err();
        assert!(
            error.contains("request 2 is not what turn 2 demands"),
            "{error}"
        );
        assert!(error.contains(words), "{error}");
    }
}

fn faulty(fault: Fault) -> Talk<Scripted> {
    let turn = Turn {
        fault: Some(fault),
        say: vec!["I will read.".to_owned()],
        ..calls(vec![call("Read", None)])
    };
    Talk::new(Scripted::new(vec![turn, say("done")]))
}

/// Checks that the turn itself comes when it is asked for again.
fn comes_again(talk: &mut Talk<Scripted>) {
    let response = talk.ask().unwrap();
    assert_eq!(response.id, "msg_0001");
    assert_eq!(&*response.tool_uses().next().unwrap().id, "toolu_0001_1");
    talk.answer(Class::Ok);
    assert_eq!(text(&talk.ask().unwrap()), "done");
}

#[test]
fn the_api_fails_once_and_then_answers() {
    let mut talk = faulty(Fault::Api {
        status: 529,
        kind: None,
        message: None,
        retry_after_s: Some(2),
    });
    let Err(ModelError::Api {
        status,
        kind,
        retry_after_s,
        ..
    }) = talk.ask()
    else {
        panic!("no failure");
    };
    assert_eq!(
        (status, &*kind, retry_after_s),
        (529, "overloaded_error", Some(2))
    );
    comes_again(&mut talk);
}

#[test]
fn a_stream_is_cut_wherever_it_is_to_be() {
    let whole = faulty(Fault::Cut {
        after_events: 1_000,
    })
    .ask()
    .unwrap();
    for after_events in 0.. {
        let mut talk = faulty(Fault::Cut { after_events });
        let Err(error) = talk.ask() else {
            // Nothing was left to cut.
            assert!(after_events > 8, "{after_events}");
            break;
        };
        let ModelError::Cut {
            events,
            partial,
            error,
        } = error
        else {
            panic!("{error:?}");
        };
        assert_eq!((events, error), (after_events, None));
        assert!(partial.content.len() <= whole.content.len());
        if after_events == 0 {
            assert_eq!(*partial, Response::default());
        } else {
            assert_eq!(partial.id, "msg_0001");
        }
        comes_again(&mut talk);
    }
}

#[test]
fn an_error_event_ends_an_answer() {
    let mut talk = faulty(Fault::ErrorEvent {
        after_events: 4,
        kind: ErrorKind::Overloaded,
    });
    let Err(ModelError::Cut {
        events,
        partial,
        error,
    }) = talk.ask()
    else {
        panic!("no cut");
    };
    assert_eq!((events, error.as_deref()), (5, Some("overloaded_error")));
    assert_eq!(partial.content[0].as_text(), Some("I will read."));
    comes_again(&mut talk);
}

#[test]
fn an_answer_that_is_no_answer() {
    for text in [
        "<html>502</html>",
        "data: {\"choices\":[]}\n\n",
        "data: <html>\n\n",
    ] {
        let mut talk = faulty(Fault::Garbage {
            text: text.to_owned(),
        });
        let Err(ModelError::Garbage(found)) = talk.ask() else {
            panic!("{text} was understood");
        };
        assert!(text.contains(&found), "{found}");
        comes_again(&mut talk);
    }
}

#[test]
fn a_session_that_is_taken_up_again_goes_on_with_the_same_ids() {
    let script = || {
        vec![
            calls(vec![call("Read", None)]),
            calls(vec![call("Edit", None)]),
            when(
                When {
                    tool: Some("Edit".into()),
                    ..When::default()
                },
                calls(vec![call("Read", None)]),
                None,
            ),
        ]
    };
    let mut whole = Talk::new(Scripted::new(script()));
    for _ in 0..3 {
        whole.ask().unwrap();
        whole.answer(Class::Ok);
    }
    let mut first = Talk::new(Scripted::new(script()));
    for _ in 0..2 {
        first.ask().unwrap();
        first.answer(Class::Ok);
    }
    let text = serde_json::to_string(&first.messages).unwrap();
    let mut second = Talk::new(Scripted::new(script().split_off(2)));
    second.messages = serde_json::from_str(&text).unwrap();
    second.ask().unwrap();
    second.answer(Class::Ok);
    assert_eq!(
        serde_json::to_string(&second.messages).unwrap(),
        serde_json::to_string(&whole.messages).unwrap()
    );
}

#[test]
fn the_class_of_a_result_is_what_its_text_states() {
    let of = |text: &str, is_error: bool| {
        let block = Block::tool_result("a", text, is_error);
        class_of_result(block.as_tool_result().unwrap())
    };
    for class in Class::ALL.iter().filter(|class| class.is_error()) {
        assert_eq!(
            of(&format!("error: {class}: what to do"), true),
            Some(*class)
        );
    }
    assert_eq!(of("error: stale: but it is none", false), Some(Class::Ok));
    assert_eq!(of("something broke", true), None);
    assert_eq!(of("error: nonsense: x", true), None);
    // What a tool printed is no class.
    assert_eq!(
        of("error: exit_nonzero: 1\nerror: stale: x", true),
        Some(Class::ExitNonzero)
    );
}

// ---- The model behind the rules.

fn refusal(result: Result<Response, ModelError>) -> String {
    match result {
        Err(ModelError::Api {
            status: 400,
            kind,
            message,
            ..
        }) => {
            assert_eq!(kind, "invalid_request_error");
            message
        }
        other => panic!("{other:?}"),
    }
}

fn strict(turns: Vec<Turn>) -> Talk<Strict<Scripted>> {
    Talk::new(Strict::new(Scripted::new(turns)))
}

#[test]
fn a_good_conversation_is_let_through() {
    let mut turns = vec![calls(vec![call("Read", None), call("Read", None)]); 20];
    for turn in &mut turns {
        turn.thinking = Some("hm".to_owned());
    }
    turns.push(say("done"));
    let mut talk = strict(turns);
    for _ in 0..20 {
        talk.ask().unwrap();
        talk.answer(Class::Stale);
    }
    assert_eq!(text(&talk.ask().unwrap()), "done");
    assert!(talk.model.inner().leftover().is_empty());
}

#[test]
fn a_missing_result_is_refused_and_the_script_waits() {
    let mut talk = strict(vec![
        calls(vec![call("Read", None), call("Read", None)]),
        say("done"),
    ]);
    talk.ask().unwrap();
    talk.user(vec![result("toolu_0001_1", Class::Ok)]);
    let words = refusal(talk.ask());
    assert!(words.contains("messages.1: "), "{words}");
    assert!(words.contains("toolu_0001_2"), "{words}");
    // The missing one may still come: messages of one role are one turn.
    talk.user(vec![result("toolu_0001_2", Class::Ok)]);
    assert_eq!(text(&talk.ask().unwrap()), "done");
}

#[test]
fn what_was_refused_once_stays_refused() {
    let mut talk = strict(vec![say("done")]);
    talk.user(vec![result("toolu_x", Class::Ok)]);
    assert!(refusal(talk.ask()).contains("messages.1.content.0: "));
    talk.user(vec![Block::text("and now?")]);
    assert!(refusal(talk.ask()).contains("messages.1.content.0: "));
    // Until the conversation is another one.
    talk.messages = vec![Arc::new(Message::user_text("anew"))];
    assert_eq!(text(&talk.ask().unwrap()), "done");
}

#[test]
fn a_conversation_that_was_replaced_is_checked_again() {
    let mut talk = strict(vec![
        calls(vec![call("Read", None)]),
        say("one"),
        say("two"),
    ]);
    talk.ask().unwrap();
    talk.answer(Class::Ok);
    talk.ask().unwrap();
    talk.user(vec![Block::text("go on")]);
    // As after a compaction that forgot the call of a result it kept.
    let kept = talk.messages[2].clone();
    talk.messages = vec![
        kept,
        Arc::new(Message::assistant(vec![Block::text("In short: one.")])),
        Arc::new(Message::user_text("go on")),
    ];
    assert!(refusal(talk.ask()).contains("messages.0.content.0: "));
    talk.messages[0] = Arc::new(Message::user_text("the story so far"));
    talk.messages[2] = Arc::new(Message::user_text("go on, please"));
    assert_eq!(text(&talk.ask().unwrap()), "two");
}

#[test]
fn tools_are_checked_whenever_they_change() {
    let mut talk = strict(vec![say("one"), say("two")]);
    talk.ask().unwrap();
    talk.user(vec![Block::text("go on")]);
    let tool = talk.tools[0].clone();
    talk.tools.push(tool.clone());
    assert!(refusal(talk.ask()).contains("tools.1: "));
    talk.tools.pop();
    assert_eq!(text(&talk.ask().unwrap()), "two");
}

#[test]
fn thinking_comes_back_as_it_was() {
    let turns = || {
        let mut first = calls(vec![call("Read", None)]);
        first.thinking = Some("hm".to_owned());
        vec![first, say("done")]
    };
    let mut talk = strict(turns());
    let response = talk.ask().unwrap();
    *talk.messages.last_mut().unwrap() =
        Arc::new(Message::assistant(response.content[1..].to_vec()));
    talk.answer(Class::Ok);
    assert!(refusal(talk.ask()).contains("thinking"));
    let mut talk = strict(turns());
    talk.ask().unwrap();
    talk.answer(Class::Ok);
    talk.ask().unwrap();
}

#[test]
fn a_script_that_lacks_a_turn_is_no_refusal() {
    let mut talk = strict(vec![]);
    assert!(complaint(talk.ask()).contains("no turn left for request 1"));
}
