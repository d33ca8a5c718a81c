//! One source's settings, as they were written.

use super::node::{self, Node};
use super::{Complaint, Severity, Source};
use serde_json::Value;
use std::sync::Arc;

/// One source's settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    pub source: Source,
    /// The file, if it is one.
    pub file: Option<Arc<str>>,
    /// The folder that a path with one leading slash is anchored at, where it is not
    /// what the source says. Absolute and normal.
    pub anchor: Option<Arc<str>>,
    pub(super) node: Node,
    /// The text, of a file that is no JSON.
    pub(super) broken: Option<Arc<str>>,
    pub(super) complaints: Vec<Complaint>,
}

impl Layer {
    /// Settings that come from no file of their own, like those in a scenario.
    pub fn from_value(source: Source, value: &Value) -> Layer {
        Layer {
            source,
            file: None,
            anchor: None,
            node: Node::from_value(value),
            broken: None,
            complaints: Vec::new(),
        }
    }

    /// A settings file. One that is no JSON keeps what stands before the break and
    /// has an error; [`super::merge`] gives it.
    pub fn from_text(source: Source, file: &str, text: &str) -> Layer {
        let (node, broken) = node::read(text);
        let mut layer = Layer {
            source,
            file: Some(file.into()),
            anchor: None,
            node,
            broken: broken.is_some().then(|| text.into()),
            complaints: Vec::new(),
        };
        if let Some(broken) = broken {
            let hint = broken.hint();
            let complaint =
                layer.complaint(Severity::Error, None, "", broken.found, broken.expected);
            layer.complaints.push(Complaint {
                place: Some(broken.at),
                hint,
                ..complaint
            });
        }
        layer
    }

    /// The settings file of these bytes; what of them is no UTF-8 is an error as well.
    pub fn from_bytes(source: Source, file: &str, bytes: &[u8]) -> Layer {
        let text = String::from_utf8_lossy(bytes);
        let mut layer = Layer::from_text(source, file, &text);
        if let Err(error) = std::str::from_utf8(bytes) {
            let found = format!("a byte that is no UTF-8, at byte {}", error.valid_up_to());
            let complaint = layer.complaint(Severity::Error, None, "", found, "UTF-8");
            layer.complaints.push(complaint);
            layer.broken = Some(text.as_ref().into());
        }
        layer
    }

    /// Anchors paths with one leading slash at `folder`.
    pub fn anchored_at(mut self, folder: &str) -> Layer {
        self.anchor = Some(folder.into());
        self
    }

    /// A complaint about `node` of this layer.
    pub(super) fn complaint(
        &self,
        severity: Severity,
        node: Option<&Node>,
        path: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Complaint {
        Complaint {
            severity,
            file: match &self.file {
                Some(file) => file.clone(),
                None => format!("{} settings", self.source).into(),
            },
            place: node.and_then(|node| node.at),
            path: path.into(),
            found: found.into(),
            expected: expected.into(),
            hint: None,
        }
    }
}
