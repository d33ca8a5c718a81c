//! Skeleton: a file system in memory.
/// The settings of a file system in memory.
#[derive(Debug, Clone)]
pub struct MemoryOptions {
    pub case_sensitive: bool,
    pub mtime_granularity_ms: u32,
    pub capacity_bytes: u64,
}
/// A file system in memory.
pub struct MemoryFs;
