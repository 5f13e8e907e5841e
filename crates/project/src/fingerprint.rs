//! One digest for several texts, so that moving a character from one to the next changes it.

use gadfly_engine::digest::Digest;

pub fn fingerprint<'a>(parts: impl IntoIterator<Item = &'a str>) -> Digest {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    Digest::of(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_borders_between_parts_count() {
        assert_ne!(fingerprint(["ab", "c"]), fingerprint(["a", "bc"]));
        assert_ne!(fingerprint(["a"]), fingerprint(["a", ""]));
        assert_eq!(fingerprint(["a", "b"]), fingerprint(["a", "b"]));
    }
}
