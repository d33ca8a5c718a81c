//! The form of a rule: a tool's name, and perhaps a specifier in parentheses.

use super::Problem;

/// A rule taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written<'a> {
    pub tool: &'a str,
    /// What stands in the parentheses; none without them.
    pub specifier: Option<&'a str>,
}

/// Takes a rule apart.
pub fn parse(text: &str) -> Result<Written<'_>, Problem> {
    let form = || Problem::unusable("`Tool` or `Tool(specifier)`");
    let text = text.trim();
    let (tool, specifier) = match text.split_once('(') {
        None => (text, None),
        Some((tool, rest)) => {
            let inner = rest
                .strip_suffix(')')
                .ok_or_else(|| form().hint("the parenthesis is not closed at the end"))?;
            (tool, Some(inner.trim()))
        }
    };
    if tool.is_empty() {
        return Err(form().hint("the name of the tool is missing"));
    }
    let part_of_name = |c: char| c.is_alphanumeric() || "_-.*".contains(c);
    if !tool.chars().all(part_of_name) {
        return Err(form().hint("a tool's name holds letters, digits, `_`, `-` and `*`"));
    }
    if specifier == Some("") {
        let hint = format!("for every use of the tool write `{tool}` alone");
        return Err(form().hint(hint));
    }
    Ok(Written { tool, specifier })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_forms() {
        let written = |tool, specifier| Ok(Written { tool, specifier });
        assert_eq!(parse("Bash"), written("Bash", None));
        assert_eq!(
            parse(" Bash( npm test ) "),
            written("Bash", Some("npm test"))
        );
        assert_eq!(parse("Bash(echo (a))"), written("Bash", Some("echo (a)")));
        assert_eq!(parse("mcp__a-b__c*"), written("mcp__a-b__c*", None));
        for wrong in [
            "",
            "()",
            "(x)",
            "Bash()",
            "Bash( )",
            "Bash(x",
            "Bash(x) y",
            "Bash x",
            "Ba)sh",
            "Read, Edit",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
