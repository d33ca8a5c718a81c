//! How many inputs the fuzz targets try: those of `permission::garbage` and of every module
//! `fuzz_…`. In `cargo test` few; `.ci/run` asks for more by `REHEARSAL_FUZZ_CASES`.

use proptest::prelude::ProptestConfig;

/// The variable that asks for more.
const CASES: &str = "REHEARSAL_FUZZ_CASES";

/// The configuration of a fuzz target: `few` inputs, or as many as are asked for; a target
/// whose inputs take `times` as long as the others' tries so many fewer.
pub fn config(few: u32, times: u32) -> ProptestConfig {
    let asked = std::env::var_os(CASES).map(|text| {
        let text = text.to_string_lossy().into_owned();
        let cases = text.parse::<u32>();
        cases.unwrap_or_else(|_| panic!("{CASES}: expected a number, found {text}"))
    });
    ProptestConfig {
        cases: asked.map_or(few, |cases| (cases / times).max(few)),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
