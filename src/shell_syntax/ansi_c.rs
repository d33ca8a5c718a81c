//! The escapes of `$'…'`.

use std::iter::Peekable;
use std::str::Chars;

/// Decodes what stands between the quotes.
pub(super) fn decode(text: &str, out: &mut String) {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => escape(&mut chars, out),
            c => out.push(c),
        }
    }
}

/// Decodes what follows a backslash in `$'…'`, as bash does: at most three octal
/// digits, two hexadecimal after `x`, four after `u`, eight after `U`.
fn escape(chars: &mut Peekable<Chars<'_>>, out: &mut String) {
    let Some(c) = chars.next() else {
        out.push('\\');
        return;
    };
    match c {
        'a' => out.push('\u{7}'),
        'b' => out.push('\u{8}'),
        'e' | 'E' => out.push('\u{1b}'),
        'f' => out.push('\u{c}'),
        'n' => out.push('\n'),
        'r' => out.push('\r'),
        't' => out.push('\t'),
        'v' => out.push('\u{b}'),
        '\\' | '\'' | '"' | '?' => out.push(c),
        'x' => number(chars, 16, 2, out, "\\x"),
        'u' => number(chars, 16, 4, out, "\\u"),
        'U' => number(chars, 16, 8, out, "\\U"),
        'c' => {
            if let Some(c) = chars.next() {
                out.push(char::from((c as u32 as u8) & 0x1f));
            }
        }
        '0'..='7' => {
            let mut value = c.to_digit(8).unwrap_or(0);
            for _ in 0..2 {
                let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) else {
                    break;
                };
                value = value * 8 + digit;
                chars.next();
            }
            out.push(char::from((value & 0xff) as u8));
        }
        other => {
            out.push('\\');
            out.push(other);
        }
    }
}

/// Reads up to `most` digits; without any, the escape stays as it is written.
fn number(
    chars: &mut Peekable<Chars<'_>>,
    radix: u32,
    most: usize,
    out: &mut String,
    spelled: &str,
) {
    let mut value = 0u32;
    let mut digits = 0;
    while digits < most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else {
            break;
        };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        digits += 1;
        chars.next();
    }
    match (digits, char::from_u32(value)) {
        (0, _) => out.push_str(spelled),
        (_, Some(c)) => out.push(c),
        (_, None) => out.push(char::REPLACEMENT_CHARACTER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(text: &str) -> String {
        let mut out = String::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\\' {
                escape(&mut chars, &mut out);
            } else {
                out.push(c);
            }
        }
        out
    }

    #[test]
    fn digits_are_counted_as_bash_counts_them() {
        assert_eq!(decode(r"\u0072f"), "rf");
        assert_eq!(decode(r"\u00072f"), "\u{7}2f");
        assert_eq!(decode(r"\x72m"), "rm");
        assert_eq!(decode(r"\162\155"), "rm");
        assert_eq!(decode(r"\1621"), "r1");
        assert_eq!(decode(r"\U0001F600"), "😀");
        assert_eq!(decode(r"\x"), "\\x");
        assert_eq!(decode(r"\q\"), "\\q\\");
    }
}
