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
            complaints: Vec::new(),
        };
        if let Some(broken) = broken {
            let mut complaint =
                layer.complaint(Severity::Error, None, "", broken.found, broken.expected);
            complaint.place = Some(broken.at);
            layer.complaints.push(complaint);
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
