//! Skeleton: a real folder, confined.
/// A folder of a real disk.
pub struct DiskFs;
