//! The profiles that are built in, parsed once from their files.

use super::Profile;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

/// Name and text of each file, a base before what is based on it, the recorded
/// runtime's from old to new.
const FILES: [(&str, &str); 6] = [
    ("seed", include_str!("data/seed.json")),
    (
        "claude-code-2.0.76",
        include_str!("data/claude-code-2.0.76.json"),
    ),
    (
        "claude-code-2.1.2",
        include_str!("data/claude-code-2.1.2.json"),
    ),
    (
        "claude-code-2.1.197",
        include_str!("data/claude-code-2.1.197.json"),
    ),
    (
        "claude-code-2.1.208",
        include_str!("data/claude-code-2.1.208.json"),
    ),
    (
        "claude-code-2.1.332",
        include_str!("data/claude-code-2.1.332.json"),
    ),
];

/// A version of the recorded runtime: three numbers, ordered as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// Reads `2.1.45`; what follows a `-`, `+` or space is ignored.
    pub fn parse(text: &str) -> Option<Version> {
        let plain = text.split(['-', '+', ' ']).next()?;
        let mut parts = plain.split('.').map(|part| part.parse::<u32>().ok());
        let version = Version(parts.next()??, parts.next()??, parts.next()??);
        parts.next().is_none().then_some(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// No profile has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown profile `{name}`; known are: {}", Profile::names().join(", "))]
pub struct ProfileError {
    pub name: String,
}

impl Profile {
    /// The names of all profiles: `seed`, then the recorded runtime's from old to new.
    pub fn names() -> Vec<&'static str> {
        FILES.iter().map(|(name, _)| *name).collect()
    }

    /// The profile called `name`.
    pub fn by_name(name: &str) -> Result<Profile, ProfileError> {
        BUILT_IN
            .iter()
            .find(|profile| profile.name == name)
            .cloned()
            .ok_or_else(|| ProfileError {
                name: name.to_owned(),
            })
    }

    /// The default: the system that this project implements.
    pub fn seed() -> Profile {
        BUILT_IN[0].clone()
    }

    /// The profile for a recording of version `text`, and a sentence that says why:
    /// the newest that is not newer; the oldest for an older or unknown version.
    pub fn for_version(text: &str) -> (Profile, String) {
        let recorded = &BUILT_IN[1..];
        let version = Version::parse(text);
        let fits = version.and_then(|version| {
            recorded
                .iter()
                .rev()
                .find(|p| p.version.is_some_and(|first| first <= version))
        });
        let profile = fits.unwrap_or(&recorded[0]).clone();
        let name = &profile.name;
        let said = match (version, fits) {
            (_, Some(p)) if p.version == version => format!("version {text}: profile {name}"),
            (_, Some(_)) => format!("version {text}: profile {name}, the newest not newer"),
            (Some(_), None) => {
                format!("version {text} is older than every profile: profile {name}, the oldest")
            }
            (None, None) if text.is_empty() => {
                format!("no version recorded: profile {name}, the oldest")
            }
            (None, None) => {
                format!("version `{text}` cannot be read: profile {name}, the oldest")
            }
        };
        (profile, said)
    }
}

/// All profiles, in the order of [`FILES`]. The files are part of the program, not
/// input: one that is wrong is a fault of the build, and a test reads them all.
static BUILT_IN: LazyLock<Vec<Profile>> = LazyLock::new(|| match load(&FILES) {
    Ok(profiles) => profiles,
    Err(complaints) => panic!("built-in profiles: {}", complaints.join("; ")),
});

/// The values and sources of the profiles read so far, by profile and parameter.
type Read = BTreeMap<String, BTreeMap<String, (Value, String)>>;

/// Reads the files in order; all complaints at once.
fn load(files: &[(&str, &str)]) -> Result<Vec<Profile>, Vec<String>> {
    let mut complaints = Vec::new();
    let mut read = Read::new();
    let mut profiles = Vec::new();
    for (name, text) in files {
        match one(name, text, &read) {
            Ok((version, values)) => {
                read.insert((*name).to_owned(), values.clone());
                match Profile::assemble((*name).to_owned(), version, values) {
                    Ok(profile) => profiles.push(profile),
                    Err(more) => complaints.extend(more),
                }
            }
            Err(more) => complaints.extend(more),
        }
    }
    if complaints.is_empty() {
        Ok(profiles)
    } else {
        Err(complaints)
    }
}

type Values = BTreeMap<String, (Value, String)>;

/// Reads one file; `=` takes what its base has.
fn one(name: &str, text: &str, read: &Read) -> Result<(Option<Version>, Values), Vec<String>> {
    let file: Value = serde_json::from_str(text).map_err(|e| vec![format!("{name}: {e}")])?;
    let base = match file["base"].as_str() {
        None => None,
        Some(base) => Some(
            read.get(base)
                .ok_or_else(|| vec![format!("{name}: the base {base} comes later or nowhere")])?,
        ),
    };
    let version = file["version"].as_str().map(Version::parse);
    if version == Some(None) {
        return Err(vec![format!("{name}: {} is no version", file["version"])]);
    }
    let mut complaints = Vec::new();
    let mut values = Values::new();
    let empty = serde_json::Map::new();
    for (id, entry) in file["parameters"].as_object().unwrap_or(&empty) {
        let value = match entry {
            Value::String(same) if same == "=" => base.and_then(|base| base.get(id).cloned()),
            entry => entry["source"]
                .as_str()
                .filter(|source| !source.trim().is_empty())
                .and_then(|source| Some((entry.get("value")?.clone(), source.to_owned()))),
        };
        match value {
            Some(value) => {
                values.insert(id.clone(), value);
            }
            None => complaints.push(format!(
                "{name}: {id} needs a value and a source, or `=` and a base that has it"
            )),
        }
    }
    if complaints.is_empty() {
        Ok((version.flatten(), values))
    } else {
        Err(complaints)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_stands_in_every_file_with_its_source() {
        let profiles = load(&FILES).unwrap_or_else(|complaints| panic!("{complaints:#?}"));
        assert_eq!(profiles.len(), 6);
        for profile in &profiles {
            for id in Profile::PARAMETERS {
                let source = profile.source_of(id).unwrap_or_default();
                assert!(!source.is_empty(), "{}: {id} has no source", profile.name);
                assert!(profile.value_of(id).is_some());
            }
        }
    }

    #[test]
    fn files_follow_the_order_of_the_table() {
        for (name, text) in FILES {
            let mut after = 0;
            for id in Profile::PARAMETERS {
                let at = text[after..].find(&format!("\"{id}\":"));
                after += at.unwrap_or_else(|| panic!("{name}: {id} is missing or out of order"));
            }
            for id in Profile::PARAMETERS {
                let times = text.matches(&format!("\"{id}\":")).count();
                assert_eq!(times, 1, "{name}: {id}");
            }
        }
    }

    #[test]
    fn a_file_that_is_wrong_is_complained_about_all_at_once() {
        let text = r#"{"parameters": {"char_unit": {"value": "nibble", "source": "x"}, "weather": {"value": 1, "source": "x"}}}"#;
        let complaints = load(&[("bad", text)]).unwrap_err();
        let all = complaints.join("\n");
        assert!(all.contains("\"nibble\" is not a value of char_unit; allowed: utf16, scalar"));
        assert!(all.contains("stale_by is missing"));
        assert!(all.contains("unknown parameter weather"));
        let unsourced = r#"{"parameters": {"char_unit": {"value": "utf16"}, "stale_by": "="}}"#;
        let all = load(&[("bad", unsourced)]).unwrap_err().join("\n");
        assert!(all.contains("char_unit needs a value and a source"));
        assert!(all.contains("stale_by needs a value and a source"));
    }

    #[test]
    fn a_version_gets_the_newest_profile_not_newer() {
        let table = [
            ("2.1.45", "claude-code-2.1.2"),
            ("2.1.2", "claude-code-2.1.2"),
            ("2.1.1", "claude-code-2.0.76"),
            ("2.1.196", "claude-code-2.1.2"),
            ("2.1.197", "claude-code-2.1.197"),
            ("2.1.240", "claude-code-2.1.208"),
            ("3.0.0", "claude-code-2.1.332"),
            ("1.0.128", "claude-code-2.0.76"),
            ("", "claude-code-2.0.76"),
            ("2.1", "claude-code-2.0.76"),
            ("2.1.45-beta.1", "claude-code-2.1.2"),
        ];
        for (version, name) in table {
            let (profile, said) = Profile::for_version(version);
            assert_eq!(profile.name, name, "{version}");
            assert!(said.contains(name), "{said}");
        }
        assert_eq!(
            Profile::for_version("1.0.128").1,
            "version 1.0.128 is older than every profile: profile claude-code-2.0.76, the oldest"
        );
    }

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        let error = Profile::by_name("sead").unwrap_err().to_string();
        assert!(error.starts_with("unknown profile `sead`; known are: seed, claude-code-2.0.76, "));
    }
}
