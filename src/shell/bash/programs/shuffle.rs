//! `shuf` and `sort -R` with the world's randomness.

use super::super::state::Running;
use super::{absolute, fails, lacks};
use async_trait::async_trait;
use bashkit::{Builtin, BuiltinContext, ExecResult, Result};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most lines that `shuf` gives.
const SHUF_MAX_LINES: u64 = 1_000_000;

/// Puts lines in a random order.
pub(super) struct Shuf(pub Arc<Running>);

#[derive(Default)]
struct Wish {
    echo: bool,
    range: Option<(u64, u64)>,
    count: Option<u64>,
    out: Option<String>,
    repeat: bool,
    zero: bool,
    operands: Vec<String>,
}

impl Wish {
    /// Reads the arguments; the error is in the program's words, or `None` for what is not there.
    fn of(args: &[String]) -> std::result::Result<Wish, Option<String>> {
        let mut wish = Wish::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let (flag, mut inline) = match arg.strip_prefix("--").and_then(|a| a.split_once('=')) {
                Some((name, value)) => (format!("--{name}"), Some(value.to_owned())),
                None => (arg.clone(), None),
            };
            let short = flag.len() > 2 && flag.starts_with('-') && !flag.starts_with("--");
            let flag = match short.then(|| flag.split_at(2)) {
                Some((flag, rest)) => {
                    inline = Some(rest.to_owned());
                    flag.to_owned()
                }
                None => flag,
            };
            let mut value = || {
                let given = inline.take().or_else(|| args.next().cloned());
                given.ok_or_else(|| Some(format!("option '{arg}' requires an argument")))
            };
            match flag.as_str() {
                "-n" | "--head-count" => {
                    let text = value()?;
                    let count = text.parse();
                    wish.count =
                        Some(count.map_err(|_| Some(format!("invalid line count: '{text}'")))?);
                }
                "-i" | "--input-range" => {
                    let text = value()?;
                    let range = text
                        .split_once('-')
                        .and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
                    wish.range = Some(range.ok_or(Some(format!("invalid input range: '{text}'")))?);
                }
                "-o" | "--output" => wish.out = Some(value()?),
                "-e" | "--echo" | "-r" | "--repeat" | "-z" | "--zero-terminated" => {
                    match flag.as_str() {
                        "-e" | "--echo" => wish.echo = true,
                        "-r" | "--repeat" => wish.repeat = true,
                        _ => wish.zero = true,
                    }
                    if inline.is_some() {
                        // Flags run together: not worth a second way to say it.
                        return Err(None);
                    }
                }
                "--" => wish.operands.extend(args.by_ref().cloned()),
                flag if flag.starts_with('-') && flag != "-" => return Err(None),
                _ => wish.operands.push(arg.clone()),
            }
        }
        Ok(wish)
    }
}

#[async_trait]
impl Builtin for Shuf {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let running = &self.0;
        let wish = match Wish::of(ctx.args) {
            Ok(wish) => wish,
            Err(Some(why)) => return fails("shuf", &why, 1),
            Err(None) => return lacks(running, &format!("shuf {}", ctx.args.join(" "))),
        };
        let end = if wish.zero { b'\0' } else { b'\n' };
        let mut lines: Vec<Vec<u8>> = match (wish.range, wish.echo) {
            (Some((low, high)), _) => {
                let len = high.checked_sub(low).and_then(|n| n.checked_add(1));
                if len.unwrap_or(0) > SHUF_MAX_LINES {
                    return lacks(running, &format!("shuf {}", ctx.args.join(" ")));
                }
                (low..=high).map(|n| n.to_string().into_bytes()).collect()
            }
            (None, true) => wish
                .operands
                .iter()
                .map(|w| w.clone().into_bytes())
                .collect(),
            (None, false) => match input(&ctx, "shuf", &wish.operands).await? {
                Ok(bytes) => split(&bytes, end),
                Err(failed) => return Ok(failed),
            },
        };
        let mut chosen = Vec::new();
        if wish.repeat {
            if lines.is_empty() {
                return fails("shuf", "no lines to repeat", 1);
            }
            let Some(count) = wish.count.filter(|n| *n <= SHUF_MAX_LINES) else {
                return lacks(running, "shuf -r without an end");
            };
            for _ in 0..count {
                let at = running.below("shell.shuf", lines.len() as u64);
                chosen.push(lines[at as usize].clone());
            }
        } else {
            shuffle(running, &mut lines);
            let count = wish.count.unwrap_or(u64::MAX).min(lines.len() as u64);
            chosen.extend(lines.drain(..count as usize));
        }
        let text = join(&chosen, end);
        match &wish.out {
            Some(file) => {
                ctx.fs.write_file(&absolute(&ctx, file), &text).await?;
                Ok(ExecResult::ok(""))
            }
            None => Ok(ExecResult::ok_bytes(text)),
        }
    }
}

fn shuffle(running: &Running, lines: &mut [Vec<u8>]) {
    for at in (1..lines.len()).rev() {
        let other = running.below("shell.shuf", at as u64 + 1) as usize;
        lines.swap(at, other);
    }
}

/// What the operands name, or standard input; a file that cannot be read ends the program.
async fn input(
    ctx: &BuiltinContext<'_>,
    program: &str,
    files: &[String],
) -> Result<std::result::Result<Vec<u8>, ExecResult>> {
    let stdin = || ctx.stdin_bytes().unwrap_or_default().to_vec();
    if files.is_empty() {
        return Ok(Ok(stdin()));
    }
    let mut all = Vec::new();
    for file in files {
        if file == "-" {
            all.extend(stdin());
            continue;
        }
        match ctx.fs.read_file(&absolute(ctx, file)).await {
            Ok(bytes) => all.extend(bytes),
            Err(bashkit::Error::Io(e)) => {
                let text = format!("{program}: {file}: {e}\n");
                return Ok(Err(ExecResult::err(text, 1)));
            }
            Err(e) => return Err(e),
        }
    }
    Ok(Ok(all))
}

fn split(bytes: &[u8], end: u8) -> Vec<Vec<u8>> {
    let body = bytes.strip_suffix(&[end]).unwrap_or(bytes);
    if bytes.is_empty() {
        return Vec::new();
    }
    body.split(|b| *b == end).map(<[u8]>::to_vec).collect()
}

fn join(lines: &[Vec<u8>], end: u8) -> Vec<u8> {
    let mut text = Vec::new();
    for line in lines {
        text.extend_from_slice(line);
        text.push(end);
    }
    text
}

/// Whether the arguments ask `sort` for a random order.
pub(super) fn is_random_sort(args: &[String]) -> bool {
    args.iter().any(|arg| {
        let short = arg.starts_with('-') && !arg.starts_with("--");
        // `-k` takes ordering letters after its field, `-k2R` as well.
        arg == "--random-sort" || arg == "--sort=random" || (short && arg.contains('R'))
    })
}

/// `sort -R`: equal lines stay together, the groups come in a random order.
pub(super) struct RandomSort(pub Arc<Running>);

#[async_trait]
impl Builtin for RandomSort {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let (mut unique, mut files) = (false, Vec::new());
        for arg in ctx.args {
            match arg.as_str() {
                "-R" | "--random-sort" | "--sort=random" => {}
                "-u" | "--unique" => unique = true,
                "-uR" | "-Ru" => unique = true,
                flag if flag.starts_with('-') && flag != "-" => {
                    return lacks(&self.0, &format!("sort {}", ctx.args.join(" ")));
                }
                _ => files.push(arg.clone()),
            }
        }
        let bytes = match input(&ctx, "sort", &files).await? {
            Ok(bytes) => bytes,
            Err(failed) => return Ok(failed),
        };
        let mut groups: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        for line in split(&bytes, b'\n') {
            *groups.entry(line).or_default() += 1;
        }
        let mut order: Vec<Vec<u8>> = groups.keys().cloned().collect();
        shuffle(&self.0, &mut order);
        let lines: Vec<Vec<u8>> = order
            .into_iter()
            .flat_map(|line| {
                let count = groups.get(&line).copied().unwrap_or(1);
                std::iter::repeat_n(line, if unique { 1 } else { count })
            })
            .collect();
        Ok(ExecResult::ok_bytes(join(&lines, b'\n')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_and_joined_without_loss() {
        assert!(split(b"", b'\n').is_empty());
        assert_eq!(split(b"\n", b'\n'), [b""]);
        assert_eq!(
            split(b"a\n\nb", b'\n'),
            [b"a".to_vec(), b"".to_vec(), b"b".to_vec()]
        );
        assert_eq!(join(&split(b"a\nb", b'\n'), b'\n'), b"a\nb\n");
    }

    #[test]
    fn a_random_sort_is_known_by_its_flag() {
        let args = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(is_random_sort(&args("-uR x")));
        assert!(is_random_sort(&args("--sort=random")));
        assert!(is_random_sort(&args("-k1,1R")));
        assert!(!is_random_sort(&args("-r README")));
    }
}
