//! JSON-RPC 2.0, as far as MCP uses it.

use serde_json::{Map, Value, json};

/// What JSON-RPC calls an error.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub code: i64,
    pub message: String,
}

impl Fault {
    pub const METHOD_NOT_FOUND: i64 = -32601;
    pub const INVALID_PARAMS: i64 = -32602;
    pub const RESOURCE_NOT_FOUND: i64 = -32002;

    pub fn new(code: i64, message: impl Into<String>) -> Fault {
        let message = message.into();
        Fault { code, message }
    }
}

/// One message, of either side.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    Request {
        /// A number or a text; the answer bears the same.
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    Response {
        id: Value,
        result: Result<Value, Fault>,
    },
}

impl Message {
    pub fn request(id: impl Into<Value>, method: &str, params: Value) -> Message {
        Message::Request {
            id: id.into(),
            method: method.to_owned(),
            params,
        }
    }

    pub fn notification(method: &str, params: Value) -> Message {
        let method = method.to_owned();
        Message::Notification { method, params }
    }

    /// Reads one line.
    ///
    /// # Errors
    /// What is wrong with it, if it is no message.
    pub fn read(line: &[u8]) -> Result<Message, String> {
        let value: Value =
            serde_json::from_slice(line).map_err(|_| "a line that is not JSON".to_owned())?;
        let Value::Object(mut fields) = value else {
            return Err("a line that is no JSON object".to_owned());
        };
        if fields.get("jsonrpc") != Some(&json!("2.0")) {
            return Err("a message that is not JSON-RPC 2.0".to_owned());
        }
        let id = fields.remove("id").filter(|id| !id.is_null());
        if id
            .as_ref()
            .is_some_and(|id| !id.is_number() && !id.is_string())
        {
            return Err("an id that is neither a number nor a text".to_owned());
        }
        let method = match fields.remove("method") {
            Some(Value::String(method)) => Some(method),
            Some(_) => return Err("a method that is no text".to_owned()),
            None => None,
        };
        match (method, id) {
            (Some(method), id) => {
                let params = fields.remove("params").unwrap_or(Value::Null);
                Ok(match id {
                    Some(id) => Message::Request { id, method, params },
                    None => Message::Notification { method, params },
                })
            }
            (None, Some(id)) => {
                let result = result(&mut fields)?;
                Ok(Message::Response { id, result })
            }
            (None, None) => Err("a message without method and id".to_owned()),
        }
    }

    /// As one line, its end included.
    pub fn line(&self) -> Vec<u8> {
        let mut value = match self {
            Message::Request { id, method, params } => {
                json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
            }
            Message::Notification { method, params } => {
                json!({"jsonrpc": "2.0", "method": method, "params": params})
            }
            Message::Response { id, result } => match result {
                Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                Err(fault) => json!({"jsonrpc": "2.0", "id": id,
                    "error": {"code": fault.code, "message": fault.message}}),
            },
        };
        if let Value::Object(fields) = &mut value {
            fields.retain(|key, value| key != "params" || !value.is_null());
        }
        let mut line = value.to_string().into_bytes();
        line.push(b'\n');
        line
    }
}

fn result(fields: &mut Map<String, Value>) -> Result<Result<Value, Fault>, String> {
    match (fields.remove("result"), fields.remove("error")) {
        (Some(result), None) => Ok(Ok(result)),
        (None, Some(error)) => {
            let code = error["code"].as_i64();
            let message = error["message"].as_str();
            Ok(Err(Fault::new(
                code.ok_or("an error without a code")?,
                message.unwrap_or_default(),
            )))
        }
        _ => Err("an answer that has not one of result and error".to_owned()),
    }
}
