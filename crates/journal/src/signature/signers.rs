//! Whose signatures count: a public key file, or a file of allowed signers as git and `ssh-keygen -Y verify` read it. What
//! it says and we cannot hold it to is refused: a key must not count for more than its file allows.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use ssh_key::{HashAlg, PublicKey};

use super::{NAMESPACE, Signature};

const MOST_LINES: usize = 10_000;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signers(Vec<Allowed>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Allowed {
    name: String,
    key: PublicKey,
    /// Milliseconds since 1970.
    from: Option<u64>,
    until: Option<u64>,
}

/// A file of keys that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SignersError {
    #[error("line {line}: {why}")]
    Line { line: usize, why: String },
    #[error("it names no key that may sign for `{NAMESPACE}`")]
    Empty,
    #[error("it has more than {MOST_LINES} lines")]
    TooLong,
}

/// Why a signature that fits does not count.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotAllowed {
    #[error("it is signed with {0}, which is none of the keys that count")]
    Unknown(String),
    #[error("it is signed with {0}, which counts at other times only (valid-after, valid-before)")]
    OtherTime(String),
}

impl Signers {
    pub fn read(text: &str) -> Result<Self, SignersError> {
        let mut all = Vec::new();
        for (at, line) in text.lines().enumerate() {
            if at >= MOST_LINES {
                return Err(SignersError::TooLong);
            }
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            all.extend(allowed(line).map_err(|why| SignersError::Line { line: at + 1, why })?);
        }
        if all.is_empty() { Err(SignersError::Empty) } else { Ok(Self(all)) }
    }

    /// Whose key made the signature.
    pub fn name(&self, signature: &Signature, now_ms: u64) -> Result<&str, NotAllowed> {
        let made_by = signature.sig.public_key();
        let mut known = self.0.iter().filter(|allowed| allowed.key.key_data() == made_by).peekable();
        if known.peek().is_none() {
            return Err(NotAllowed::Unknown(signature.key()));
        }
        let is_now = |allowed: &&Allowed| {
            allowed.from.is_none_or(|from| from <= now_ms) && allowed.until.is_none_or(|until| now_ms < until)
        };
        let found = known.find(is_now).map(|allowed| allowed.name.as_str());
        found.ok_or_else(|| NotAllowed::OtherTime(signature.key()))
    }
}

/// Whose signature something has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignedBy {
    /// As the file of allowed signers calls the key's owner; none if nobody was asked for.
    pub name: Option<String>,
    /// The key's fingerprint.
    pub key: String,
}

/// For people: `ann@example.org, SHA256:…`.
impl fmt::Display for SignedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name}, {}", self.key),
            None => f.write_str(&self.key),
        }
    }
}

/// Whose of these signatures, all of which fit, makes something count. Without signers anybody's does, and none is needed.
pub(crate) fn signed_by(
    signatures: &[Signature],
    signers: Option<(&Signers, u64)>,
) -> Result<Option<SignedBy>, String> {
    let Some((signers, now_ms)) = signers else {
        return Ok(signatures.first().map(|signature| SignedBy { name: None, key: signature.key() }));
    };
    let mut why = "it is not signed".to_owned();
    for signature in signatures {
        match signers.name(signature, now_ms) {
            Ok(name) => return Ok(Some(SignedBy { name: Some(name.to_owned()), key: signature.key() })),
            Err(refused) => why = refused.to_string(),
        }
    }
    Err(why)
}

/// What a line allows; none where it is about other namespaces, or about authorities.
fn allowed(line: &str) -> Result<Option<Allowed>, String> {
    if let Ok(key) = PublicKey::from_openssh(line) {
        let comment = Some(key.comment()).filter(|comment| !comment.is_empty()).map(ToOwned::to_owned);
        let name = comment.unwrap_or_else(|| key.fingerprint(HashAlg::Sha256).to_string());
        return Ok(Some(Allowed { name, key, from: None, until: None }));
    }
    if line.contains("PRIVATE KEY") {
        return Err("this is a private key: name its public half, the file that ends with .pub".to_owned());
    }
    let (principals, rest) = word(line)?;
    let (mut options, mut key) = ("", rest);
    if PublicKey::from_openssh(key).is_err() {
        (options, key) = word(rest)?;
    }
    let key = PublicKey::from_openssh(key.trim())
        .map_err(|_| "it is neither a public key nor `NAMES [OPTIONS] TYPE KEY`".to_owned())?;
    let name = principals.trim_matches('"').to_owned();
    let mut found = Allowed { name, key, from: None, until: None };
    for option in split(options) {
        let (what, value) = option.split_once('=').unwrap_or((option, ""));
        let value = value.trim_matches('"');
        match what.to_ascii_lowercase().as_str() {
            // Certificates are not read, so an authority vouches for nobody here.
            "cert-authority" => return Ok(None),
            "namespaces" if !value.split(',').any(covers) => return Ok(None),
            "namespaces" => {}
            "valid-after" => found.from = Some(moment(value)?),
            "valid-before" => found.until = Some(moment(value)?),
            other => return Err(format!("the option `{}` is not known", other.escape_default())),
        }
    }
    Ok(Some(found))
}

/// The first word, with what stands in quotation marks in one.
fn word(line: &str) -> Result<(&str, &str), String> {
    let mut quoted = false;
    let end = line.find(|c: char| {
        quoted ^= c == '"';
        c.is_whitespace() && !quoted
    });
    end.map(|end| (&line[..end], line[end..].trim_start()))
        .ok_or_else(|| "it is neither a public key nor `NAMES [OPTIONS] TYPE KEY`".to_owned())
}

/// Options stand between commas that are in no quotation marks.
fn split(options: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let parts = options.split(move |c: char| {
        quoted ^= c == '"';
        c == ',' && !quoted
    });
    parts.filter(|part| !part.is_empty())
}

/// Only whole names and a star alone: what a pattern means besides is ssh's to say.
fn covers(pattern: &str) -> bool {
    pattern == NAMESPACE || pattern == "*"
}

/// `YYYYMMDD[HHMM[SS]]Z`. Without the `Z` it would mean another moment on every machine.
fn moment(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{}` is no time: write YYYYMMDDHHMMSSZ, in UTC", text.escape_default());
    let digits = text.strip_suffix('Z').ok_or_else(wrong)?;
    let whole = match digits.len() {
        8 => format!("{digits}000000"),
        12 => format!("{digits}00"),
        _ => digits.to_owned(),
    };
    let time = DateTime::strptime("%Y%m%d%H%M%S", &whole).map_err(|_| wrong())?;
    let time: Timestamp = time.to_zoned(TimeZone::UTC).map_err(|_| wrong())?.timestamp();
    u64::try_from(time.as_millisecond()).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{halves, key};
    use super::*;

    /// 2026-01-01, in milliseconds.
    const NOW: u64 = 1_767_225_600_000;

    fn named(file: &str) -> String {
        let signature = key().sign("a", b"payload").unwrap();
        match Signers::read(file) {
            Ok(signers) => signers.name(&signature, NOW).map_or_else(|e| e.to_string(), ToOwned::to_owned),
            Err(e) => e.to_string(),
        }
    }

    #[test]
    fn keys_count_as_their_file_says_and_no_further() {
        let (private, public_file) = halves();
        let public: Vec<&str> = public_file.split_whitespace().collect();
        let bare = public[..2].join(" ");
        let other = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBnm5LU0kJfxSdaDEBjKQ2aVkA1oSHHcdcPkqH4GQY1v x";
        assert_eq!(named(&public_file), public[2]);
        assert!(named(&bare).starts_with("SHA256:"));
        assert_eq!(named(&format!("# team\n\nann@example.org {bare}\n")), "ann@example.org");
        for (options, counts) in [
            ("namespaces=\"gadfly\"", true),
            ("namespaces=\"git,gadfly\"", true),
            ("namespaces=\"*\"", true),
            ("valid-after=\"20250101Z\",valid-before=\"202701010000Z\"", true),
            ("namespaces=\"git\"", false),
            ("cert-authority", false),
            ("valid-before=\"20251231235959Z\"", false),
            ("valid-after=\"20260102Z\"", false),
            ("valid-before=\"20300101\"", false),
            ("no-touch-required", false),
        ] {
            let said = named(&format!("ann {options} {bare}"));
            assert_eq!(said == "ann", counts, "{options}: {said}");
        }
        assert!(named(other).contains("none of the keys that count"), "{}", named(other));
        for wrong in ["ann", "ann ssh-ed25519", "what is this", "ann@x ssh-ed25519 AAAA"] {
            assert!(named(wrong).starts_with("line 1: "), "{wrong}: {}", named(wrong));
        }
        assert!(named(&private).contains("private key"));
        assert_eq!(named("# nobody\n"), SignersError::Empty.to_string());
    }
}
