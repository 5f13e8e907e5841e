//! Ways out, all tried in one call: more than ninety for a command, for a stand-in of every CLI agent and for the
//! commands of a model. None may lead anywhere, and every file outside stays as it was.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::powers::desk::{Desk, Said, passed};
use crate::powers::environment::{SECRETS, VALUE};
use crate::powers::kinds::KINDS;
use crate::powers::pursuit::{GOAL, PROGRESSING, claims, hire, pursuit, reads, runs, writes};
use crate::powers::{EVIL, landlock};

/// What is precious, each at its place beside or in the project.
const PRECIOUS: [&str; 6] = [
    "project/b.txt",
    "project/.git/config",
    "project/.gadfly/precious",
    "home/.profile",
    "home/.config/gadfly/gadfly.toml",
    "out/mine.txt",
];

/// What can be done to a file; `X` is its path. Each succeeds where nothing holds it.
const DEEDS: [&str; 13] = [
    "echo E >X",
    "echo E >>X",
    "truncate -s 0 X",
    "rm X",
    "mv X taken",
    "cp /etc/hostname X",
    "dd if=/dev/zero of=X count=1",
    "ln -s X link && echo E >link",
    "ln X hard && echo E >hard",
    "sed -i s/./E/ X",
    "sh -c 'sh -c \"echo E >X\"'",
    "touch X-new && mkdir X-folder",
    "cat X | grep -q .",
];

/// Ways that lead to no file of the user's. `P` is the project, `H` the home.
const OTHERS: [&str; 40] = [
    "echo E >/dev/tty",
    "head -c 1 </dev/tty",
    "echo E >/dev/console",
    "for n in $(seq 0 40); do echo E >/dev/pts/$n && exit 0; done; exit 1",
    "for t in /dev/tty[0-9]* /dev/ttyS* /dev/vcs*; do echo E >$t && exit 0; done; exit 1",
    "for p in 1 $GADFLY; do for n in 0 1 2; do echo E >/proc/$p/fd/$n && exit 0; done; done; exit 1",
    "cat /proc/$GADFLY/environ | grep -q .",
    "cat /proc/1/environ | grep -q .",
    "ls /proc/1/root/root",
    "ls /proc/1/cwd/",
    "head -c 1 /proc/1/mem",
    "kill -0 1",
    "kill -0 $GADFLY",
    "echo E >/tmp/E-escape",
    "echo E >/var/tmp/E-escape",
    "echo E >/etc/E-escape",
    "echo E >/usr/local/bin/E-escape",
    "echo E >/run/E-escape",
    "echo E >/proc/sys/kernel/core_pattern",
    "echo E >/sys/kernel/mm/ksm/run",
    "echo E >/proc/self/oom_score_adj",
    "mount -t tmpfs none .",
    "mount --bind P/ .",
    "unshare -rm mount -t tmpfs none /mnt",
    "unshare -rm mount --bind P/ /mnt",
    "chroot P/ true",
    "mknod disk b 7 0",
    "mknod null c 1 3",
    "head -c 1 /dev/mem",
    "head -c 1 /dev/kmsg",
    "ls /dev/mapper/",
    "echo E | crontab -",
    "echo 'echo E' | at now",
    "systemd-run --user true",
    "ls H/",
    "ls P/",
    "ls /root /home/*",
    "git -C P/ commit --allow-empty -qm intruder",
    "git -C P/ config user.name intruder",
    "perl -MIO::Socket::INET -e 'IO::Socket::INET->new(Listen => 1, LocalPort => 47391) or exit 1'",
];

/// All of them: what each is called in the record of the test, and the line.
fn attempts(desk: &Desk, listens: bool) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in PRECIOUS {
        let path = desk.beside(name);
        let path = path.to_str().unwrap();
        all.extend(DEEDS.iter().map(|action| action.replace('E', EVIL).replace('X', path)));
    }
    let (project, home) =
        (format!("{}/", desk.path("").display()), format!("{}/", desk.beside("home").display()));
    let others = OTHERS.iter().filter(|other| listens || !other.contains("Listen"));
    all.extend(others.map(|other| {
        let other =
            other.replace(" E >", &format!(" {EVIL} >")).replace("E-escape", &format!("{EVIL}-escape"));
        other.replace("P/", &project).replace("H/", &home)
    }));
    all.extend(SECRETS.iter().map(|name| format!("printenv {name}")));
    all
}

/// A script that tries them all and leaves what went through in `escaped.txt`. Who has a process table of its own sees
/// nobody above it but the first in there, which is ours, too. What it makes, it makes in its folder
/// for temporary files.
fn script(attempts: &[String]) -> String {
    let mut script = "n=0; : >escaped.txt; here=$PWD; GADFLY=$(ps -o ppid= -p $PPID | tr -d ' ')\n\
                      [ \"$GADFLY\" -gt 0 ] || GADFLY=1; export GADFLY\n\
                      try() { n=$((n+1)); box=$(mktemp -d) || exit 8\n\
                      if (cd \"$box\" && timeout 5 sh -c \"$1\") >/dev/null 2>&1 </dev/null\n\
                      then printf '%s\\n' \"$1\" >>\"$here/escaped.txt\"; fi; rm -rf \"$box\"; }\n"
        .to_owned();
    for attempt in attempts {
        writeln!(script, "try '{}'", attempt.replace('\'', "'\\''")).unwrap();
    }
    script.push_str("echo $n >tried.txt\necho two >a.txt\n");
    script
}

fn lay_out(desk: &Desk) {
    for name in PRECIOUS {
        let path = desk.beside(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if !path.exists() {
            fs::write(path, "mine\n").unwrap();
        }
    }
}

/// Every byte of what is precious, and what lies beside it.
fn outside(desk: &Desk) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for name in PRECIOUS {
        let path = desk.beside(name);
        for beside in fs::read_dir(path.parent().unwrap()).unwrap().flatten().map(|entry| entry.path()) {
            let text = beside.to_str().unwrap();
            if text.contains("-new") || text.contains("-folder") || text.ends_with("-escape") {
                found.insert(beside.clone(), Vec::new());
            }
        }
        found.insert(path.clone(), fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())));
    }
    found
}

fn with_secrets(desk: &Desk, args: &[&str]) -> Said {
    let mut command = desk.command(args);
    command.envs(SECRETS.iter().map(|name| (*name, VALUE)));
    let done = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { code: done.status.code().unwrap_or(-1), out: text(done.stdout), err: text(done.stderr) }
}

/// What went through, and that everything was tried.
fn judge(desk: &Desk, who: &str, tried: usize, before: &BTreeMap<PathBuf, Vec<u8>>) {
    assert!(tried >= 90, "{who}: {tried}");
    assert_eq!(desk.read("tried.txt").trim(), tried.to_string(), "{who}: not all were tried");
    assert_eq!(desk.read("escaped.txt"), "", "{who}: these went through");
    assert_eq!(&outside(desk), before, "{who}");
    for folder in ["/tmp", "/var/tmp", "/etc", "/run", "/usr/local/bin"] {
        assert!(!Path::new(folder).join(format!("{EVIL}-escape")).exists(), "{who}: {folder}");
    }
}

#[test]
fn a_command_and_every_cli_agent_try_all_ways_out_and_find_none() {
    if !landlock("all ways out of an agent") {
        return;
    }
    for kind in &KINDS {
        let desk = Desk::repository(&[("a.txt", "one\n"), ("b.txt", "mine\n")]);
        desk.program("c", &format!("cat >/dev/null\ncat <<'END'\n{}\nEND", passed(1)));
        // It is configured before: its file is one of the precious.
        kind.agent(&desk, "w", ":", "done", "");
        lay_out(&desk);
        let attempts = attempts(&desk, true);
        kind.write(&desk, "w", &script(&attempts), "done");
        let before = outside(&desk);
        let said = with_secrets(&desk, &crate::powers::desk::AUDIT);
        assert_eq!(said.code, 0, "{}: {}", kind.name, said.err);
        judge(&desk, kind.name, attempts.len(), &before);
    }
}

#[test]
fn the_commands_of_a_model_try_all_ways_out_and_find_none() {
    if !landlock("all ways out of a tool") {
        return;
    }
    let desk = pursuit(&[], &[PROGRESSING]);
    desk.write("b.txt", "mine\n");
    lay_out(&desk);
    // Without the network it may listen: on a loopback of its own.
    let attempts = attempts(&desk, false);
    let text = script(&attempts);
    let mut turns: Vec<_> = Vec::new();
    for (n, part) in text.as_bytes().chunks(6000).enumerate() {
        turns.push(writes(&format!("parts/{n:02}"), std::str::from_utf8(part).unwrap()));
    }
    turns
        .push(runs("cat parts/* >\"$TMPDIR/tries.sh\"; rm -r parts; sh \"$TMPDIR/tries.sh\"; cat tried.txt"));
    turns.extend([writes("done.txt", "x"), reads("done.txt").then(claims("done"))]);
    hire(&desk, "w", &turns, "");
    let before = outside(&desk);
    let said = with_secrets(&desk, &GOAL);
    assert_eq!(said.code, 0, "{}", said.err);
    judge(&desk, "run_command", attempts.len(), &before);
}

/// Sabotage: with nothing to hold it, the same script gets out wherever that harms only this test.
#[test]
fn without_a_sandbox_the_same_ways_lead_out() {
    let desk = Desk::repository(&[("a.txt", "one\n"), ("b.txt", "mine\n")]);
    desk.program("c", &format!("cat >/dev/null\ncat <<'END'\n{}\nEND", passed(1)));
    KINDS[0].agent(&desk, "w", ":", "done", "sandbox = \"off\"\n");
    lay_out(&desk);
    let path = desk.beside("out/mine.txt");
    let harmless: Vec<String> = DEEDS
        .iter()
        .map(|action| {
            format!("echo mine >X; {action}").replace('E', EVIL).replace('X', path.to_str().unwrap())
        })
        .collect();
    KINDS[0].write(&desk, "w", &script(&harmless), "done");
    let said = desk.audit(&[]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(desk.read("escaped.txt").lines().count(), DEEDS.len(), "{}", desk.read("escaped.txt"));
}
