//! Which calls wait for something: doing such a call again is no circle. Known by an explicit list only; what is
//! not on it counts as work.

use serde_json::Value;

/// Does the call wait, or wait and then look?
pub fn is_waiting(tool: &str, args: &str) -> bool {
    if tool == "run_command" {
        let line = match serde_json::from_str(args) {
            Ok(Value::Object(mut map)) => map.remove("command"),
            _ => None,
        };
        return line.is_some_and(|line| line.as_str().is_some_and(waits));
    }
    let name = tool.rsplit_once("__").map_or(tool, |(_, name)| name).to_ascii_lowercase();
    ["wait", "poll"].iter().any(|begin| name.starts_with(begin))
}

/// Is one of its commands a wait?
fn waits(line: &str) -> bool {
    line.split([';', '&', '|', '\n', '(', ')']).any(|command| {
        let mut words = command.split_whitespace().skip_while(|word| matches!(*word, "do" | "then" | "{"));
        match words.next() {
            Some("sleep") => words.next().is_some_and(is_some_time),
            Some("wait") => true,
            Some("timeout") => words.any(|word| word == "sleep"),
            Some("tail") => words.any(|word| matches!(word, "-f" | "-F" | "--follow")),
            Some("gh") => words.next() == Some("run") && words.next() == Some("watch"),
            _ => false,
        }
    })
}

/// `sleep 0` before a call would make everything a wait.
fn is_some_time(word: &str) -> bool {
    word.starts_with('$') || word.chars().any(|c| ('1'..='9').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_known_by_a_list() {
        let command = |line: &str| serde_json::json!({"command": line}).to_string();
        for line in [
            "sleep 5",
            "wait",
            "timeout 60 sleep 30",
            "sleep 30 && curl -s localhost:3000/status",
            "sleep 10; gh run list",
            "gh run watch 12",
            "tail -f log",
            "while ! nc -z localhost 80; do sleep 1; done",
        ] {
            assert!(is_waiting("run_command", &command(line)), "{line}");
        }
        for line in ["cargo test", "sleep 0; cargo test", "echo sleep 5", "sleeper 5", "cat wait.txt", ""] {
            assert!(!is_waiting("run_command", &command(line)), "{line}");
        }
        assert!(is_waiting("ci__wait_for_build", "{}"));
        assert!(is_waiting("poll_status", "{}"));
        assert!(!is_waiting("ci__status", "{}"));
        assert!(!is_waiting("read_file", "{}"));
        assert!(!is_waiting("run_command", "sleep 5"), "no arguments that could be read");
    }
}
