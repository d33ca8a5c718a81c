//! Holds an input against its tool's JSON Schema, and words every complaint at once so
//! that a model can repair its input.

use super::nearest::nearest;
use super::units::one_line;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;
use std::fmt;

/// How much of a wrong value is quoted.
const VALUE_UNITS: u64 = 80;
/// How many allowed values are listed.
const ALLOWED_LISTED: usize = 20;

/// The group of a complaint: the order in which they are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    Missing,
    Unexpected,
    Type,
    Other,
}

/// One thing that is wrong with an input.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Complaint {
    pub group: Group,
    /// Where: `edits[0].old_string`, empty for the whole input.
    pub path: String,
    /// What was expected and what was found, the path included.
    pub text: String,
}

/// Everything that is wrong with an input; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaints {
    pub tool: String,
    /// By group, then by path.
    pub complaints: Vec<Complaint>,
    /// The parameters of the tool, the required ones first.
    pub parameters: String,
}

impl Complaints {
    /// That no input fits, because the schema itself does not stand.
    pub(super) fn of_schema(tool: &str, why: &str) -> Complaints {
        let complaint = Complaint {
            group: Group::Other,
            path: String::new(),
            text: why.to_owned(),
        };
        Complaints {
            tool: tool.to_owned(),
            complaints: vec![complaint],
            parameters: String::new(),
        }
    }
}

impl fmt::Display for Complaints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.complaints[..] {
            [one] => write!(f, "the input does not fit {}: {}.", self.tool, one.text)?,
            several => {
                write!(
                    f,
                    "the input does not fit {} in {} places:",
                    self.tool,
                    several.len()
                )?;
                for complaint in several {
                    write!(f, "\n- {}", complaint.text)?;
                }
                writeln!(f)?;
            }
        }
        if self.complaints.len() == 1 {
            f.write_str(" ")?;
        }
        write!(f, "Correct it and call again. {}", self.parameters)
    }
}

/// Every complaint about `input`; `None` if it fits.
pub(super) fn check(
    tool: &str,
    validator: &jsonschema::Validator,
    schema: &Value,
    input: &Value,
) -> Option<Complaints> {
    if validator.is_valid(input) {
        return None;
    }
    let mut complaints: Vec<Complaint> = validator
        .iter_errors(input)
        .flat_map(|error| worded(&error, schema))
        .collect();
    complaints.sort();
    complaints.dedup();
    Some(Complaints {
        tool: tool.to_owned(),
        complaints,
        parameters: parameters(schema),
    })
}

/// `The parameters are file_path (required), offset and limit.`
fn parameters(schema: &Value) -> String {
    let Some(properties) = schema["properties"].as_object().filter(|p| !p.is_empty()) else {
        return "It takes no parameters.".to_owned();
    };
    let required: Vec<&str> = required(schema).collect();
    let mut names: Vec<String> = required
        .iter()
        .map(|name| format!("{name} (required)"))
        .collect();
    names.extend(
        properties
            .keys()
            .filter(|name| !required.contains(&name.as_str()))
            .cloned(),
    );
    format!("The parameters are {}.", names.join(", "))
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// What is wrong with a schema itself, as its meta-schema's validator says.
pub(super) fn wrong_schema(error: &ValidationError<'_>) -> String {
    let complaints = worded(error, &Value::Null);
    complaints
        .into_iter()
        .next()
        .map_or_else(String::new, |first| first.text)
}

/// What one error of the validator says, from its kind.
fn worded(error: &ValidationError<'_>, schema: &Value) -> Vec<Complaint> {
    let path = dotted(error.instance_path().as_str());
    let is = found(error.instance());
    let whole = if path.is_empty() {
        "the input".to_owned()
    } else {
        quoted(&path)
    };
    let complaint = |group, text: String| {
        vec![Complaint {
            group,
            path: path.clone(),
            text,
        }]
    };
    let must = |what: &str| complaint(Group::Other, format!("{whole} must {what}; it is {is}"));
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let child = under(&path, name);
            let what = expected_at(schema, &child).map_or_else(String::new, |t| format!(" ({t})"));
            vec![Complaint {
                group: Group::Missing,
                text: format!("{}{what} is missing", quoted(&child)),
                path: child,
            }]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected
            .iter()
            .map(|name| unknown(&path, name, schema))
            .collect(),
        ValidationErrorKind::Type { kind } => {
            let text = format!("{whole} must be {}; it is {is}", types(kind));
            complaint(Group::Type, text)
        }
        ValidationErrorKind::Enum { options } => {
            must(&format!("be one of {}", listed(options.as_array())))
        }
        ValidationErrorKind::Constant { expected_value } => must(&format!("be {expected_value}")),
        ValidationErrorKind::Minimum { limit } => must(&format!("be at least {limit}")),
        ValidationErrorKind::Maximum { limit } => must(&format!("be at most {limit}")),
        ValidationErrorKind::ExclusiveMinimum { limit } => must(&format!("be more than {limit}")),
        ValidationErrorKind::ExclusiveMaximum { limit } => must(&format!("be less than {limit}")),
        ValidationErrorKind::MultipleOf { multiple_of } => {
            must(&format!("be a multiple of {multiple_of}"))
        }
        ValidationErrorKind::MinItems { limit } => must(&format!("have at least {limit} items")),
        ValidationErrorKind::MaxItems { limit } => must(&format!("have at most {limit} items")),
        ValidationErrorKind::AdditionalItems { limit } => {
            must(&format!("have at most {limit} items"))
        }
        ValidationErrorKind::MinLength { limit } => {
            must(&format!("have at least {limit} characters"))
        }
        ValidationErrorKind::MaxLength { limit } => {
            must(&format!("have at most {limit} characters"))
        }
        ValidationErrorKind::MinProperties { limit } => {
            must(&format!("have at least {limit} fields"))
        }
        ValidationErrorKind::MaxProperties { limit } => {
            must(&format!("have at most {limit} fields"))
        }
        ValidationErrorKind::Pattern { pattern } => must(&format!("match the pattern {pattern}")),
        ValidationErrorKind::Format { format } => must(&format!("be a valid {format}")),
        ValidationErrorKind::UniqueItems => must("have no item twice"),
        ValidationErrorKind::PropertyNames { error } => {
            let name = found(error.instance());
            complaint(
                Group::Unexpected,
                format!("{whole} has a field of a name that is not allowed: {name}"),
            )
        }
        ValidationErrorKind::FalseSchema => must("be left out"),
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            nearest_form(context, schema)
                .unwrap_or_else(|| must("have one of the forms that the schema allows"))
        }
        ValidationErrorKind::OneOfMultipleValid { .. } => {
            must("have exactly one of the forms that the schema allows, not several")
        }
        _ => must("be as the schema says"),
    }
}

/// The complaints of the alternative that the value comes nearest to.
fn nearest_form(
    context: &[Vec<ValidationError<'static>>],
    schema: &Value,
) -> Option<Vec<Complaint>> {
    let simple_types: Option<Vec<String>> = context
        .iter()
        .map(|errors| match errors.as_slice() {
            [error] if error.instance_path() == context[0][0].instance_path() => {
                match error.kind() {
                    ValidationErrorKind::Type { kind } => Some(types(kind)),
                    _ => None,
                }
            }
            _ => None,
        })
        .collect();
    if let Some(types) = simple_types.filter(|types| !types.is_empty()) {
        let error = &context[0][0];
        let path = dotted(error.instance_path().as_str());
        let whole = if path.is_empty() {
            "the input".to_owned()
        } else {
            quoted(&path)
        };
        let is = found(error.instance());
        return Some(vec![Complaint {
            group: Group::Type,
            text: format!("{whole} must be {}; it is {is}", types.join(" or ")),
            path,
        }]);
    }
    context
        .iter()
        .map(|errors| errors.iter().flat_map(|e| worded(e, schema)).collect())
        .min_by_key(|complaints: &Vec<Complaint>| {
            let wrong_type = complaints.iter().any(|c| c.group == Group::Type);
            (wrong_type, complaints.len())
        })
}

fn unknown(path: &str, name: &str, schema: &Value) -> Complaint {
    let child = under(path, name);
    let known = schema_at(schema, path)
        .and_then(|schema| schema["properties"].as_object())
        .map(|properties| properties.keys().map(String::as_str))
        .into_iter()
        .flatten();
    let hint = match nearest(name, known).first() {
        Some(near) => format!("; did you mean {}?", quoted(near)),
        None => String::new(),
    };
    Complaint {
        group: Group::Unexpected,
        text: format!("{} is not a parameter{hint}", quoted(&child)),
        path: child,
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => with_article(&one.to_string()),
        TypeKind::Multiple(several) => {
            let mut names: Vec<String> = several.iter().map(|one| one.to_string()).collect();
            names.sort_by_key(|name| (name == "null", name.clone()));
            let names: Vec<String> = names.iter().map(|name| with_article(name)).collect();
            names.join(" or ")
        }
    }
}

fn with_article(name: &str) -> String {
    match name {
        "null" => "null".to_owned(),
        "array" | "integer" | "object" => format!("an {name}"),
        _ => format!("a {name}"),
    }
}

fn listed(options: Option<&Vec<Value>>) -> String {
    let options = options.map(Vec::as_slice).unwrap_or_default();
    let shown: Vec<String> = options
        .iter()
        .take(ALLOWED_LISTED)
        .map(Value::to_string)
        .collect();
    let more = if options.len() > ALLOWED_LISTED {
        ", …"
    } else {
        ""
    };
    format!("{}{more}", shown.join(", "))
}

/// A wrong value: its type, and itself cut to a line.
fn found(value: &Value) -> String {
    let kind = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(_) => "the boolean",
        Value::Number(_) => "the number",
        Value::String(_) => "the string",
        Value::Array(_) => "the array",
        Value::Object(_) => "the object",
    };
    format!("{kind} {}", one_line(&value.to_string(), VALUE_UNITS))
}

/// What the schema expects at a path, for saying what is missing.
fn expected_at(schema: &Value, path: &str) -> Option<String> {
    let at = schema_at(schema, path)?;
    if let Some(options) = at["enum"].as_array() {
        return Some(format!("one of {}", listed(Some(options))));
    }
    match &at["type"] {
        Value::String(name) => Some(with_article(name)),
        Value::Array(names) => {
            let names: Vec<String> = names
                .iter()
                .filter_map(Value::as_str)
                .map(with_article)
                .collect();
            Some(names.join(" or "))
        }
        _ => None,
    }
}

/// The part of the schema that describes what is at a dotted path, as far as plain
/// `properties` and `items` lead there.
fn schema_at<'a>(schema: &'a Value, path: &str) -> Option<&'a Value> {
    let mut at = schema;
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let (name, indexes) = part.split_once('[').map_or((part, 0), |(name, rest)| {
            (name, 1 + rest.matches('[').count())
        });
        if !name.is_empty() {
            at = at["properties"].get(name)?;
        }
        for _ in 0..indexes {
            at = at.get("items")?;
        }
    }
    Some(at)
}

fn under(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// A JSON pointer as people write paths: `/edits/0/old_string` → `edits[0].old_string`.
fn dotted(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        if !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) {
            path.push_str(&format!("[{part}]"));
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&part);
        }
    }
    path
}

/// Quoted as JSON quotes: a quote of another kind gets copied into the next try (B160).
fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn says(schema: &Value, input: Value) -> String {
        let validator = jsonschema::validator_for(schema).expect("schema");
        check("T", &validator, schema, &input).map_or_else(String::new, |c| c.to_string())
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "offset": {"type": "integer"},
                "mode": {"type": "string", "enum": ["content", "count"]},
                "edits": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"old": {"type": "string"}, "all": {"type": ["boolean", "null"]}},
                    "required": ["old"],
                    "additionalProperties": false
                }},
                "id": {"anyOf": [{"type": "string"}, {"type": "integer"}]}
            },
            "required": ["path", "mode"],
            "additionalProperties": false
        })
    }

    #[test]
    fn all_complaints_at_once_in_their_order() {
        let input = json!({"offset": "abc", "edits": [{"all": 1}, {"old": 2, "new": ""}], "pth": "x", "mode": "lines"});
        insta::assert_snapshot!(says(&schema(), input), @r#"
        the input does not fit T in 8 places:
        - "edits[0].old" (a string) is missing
        - "path" (a string) is missing
        - "edits[1].new" is not a parameter
        - "pth" is not a parameter; did you mean "path"?
        - "edits[0].all" must be a boolean or null; it is the number 1
        - "edits[1].old" must be a string; it is the number 2
        - "offset" must be an integer; it is the string "abc"
        - "mode" must be one of "content", "count"; it is the string "lines"
        Correct it and call again. The parameters are path (required), mode (required), edits, id, offset.
        "#);
    }

    #[test]
    fn one_complaint_is_one_sentence() {
        let ok = json!({"path": "x", "mode": "count"});
        assert_eq!(says(&schema(), ok.clone()), "");
        let with = |key: &str, value: Value| {
            let mut input = ok.clone();
            input[key] = value;
            says(&schema(), input)
        };
        insta::assert_snapshot!(with("id", json!([])), @r#"the input does not fit T: "id" must be a string or an integer; it is the array []. Correct it and call again. The parameters are path (required), mode (required), edits, id, offset."#);
        insta::assert_snapshot!(says(&schema(), json!([1])), @"the input does not fit T: the input must be an object; it is the array [1]. Correct it and call again. The parameters are path (required), mode (required), edits, id, offset.");
        let none = json!({"type": "object", "properties": {}, "additionalProperties": false});
        insta::assert_snapshot!(says(&none, json!({"a": 1})), @r#"the input does not fit T: "a" is not a parameter. Correct it and call again. It takes no parameters."#);
    }

    #[test]
    fn limits_name_both_sides() {
        let schema = json!({"type": "object", "properties": {
            "n": {"type": "integer", "minimum": 1, "maximum": 5},
            "s": {"type": "string", "pattern": "^a", "maxLength": 3},
            "l": {"type": "array", "minItems": 1},
            "c": {"const": "x"}
        }});
        insta::assert_snapshot!(says(&schema, json!({"n": 0, "s": "bcde", "l": [], "c": 1})), @r#"
        the input does not fit T in 5 places:
        - "c" must be "x"; it is the number 1
        - "l" must have at least 1 items; it is the array []
        - "n" must be at least 1; it is the number 0
        - "s" must have at most 3 characters; it is the string "bcde"
        - "s" must match the pattern ^a; it is the string "bcde"
        Correct it and call again. The parameters are c, l, n, s.
        "#);
    }
}
