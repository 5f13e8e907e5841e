//! Keys of a request's body that its user adds: what Gadfly sets itself is not among them.

/// The keys of a JSON object, as they are written into a body: `"top_k":40,"seed":7`.
#[derive(Clone, Default, Debug)]
pub(crate) struct Extra(String);

/// The most that a user may add.
const MOST: usize = 16 * 1024;

impl Extra {
    /// Reads an object none of whose keys is one of `ours`, or says what is wrong with it.
    pub fn read(json: &str, ours: &[&str]) -> Result<Self, String> {
        if json.len() > MOST {
            return Err(format!("it is longer than {MOST} bytes"));
        }
        let keys: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(json).map_err(|e| format!("it is not a JSON object ({e})"))?;
        if let Some(key) = keys.keys().find(|key| ours.contains(&key.as_str())) {
            return Err(format!("`{key}` is set by Gadfly"));
        }
        let whole = serde_json::Value::Object(keys).to_string();
        Ok(Self(whole.trim_start_matches('{').strip_suffix('}').unwrap_or_default().to_owned()))
    }

    /// Adds the keys to a body, which is an object that is not empty.
    pub fn add_to(&self, body: &mut Vec<u8>) {
        if self.0.is_empty() || body.pop() != Some(b'}') {
            return;
        }
        body.push(b',');
        body.extend_from_slice(self.0.as_bytes());
        body.push(b'}');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_added_and_what_is_ours_is_not_changed() {
        let mut body = br#"{"model":"m"}"#.to_vec();
        Extra::read(r#"{ "seed": 7, "a": {"b": [1]} }"#, &["model"]).unwrap().add_to(&mut body);
        let all: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(all, serde_json::json!({"model": "m", "seed": 7, "a": {"b": [1]}}));
        let mut untouched = br#"{"model":"m"}"#.to_vec();
        Extra::read("{}", &[]).unwrap().add_to(&mut untouched);
        assert_eq!(untouched, br#"{"model":"m"}"#);
        assert!(Extra::read(r#"{"model": "other"}"#, &["model"]).unwrap_err().contains("`model` is set"));
        assert!(Extra::read("[1]", &[]).is_err());
        assert!(Extra::read(&format!("{{\"a\":\"{}\"}}", "x".repeat(MOST)), &[]).is_err());
    }
}
