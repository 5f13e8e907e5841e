//! What children get of the user's environment: one list for everybody, and no secret on it.

use std::fs;

use crate::powers::desk::{Answer, Desk, Said, passed};
use crate::powers::kinds::KINDS;
use crate::powers::pursuit::{GOAL, PROGRESSING, claims, hire, pursuit, reads, runs, writes};
use crate::powers::stage::{PIPELINE, one};

pub const VALUE: &str = "http://me:hunter2-8861@host";

/// Variables that commonly hold secrets.
pub const SECRETS: [&str; 44] = [
    "DATABASE_URL",
    "REDIS_URL",
    "MONGODB_URI",
    "AMQP_URL",
    "MYSQL_PWD",
    "PGPASSWORD",
    "PGPASSFILE",
    "SSHPASS",
    "SSH_AUTH_SOCK",
    "GH_PAT",
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GITLAB_TOKEN",
    "CI_JOB_TOKEN",
    "NPM_TOKEN",
    "NPM_CONFIG__AUTH",
    "NODE_AUTH_TOKEN",
    "PIP_INDEX_URL",
    "TWINE_PASSWORD",
    "CARGO_REGISTRY_TOKEN",
    "CARGO_REGISTRIES_MINE_TOKEN",
    "DOCKER_AUTH_CONFIG",
    "DOCKER_PASSWORD",
    "KUBECONFIG",
    "VAULT_TOKEN",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_CLIENT_SECRET",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "HF_TOKEN",
    "SLACK_WEBHOOK_URL",
    "SENTRY_DSN",
    "STRIPE_SK",
    "JWT_SECRET",
    "SESSION_COOKIE",
    "GPG_PASSPHRASE",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "COLLECTOR_HEADERS",
    "JAVA_TOOL_OPTIONS",
    "HTTPS_PROXY",
    "http_proxy",
];
/// What builds need, with values that are no secrets.
const USEFUL: [(&str, &str); 6] = [
    ("CARGO_HOME", "/opt/cargo-8861"),
    ("JAVA_HOME", "/opt/java-8861"),
    ("VIRTUAL_ENV", "/opt/venv-8861"),
    ("LC_ALL", "C.UTF-8"),
    ("USER", "somebody-8861"),
    ("NO_PROXY", "localhost-8861"),
];

fn go(desk: &Desk, args: &[&str]) -> Said {
    let mut command = desk.command(args);
    command.envs(SECRETS.iter().map(|name| (*name, VALUE))).envs(USEFUL);
    let done = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { code: done.status.code().unwrap_or(-1), out: text(done.stdout), err: text(done.stderr) }
}

/// What a child saw.
fn check(who: &str, seen: &str) {
    assert!(seen.contains("PATH="), "{who} saw nothing: {seen}");
    let through: Vec<&str> = SECRETS
        .iter()
        .filter(|name| seen.lines().any(|line| line.starts_with(&format!("{name}="))))
        .copied()
        .collect();
    assert_eq!(through, [""; 0], "{who}");
    assert!(!seen.contains("hunter2"), "{who}: {seen}");
    for (name, value) in USEFUL {
        assert!(seen.contains(&format!("{name}={value}\n")), "{who} has no {name}: {seen}");
    }
}

fn audited() -> Desk {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.program("c", &format!("cat >/dev/null\ncat <<'END'\n{}\nEND", passed(1)));
    desk
}

#[test]
fn no_agent_gets_a_secret() {
    for kind in &KINDS {
        let desk = audited();
        kind.agent(&desk, "w", "printenv >seen.txt; echo two >a.txt", "done", "");
        let said = go(&desk, &crate::powers::desk::AUDIT);
        assert_eq!(said.code, 0, "{}: {}", kind.name, said.err);
        check(kind.name, &desk.read("seen.txt"));
    }
}

#[test]
fn no_verify_command_and_no_prepare_gets_a_secret_unless_the_user_lists_it() {
    let desk = audited();
    desk.scripted("w", &[Answer { text: "done", files: &[("a.txt", "two\n")], delete: &[] }]);
    let (verified, set_up) = (desk.beside("verified"), desk.beside("prepare"));
    desk.configure(&format!("[workspace]\nprepare = \"printenv >{}\"\n", set_up.display()));
    let verify = format!("printenv >{}", verified.display());
    let args = [&crate::powers::desk::AUDIT[..], &["--verify", &verify]].concat();
    let said = go(&desk, &args);
    assert_eq!(said.code, 0, "{}", said.err);
    check("verify", &fs::read_to_string(&verified).unwrap());
    check("prepare", &fs::read_to_string(&set_up).unwrap());
    desk.configure("[commands]\nenv = [\"DATABASE_URL\"]\n");
    desk.commit("two");
    let said = go(&desk, &args);
    assert_eq!(said.code, 0, "{}", said.err);
    let seen = fs::read_to_string(&verified).unwrap();
    assert!(seen.contains(&format!("DATABASE_URL={VALUE}\n")) && !seen.contains("REDIS_URL"), "{seen}");
}

#[test]
fn a_projects_file_gives_its_commands_nothing_of_the_users() {
    let desk = audited();
    desk.scripted("w", &[Answer { text: "done", files: &[("a.txt", "two\n")], delete: &[] }]);
    desk.write("gadfly.toml", "[commands]\nenv = [\"DATABASE_URL\"]\nterminals = true\n");
    desk.commit("two");
    let verified = desk.beside("verified");
    let verify = format!("printenv >{}", verified.display());
    let said = go(&desk, &[&crate::powers::desk::AUDIT[..], &["--verify", &verify, "--trust"]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("has no effect in a project's file"), "{}", said.err);
    check("verify", &fs::read_to_string(&verified).unwrap());
}

#[test]
fn no_command_of_a_model_gets_a_secret() {
    let desk = pursuit(&[], &[PROGRESSING]);
    let end = [writes("done.txt", "x"), reads("done.txt").then(claims("done"))];
    hire(&desk, "w", &[&[runs("printenv >seen.txt")][..], &end].concat(), "");
    let said = go(&desk, &GOAL);
    assert_eq!(said.code, 0, "{}", said.err);
    check("run_command", &desk.read("seen.txt"));
}

#[test]
fn no_hook_gets_a_secret() {
    let desk = one(&["print(1)\n"], &[90]);
    let seen = desk.beside("hooked");
    desk.configure(&format!("[hooks]\npre-dispatch = \"printenv >{}\"\n", seen.display()));
    go(&desk, &PIPELINE);
    check("hook", &fs::read_to_string(&seen).unwrap());
}
