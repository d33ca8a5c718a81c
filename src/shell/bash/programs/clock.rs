//! `sleep`, `date` and `touch` on the world's clock.

use super::super::state::Running;
use super::{absolute, fails, quoted};
use crate::shell::bash::settings;
use async_trait::async_trait;
use bashkit::{Bash, Builtin, BuiltinContext, ExecResult, Result};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// Lets virtual time pass.
pub(super) struct Sleep(pub Arc<Running>);

#[async_trait]
impl Builtin for Sleep {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let mut total_ms = 0_u64;
        let operands: Vec<&String> = ctx.args.iter().filter(|arg| *arg != "--").collect();
        if operands.is_empty() {
            return fails("sleep", "missing operand", 1);
        }
        for operand in operands {
            match interval_ms(operand) {
                Some(ms) => total_ms = total_ms.saturating_add(ms),
                None => {
                    return fails("sleep", &format!("invalid time interval '{operand}'"), 1);
                }
            }
        }
        if let Some(touching) = self.0.touching() {
            touching.actor.sleep_ms(total_ms).await;
        }
        Ok(ExecResult::ok(""))
    }
}

/// The longest sleep: beyond any timeout.
const SLEEP_MAX_MS: u64 = 1_000 * 60 * 60 * 24 * 365;

/// Reads `2`, `0.5s`, `1.25m`, `infinity` as milliseconds, without floats.
fn interval_ms(text: &str) -> Option<u64> {
    if matches!(text, "inf" | "infinity") {
        return Some(SLEEP_MAX_MS);
    }
    let (number, unit_ms) = match text.as_bytes().last()? {
        b's' => (&text[..text.len() - 1], 1_000),
        b'm' => (&text[..text.len() - 1], 60_000),
        b'h' => (&text[..text.len() - 1], 3_600_000),
        b'd' => (&text[..text.len() - 1], 86_400_000),
        _ => (text, 1_000),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().unwrap_or(u64::MAX)
    };
    // A thousandth of the smallest unit is enough: finer than the clock.
    let thousandths: u64 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
    let ms = whole
        .saturating_mul(unit_ms)
        .saturating_add(thousandths.saturating_mul(unit_ms) / 1_000_000);
    Some(ms.min(SLEEP_MAX_MS))
}

/// Tells the world's time.
pub(super) struct Date(pub Arc<Running>);

#[async_trait]
impl Builtin for Date {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let now_ms = self.0.actor.now_unix_ms();
        let of_a_given_time = ctx.args.iter().any(|arg| {
            arg.starts_with("--") || (arg.starts_with('-') && arg.contains(['d', 'r', 'f', 's']))
        });
        let args: Vec<String> = ctx
            .args
            .iter()
            .map(|arg| match arg.strip_prefix('+') {
                Some(format) if !of_a_given_time => format!("+{}", with_subseconds(format, now_ms)),
                _ => arg.clone(),
            })
            .collect();
        at_time(&ctx, now_ms, "date", &args).await
    }
}

/// Puts the part of a second into a format, which the shell's own clock cuts off.
fn with_subseconds(format: &str, now_ms: i64) -> String {
    let nanos = format!("{:09}", now_ms.rem_euclid(1_000) * 1_000_000);
    let mut out = String::with_capacity(format.len() + 9);
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let directive = &rest[at + 1..];
        let (width, after) = match directive.as_bytes() {
            [b'N', ..] => (9, 1),
            [d @ b'1'..=b'9', b'N', ..] => (usize::from(d - b'0'), 2),
            [b'%', ..] => {
                out.push_str("%%");
                rest = &directive[1..];
                continue;
            }
            _ => {
                out.push('%');
                rest = directive;
                continue;
            }
        };
        out.push_str(&nanos[..width]);
        rest = &directive[after..];
    }
    out.push_str(rest);
    out
}

/// Runs one of bashkit's own programs in a shell of its own whose clock stands at `now_ms`.
async fn at_time(
    ctx: &BuiltinContext<'_>,
    now_ms: i64,
    program: &str,
    args: &[String],
) -> Result<ExecResult> {
    let mut line = program.to_owned();
    for arg in args {
        line.push(' ');
        line.push_str(&quoted(arg));
    }
    let mut shell = Bash::builder()
        .fs(ctx.fs.clone())
        .rootfs(false)
        .cwd(ctx.cwd.clone())
        .limits(settings::limits())
        .fixed_epoch(now_ms.div_euclid(1_000))
        .builtin_filter({
            let program = program.to_owned();
            move |name| name == program
        });
    if let Some(zone) = ctx.env.get("TZ") {
        shell = shell.env("TZ", zone);
    }
    shell.build().exec(&line).await
}

/// Sets times of files, and makes files that are not there.
pub(super) struct Touch(pub Arc<Running>);

#[async_trait]
impl Builtin for Touch {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let now_ms = self.0.actor.now_unix_ms();
        let plain = match Plain::of(ctx.args) {
            Ok(plain) => plain,
            Err(()) => {
                let args = with_years(ctx.args, now_ms);
                return at_time(&ctx, now_ms, "touch", &args).await;
            }
        };
        if plain.files.is_empty() {
            return fails("touch", "missing file operand", 1);
        }
        let now = match u64::try_from(now_ms) {
            Ok(ms) => UNIX_EPOCH + Duration::from_millis(ms),
            Err(_) => UNIX_EPOCH - Duration::from_millis(now_ms.unsigned_abs()),
        };
        let mut errors = String::new();
        for file in plain.files {
            let path = absolute(&ctx, file);
            let done = match ctx.fs.exists(&path).await {
                Ok(true) => ctx.fs.set_modified_time(&path, now).await,
                Ok(false) if plain.no_create => Ok(()),
                Ok(false) => ctx.fs.write_file(&path, b"").await,
                Err(e) => Err(e),
            };
            if let Err(e) = done {
                let why = match e {
                    bashkit::Error::Io(e) => e.to_string(),
                    other => return Err(other),
                };
                errors.push_str(&format!("touch: cannot touch '{file}': {why}\n"));
            }
        }
        if errors.is_empty() {
            Ok(ExecResult::ok(""))
        } else {
            Ok(ExecResult::err(errors, 1))
        }
    }
}

/// A use of `touch` that means the present.
struct Plain<'a> {
    files: Vec<&'a str>,
    no_create: bool,
}

impl<'a> Plain<'a> {
    /// Reads the arguments; fails where they name a time, or are not understood.
    fn of(args: &'a [String]) -> std::result::Result<Plain<'a>, ()> {
        let mut plain = Plain {
            files: Vec::new(),
            no_create: false,
        };
        let mut options = true;
        for arg in args {
            match arg.as_str() {
                "--" if options => options = false,
                "--no-create" if options => plain.no_create = true,
                flags if options && flags.len() > 1 && flags.starts_with('-') => {
                    for flag in flags[1..].chars() {
                        match flag {
                            'a' | 'm' | 'f' => {}
                            'c' => plain.no_create = true,
                            _ => return Err(()),
                        }
                    }
                }
                file => plain.files.push(file),
            }
        }
        Ok(plain)
    }
}

/// Puts the year into time stamps that leave it out (`-t MMDDhhmm`): without it the
/// real year would count.
fn with_years(args: &[String], now_ms: i64) -> Vec<String> {
    let year = time::OffsetDateTime::from_unix_timestamp(now_ms.div_euclid(1_000))
        .map_or(1970, |now| now.year());
    let mut after_t = false;
    args.iter()
        .map(|arg| {
            let digits = arg.split('.').next().unwrap_or_default();
            let is_stamp = digits.len() == 8 && digits.bytes().all(|b| b.is_ascii_digit());
            let stamped = match arg.strip_prefix("-t") {
                Some(stamp) if stamp.split('.').next().unwrap_or_default().len() == 8 => {
                    format!("-t{year:04}{stamp}")
                }
                _ if after_t && is_stamp => format!("{year:04}{arg}"),
                _ => arg.clone(),
            };
            after_t = arg.starts_with('-') && !arg.starts_with("--") && arg.ends_with('t');
            stamped
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_read_to_the_millisecond() {
        let cases = [
            ("0", Some(0)),
            ("1", Some(1_000)),
            ("0.5", Some(500)),
            (".25s", Some(250)),
            ("1.5m", Some(90_000)),
            ("2h", Some(7_200_000)),
            ("1d", Some(86_400_000)),
            ("0.0015", Some(1)),
            ("infinity", Some(SLEEP_MAX_MS)),
            ("99999999999999999999", Some(SLEEP_MAX_MS)),
            ("", None),
            ("-1", None),
            ("s", None),
            ("1x", None),
            ("1.2.3", None),
        ];
        for (text, ms) in cases {
            assert_eq!(interval_ms(text), ms, "{text}");
        }
    }

    #[test]
    fn the_part_of_a_second_is_put_into_formats() {
        assert_eq!(with_subseconds("%s%3N", 1_767_225_600_042), "%s042");
        assert_eq!(with_subseconds("%N %% %%N %T", 5), "005000000 %% %%N %T");
        assert_eq!(with_subseconds("%", 5), "%");
    }

    #[test]
    fn a_stamp_without_a_year_gets_the_year_of_the_world() {
        let args = |args: &[&str]| args.iter().map(|&a| a.to_owned()).collect::<Vec<_>>();
        let now_ms = 1_767_225_600_000;
        assert_eq!(
            with_years(&args(&["-ct", "01020304", "01020304"]), now_ms),
            args(&["-ct", "202601020304", "01020304"])
        );
        assert_eq!(
            with_years(&args(&["-t01020304.05", "x"]), now_ms),
            args(&["-t202601020304.05", "x"])
        );
    }
}
