//! A receipt as an in-toto statement: the files it is about are the subjects, all else is its predicate.

use std::collections::BTreeMap;

use gadfly_engine::Digest;
use gadfly_engine::artifact::ArtifactFile;
use serde::{Deserialize, Serialize};

use super::receipt::Receipt;
use super::text::one_line;

pub(super) const PAYLOAD: &str = "application/vnd.in-toto+json";
const STATEMENT: &str = "https://in-toto.io/Statement/v1";
/// What a receipt says and means; `docs/reference/receipts.md` is its description.
pub const PREDICATE: &str = "https://github.com/gadfly-dev/gadfly/receipt/v1";

#[derive(Serialize, Deserialize)]
struct ReceiptStatement<P> {
    #[serde(rename = "_type")]
    kind: String,
    subject: Vec<Resource>,
    #[serde(rename = "predicateType")]
    predicate_type: String,
    predicate: P,
}

/// A file: in-toto's resource descriptor.
#[derive(Serialize, Deserialize)]
struct Resource {
    name: String,
    digest: Digests,
    annotations: Annotations,
}

#[derive(Serialize, Deserialize)]
struct Digests {
    /// What counts.
    blake3: Digest,
    /// For other tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Annotations {
    /// Unix permission bits.
    mode: u32,
}

impl Receipt {
    /// The statement's bytes.
    pub(super) fn statement(&self) -> Result<Vec<u8>, serde_json::Error> {
        let subject = self.files.iter().map(|file| Resource {
            name: file.path.clone(),
            digest: Digests { blake3: file.blob, sha256: self.sha256.get(&file.path).cloned() },
            annotations: Annotations { mode: file.mode },
        });
        serde_json::to_vec(&ReceiptStatement {
            kind: STATEMENT.to_owned(),
            subject: subject.collect(),
            predicate_type: PREDICATE.to_owned(),
            predicate: self,
        })
    }

    pub(super) fn of_statement(bytes: &[u8]) -> Result<Self, String> {
        // First what it is: another kind of statement has another predicate.
        let said: ReceiptStatement<serde_json::Value> = read(bytes)?;
        for (found, known) in [(&said.kind, STATEMENT), (&said.predicate_type, PREDICATE)] {
            if found != known {
                return Err(format!("it is a `{}`; this version reads `{known}`", one_line(found)));
            }
        }
        let ReceiptStatement { subject, predicate, .. } = read::<ReceiptStatement<Self>>(bytes)?;
        let mut sha256 = BTreeMap::new();
        let mut files = Vec::with_capacity(subject.len());
        for Resource { name, digest, annotations } in subject {
            files.push(ArtifactFile { path: name.clone(), mode: annotations.mode, blob: digest.blake3 });
            sha256.extend(digest.sha256.map(|digest| (name, digest)));
        }
        Ok(Self { files, sha256, ..predicate })
    }
}

fn read<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|e| one_line(&e.to_string()))
}
