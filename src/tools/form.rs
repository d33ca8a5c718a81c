//! What a file's bytes are: text with which line ends, an image, or something binary.

/// The byte order mark of UTF-8.
pub(super) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// How many bytes at the beginning are looked at for a NUL.
const SNIFF_BYTES: usize = 8192;

/// How the lines of a file end. A carriage return that no line feed follows is text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnds {
    /// There is no line end.
    None,
    Lf,
    Crlf,
    Mixed {
        crlf: usize,
        lf: usize,
    },
}

impl LineEnds {
    pub fn of(bytes: &[u8]) -> LineEnds {
        let mut crlf = 0;
        let mut lf = 0;
        for at in memchr::memchr_iter(b'\n', bytes) {
            if at > 0 && bytes[at - 1] == b'\r' {
                crlf += 1;
            } else {
                lf += 1;
            }
        }
        match (crlf, lf) {
            (0, 0) => LineEnds::None,
            (0, _) => LineEnds::Lf,
            (_, 0) => LineEnds::Crlf,
            (crlf, lf) => LineEnds::Mixed { crlf, lf },
        }
    }

    /// Whether most lines end in CRLF; `None` if no line ends.
    pub fn mostly_crlf(self) -> Option<bool> {
        match self {
            LineEnds::None => None,
            LineEnds::Lf => Some(false),
            LineEnds::Crlf => Some(true),
            LineEnds::Mixed { crlf, lf } => Some(crlf > lf),
        }
    }
}

/// The length of the byte order mark that `bytes` begin with, or 0.
pub(super) fn bom_len(bytes: &[u8]) -> usize {
    if bytes.starts_with(BOM) { BOM.len() } else { 0 }
}

/// Whether the beginning holds a NUL, as no text does.
pub(super) fn looks_binary(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(SNIFF_BYTES)];
    memchr::memchr(0, head).is_some()
}

/// The media type of an image that the model can be shown, told by its first bytes.
pub(super) fn image_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if bytes.starts_with(b"\xFF\xD8\xFF") {
        Some("image/jpeg")
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        Some("image/gif")
    } else if bytes.len() >= 12 && bytes.starts_with(b"RIFF") && &bytes[8..12] == b"WEBP" {
        Some("image/webp")
    } else {
        None
    }
}

/// `text` with every line end made CRLF; what is CRLF already stays.
pub(super) fn to_crlf(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 16);
    for (at, byte) in text.iter().enumerate() {
        if *byte == b'\n' && (at == 0 || text[at - 1] != b'\r') {
            out.push(b'\r');
        }
        out.push(*byte);
    }
    out
}

/// `text` with every CRLF made LF; a carriage return alone stays.
pub(super) fn to_lf(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for (at, byte) in text.iter().enumerate() {
        if *byte != b'\r' || text.get(at + 1) != Some(&b'\n') {
            out.push(*byte);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_line_ends_apart() {
        assert_eq!(LineEnds::of(b"a"), LineEnds::None);
        assert_eq!(LineEnds::of(b"a\rb"), LineEnds::None);
        assert_eq!(LineEnds::of(b"a\nb\n"), LineEnds::Lf);
        assert_eq!(LineEnds::of(b"a\r\nb"), LineEnds::Crlf);
        assert_eq!(
            LineEnds::of(b"a\r\nb\nc\rd\n"),
            LineEnds::Mixed { crlf: 1, lf: 2 }
        );
    }

    #[test]
    fn converts_line_ends_without_doubling() {
        assert_eq!(to_crlf(b"a\nb\r\nc\rd"), b"a\r\nb\r\nc\rd");
        assert_eq!(to_crlf(b"\n"), b"\r\n");
        assert_eq!(to_lf(b"a\r\nb\nc\rd\r"), b"a\nb\nc\rd\r");
    }

    #[test]
    fn knows_the_four_images() {
        assert_eq!(image_type(b"\x89PNG\r\n\x1a\nrest"), Some("image/png"));
        assert_eq!(
            image_type(b"RIFF\x00\x00\x00\x00WEBPVP8 "),
            Some("image/webp")
        );
        assert_eq!(image_type(b"RIFF\x00\x00\x00\x00WAVE"), None);
        assert_eq!(image_type(b""), None);
    }
}
