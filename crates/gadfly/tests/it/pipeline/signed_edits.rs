//! Whatever is done to a signed receipt or a signed export, it counts no longer; and a journal that came with a clone opens
//! no strict gate.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::pipeline::desk::Desk;
use crate::pipeline::signed::{cloned, has_ssh, judged_and_signed, key};
use crate::pipeline::stage::{one, pipeline};

const RECEIPT: &str = ".gadfly/receipts/coder.json";

/// Numbers that look random and are the same on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (usize::try_from(self.0 >> 33).unwrap()) % most
    }
}

/// Another key's receipt about the same work.
fn of_eve(clone: &Desk) -> String {
    let (private, _) = key(clone, "eve", &["ed25519"], "");
    let desk = one(&["print(1)\n"], &[100]);
    desk.configure(&format!("[signing]\nkey = {:?}\n", private.to_str().unwrap()));
    assert_eq!(pipeline(&desk, &[]).code, 0);
    desk.read(RECEIPT)
}

/// A field of a statement, and another value for it.
type Edit = (&'static str, fn() -> Value);

const FIELDS: [Edit; 16] = [
    ("/predicate/score", || json!(100)),
    ("/predicate/threshold", || json!(1)),
    ("/predicate/rounds", || json!(7)),
    ("/predicate/agent", || json!("writer")),
    ("/predicate/critic", || json!("somebody")),
    ("/predicate/judge/kind", || json!("anthropic")),
    ("/predicate/judge/layer", || json!("program")),
    ("/predicate/rules/version", || json!(9)),
    ("/predicate/rules/rubric", || json!("0".repeat(64))),
    ("/predicate/run", || json!("0123456789")),
    ("/predicate/at", || json!("2099-01-01T00:00:00Z")),
    ("/predicate/base", || json!({ "gitCommit": "0", "gitTree": "0" })),
    ("/subject/0/name", || json!("out/other.py")),
    ("/subject/0/digest/sha256", || json!("0".repeat(64))),
    ("/predicateType", || json!("https://example.org/v1")),
    ("/_type", || json!("https://in-toto.io/Statement/v0.1")),
];

#[test]
fn no_edit_of_a_signed_receipt_counts() {
    if !has_ssh() {
        return;
    }
    let (desk, public) = judged_and_signed(&["ed25519"]);
    let clone = cloned(&desk);
    let gate = || clone.gadfly(&["gate", "commit", "--trust", "--verify", public.to_str().unwrap()]);
    assert_eq!(gate().code, 0);
    let good = clone.read(RECEIPT);
    let mut tried = 0;
    let mut refused = |what: &str, bytes: &[u8]| {
        assert_ne!(bytes, good.as_bytes(), "{what}: nothing was edited");
        fs::write(clone.path(RECEIPT), bytes).unwrap();
        let said = gate();
        assert!(said.code == 3 && said.err.contains("coder.json does not count"), "{what}: {said:?}");
        tried += 1;
    };
    let mut dice = Dice(16);
    for _ in 0..170 {
        let mut bytes = good.clone().into_bytes();
        let (at, bit) = (dice.below(bytes.len() - 1), dice.below(8));
        bytes[at] ^= 1 << bit;
        refused(&format!("bit {bit} of byte {at}"), &bytes);
    }
    let envelope: Value = serde_json::from_str(&good).unwrap();
    let payload = STANDARD.decode(envelope["payload"].as_str().unwrap()).unwrap();
    for (field, value) in FIELDS {
        let mut statement: Value = serde_json::from_slice(&payload).unwrap();
        *statement.pointer_mut(field).unwrap_or_else(|| panic!("{field}")) = value();
        let mut edited = envelope.clone();
        edited["payload"] = STANDARD.encode(statement.to_string()).into();
        refused(field, edited.to_string().as_bytes());
    }
    let eve: Value = serde_json::from_str(&of_eve(&clone)).unwrap();
    let mut of = |what: &str, change: &dyn Fn(&mut Value)| {
        let mut edited = envelope.clone();
        change(&mut edited);
        refused(what, edited.to_string().as_bytes());
    };
    let armored = STANDARD.decode(envelope["signatures"][0]["sig"].as_str().unwrap()).unwrap();
    let armored = String::from_utf8(armored).unwrap();
    for kind in ["application/json", "application/vnd.in-toto+jsoN", ""] {
        of(&format!("payloadType {kind}"), &|e| e["payloadType"] = kind.into());
    }
    of("no signature", &|e| e["signatures"] = json!([]));
    of("no list of signatures", &|e| drop(e.as_object_mut().unwrap().remove("signatures")));
    of("an empty signature", &|e| e["signatures"][0]["sig"] = "".into());
    of("Eve's signature under Ann's words", &|e| e["signatures"] = eve["signatures"].clone());
    of("Eve's signature under Ann's name", &|e| {
        e["signatures"][0]["sig"] = eve["signatures"][0]["sig"].clone();
    });
    of("Ann's signature under Eve's words", &|e| e["payload"] = eve["payload"].clone());
    of("all of it Eve's", &|e| *e = eve.clone());
    of("a wrong keyid", &|e| e["signatures"][0]["keyid"] = eve["signatures"][0]["keyid"].clone());
    of("one signature that fits, one that does not", &|e| {
        let other = eve["signatures"][0].clone();
        e["signatures"].as_array_mut().unwrap().push(other);
    });
    of("too many signatures", &|e| e["signatures"] = vec![e["signatures"][0].clone(); 100].into());
    for (what, text) in [
        ("other line ends", armored.replace('\n', "\r\n")),
        ("more after it", format!("{armored}{armored}")),
        ("another label", armored.replace("SSH SIGNATURE", "PGP SIGNATURE")),
    ] {
        of(what, &|e| e["signatures"][0]["sig"] = STANDARD.encode(&text).into());
    }
    assert!(tried >= 200, "{tried}");
    clone.write(RECEIPT, &good);
    assert_eq!(gate().code, 0, "the one that was signed still counts");
}

/// An export of a run that was signed, and where to take it in.
fn exported() -> (Vec<u8>, Desk, PathBuf) {
    let (desk, public) = judged_and_signed(&["ed25519"]);
    let file = desk.beside("run.jsonl.zst");
    let said = desk.gadfly(&["export", &desk.run_id(), file.to_str().unwrap()]);
    assert!(said.code == 0 && said.err.contains("signed with SHA256:"), "{said:?}");
    let there = Desk::folder(&[]);
    let kept = there.beside("ann.pub");
    fs::copy(public, &kept).unwrap();
    (fs::read(file).unwrap(), there, kept)
}

fn import(desk: &Desk, bytes: &[u8], keys: Option<&Path>) -> crate::pipeline::desk::Said {
    let file = desk.beside("in.zst");
    fs::write(&file, bytes).unwrap();
    let mut args = vec!["import", file.to_str().unwrap()];
    args.extend(keys.map(|keys| ["--verify", keys.to_str().unwrap()]).into_iter().flatten());
    desk.gadfly(&args)
}

fn unpacked(bytes: &[u8]) -> String {
    String::from_utf8(zstd::decode_all(bytes).unwrap()).unwrap()
}

/// With a checksum that fits again, and the last line as `footer` makes it.
fn resealed(lines: &[&str], footer: impl FnOnce(&mut Value)) -> Vec<u8> {
    let (last, body) = lines.split_last().unwrap();
    let body = body.join("\n") + "\n";
    let mut end: Value = serde_json::from_str(last).unwrap();
    end["footer"]["checksum"] = blake3::hash(body.as_bytes()).to_hex().as_str().into();
    footer(&mut end["footer"]);
    zstd::encode_all(format!("{body}{end}\n").as_bytes(), 1).unwrap()
}

#[test]
fn no_edit_of_a_signed_export_is_taken_in() {
    if !has_ssh() {
        return;
    }
    let (good, there, keys) = exported();
    let lines = unpacked(&good);
    let lines: Vec<&str> = lines.lines().collect();
    let mut tried = 0;
    let mut refused = |what: &str, bytes: &[u8], keys: Option<&Path>| {
        let said = import(&there, bytes, keys);
        assert!(said.code == 2 && said.out.is_empty(), "{what}: {said:?}");
        tried += 1;
    };
    let mut dice = Dice(61);
    // Bits of the lines themselves: zstd's own checksum would notice those of the file.
    let text = unpacked(&good).into_bytes();
    for _ in 0..120 {
        let mut bytes = text.clone();
        let (at, bit) = (dice.below(bytes.len() - 1), dice.below(8));
        bytes[at] ^= 1 << bit;
        refused(&format!("bit {bit} of byte {at}"), &zstd::encode_all(&bytes[..], 1).unwrap(), Some(&keys));
    }
    for _ in 0..60 {
        let mut bytes = good.clone();
        let (at, bit) = (dice.below(bytes.len()), dice.below(8));
        bytes[at] ^= 1 << bit;
        let same = zstd::decode_all(&bytes[..]).is_ok_and(|read| read == text);
        if !same {
            refused(&format!("bit {bit} of byte {at} of the file"), &bytes, Some(&keys));
        }
    }
    // Records changed or left out, with a checksum that fits: only the signature tells.
    let signed = lines.last().unwrap();
    for _ in 0..30 {
        let mut some = lines.clone();
        let at = 1 + dice.below(some.len() - 2);
        let edited = some[at].replacen('1', "2", 1 + dice.below(3)).replacen("coder", "codeR", 1);
        some[at] = &edited;
        if edited != lines[at] {
            refused(&format!("line {at}"), &resealed(&some, |_| {}), Some(&keys));
        }
    }
    refused(
        "the signature is left out",
        &resealed(&lines, |end| drop(end.as_object_mut().unwrap().remove("signature"))),
        Some(&keys),
    );
    let (other, _, _) = exported();
    let of_other = unpacked(&other);
    let of_other: Value = serde_json::from_str(of_other.lines().last().unwrap()).unwrap();
    for keys in [Some(keys.as_path()), None] {
        refused(
            "another export's signature",
            &resealed(&lines, |end| end["signature"] = of_other["footer"]["signature"].clone()),
            keys,
        );
        refused(
            "no signature at all in its place",
            &resealed(&lines, |end| end["signature"] = "".into()),
            keys,
        );
    }
    refused("another key", &other, Some(&keys));
    assert!(tried >= 200, "{tried}; {signed}");
    let said = import(&there, &good, Some(&keys));
    assert!(said.code == 0 && said.err.contains("signed by ann@example.org, SHA256:"), "{said:?}");
    // Whoever takes it in does not vouch for it.
    let (private, _) = key(&there, "bob", &["ed25519"], "");
    there.configure(&format!("[signing]\nkey = {:?}\n", private.to_str().unwrap()));
    let again = there.gadfly(&["export", &there.run_id(), there.beside("again").to_str().unwrap()]);
    assert!(again.code == 0 && again.err.contains("not signed: the run was not made here"), "{again:?}");
    // Without --verify an export needs no signature, and it is said that it has none.
    let elsewhere = Desk::folder(&[]);
    let bare = resealed(&lines, |end| drop(end.as_object_mut().unwrap().remove("signature")));
    let said = import(&elsewhere, &bare, None);
    assert!(said.code == 0 && said.err.contains("it is not signed"), "{said:?}");
}

#[test]
fn a_journal_that_came_with_a_clone_opens_no_strict_gate() {
    let desk = one(&["malware\n"], &[100]);
    assert_eq!(pipeline(&desk, &[]).code, 0);
    assert_eq!(desk.gadfly(&["gate", "commit", "--strict"]).code, 0, "it is this machine's");
    copy(&desk.path(".gadfly"), &desk.beside("copy/.gadfly"));
    let clone = cloned(&desk);
    fs::remove_dir_all(clone.path(".gadfly")).unwrap();
    copy(&desk.beside("copy/.gadfly"), &clone.path(".gadfly"));
    let said = clone.gadfly(&["gate", "commit", "--strict", "--trust"]);
    assert!(said.code == 3 && said.err.contains("was not made by you on this machine"), "{said:?}");
    assert!(clone.gadfly(&["runs"]).out.contains("approved"), "it can be read");
    // Owned by a person's word it goes on, and still counts for nothing.
    assert_eq!(clone.gadfly(&["own"]).code, 0);
    let said = clone.gadfly(&["gate", "commit", "--strict", "--trust"]);
    assert!(said.code == 3 && said.err.contains("it came from another machine"), "{said:?}");

    // At another place under the same home it is this machine's still.
    for name in ["gadfly.toml", "permissions.md", "out/code.py"] {
        fs::create_dir_all(desk.beside("copy/out")).unwrap();
        fs::copy(desk.path(name), desk.beside("copy").join(name)).unwrap();
    }
    let at = |args: &[&str]| desk.command(args).current_dir(desk.beside("copy")).output().unwrap();
    let said = at(&["gate", "commit", "--strict", "--trust"]);
    assert_eq!(said.status.code(), Some(0), "{said:?}");
    fs::write(desk.beside("copy/out/code.py"), "other\n").unwrap();
    assert_eq!(
        at(&["gate", "commit", "--strict", "--trust"]).status.code(),
        Some(3),
        "and about those bytes only"
    );
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => copy(&entry.path(), &to),
            kind if kind.is_file() => drop(fs::copy(entry.path(), to).unwrap()),
            _ => {}
        }
    }
}
