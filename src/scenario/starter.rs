//! The scenario that `rehearsal new` writes.

/// A commented scenario to start from; it can be run as it is.
pub const STARTER: &str = include_str!("starter.yaml");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_starter_is_a_scenario_without_complaints() {
        let loaded = crate::scenario::parse("starter.yaml", STARTER);
        let loaded = loaded.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(loaded.warnings, []);
        assert_eq!(loaded.scenarios.len(), 2);
    }
}
