//! The secret that lets somebody in: kept among the user's own files, never in the project, so that an open page finds
//! its way back after the server was started anew; or given by the environment.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::Path;

const FOLDER: &str = "serve-tokens";
/// Shorter ones can be guessed over a network.
const SHORTEST: usize = 24;
const LONGEST: usize = 256;

#[derive(Clone)]
pub struct Token {
    text: String,
}

#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error(
        "GADFLY_SERVE_TOKEN has to have {SHORTEST} to {LONGEST} letters, digits, `-` or `_`: \
         `openssl rand -hex 24` makes a good one"
    )]
    Unfit,
    #[error("the token cannot be kept in {path}: {source}")]
    File { path: String, source: std::io::Error },
    #[error("this machine gives no random numbers: {0}")]
    Random(String),
}

impl Token {
    /// The one from the environment, else the one kept in the user's state directory for this store, made when there is
    /// none or a new one is wanted. What a project brings is nobody's secret.
    pub fn find(given: Option<&str>, state: &Path, store: &Path, anew: bool) -> Result<Self, TokenError> {
        if let Some(text) = given {
            return Self::checked(text.trim()).ok_or(TokenError::Unfit);
        }
        let store = std::fs::canonicalize(store).unwrap_or_else(|_| store.to_owned());
        let name = blake3::hash(store.as_os_str().as_encoded_bytes()).to_hex();
        let path = state.join(FOLDER).join(&name[..24]);
        let failed = |source| TokenError::File { path: path.display().to_string(), source };
        if !anew && let Some(kept) = read(&path).map_err(failed)?.and_then(|t| Self::checked(t.trim())) {
            return Ok(kept);
        }
        let mut bytes = [0_u8; 24];
        getrandom::fill(&mut bytes).map_err(|e| TokenError::Random(e.to_string()))?;
        let text = hex(&bytes);
        write(&path, &text).map_err(failed)?;
        Ok(Self { text })
    }

    fn checked(text: &str) -> Option<Self> {
        let fits = (SHORTEST..=LONGEST).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        fits.then(|| Self { text: text.to_owned() })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Compared by hash, so that the time it takes tells nothing about where it differs.
    pub fn is(&self, offered: &str) -> bool {
        blake3::hash(self.text.as_bytes()) == blake3::hash(offered.as_bytes())
    }
}

/// Two digits a byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn read(path: &Path) -> std::io::Result<Option<String>> {
    let file = match std::fs::File::open(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let mut text = String::new();
    file.take(LONGEST as u64 + 2).read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Made private before anything is in it.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let new = path.with_extension("new");
    let _ = std::fs::remove_file(&new);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_kept_private_and_made_anew_on_request() {
        use std::os::unix::fs::PermissionsExt as _;
        let (state, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let find = |anew| Token::find(None, state.path(), store.path(), anew).unwrap();
        let first = find(false);
        assert_eq!(first.text().len(), 48);
        assert_eq!(find(false).text(), first.text());
        assert_ne!(find(true).text(), first.text());
        let other = tempfile::tempdir().unwrap();
        assert_ne!(Token::find(None, state.path(), other.path(), false).unwrap().text(), find(false).text());
        let kept = std::fs::read_dir(state.path().join(FOLDER)).unwrap().map(|file| file.unwrap());
        assert!(
            kept.map(|file| file.metadata().unwrap().permissions().mode() & 0o777).all(|mode| mode == 0o600)
        );
        assert_eq!(std::fs::read_dir(store.path()).unwrap().count(), 0, "nothing of it is in the project");
    }

    #[test]
    fn a_token_of_ones_own_has_to_be_hard_to_guess() {
        let store = tempfile::tempdir().unwrap();
        for unfit in ["", "secret", "with spaces in it and long enough", &"x".repeat(300)] {
            assert!(Token::find(Some(unfit), store.path(), store.path(), false).is_err(), "{unfit}");
        }
        let given = Token::find(Some("0123456789abcdef01234567"), store.path(), store.path(), false).unwrap();
        assert!(given.is("0123456789abcdef01234567"));
        assert!(!given.is("0123456789abcdef01234568") && !given.is(""));
    }
}
