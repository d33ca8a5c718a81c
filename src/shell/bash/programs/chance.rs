//! `uuidgen`, `openssl rand` and `dd` from a random device, with the world's randomness.

use super::super::dispatch::pass;
use super::super::state::Running;
use super::super::system;
use super::{absolute, fails, lacks};
use async_trait::async_trait;
use base64::Engine;
use bashkit::{Builtin, BuiltinContext, ExecResult, ExecutionPlan, Result};
use std::fmt::Write;
use std::sync::Arc;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Makes a random UUID (version 4).
pub(super) struct Uuidgen(pub Arc<Running>);

#[async_trait]
impl Builtin for Uuidgen {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        if let Some(other) = ctx.args.iter().find(|a| *a != "-r" && *a != "--random") {
            return lacks(&self.0, &format!("uuidgen {other}"));
        }
        let mut bytes = self.0.random_bytes("shell.uuidgen", 16);
        bytes[6] = (bytes[6] & 0x0f) | 0x40;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        let text = hex(&bytes);
        Ok(ExecResult::ok(format!(
            "{}-{}-{}-{}-{}\n",
            &text[..8],
            &text[8..12],
            &text[12..16],
            &text[16..20],
            &text[20..]
        )))
    }
}

/// `openssl rand`; nothing else of openssl is there.
pub(super) struct Openssl(pub Arc<Running>);

/// The most bytes that one `openssl rand` gives.
const OPENSSL_MAX_BYTES: usize = 1024 * 1024;

#[async_trait]
impl Builtin for Openssl {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let all = ctx.args.join(" ");
        let Some(("rand", args)) = ctx.args.split_first().map(|(a, b)| (a.as_str(), b)) else {
            return lacks(&self.0, &format!("openssl {all}"));
        };
        let (mut form, mut out, mut count) = ("raw", None, None);
        let mut args = args.iter().map(String::as_str);
        while let Some(arg) = args.next() {
            match arg {
                "-hex" | "-base64" => form = arg,
                "-out" => out = args.next(),
                number => match number.parse::<usize>() {
                    Ok(n) if n <= OPENSSL_MAX_BYTES => count = Some(n),
                    _ => return lacks(&self.0, &format!("openssl {all}")),
                },
            }
        }
        let Some(count) = count else {
            return fails("rand", "Use -help for summary.", 1);
        };
        let bytes = self.0.random_bytes("shell.openssl", count);
        let text = match form {
            "-hex" => format!("{}\n", hex(&bytes)).into_bytes(),
            "-base64" => in_lines(&base64::engine::general_purpose::STANDARD.encode(bytes)),
            _ => bytes,
        };
        match out {
            Some(file) => {
                ctx.fs.write_file(&absolute(&ctx, file), &text).await?;
                Ok(ExecResult::ok(""))
            }
            None => Ok(ExecResult::ok_bytes(text)),
        }
    }
}

/// openssl breaks base64 after 64 characters.
fn in_lines(text: &str) -> Vec<u8> {
    let mut lines = Vec::with_capacity(text.len() + text.len() / 64 + 1);
    for line in text.as_bytes().chunks(64) {
        lines.extend_from_slice(line);
        lines.push(b'\n');
    }
    lines
}

/// Copies from a random device: the shell's own `dd`, led to the world's randomness.
pub(super) struct Dd(pub Arc<Running>);

#[async_trait]
impl Builtin for Dd {
    async fn execution_plan(&self, ctx: &BuiltinContext<'_>) -> Result<Option<ExecutionPlan>> {
        let operand = |name: &str| {
            let values = ctx.args.iter().filter_map(|arg| arg.split_once('='));
            values.rev().find(|(key, _)| *key == name).map(|(_, v)| v)
        };
        let block = operand("ibs").or(operand("bs")).map_or(Some(512), size);
        let count = operand("count").map_or(Some(1), size);
        let skip = operand("skip").map_or(Some(0), size);
        let len = (|| block?.checked_mul(count?.checked_add(skip?)?))();
        let Some(len) = len.filter(|len| *len <= system::DEVICE_MAX_BYTES) else {
            lacks(&self.0, &format!("dd {}", ctx.args.join(" ")))?;
            return Ok(None);
        };
        let args = ctx
            .args
            .iter()
            .map(|arg| match arg.as_str() {
                "if=/dev/urandom" | "if=/dev/random" => format!("if={}", system::random_path(len)),
                _ => arg.clone(),
            })
            .collect();
        Ok(Some(pass(&self.0, "dd", args, ctx)))
    }

    async fn execute(&self, _ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        Ok(ExecResult::ok(""))
    }
}

/// Reads a size as `dd` does: `512`, `4k`, `1M`, `2kB`.
fn size(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: usize = text[..digits].parse().ok()?;
    let unit = match &text[digits..] {
        "" | "c" => 1,
        "w" => 2,
        "b" => 512,
        "kB" | "KB" => 1_000,
        "k" | "K" | "KiB" => 1_024,
        "MB" => 1_000_000,
        "M" | "MiB" => 1_048_576,
        _ => return None,
    };
    number.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_dd_does() {
        assert_eq!(size("16"), Some(16));
        assert_eq!(size("4k"), Some(4096));
        assert_eq!(size("1MB"), Some(1_000_000));
        assert_eq!(size("k"), None);
        assert_eq!(size("1Q"), None);
    }

    #[test]
    fn base64_is_broken_after_64_characters() {
        assert_eq!(
            in_lines(&"a".repeat(65)),
            format!("{}\na\n", "a".repeat(64)).as_bytes()
        );
        assert_eq!(in_lines(""), b"");
    }
}
