//! A DSSE envelope: a payload, its type, and signatures over both.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::{Signature, SignatureError};

/// More than anybody puts under one payload.
const MOST_SIGNATURES: usize = 16;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Envelope {
    #[serde(rename = "payloadType")]
    kind: String,
    /// In base64.
    payload: String,
    signatures: Vec<EnvelopeSignature>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct EnvelopeSignature {
    #[serde(default)]
    keyid: String,
    /// In base64: the armored signature, so that it needs only be decoded for `ssh-keygen -Y verify`.
    sig: String,
}

/// What is wrong with an envelope.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EnvelopeError {
    #[error("its payload is not base64")]
    Payload,
    #[error("its payloadType is `{found}`, not `{known}`")]
    Kind { found: String, known: &'static str },
    #[error("it has more than {MOST_SIGNATURES} signatures")]
    TooMany,
    #[error("its keyid is not the fingerprint of the key that signed")]
    KeyId,
    #[error(transparent)]
    Signature(#[from] SignatureError),
}

impl Envelope {
    pub fn new(kind: &str, payload: &[u8], signature: Option<&Signature>) -> Self {
        let signed = signature.map(|signature| EnvelopeSignature {
            keyid: signature.key(),
            sig: STANDARD.encode(signature.armored()),
        });
        Self {
            kind: kind.to_owned(),
            payload: STANDARD.encode(payload),
            signatures: signed.into_iter().collect(),
        }
    }

    /// The payload with its signatures, each of which fits. Whether the keys are anybody's is not looked at.
    pub fn open(&self, kind: &'static str) -> Result<(Vec<u8>, Vec<Signature>), EnvelopeError> {
        if self.kind != kind {
            return Err(EnvelopeError::Kind { found: self.kind.chars().take(100).collect(), known: kind });
        }
        if self.signatures.len() > MOST_SIGNATURES {
            return Err(EnvelopeError::TooMany);
        }
        let payload = STANDARD.decode(&self.payload).map_err(|_| EnvelopeError::Payload)?;
        let mut signatures = Vec::new();
        for signed in &self.signatures {
            let armored = STANDARD.decode(&signed.sig).map_err(|_| SignatureError::Unreadable)?;
            let armored = String::from_utf8(armored).map_err(|_| SignatureError::Unreadable)?;
            let signature = Signature::read(&armored)?;
            signature.check(kind, &payload)?;
            if !signed.keyid.is_empty() && signed.keyid != signature.key() {
                return Err(EnvelopeError::KeyId);
            }
            signatures.push(signature);
        }
        Ok((payload, signatures))
    }
}
