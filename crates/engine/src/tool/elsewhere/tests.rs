//! Lines that name places outside the folder, and everyday lines that do not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

const ROOT: &str = "/home/me/goal";

#[test]
fn plain_forms_are_never_missed() {
    for (line, named) in [
        ("cat /home/me/.ssh/id_rsa", "/home/me/.ssh/id_rsa"),
        ("cat /home/me/goal-evil/x", "/home/me/goal-evil/x"),
        ("cat ../x", "../x"),
        ("cat src/../../x", "src/../../x"),
        ("cat ~/.bashrc", "~/.bashrc"),
        ("ls ~", "~"),
        ("ls ~root", "~root"),
        ("cat $HOME/x", "$HOME"),
        ("cat \"${HOME}/x\"", "$HOME"),
        ("echo x > /etc/passwd", "/etc/passwd"),
        ("echo x >/etc/passwd", "/etc/passwd"),
        ("echo x >> /usr/local/x", "/usr/local/x"),
        ("echo x >| /opt/x", "/opt/x"),
        ("make &> /usr/log", "/usr/log"),
        ("make 2>/usr/log", "/usr/log"),
        ("make >& /usr/log", "/usr/log"),
        ("echo x | tee /etc/x", "/etc/x"),
        ("echo x | tee -a /etc/x", "/etc/x"),
        ("git -C /home/me/other status", "/home/me/other"),
        ("git -C .. status", ".."),
        ("git -C /usr/src status", "/usr/src"),
        ("cd /usr && ls", "/usr"),
        ("cd ..", ".."),
        ("cd a && cd ../..", "../.."),
        ("cd; ls", "~"),
        ("cd", "~"),
        ("cd && rm -rf x", "~"),
        ("cd -", "-"),
        ("cd \"$DIR\"", "$DIR"),
        ("pushd /var", "/var"),
        ("(cd sub; ls); cat ../x", "../x"),
        ("cd sub || true; cat ../x", "../x"),
        ("rm -rf /", "/"),
        ("rm -rf /*", "/*"),
        ("ls /", "/"),
        ("find / -name x", "/"),
        ("cp a /usr/local/bin/a", "/usr/local/bin/a"),
        ("dd if=a of=/dev/sda", "/dev/sda"),
        ("sed -i s/a/b/ /etc/hosts", "/etc/hosts"),
        ("tar xf a.tar -C /usr", "/usr"),
        ("tar -C/usr -xf a", "/usr"),
        ("X=/home/me/other cargo run", "/home/me/other"),
        ("cargo run --manifest-path=/home/me/o/Cargo.toml", "/home/me/o/Cargo.toml"),
        ("cat '/home/me/x'", "/home/me/x"),
        ("cat /ho\"me\"/me/x", "/home/me/x"),
        ("cat \\/root/x", "/root/x"),
        ("cat </root/x", "/root/x"),
        ("sh -c 'cat /root/x'", "/root/x"),
        ("python -c \"open('/root/x','w')\"", "/root/x"),
        ("python3 -c \"import os; os.remove('/root/x')\"", "/root/x"),
        ("echo \"$(cat /root/x)\"", "/root/x"),
        ("echo `cat /root/x`", "/root/x"),
        ("curl file:///root/x", "/root/x"),
        ("cat /usr/../root/x", "/root/x"),
        ("PATH=/root/bin:$PATH x", "/root/bin"),
        ("scp a host:/root/x", "/root/x"),
        ("/root/x.sh", "/root/x.sh"),
        ("../x.sh", "../x.sh"),
        ("cargo build\nrm -rf ../x", "../x"),
        ("bash <<EOF\ncat /root/x\nEOF", "/root/x"),
        ("cat <<EOF > a\n$(cat /root/x)\nEOF", "/root/x"),
        ("cat > /root/x <<'EOF'\nhi\nEOF", "/root/x"),
        ("cat > a <<'EOF'\nhi\nEOF\ncat /root/x", "/root/x"),
        ("cat <<'EOF' | sh\ncat /root/x\nEOF", "/root/x"),
        ("grep -r secret /home/me", "/home/me"),
        ("grep x $HOME/a", "$HOME"),
        ("grep -f /root/x a", "/root/x"),
        ("awk '{print > \"/root/x\"}' a", "/root/x"),
        ("sh -c 'rm -rf /etc/x'", "/etc/x"),
        ("echo \"$(rm -rf /etc/x)\"", "/etc/x"),
    ] {
        assert_eq!(names_elsewhere(line, ROOT).as_deref(), Some(named), "{line}");
    }
    assert!(names_elsewhere(&"a ".repeat(100_000), ROOT).is_some());
}

#[test]
fn everyday_lines_raise_no_alarm() {
    for line in [
        "cargo test",
        "cargo test 2>&1 | tail -20",
        "cargo test > /dev/null 2>&1",
        "npm test >/dev/null",
        "ls -la src/ tests/",
        "cat /home/me/goal/src/a.rs",
        "cd /home/me/goal && make",
        "cd sub && make && cd ..",
        "cd sub/deep && cat ../x",
        "git -C sub status",
        "git diff HEAD~1",
        "git log v1..v2",
        "git diff main...HEAD",
        "go test ./...",
        "python3 -m pytest tests/test_a.py::test_b",
        "/usr/bin/env python3 a.py",
        "cat /etc/os-release",
        "grep -rn \"/api/users\" src",
        "rg '/home' src",
        "curl -s https://example.org/a/b",
        "curl -s http://localhost:3000/api | head",
        "sed -i 's/a/b/g' src/a.rs",
        "sed -n 's#a#b#p' a",
        "echo a/b",
        "sed -n '/begin/,/end/p' a",
        "awk '/x/ {print $1}' a",
        "git commit -m 'Fix and/or slashes'",
        "cp backup~ backup",
        "cat > index.html <<'EOF'\n<a href=\"/about\">~/x</a>\nEOF\nls",
        "cat <<EOF > a\n/root\nEOF",
        "cat > a.js <<'EOF'\nconst x = `/a/${b}`;\nEOF",
        "# cat /root/x",
        "echo a # see /root/x",
        "gcc -I/usr/include a.c",
        "rm -rf target",
        "mkdir -p a/b && touch a/b/c",
        "",
    ] {
        assert_eq!(names_elsewhere(line, ROOT), None, "{line}");
    }
}

#[test]
fn broken_lines_are_read_to_their_end() {
    for line in ["'", "\"", "\\", "<<", ">", "$(", "`", "cat <<'", "&", "a '\u{0}' \"\\", "cat <<EOF"] {
        let _ = names_elsewhere(line, ROOT);
    }
    let quotes = "'\"\\$(`<<".repeat(6000);
    let _ = names_elsewhere(&quotes, ROOT);
    let data = "cat <<E\n".repeat(7000);
    let _ = names_elsewhere(&data, ROOT);
}
