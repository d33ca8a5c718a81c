//! `mktemp` with names from the world's randomness.

use super::super::state::Running;
use super::{absolute, fails, lacks};
use async_trait::async_trait;
use bashkit::{Builtin, BuiltinContext, ExecResult, Result};
use std::sync::Arc;

/// Makes a file or folder of a new name.
pub(super) struct Mktemp(pub Arc<Running>);

/// How many names are tried.
const TRIES: usize = 100;

const NAME_CHARS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

#[derive(Default)]
struct Wish {
    folder: bool,
    dry: bool,
    quiet: bool,
    in_tmp: bool,
    dir: Option<String>,
    suffix: Option<String>,
    template: Option<String>,
}

impl Wish {
    /// Reads the arguments; fails where they are not understood.
    fn of(args: &[String]) -> Option<Wish> {
        let mut wish = Wish::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--directory" => wish.folder = true,
                "--dry-run" => wish.dry = true,
                "--quiet" => wish.quiet = true,
                "--tmpdir" => wish.in_tmp = true,
                "--suffix" => wish.suffix = Some(args.next()?.clone()),
                "--" => {
                    wish.template = args.next().cloned();
                    break;
                }
                long if long.starts_with("--") => match long.split_once('=')? {
                    ("--tmpdir", dir) => wish.dir = Some(dir.to_owned()),
                    ("--suffix", suffix) => wish.suffix = Some(suffix.to_owned()),
                    _ => return None,
                },
                flags if flags.len() > 1 && flags.starts_with('-') => {
                    for (at, flag) in flags.char_indices().skip(1) {
                        match flag {
                            'd' => wish.folder = true,
                            'u' => wish.dry = true,
                            'q' => wish.quiet = true,
                            't' => wish.in_tmp = true,
                            'p' => {
                                let rest = &flags[at + 1..];
                                wish.dir = Some(match rest {
                                    "" => args.next()?.clone(),
                                    rest => rest.to_owned(),
                                });
                                break;
                            }
                            _ => return None,
                        }
                    }
                }
                _ if wish.template.is_none() => wish.template = Some(arg.clone()),
                _ => return None,
            }
        }
        Some(wish)
    }
}

#[async_trait]
impl Builtin for Mktemp {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let running = &self.0;
        let Some(wish) = Wish::of(ctx.args) else {
            return lacks(running, &format!("mktemp {}", ctx.args.join(" ")));
        };
        let fails = |why: &str| {
            if wish.quiet {
                Ok(ExecResult::err("", 1))
            } else {
                fails("mktemp", why, 1)
            }
        };
        let tmp = || {
            let set = ctx.env.get("TMPDIR").filter(|dir| !dir.is_empty());
            set.map_or("/tmp", String::as_str).to_owned()
        };
        let named = wish.template.is_some();
        let template = wish.template.as_deref().unwrap_or("tmp.XXXXXXXXXX");
        let (stem, suffix) = match &wish.suffix {
            Some(suffix) => (template, suffix.as_str()),
            None => template.split_at(template.rfind('X').map_or(template.len(), |at| at + 1)),
        };
        let width = stem.bytes().rev().take_while(|b| *b == b'X').count();
        if width < 3 {
            return fails(&format!("too few X's in template '{template}'"));
        }
        let stem = &stem[..stem.len() - width];
        let dir = match &wish.dir {
            Some(dir) => Some(dir.clone()),
            None => (wish.in_tmp || !named).then(tmp),
        };
        let kind = if wish.folder { "directory" } else { "file" };
        for _ in 0..TRIES {
            let name: String = (0..width)
                .map(|_| {
                    let at = running.below("shell.mktemp", NAME_CHARS.len() as u64);
                    char::from(NAME_CHARS[at as usize])
                })
                .collect();
            let name = format!("{stem}{name}{suffix}");
            let shown = match &dir {
                Some(dir) => format!("{}/{name}", dir.trim_end_matches('/')),
                None => name,
            };
            let path = absolute(&ctx, &shown);
            if ctx.fs.exists(&path).await? {
                continue;
            }
            let mode = if wish.folder { 0o700 } else { 0o600 };
            let made = if wish.dry {
                Ok(())
            } else if wish.folder {
                ctx.fs.mkdir(&path, false).await
            } else {
                ctx.fs.write_file(&path, b"").await
            };
            let made = match made {
                Ok(()) if !wish.dry => ctx.fs.chmod(&path, mode).await,
                made => made,
            };
            return match made {
                Ok(()) => Ok(ExecResult::ok(format!("{shown}\n"))),
                Err(bashkit::Error::Io(e)) => fails(&format!(
                    "failed to create {kind} via template '{shown}': {e}"
                )),
                Err(e) => Err(e),
            };
        }
        fails(&format!(
            "failed to create {kind} via template '{template}': File exists"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_in_their_usual_forms() {
        let of = |text: &str| {
            let args: Vec<String> = text.split(' ').map(str::to_owned).collect();
            Wish::of(&args)
        };
        let wish = of("-dp /x aXXX --suffix=.c");
        let wish = wish.map(|w| (w.folder, w.dir, w.template, w.suffix));
        let said = |text: &str| Some(text.to_owned());
        assert_eq!(wish, Some((true, said("/x"), said("aXXX"), said(".c"))));
        assert!(of("-Z").is_none());
        assert!(of("aXXX bXXX").is_none());
    }
}
