//! Signatures with the user's SSH key: what a run leaves is signed, OpenSSH itself agrees, and a clone needs nothing but the
//! public key. Keys are made by `ssh-keygen`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::pipeline::desk::Desk;
use crate::pipeline::stage::{json, one, pipeline, receipt};

/// Without OpenSSH nothing here can be tried; then the tests say so and pass.
pub fn has_ssh() -> bool {
    let found = Command::new("ssh-keygen").arg("-?").stdin(Stdio::null()).output().is_ok();
    assert!(found || std::env::var_os("CI").is_none(), "CI needs ssh-keygen for these tests");
    if !found {
        let _ = writeln!(std::io::stderr(), "NOT TRIED: there is no ssh-keygen here");
    }
    found
}

/// A key beside the project, and the file of its public half.
pub fn key(desk: &Desk, name: &str, kind: &[&str], passphrase: &str) -> (PathBuf, PathBuf) {
    let file = desk.beside(name);
    let mut keygen = Command::new("ssh-keygen");
    keygen.args(["-q", "-N", passphrase, "-C", &format!("{name}@example.org"), "-t"]).args(kind);
    assert!(keygen.arg("-f").arg(&file).status().unwrap().success());
    let public = desk.beside(&format!("{name}.pub"));
    (file, public)
}

/// One coder whose work was judged, with receipts signed by a key of this kind.
pub fn judged_and_signed(kind: &[&str]) -> (Desk, PathBuf) {
    let desk = one(&["print(1)\n"], &[90]);
    let (private, public) = key(&desk, "ann", kind, "");
    desk.configure(&format!("[signing]\nkey = {:?}\n", private.to_str().unwrap()));
    let said = pipeline(&desk, &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!said.err.contains("not signed"), "{}", said.err);
    (desk, public)
}

/// What somebody else has who cloned it: no journal, another home.
pub fn cloned(desk: &Desk) -> Desk {
    let clone = Desk::folder(&[]);
    for name in ["gadfly.toml", "permissions.md", "out/code.py", ".gadfly/receipts/coder.json"] {
        clone.write(name, &desk.read(name));
    }
    for agent in ["coder", "coder-critic"] {
        clone.saying(agent, &["Nothing."]);
    }
    clone
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_clone_needs_the_public_key_alone_and_openssh_agrees() {
    if !has_ssh() {
        return;
    }
    for kind in [
        &["ed25519"][..],
        &["ecdsa"],
        &["ecdsa", "-b", "384"],
        &["ecdsa", "-b", "521"],
        &["rsa", "-b", "2048"],
    ] {
        let (desk, public) = judged_and_signed(kind);
        let clone = cloned(&desk);
        let open = clone.gadfly(&["gate", "commit", "--trust", "--verify", text(&public)]);
        assert_eq!(open.code, 0, "{kind:?}: {open:?}");
        let line = open.out.lines().find(|line| line.starts_with("coder: judged by")).unwrap();
        assert!(line.contains("scripted, named by the user"), "{line}");
        assert!(line.contains("signed by ann@example.org, SHA256:"), "{line}");
        assert!(!clone.path(".gadfly/journal.db").exists(), "asking leaves nothing behind");

        let envelope = json(&clone, ".gadfly/receipts/coder.json");
        let of = |text: &serde_json::Value| STANDARD.decode(text.as_str().unwrap()).unwrap();
        let payload = of(&envelope["payload"]);
        let kind_of = envelope["payloadType"].as_str().unwrap();
        let mut signed = format!("DSSEv1 {} {kind_of} {} ", kind_of.len(), payload.len()).into_bytes();
        signed.extend(&payload);
        let signature = clone.beside("signature");
        fs::write(&signature, of(&envelope["signatures"][0]["sig"])).unwrap();
        let signers = clone.beside("allowed_signers");
        fs::write(&signers, format!("ann {}", fs::read_to_string(&public).unwrap())).unwrap();
        let mut verify = Command::new("ssh-keygen")
            .args(["-Y", "verify", "-n", "gadfly", "-I", "ann", "-f"])
            .args([&signers, Path::new("-s"), &signature])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        verify.stdin.take().unwrap().write_all(&signed).unwrap();
        let verified = verify.wait_with_output().unwrap();
        assert!(verified.status.success(), "{kind:?}: {verified:?}");
        let fingerprint =
            String::from_utf8(Command::new("ssh-keygen").arg("-lf").arg(&public).output().unwrap().stdout);
        let keyid = envelope["signatures"][0]["keyid"].as_str().unwrap();
        assert!(fingerprint.unwrap().contains(keyid), "{keyid}");
        let named = clone.gadfly(&["gate", "commit", "--trust", "--verify", text(&signers)]);
        assert!(named.code == 0 && named.out.contains("signed by ann, SHA256:"), "{named:?}");
    }
}

#[test]
fn a_receipt_says_what_was_judged_by_whom_and_by_which_rules() {
    if !has_ssh() {
        return;
    }
    let (desk, _) = judged_and_signed(&["ed25519"]);
    let envelope = json(&desk, ".gadfly/receipts/coder.json");
    assert_eq!(envelope["payloadType"], "application/vnd.in-toto+json");
    let payload = STANDARD.decode(envelope["payload"].as_str().unwrap()).unwrap();
    let statement: serde_json::Value = serde_json::from_slice(&payload).unwrap();
    assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
    assert_eq!(statement["predicateType"], "https://github.com/gadfly-dev/gadfly/receipt/v1");
    let subject = &statement["subject"][0];
    assert_eq!(subject["name"], "out/code.py");
    let sum = Command::new("sha256sum").arg(desk.path("out/code.py")).output().unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();
    assert_eq!(subject["digest"]["sha256"], sum.split_whitespace().next().unwrap());
    let said = receipt(&desk, "coder");
    assert_eq!((said["score"].as_u64(), said["critic"].as_str()), (Some(90), Some("coder-critic")));
    assert_eq!(said["judge"], serde_json::json!({ "kind": "scripted", "layer": "user" }));
    assert_eq!(said["rules"]["protocol"], "pipeline");
    assert_eq!(said["base"]["gitCommit"], desk.git(&["rev-parse", "HEAD"]).trim());
    assert_eq!(said["base"]["gitTree"], desk.git(&["rev-parse", "HEAD^{tree}"]).trim());
}

#[test]
fn nobody_elses_signature_counts_and_none_does_not_either() {
    if !has_ssh() {
        return;
    }
    let (desk, public) = judged_and_signed(&["ed25519"]);
    let (clone, unsigned) = (cloned(&desk), one(&["print(1)\n"], &[90]));
    let gate = |desk: &Desk, keys: &Path, says: &str| {
        let said = desk.gadfly(&["gate", "commit", "--trust", "--verify", text(keys)]);
        assert!(said.code == 3 && said.err.contains(says), "{says}: {said:?}");
    };
    let (_, other) = key(&clone, "eve", &["ed25519"], "");
    gate(&clone, &other, "none of the keys that count");
    assert_eq!(pipeline(&unsigned, &[]).code, 0);
    gate(&unsigned, &public, "it is not signed");
    assert_eq!(unsigned.gadfly(&["gate", "commit"]).code, 0, "without --verify it counts as ever");
    assert_eq!(unsigned.gadfly(&["gate", "commit", "--strict"]).code, 0);
    clone.write("out/code.py", "print(2)\n");
    let stale = clone.gadfly(&["gate", "commit", "--trust", "--verify", text(&public)]);
    assert!(stale.code == 3 && stale.out.contains("stale"), "{stale:?}");
    for (keys, says) in [("gadfly.toml", "line 1: "), ("nothing", "nothing cannot be used")] {
        let said = clone.gadfly(&["gate", "--verify", keys]);
        assert!(said.code == 2 && said.err.contains(says), "{said:?}");
    }
    assert_eq!(clone.gadfly(&["gate", "--strict", "--verify", text(&public)]).code, 2);
}

#[test]
fn a_key_that_ssh_agent_holds_signs_and_one_that_nobody_can_use_costs_the_run_nothing() {
    if !has_ssh() {
        return;
    }
    let desk = one(&["print(1)\n"], &[90]);
    let (private, public) = key(&desk, "ann", &["ed25519"], "secret words");
    desk.configure(&format!("[signing]\nkey = {:?}\n", text(&private)));
    let said = pipeline(&desk, &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        said.err.contains("not signed: ssh-keygen did not sign with") && said.err.contains("ssh-add"),
        "{}",
        said.err
    );
    let signatures =
        |desk: &Desk| json(desk, ".gadfly/receipts/coder.json")["signatures"].as_array().unwrap().len();
    assert_eq!(signatures(&desk), 0);

    let socket = desk.beside("agent");
    let mut agent =
        Command::new("ssh-agent").arg("-D").arg("-a").arg(&socket).stdout(Stdio::null()).spawn().unwrap();
    crate::pipeline::desk::wait_for("the agent listens", || socket.exists());
    let ask = desk.beside("askpass");
    fs::write(&ask, "#!/bin/sh\necho secret words\n").unwrap();
    fs::set_permissions(&ask, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let added = Command::new("ssh-add")
        .arg(&private)
        .env("SSH_AUTH_SOCK", &socket)
        .env("SSH_ASKPASS", &ask)
        .env("SSH_ASKPASS_REQUIRE", "force")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(added.status.success(), "{added:?}");
    desk.write("out/code.py", "changed\n");
    let args = [&crate::pipeline::stage::PIPELINE[..], &[]].concat();
    let run = desk.command(&args).env("SSH_AUTH_SOCK", &socket).output().unwrap();
    let (code, err) = (run.status.code(), String::from_utf8(run.stderr).unwrap());
    agent.kill().unwrap();
    agent.wait().unwrap();
    assert!(code == Some(0) && !err.contains("not signed"), "{err}");
    assert_eq!(signatures(&desk), 1);
    let open = cloned(&desk).gadfly(&["gate", "commit", "--trust", "--verify", text(&public)]);
    assert_eq!(open.code, 0, "{open:?}");
}

#[test]
fn a_project_cannot_name_the_key() {
    if !has_ssh() {
        return;
    }
    let desk = one(&["print(1)\n"], &[90]);
    let (private, _) = key(&desk, "ann", &["ed25519"], "");
    let named = format!("{}\n[signing]\nkey = {:?}\n", desk.read("gadfly.toml"), text(&private));
    desk.write("gadfly.toml", &named);
    let said = desk.gadfly(&["check"]);
    assert!(
        format!("{}{}", said.out, said.err).contains("`signing` has no effect in a project's file"),
        "{said:?}"
    );
    assert_eq!(pipeline(&desk, &[]).code, 0);
    assert_eq!(json(&desk, ".gadfly/receipts/coder.json")["signatures"], serde_json::json!([]));
}

#[test]
fn the_seal_of_a_run_that_stopped_is_signed_and_shown() {
    if !has_ssh() {
        return;
    }
    let (desk, public) = judged_and_signed(&["ed25519"]);
    let fingerprint = Command::new("ssh-keygen").arg("-lf").arg(&public).output().unwrap().stdout;
    let fingerprint = String::from_utf8(fingerprint).unwrap().split(' ').nth(1).unwrap().to_owned();
    let run = desk.run_id();
    let shown = desk.gadfly(&["show", &run, "--verify"]);
    assert!(shown.code == 0 && shown.out.contains(&format!("made with {fingerprint}")), "{shown:?}");
    let said: serde_json::Value =
        serde_json::from_str(&desk.gadfly(&["show", &run, "--verify", "--json"]).out).unwrap();
    assert_eq!(said["signed_with"], fingerprint);
}

#[test]
fn a_batch_is_signed_once_for_all_its_runs() {
    if !has_ssh() {
        return;
    }
    let desk = Desk::folder(&[("gadfly.toml", "")]);
    desk.saying("w", &["A draft of 3 lines."]);
    desk.saying("c", &["[STATUS: APPROVED]"]);
    let task =
        |id: &str| format!("{{\"id\":\"{id}\",\"task\":\"Write {id}.\",\"rubric\":[\"has 3 lines\"]}}\n");
    desk.write("tasks.jsonl", &["a", "b", "c"].map(task).concat());
    let (private, _) = key(&desk, "ann", &["ed25519"], "");
    desk.configure(&format!("[signing]\nkey = {:?}\n", text(&private)));
    let said = desk.gadfly(&["batch", "tasks.jsonl", "--worker", "w", "--critic", "c", "--yes"]);
    assert_eq!(said.code, 0, "{said:?}");
    let runs = desk.gadfly(&["runs", "--json", "-n", "9"]).out;
    let covered: Vec<String> = runs
        .lines()
        .map(|line| {
            let run: serde_json::Value = serde_json::from_str(line).unwrap();
            let shown = desk.gadfly(&["show", run["run"].as_str().unwrap(), "--verify"]);
            let line = shown.out.lines().find(|line| line.contains("covered by a signature"));
            line.unwrap_or_else(|| panic!("{shown:?}")).to_owned()
        })
        .collect();
    assert_eq!(covered.len(), 3);
    assert!(covered.iter().all(|line| *line == covered[0]), "one signature: {covered:?}");
}
