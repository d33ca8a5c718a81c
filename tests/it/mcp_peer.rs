//! Our MCP client against rmcp's server, and rmcp's client against our scripted server,
//! over a duplex in memory.

use crate::mcp::{LIMITS, says, script, tool};
use rehearsal::mcp::{Answer, Client, Event, Failure, Reply, Script, Sent, Server, State};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap().block_on(future)
}

/// rmcp's side: two pages of tools, two resources.
struct Peer;

impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder();
        let capabilities = capabilities.enable_tools();
        ServerConfig::new(capabilities.enable_resources().build()).with_instructions("Be kind.")
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = || json!({"type": "object"}).as_object().cloned().unwrap();
        let cursor = request.and_then(|request| request.cursor);
        let mut page = ListToolsResult::with_all_items(match cursor {
            None => vec![Tool::new("echo", "Says it again.", schema())],
            Some(_) => vec![Tool::new("fail", "Fails.", schema())],
        });
        page.next_cursor = page.tools[0].name.contains("echo").then(|| "2".to_owned());
        Ok(page)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        match &*request.name {
            "echo" => {
                let text = ContentBlock::text(arguments.to_string());
                let mut result = CallToolResult::success(vec![text]);
                result.structured_content = Some(arguments);
                Ok(result.into())
            }
            "fail" => Ok(CallToolResult::error(vec![ContentBlock::text("it broke")]).into()),
            _ => Err(ErrorData::invalid_params("no such tool", None)),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let all = vec![Resource::new("mem:/a", "a"), Resource::new("mem:/b", "b")];
        Ok(ListResourcesResult::with_all_items(all))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let text = ResourceContents::text("of it", request.uri);
        Ok(ReadResourceResult::new(vec![text]).into())
    }
}

/// Carries bytes between our client and `pipe` until `done` says so; time stands still.
async fn until(
    client: &mut Client,
    pipe: &mut DuplexStream,
    events: &mut Vec<Event>,
    done: impl Fn(&Client, &[Event]) -> bool,
) {
    let mut buffer = [0; 512];
    loop {
        while let Some(bytes) = client.output() {
            pipe.write_all(&bytes).await.unwrap();
        }
        while let Some(event) = client.event() {
            events.push(event);
        }
        if done(client, events) {
            return;
        }
        match pipe.read(&mut buffer).await.unwrap() {
            0 => client.closed("the end of the stream"),
            count => client.receive(&buffer[..count], 0),
        }
    }
}

/// The answer to a request that is on its way.
async fn answer(client: &mut Client, pipe: &mut DuplexStream) -> Answer {
    let mut events = Vec::new();
    until(client, pipe, &mut events, |_, events| {
        events
            .iter()
            .any(|event| matches!(event, Event::Answered { .. }))
    })
    .await;
    let answers = events.into_iter().map(|event| match event {
        Event::Answered { answer, .. } => answer,
        other => panic!("{other:?}"),
    });
    let answers: Vec<Answer> = answers.collect();
    assert_eq!(answers.len(), 1);
    answers.into_iter().next().unwrap()
}

#[test]
fn our_client_speaks_with_a_server_of_rmcp() {
    block_on(async {
        let (theirs, mut ours) = duplex(4096);
        let mut client = Client::new(LIMITS);
        client.connect(0);
        let mut events = Vec::new();
        let ready =
            |client: &Client, _: &[Event]| matches!(client.state(), State::Ready | State::Dead);
        let (server, ()) = tokio::join!(
            Peer.serve(theirs),
            until(&mut client, &mut ours, &mut events, ready)
        );
        let server = server.unwrap();
        assert_eq!(client.state(), State::Ready, "{events:?}");
        let Event::Greeted {
            protocol,
            instructions,
        } = &events[0]
        else {
            panic!("{events:?}");
        };
        assert_eq!(
            (protocol.as_str(), instructions.as_deref()),
            ("2025-06-18", Some("Be kind."))
        );
        let Event::Listed(tools) = &events[1] else {
            panic!("{events:?}");
        };
        let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["echo", "fail"]);

        client.call("echo", &json!({"n": 7}), 0);
        let said = answer(&mut client, &mut ours).await.unwrap();
        assert_eq!(said["content"][0]["text"], "{\"n\":7}");
        assert_eq!(said["structuredContent"], json!({"n": 7}));
        client.call("fail", &json!({}), 0);
        let said = answer(&mut client, &mut ours).await.unwrap();
        assert_eq!(
            (&said["isError"], &said["content"][0]["text"]),
            (&json!(true), &json!("it broke"))
        );
        client.call("nothing", &json!({}), 0);
        let said = answer(&mut client, &mut ours).await;
        assert!(matches!(said, Err(Failure::Fault(fault)) if fault.code == -32602));

        client.list_resources(None, 0);
        let said = answer(&mut client, &mut ours).await.unwrap();
        assert_eq!(said["resources"].as_array().unwrap().len(), 2);
        client.read_resource("mem:/b", 0);
        let said = answer(&mut client, &mut ours).await.unwrap();
        assert_eq!(said["contents"][0]["uri"], "mem:/b");
        server.cancel().await.unwrap();
    });
}

/// Carries bytes between our server and `pipe` until its end; each latency is over at once.
async fn serve(mut server: Server, mut pipe: DuplexStream) {
    let mut buffer = [0; 512];
    let mut now = 0;
    loop {
        while let Some(due) = server.due() {
            now = due.max(now);
            match server.output(now) {
                Some(Sent::Bytes(bytes)) if pipe.write_all(&bytes).await.is_ok() => {}
                Some(_) => return,
                None => {}
            }
        }
        match pipe.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => server.receive(&buffer[..count], now),
        }
    }
}

#[test]
fn a_client_of_rmcp_speaks_with_our_server() {
    let failed = json!({"content": [{"type": "text", "text": "db down"}], "isError": true,
        "structuredContent": {"code": 7}});
    let mut scripted = script(vec![
        tool("search", says("3 open"), 20),
        tool("fail", Reply::Result(failed), 20),
        tool("die", Reply::Dies, 20),
    ]);
    scripted.tools[0].definition["annotations"] = json!({"readOnlyHint": true});
    let scripted = Script {
        page: Some(2),
        instructions: Some("Be brief.".to_owned()),
        resources: vec![(
            json!({"uri": "mem:/a", "name": "a"}),
            vec![json!({"uri": "mem:/a", "text": "of a"})],
        )],
        ..scripted
    };
    block_on(async {
        let (theirs, ours) = duplex(4096);
        let talk = async {
            let client = ().serve(theirs).await.unwrap();
            let info = client.peer_info().unwrap();
            assert!(format!("{info:?}").contains("Be brief."), "{info:?}");
            let tools = client.list_all_tools().await.unwrap();
            let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
            assert_eq!(names, ["search", "fail", "die"]);
            let hints = tools[0].annotations.as_ref().unwrap();
            assert_eq!(hints.read_only_hint, Some(true));

            let call = |name: &'static str| client.call_tool(CallToolRequestParams::new(name));
            let said = serde_json::to_value(call("search").await.unwrap()).unwrap();
            assert_eq!(said["content"][0]["text"], "3 open");
            let said = serde_json::to_value(call("fail").await.unwrap()).unwrap();
            assert_eq!(
                (&said["isError"], &said["structuredContent"]["code"]),
                (&json!(true), &json!(7))
            );
            let said = call("nothing").await.unwrap_err();
            assert!(said.to_string().contains("there is no tool"), "{said}");

            let all = client.list_all_resources().await.unwrap();
            assert_eq!(all.len(), 1);
            let read = ReadResourceRequestParams::new("mem:/a");
            let said = client.read_resource(read).await.unwrap();
            let said = serde_json::to_value(said).unwrap();
            assert_eq!(said["contents"][0]["text"], "of a");
            assert!(call("die").await.is_err());
        };
        tokio::join!(talk, serve(Server::new(scripted), ours));
    });
}
