//! Signatures with the keys people have: SSHSIG, as `ssh-keygen -Y sign` makes them, in the namespace `gadfly`. What is
//! signed is always a payload with its type (`pae`), so that a signature of one thing is none of another.
//!
//! Nothing here reads a file or starts a program: whoever signs brings the key's text, or what `ssh-keygen` said.

mod envelope;
mod signers;

use std::fmt::Write as _;

use ssh_key::sha2::{self, Digest as _};
use ssh_key::{Algorithm, HashAlg, LineEnding, PrivateKey, PublicKey, SshSig};

pub use envelope::{Envelope, EnvelopeError};
pub(crate) use signers::signed_by;
pub use signers::{NotAllowed, SignedBy, Signers, SignersError};

/// What all our signatures are made for.
pub const NAMESPACE: &str = "gadfly";

/// Why a signature is none of ours.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SignatureError {
    #[error("it is not an SSH signature as ssh-keygen writes it")]
    Unreadable,
    #[error("the signature is for something else: its namespace is not `{NAMESPACE}`")]
    OtherNamespace,
    #[error("the signature does not fit what was signed")]
    Wrong,
    #[error("the key cannot sign: {0}")]
    Key(String),
}

/// A signature with the public half of the key that made it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    armored: String,
    sig: SshSig,
}

impl Signature {
    /// Reads one in the form `ssh-keygen -Y sign` writes, and in no other: two texts are never the same signature.
    pub fn read(armored: &str) -> Result<Self, SignatureError> {
        let sig: SshSig = armored.parse().map_err(|_| SignatureError::Unreadable)?;
        // The crate checks neither of these two, and no signature covers the version.
        if sig.version() != SshSig::VERSION || !sig.reserved().is_empty() {
            return Err(SignatureError::Unreadable);
        }
        if sig.namespace() != NAMESPACE {
            return Err(SignatureError::OtherNamespace);
        }
        match sig.to_pem(LineEnding::LF) {
            Ok(text) if text.trim_end() == armored.trim_end() => Ok(Self { armored: text, sig }),
            _ => Err(SignatureError::Unreadable),
        }
    }

    pub fn armored(&self) -> &str {
        &self.armored
    }

    /// The key's fingerprint, as `ssh-keygen -l` prints it.
    pub fn key(&self) -> String {
        self.sig.public_key().fingerprint(HashAlg::Sha256).to_string()
    }

    /// Whether the key it names made it over this. Whose key that is, `Signers` say.
    pub fn check(&self, kind: &str, payload: &[u8]) -> Result<(), SignatureError> {
        let key = PublicKey::from(self.sig.public_key().clone());
        key.verify(NAMESPACE, &pae(kind, payload), &self.sig).map_err(|_| SignatureError::Wrong)
    }
}

/// A private key that can be used as it is: Ed25519 or ECDSA, in OpenSSH's format, without a passphrase.
pub struct SigningKey(PrivateKey);

impl SigningKey {
    /// None for every other: `ssh-keygen` may know how to sign with it.
    pub fn read(text: &str) -> Option<Self> {
        let key = PrivateKey::from_openssh(text).ok().filter(|key| !key.is_encrypted())?;
        // The crate does not sign with RSA as it should (it takes one prime for both), and a token's key is not in its file.
        let can_sign = matches!(key.algorithm(), Algorithm::Ed25519 | Algorithm::Ecdsa { .. });
        can_sign.then_some(Self(key))
    }

    pub fn sign(&self, kind: &str, payload: &[u8]) -> Result<Signature, SignatureError> {
        let unable = |e: ssh_key::Error| SignatureError::Key(e.to_string());
        let sig = self.0.sign(NAMESPACE, HashAlg::Sha512, &pae(kind, payload)).map_err(unable)?;
        Signature::read(&sig.to_pem(LineEnding::LF).map_err(unable)?)
    }
}

/// In hexadecimal, for tools that know no BLAKE3.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&sha2::Sha256::digest(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// What is signed: DSSE's encoding of a payload with its type.
pub fn pae(kind: &str, payload: &[u8]) -> Vec<u8> {
    let mut bytes = format!("DSSEv1 {} {kind} {} ", kind.len(), payload.len()).into_bytes();
    bytes.extend_from_slice(payload);
    bytes
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn key() -> SigningKey {
        let pair = ssh_key::private::Ed25519Keypair::from_seed(&[7; 32]);
        SigningKey(PrivateKey::new(pair.into(), "ann@example.org").unwrap())
    }

    /// Both halves, as their files have them.
    pub(crate) fn halves() -> (String, String) {
        let private = key().0.to_openssh(LineEnding::LF).unwrap().to_string();
        (private, key().0.public_key().to_openssh().unwrap())
    }

    #[test]
    fn a_key_that_is_all_there_signs_and_no_other_is_taken() {
        let (private, public) = halves();
        let signature = SigningKey::read(&private).unwrap().sign("a", b"payload").unwrap();
        assert_eq!(signature.check("a", b"payload"), Ok(()));
        assert!(SigningKey::read(&public).is_none());
        assert!(SigningKey::read("-----BEGIN RSA PRIVATE KEY-----").is_none());
    }

    #[test]
    fn the_encoding_is_the_one_of_the_specification() {
        let pae = pae("http://example.com/HelloWorld", b"hello world");
        assert_eq!(pae, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    }

    #[test]
    fn a_signature_is_of_one_thing_in_one_form() {
        let signature = key().sign("a", b"payload").unwrap();
        assert_eq!(signature.check("a", b"payload"), Ok(()));
        assert_eq!(signature.check("b", b"payload"), Err(SignatureError::Wrong));
        assert_eq!(signature.check("a", b"payloaD"), Err(SignatureError::Wrong));
        let text = signature.armored();
        assert_eq!(Signature::read(text), Ok(signature.clone()));
        assert_eq!(Signature::read(&text.replace('\n', "\r\n")), Err(SignatureError::Unreadable));
        assert!(key().sign("a", b"payload").unwrap().key().starts_with("SHA256:"));
    }

    #[test]
    fn a_signature_for_another_purpose_or_version_is_none_of_ours() {
        let other = key().0.sign("git", HashAlg::Sha512, &pae("a", b"payload")).unwrap();
        let other = Signature::read(&other.to_pem(LineEnding::LF).unwrap());
        assert_eq!(other, Err(SignatureError::OtherNamespace));
        let good = key().sign("a", b"payload").unwrap();
        // The version, which no signature covers: base64 of `SSHSIG`, then 00 00 00 01.
        let older = good.armored().replacen("U1NIU0lHAAAAAQ", "U1NIU0lHAAAAAA", 1);
        assert_ne!(older, good.armored());
        assert_eq!(Signature::read(&older), Err(SignatureError::Unreadable));
    }
}
