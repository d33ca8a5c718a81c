//! The order of grants as a string that fits on a command line.

use super::ActorId;
use std::fmt;
use std::str::FromStr;

/// The version of the string's format.
const FORMAT: &str = "1";
/// Choices in one schedule: beyond any run, below what a mistyped count could ask of memory.
const MAX_CHOICES: usize = 10_000_000;

/// Which actors were granted at the points where two or more could have been.
///
/// Written `1:ab12cd34:c1*3,c2,o0`: the format, the hash of the scenario it belongs
/// to (any letters and digits, or nothing), then the actors in order, a run of the
/// same one with its length.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schedule {
    pub scenario_hash: String,
    pub choices: Vec<ActorId>,
}

/// Why a text is no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    #[error("not a schedule: {0}")]
    Malformed(String),
    #[error("a schedule of format {found:?}; this program reads format {FORMAT}")]
    Format { found: String },
    #[error("not a schedule: more than {MAX_CHOICES} choices")]
    TooLong,
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORMAT}:{}:", self.scenario_hash)?;
        for (i, run) in self.choices.chunk_by(|a, b| a == b).enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            if let Some(actor) = run.first() {
                write!(f, "{actor}")?;
            }
            if run.len() > 1 {
                write!(f, "*{}", run.len())?;
            }
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Schedule, ScheduleError> {
        let malformed = |what: String| Err(ScheduleError::Malformed(what));
        let Some((format, rest)) = text.split_once(':') else {
            return malformed(format!(
                "{text:?} has no `:`; expected `1:<scenario hash>:<actors>`"
            ));
        };
        if format != FORMAT {
            return Err(ScheduleError::Format {
                found: format.to_owned(),
            });
        }
        let Some((hash, runs)) = rest.split_once(':') else {
            return malformed("there is no second `:` after the scenario's hash".to_owned());
        };
        if let Some(odd) = hash.chars().find(|c| !c.is_ascii_alphanumeric()) {
            return malformed(format!("{odd:?} in the scenario's hash {hash:?}"));
        }
        let mut choices = Vec::new();
        if !runs.is_empty() {
            for (i, run) in runs.split(',').enumerate() {
                let (actor, count) = parse_run(run).map_err(|what| {
                    ScheduleError::Malformed(format!("entry {} is {run:?}: {what}", i + 1))
                })?;
                if count > MAX_CHOICES - choices.len() {
                    return Err(ScheduleError::TooLong);
                }
                choices.resize(choices.len() + count, actor);
            }
        }
        Ok(Schedule {
            scenario_hash: hash.to_owned(),
            choices,
        })
    }
}

/// Reads `c1` or `c1*3`.
fn parse_run(run: &str) -> Result<(ActorId, usize), &'static str> {
    let (id, count) = match run.split_once('*') {
        None => (run, 1),
        Some((id, count)) => {
            let digits = !count.is_empty() && count.bytes().all(|b| b.is_ascii_digit());
            match count.parse::<usize>() {
                Ok(count) if digits && count > 0 => (id, count),
                _ => return Err("after `*` stands how often, 1 or more"),
            }
        }
    };
    let actor = ActorId::parse(id).ok_or("expected an actor such as `a`, `c3`, `h3.0` or `o1`")?;
    Ok((actor, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(text: &str) -> String {
        text.parse::<Schedule>().unwrap_err().to_string()
    }

    #[test]
    fn reads_what_it_writes() {
        let text = "1:ab12cd34:c1*3,c2,o0,a,h3.0*2,c2";
        let schedule: Schedule = text.parse().unwrap();
        assert_eq!(schedule.choices.len(), 9);
        assert_eq!(schedule.to_string(), text);
        assert_eq!("1::".parse(), Ok(Schedule::default()));
        assert_eq!(Schedule::default().to_string(), "1::");
    }

    #[test]
    fn complaints_name_what_is_wrong() {
        assert_eq!(
            complaint("c1"),
            r#"not a schedule: "c1" has no `:`; expected `1:<scenario hash>:<actors>`"#
        );
        assert_eq!(
            complaint("2:ab:c1"),
            r#"a schedule of format "2"; this program reads format 1"#
        );
        assert_eq!(
            complaint("1:ab"),
            "not a schedule: there is no second `:` after the scenario's hash"
        );
        assert_eq!(
            complaint("1:a/b:c1"),
            r#"not a schedule: '/' in the scenario's hash "a/b""#
        );
        assert_eq!(
            complaint("1:ab:c1,x9"),
            r#"not a schedule: entry 2 is "x9": expected an actor such as `a`, `c3`, `h3.0` or `o1`"#
        );
        for count in ["", "0", "+2", "-1", "x", "99999999999999999999"] {
            assert_eq!(
                complaint(&format!("1:ab:c1*{count}")),
                format!(
                    "not a schedule: entry 1 is \"c1*{count}\": after `*` stands how often, 1 or more"
                )
            );
        }
        assert_eq!(
            complaint("1:ab:c1*9000000,c2*9000000"),
            "not a schedule: more than 10000000 choices"
        );
        assert!(complaint("1:ab:c1,").contains("entry 2 is \"\""));
    }
}
