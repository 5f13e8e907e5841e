//! What a tool prints of itself in a reply: calls and what they gave, commands and their output, lines with a time. It is no
//! part of the review. A line that tells of trouble, or speaks of a verdict, stays and is weighed like any other.

use super::forms;

/// Verbs and names that tools call their steps.
const STEPS: [&str; 24] = [
    "read",
    "bash",
    "write",
    "edit",
    "grep",
    "glob",
    "search",
    "run",
    "tool",
    "open",
    "list",
    "ls",
    "cat",
    "fetch",
    "exec",
    "call",
    "view",
    "shell",
    "task",
    "function",
    "command",
    "invoke",
    "step",
    "executing",
];
/// What an agent sets itself to do.
const TICKED: [&str; 14] = [
    "read", "check", "review", "verify", "compare", "count", "judge", "decide", "assess", "evaluate",
    "inspect", "run", "open", "examine",
];
/// Elements in which a call, or what it gave, is printed.
const TAGS: [&str; 4] = ["function_", "invoke", "parameter", "tool_"];
/// Labels before what a tool says.
const LABELS: [&str; 21] = [
    "tool_use",
    "tool_result",
    "tool_call",
    "tool call",
    "tool result",
    "tool",
    "function_call",
    "workdir",
    "model",
    "provider",
    "sandbox",
    "session id",
    "session",
    "reasoning effort",
    "reasoning summaries",
    "version",
    "exit code",
    "stdout",
    "cwd",
    "duration",
    "tokens",
];
const TROUBLE: [&str; 19] = [
    "error",
    "fail",
    "warn",
    "exception",
    "traceback",
    "not found",
    "no such",
    "denied",
    "timed out",
    "timeout",
    "truncat",
    "cannot",
    "can't",
    "unable",
    "could not",
    "missing",
    "does not",
    "empty",
    "skipped",
];
const NO_TROUBLE: [&str; 9] = [
    "0 errors",
    "0 failed",
    "0 warnings",
    "no errors",
    "0 failures",
    "no warnings",
    "0 skipped",
    "no failures",
    "errors: 0",
];
/// A line with one of these may be the review itself.
const SPOKEN: [&str; 10] =
    ["reject", "approv", "status", "verdict", "score", "criteri", "deduct", "satisf", "rubric", "must"];

/// The reply without the lines that a tool printed; none if there are none.
pub(super) fn without(text: &str) -> Option<String> {
    if banner(text) == 0 && !text.lines().any(|line| begins(line).is_some()) {
        return None;
    }
    let mut kept = String::with_capacity(text.len());
    let text = &text[banner(text)..];
    // Where tools are called, what the agent says begins with the same mark as a call.
    let is_called = text.lines().any(|line| line.trim_start().starts_with('⎿'));
    // The output of a command reaches up to the next blank line.
    let mut output = false;
    for line in text.lines() {
        let begun = begins(line);
        output = !line.trim().is_empty() && begun.unwrap_or(output);
        if (begun.is_none() && !output) || is_of_the_review(line) && !is_ticked(line) {
            let spoken = line.trim_start().strip_prefix(['●', '⏺']).filter(|_| is_called && begun.is_none());
            kept.push_str(spoken.map_or(line, str::trim_start));
        }
        kept.push('\n');
    }
    Some(kept)
}

/// How long the banner is that a program begins with: its name and version, and what it was called with.
fn banner(text: &str) -> usize {
    let versioned = |line: &str| {
        let mut versions = line.split_whitespace().filter_map(|word| word.strip_prefix('v'));
        line.len() < 60 && versions.any(|v| v.starts_with(|c: char| c.is_ascii_digit()) && v.contains('.'))
    };
    let mut length = 0;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let body = line.trim();
        let setting = body.split_once(": ").is_some_and(|(label, value)| {
            label.split_whitespace().count() <= 2 && !value.contains(". ") && forms::status(body).is_none()
        });
        let is_rule = !body.is_empty() && body.chars().all(|c| c == '-');
        if !(if at == 0 { versioned(body) } else { setting || is_rule }) {
            break;
        }
        length += line.len();
    }
    length
}

fn is_of_the_review(line: &str) -> bool {
    let mut lower = line.to_lowercase();
    for phrase in NO_TROUBLE {
        lower = lower.replace(phrase, "");
    }
    TROUBLE.iter().chain(&SPOKEN).any(|word| lower.contains(word))
        || line.trim_start().starts_with(['{', '}', '"', '|', '#', '>'])
}

/// Is this a step that an agent has ticked off? It may name what is reviewed.
fn is_ticked(line: &str) -> bool {
    let step = line.trim_start().strip_prefix(['☒', '☑', '✔']);
    step.and_then(|step| step.split_whitespace().next()).is_some_and(|verb| is_one(verb, &TICKED))
        && !TROUBLE.iter().any(|word| line.to_lowercase().contains(word))
}

/// Does a tool's line begin here, and does output follow it?
fn begins(line: &str) -> Option<bool> {
    let body = line.trim();
    let bare = body.trim_start_matches(['●', '⏺', '•', '*', '-', '>', '→', '✔', '✓', ' ']);
    if body.starts_with(['⎿', '└']) {
        return Some(true);
    }
    // `• Ran wc -w d.md`, with what it printed below.
    if body.starts_with(['•', '●']) && bare.starts_with("Ran ") {
        return Some(true);
    }
    // `☒ Read the draft`: a step of a list that an agent ticks off.
    if is_ticked(body) {
        return Some(false);
    }
    let tag = body.trim_start_matches(['<', '/']);
    if tag.len() < body.len() && TAGS.iter().any(|name| tag.starts_with(name)) {
        return Some(false);
    }
    if let Some(command) = body.strip_prefix("$ ") {
        return (!command.trim().is_empty()).then_some(true);
    }
    if let Some(inner) = bare.strip_prefix('[') {
        let end = inner.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(inner.len());
        let named = is_one(&inner[..end], &STEPS) && inner.contains(']');
        return (named || has_time(inner)).then_some(false);
    }
    if ["exec", "tokens used"].contains(&body) {
        return Some(true);
    }
    let is_log = ["Loaded cached credentials.", "codex", "thinking"].contains(&body)
        || has_time(bare)
        || is_call(bare)
        || is_labelled(bare)
        || is_metered(bare)
        || is_step_done(bare);
    is_log.then_some(false)
}

fn is_one(word: &str, of: &[&str]) -> bool {
    of.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// `2026-11-17 10:02:11`, `10:02:11]`
fn has_time(text: &str) -> bool {
    let digits = |from: usize, mark: u8| {
        let bytes = text.as_bytes();
        bytes.get(from).is_some_and(u8::is_ascii_digit)
            && bytes.get(from + 1).is_some_and(u8::is_ascii_digit)
            && bytes.get(from + 2) == Some(&mark)
    };
    digits(0, b':') && digits(3, b':')
        || digits(2, b'-') && digits(5, b'-') && text.as_bytes().get(13) == Some(&b':')
}

/// `Read(d.md)`, `read_file(path="d.md")`
fn is_call(text: &str) -> bool {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let first = name.split(|c: char| c == '_' || c.is_ascii_digit()).next().unwrap_or_default();
    is_one(first, &STEPS) && rest.starts_with('(') && rest.trim_end().ends_with([')', '…'])
}

/// `tool_result: 212 bytes`
fn is_labelled(text: &str) -> bool {
    text.split_once(':').is_some_and(|(label, value)| {
        is_one(label.trim(), &LABELS) && (!value.contains(". ") || value.contains('$'))
    })
}

/// `Thought for 4s`, `Completed in 3.4 seconds`, `Total cost: $0.003`: what something took or cost.
fn is_metered(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default().trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let begins = first.ends_with("ed")
        || is_one(
            &first,
            &[
                "thought", "took", "total", "cost", "tokens", "usage", "time", "session", "duration",
                "latency", "ran",
            ],
        );
    let unit = |word: &str| {
        let word = word.trim_matches(|c: char| !(c.is_alphanumeric() || c == '$'));
        let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
        let counted = unit.len() < word.len();
        word.starts_with('$') && word.len() > 1
            || counted && is_one(unit, &["s", "ms", "sec", "m", "min"])
            || is_one(word, &["seconds", "tokens", "minutes", "request", "requests", "turns"])
    };
    begins
        && text.split_whitespace().count() <= 12
        && text.contains(|c: char| c.is_ascii_digit())
        && text.split_whitespace().any(unit)
}

/// `Reading d.md... done.`
fn is_step_done(text: &str) -> bool {
    let first = text.split(' ').next().unwrap_or_default();
    let dots = ["...", "…"].iter().find_map(|dots| text.split_once(dots));
    first.ends_with("ing")
        && dots.is_some_and(|(_, tail)| {
            let tail = tail.trim_matches(|c: char| !c.is_alphanumeric());
            tail.is_empty()
                || is_one(tail, &["ok", "done", "passed", "yes", "found", "success", "met", "complete"])
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tool_prints_is_no_review() {
        for text in [
            "● Read(d.md)\n  ⎿  Read 1 line",
            "$ wc -w d.md\n41 d.md",
            "• Ran wc -w d.md\n  └ 41 d.md",
            "[2026-11-17 10:02:11] INFO loading",
            "10:02:11 INFO loading",
            "[Bash: wc -w d.md]",
            "tool_result: 212 bytes",
            "Reading d.md... done.",
            "● Thought for 4s",
            "Completed in 3.4 seconds",
            "Total duration (API): 4.1s",
            "$ pytest\n1 passed, 0 failed",
            "OpenAI Codex v0.58.0\n--------\nmodel: x\napproval: never\n--------\ncodex\ntokens used\n3,418",
        ] {
            assert_eq!(without(text).unwrap().trim(), "", "{text}");
        }
    }

    #[test]
    fn what_is_said_or_went_wrong_stays() {
        for text in [
            "- State the sample size (12)",
            "● Name the test.",
            "Reading it, I found nothing wrong.",
            "[STATUS: APPROVED]",
            "- Test (two-sided)",
            "12:30 was the time.",
            "  ⎿  Error: File does not exist.",
            "$ cat d.md\ncat: d.md: No such file",
        ] {
            let kept = without(text).unwrap_or_else(|| text.to_owned());
            assert_eq!(kept.trim_end().lines().last(), text.lines().last(), "{text}");
        }
    }
}
