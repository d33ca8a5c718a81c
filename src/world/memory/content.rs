//! What a file in memory holds: a size and the extents that were written.

use super::super::{Bytes, ContentHash, FsErrorKind, READ_LIMIT_BYTES};
use std::sync::{Arc, OnceLock};

/// Appends grow the last extent up to this size, then begin another: an append
/// copies at most this much, however long the file.
const EXTENT_BYTES: usize = 64 * 1024;

/// The block of the fingerprint of a file over [`READ_LIMIT_BYTES`].
const BLOCK_BYTES: u64 = 64 * 1024;

/// Zeros to hash and copy holes from.
static ZEROS: [u8; BLOCK_BYTES as usize] = [0; BLOCK_BYTES as usize];

/// Some bytes at a place of a file.
#[derive(Debug, Clone)]
struct Extent {
    offset: u64,
    bytes: Bytes,
}

impl Extent {
    fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }
}

/// The content of one file, immutable. Where no extent lies, it is zeros.
#[derive(Debug)]
pub(super) struct Content {
    size: u64,
    /// Sorted, not empty, not overlapping, all below `size`.
    extents: Vec<Extent>,
    hash: OnceLock<ContentHash>,
}

impl Content {
    pub fn of(bytes: Bytes) -> Content {
        Content {
            size: bytes.len() as u64,
            extents: if bytes.is_empty() {
                Vec::new()
            } else {
                vec![Extent { offset: 0, bytes }]
            },
            hash: OnceLock::new(),
        }
    }

    /// A file of `size` bytes, zeros but for `extents` (offset, bytes), of which a
    /// later one must begin where the one before it ends or after.
    pub fn sparse(size: u64, extents: &[(u64, &[u8])]) -> Result<Content, FsErrorKind> {
        let mut kept: Vec<Extent> = Vec::new();
        for (offset, bytes) in extents.iter().filter(|(_, bytes)| !bytes.is_empty()) {
            let end = offset.checked_add(bytes.len() as u64);
            let begin = kept.last().map_or(0, Extent::end);
            if *offset < begin || end.is_none_or(|end| end > size) {
                return Err(FsErrorKind::Invalid);
            }
            kept.push(Extent {
                offset: *offset,
                bytes: Bytes::from(*bytes),
            });
        }
        Ok(Content {
            size,
            extents: kept,
            hash: OnceLock::new(),
        })
    }

    /// In bytes, holes included.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// In bytes, holes not included: what counts against the capacity.
    pub fn stored(&self) -> u64 {
        self.extents.iter().map(|e| e.bytes.len() as u64).sum()
    }

    /// The content with `more` after its end.
    pub fn appended(&self, more: &[u8]) -> Result<Content, FsErrorKind> {
        let size = self
            .size
            .checked_add(more.len() as u64)
            .filter(|size| *size <= i64::MAX as u64)
            .ok_or(FsErrorKind::TooLarge)?;
        let mut extents = self.extents.clone();
        match extents.last_mut() {
            _ if more.is_empty() => {}
            Some(last)
                if last.end() == self.size && last.bytes.len() + more.len() <= EXTENT_BYTES =>
            {
                last.bytes = [&*last.bytes, more].concat().into();
            }
            _ => extents.push(Extent {
                offset: self.size,
                bytes: more.into(),
            }),
        }
        Ok(Content {
            size,
            extents,
            hash: OnceLock::new(),
        })
    }

    /// All of it; shared, not copied, where it is one extent.
    pub fn whole(&self) -> Result<Bytes, FsErrorKind> {
        self.range(0, self.size)
    }

    /// At most `len` bytes from `offset`; fewer at the end.
    pub fn range(&self, offset: u64, len: u64) -> Result<Bytes, FsErrorKind> {
        let len = len.min(self.size.saturating_sub(offset));
        if len > READ_LIMIT_BYTES {
            return Err(FsErrorKind::TooLarge);
        }
        if let [only] = self.extents.as_slice()
            && offset == 0
            && only.offset == 0
            && only.bytes.len() as u64 == len
        {
            return Ok(Arc::clone(&only.bytes));
        }
        let mut out = Vec::with_capacity(len as usize);
        self.pieces(offset, len, |piece| out.extend_from_slice(piece));
        Ok(out.into())
    }

    /// Gives `len` bytes from `offset`, which must lie inside, piece by piece.
    fn pieces(&self, offset: u64, len: u64, mut each: impl FnMut(&[u8])) {
        let end = offset + len;
        let mut at = offset;
        let first = self.extents.partition_point(|e| e.end() <= offset);
        for extent in self.extents.iter().skip(first) {
            if extent.offset >= end {
                break;
            }
            zeros(extent.offset.saturating_sub(at), &mut each);
            at = at.max(extent.offset);
            let from = (at - extent.offset) as usize;
            let to = (end.min(extent.end()) - extent.offset) as usize;
            each(&extent.bytes[from..to]);
            at = end.min(extent.end());
        }
        zeros(end - at, &mut each);
    }

    /// The hash of the content, however it lies in extents; worked out once.
    ///
    /// Up to [`READ_LIMIT_BYTES`] it is [`ContentHash::of`] the bytes. A larger file, which
    /// nobody can have read whole, has a fingerprint of its size and its blocks that
    /// are not all zeros, so that a sparse file of a tebibyte costs nothing.
    pub fn hash(&self) -> ContentHash {
        *self.hash.get_or_init(|| {
            if self.size > READ_LIMIT_BYTES {
                return self.fingerprint();
            }
            let mut hasher = blake3::Hasher::new();
            self.pieces(0, self.size, |piece| {
                hasher.update(piece);
            });
            ContentHash(*hasher.finalize().as_bytes())
        })
    }

    fn fingerprint(&self) -> ContentHash {
        let mut hasher = blake3::Hasher::new_derive_key("rehearsal world large file 1");
        hasher.update(&self.size.to_le_bytes());
        let mut next_block = 0;
        for extent in &self.extents {
            let last_block = (extent.end() - 1) / BLOCK_BYTES;
            for block in (extent.offset / BLOCK_BYTES).max(next_block)..=last_block {
                let offset = block * BLOCK_BYTES;
                let mut bytes = Vec::with_capacity(BLOCK_BYTES as usize);
                let len = BLOCK_BYTES.min(self.size - offset);
                self.pieces(offset, len, |piece| bytes.extend_from_slice(piece));
                if bytes.iter().any(|byte| *byte != 0) {
                    hasher.update(&block.to_le_bytes());
                    hasher.update(blake3::hash(&bytes).as_bytes());
                }
            }
            next_block = last_block + 1;
        }
        ContentHash(*hasher.finalize().as_bytes())
    }
}

fn zeros(mut len: u64, each: &mut impl FnMut(&[u8])) {
    while len > 0 {
        let now = len.min(BLOCK_BYTES);
        each(&ZEROS[..now as usize]);
        len -= now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_does_not_depend_on_the_extents() {
        let whole = Content::of(Bytes::from(&b"ab\0\0\0cd"[..]));
        let sparse = Content::sparse(7, &[(0, b"ab"), (5, b"cd")]).unwrap();
        let grown = Content::of(Bytes::from(&b"ab\0"[..]))
            .appended(b"\0\0cd")
            .unwrap();
        assert_eq!(whole.hash(), ContentHash::of(b"ab\0\0\0cd"));
        assert_eq!(whole.hash(), sparse.hash());
        assert_eq!(whole.hash(), grown.hash());
        assert_eq!(&*sparse.whole().unwrap(), b"ab\0\0\0cd");
        assert_eq!(&*sparse.range(1, 5).unwrap(), b"b\0\0\0c");
        assert_eq!(sparse.stored(), 4);
    }

    #[test]
    fn a_large_file_has_a_cheap_hash_that_sees_every_byte() {
        let size = 1 << 40;
        let plain = Content::sparse(size, &[]).unwrap();
        let zeros = Content::sparse(size, &[(70_000, &[0; 10])]).unwrap();
        let one = Content::sparse(size, &[(70_000, &[0, 1])]).unwrap();
        let last = Content::sparse(size, &[(size - 1, &[1])]).unwrap();
        let longer = Content::sparse(size + 1, &[]).unwrap();
        assert_eq!(plain.hash(), zeros.hash());
        let mut hashes = vec![plain.hash(), one.hash(), last.hash(), longer.hash()];
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), 4);
        assert_eq!(plain.whole(), Err(FsErrorKind::TooLarge));
        assert_eq!(&*last.range(size - 2, 9).unwrap(), &[0, 1]);
    }

    #[test]
    fn many_appends_keep_the_bytes_and_do_not_copy_the_file() {
        let mut content = Content::of(Bytes::from(&b""[..]));
        let mut model = Vec::new();
        for i in 0..5_000u32 {
            let piece = vec![i as u8; 50];
            model.extend_from_slice(&piece);
            content = content.appended(&piece).unwrap();
        }
        assert_eq!(&*content.whole().unwrap(), model.as_slice());
        assert!(
            content
                .extents
                .iter()
                .all(|e| e.bytes.len() <= EXTENT_BYTES)
        );
        assert!(content.extents.len() <= model.len() / EXTENT_BYTES + 1);
    }

    #[test]
    fn extents_that_overlap_or_stand_out_are_refused() {
        for bad in [
            Content::sparse(3, &[(2, b"ab")]),
            Content::sparse(9, &[(2, b"ab"), (3, b"c")]),
            Content::sparse(9, &[(u64::MAX, b"ab")]),
        ] {
            assert_eq!(bad.err(), Some(FsErrorKind::Invalid));
        }
    }
}
