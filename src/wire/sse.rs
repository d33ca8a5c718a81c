//! The framing of a stream: bytes to frames and back.

use super::raw;

/// One event of the stream, its data not yet read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The `event:` line, if there was one.
    pub name: Option<String>,
    /// The `data:` lines, joined by line ends.
    pub data: String,
}

impl Frame {
    /// Writes the frame with LF line ends.
    pub fn encode_to(&self, out: &mut Vec<u8>) {
        if let Some(name) = &self.name {
            out.extend_from_slice(b"event: ");
            out.extend_from_slice(name.as_bytes());
            out.push(b'\n');
        }
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(raw::one_line(&self.data).as_bytes());
        out.extend_from_slice(b"\n\n");
    }
}

/// Cuts bytes into frames, wherever the chunks are split.
///
/// Lines end with LF, CRLF or CR. Comments, `id:` and `retry:` are passed over; a
/// byte order mark at the start is too. Bytes that are not UTF-8 become U+FFFD.
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    /// The line so far, without its end.
    line: Vec<u8>,
    /// The last byte was a CR: a LF that follows belongs to it.
    after_cr: bool,
    /// The first line is over.
    begun: bool,
    name: Option<String>,
    data: Vec<String>,
}

impl Decoder {
    pub fn new() -> Decoder {
        Decoder::default()
    }

    /// Takes the next bytes; gives the frames that they complete.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(at) = memchr::memchr2(b'\n', b'\r', bytes) {
            let (head, tail) = bytes.split_at(at);
            let is_lf = tail.first() == Some(&b'\n');
            // The LF of a CRLF, perhaps the first byte of a new chunk.
            let ends_cr = self.after_cr && is_lf && head.is_empty();
            self.after_cr = !is_lf;
            if !ends_cr {
                self.line.extend_from_slice(head);
                frames.extend(self.end_line());
            }
            bytes = tail.get(1..).unwrap_or_default();
        }
        if !bytes.is_empty() {
            self.after_cr = false;
            self.line.extend_from_slice(bytes);
        }
        frames
    }

    /// Ends the stream; gives what stood there without the blank line that completes
    /// a frame. Its data may be cut anywhere.
    pub fn finish(mut self) -> Option<Frame> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.dispatch()
    }

    fn end_line(&mut self) -> Option<Frame> {
        let mut line = std::mem::take(&mut self.line);
        if !self.begun {
            self.begun = true;
            if line.starts_with(b"\xef\xbb\xbf") {
                line.drain(..3);
            }
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let line = String::from_utf8(line)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.name = Some(value.to_owned()),
            "data" => self.data.push(value.to_owned()),
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Frame> {
        let name = self.name.take();
        let data = std::mem::take(&mut self.data);
        (!data.is_empty()).then(|| Frame {
            name,
            data: data.join("\n"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(chunks: &[&str]) -> Vec<(Option<String>, String)> {
        let mut decoder = Decoder::new();
        let mut frames = Vec::new();
        for chunk in chunks {
            frames.extend(decoder.push(chunk.as_bytes()));
        }
        frames.extend(decoder.finish());
        frames
            .into_iter()
            .map(|frame| (frame.name, frame.data))
            .collect()
    }

    #[test]
    fn every_line_end_ends_a_line() {
        let expected = vec![
            (Some("a".to_owned()), "1\n2".to_owned()),
            (None, "3".to_owned()),
        ];
        for end in ["\n", "\r\n", "\r"] {
            let text = "event: a|data: 1|data:2|||: note|id: 9|data: 3||".replace('|', end);
            assert_eq!(decode(&[&text]), expected, "{end:?}");
            for at in 0..=text.len() {
                let (head, tail) = text.split_at(at);
                assert_eq!(decode(&[head, "", tail]), expected, "{end:?} split at {at}");
            }
        }
    }

    #[test]
    fn a_mark_at_the_start_is_no_text() {
        assert_eq!(
            decode(&["\u{feff}data: x\n\n"]),
            vec![(None, "x".to_owned())]
        );
    }

    #[test]
    fn what_was_cut_is_given_at_the_end() {
        assert_eq!(
            decode(&["event: e\nda", "ta: {\"a\":"]),
            vec![(Some("e".to_owned()), "{\"a\":".to_owned())]
        );
        assert_eq!(decode(&["event: e\n\n"]), vec![]);
    }
}
