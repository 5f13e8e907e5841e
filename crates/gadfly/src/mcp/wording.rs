//! Problems are worded for a terminal, where settings are flags; a model reads them with the names of its arguments.

/// Flags, and what they are called here.
const NAMES: [(&str, &str); 10] = [
    ("worker", "`worker`"),
    ("critic", "`critic`"),
    ("rounds", "`rounds`"),
    ("protocol", "`protocol`"),
    ("draft", "`draft`"),
    ("rubric", "`rubric`"),
    ("criterion", "`criteria`"),
    ("criteria", "`criteria` of a loop in gadfly.toml"),
    ("task-file", "`task`"),
    ("out", "`out` of the loop"),
];

/// The same text without flags.
pub fn for_model(text: &str) -> String {
    let mut said = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("--") {
        let end = after.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(after.len());
        let known = NAMES.iter().find(|(flag, _)| *flag == &after[..end]);
        // A flag of another program is part of a longer word or stands in quotes.
        let Some((_, name)) = known.filter(|_| before.is_empty() || before.ends_with([' ', '`', '('])) else {
            said.push_str(before);
            said.push_str("--");
            rest = after;
            continue;
        };
        said.push_str(before.strip_suffix('`').unwrap_or(before));
        said.push_str(name);
        rest = without_value(after[end..].strip_prefix('`').unwrap_or(&after[end..]));
    }
    said.push_str(rest);
    said
}

/// Without the placeholder that follows a flag, as in `--rubric FILE` and `--criterion "…"`.
fn without_value(after: &str) -> &str {
    let Some(value) = after.strip_prefix(' ') else { return after };
    if let Some(rest) = value.strip_prefix("\"…\"") {
        return rest;
    }
    let end = value.find(|c: char| !c.is_ascii_uppercase()).unwrap_or(value.len());
    if end > 1 { &value[end..] } else { after }
}

#[cfg(test)]
mod tests {
    use super::for_model;

    #[test]
    fn flags_become_arguments() {
        let said = [
            (
                "the rubric is empty (use --rubric FILE with one item per line)",
                "the rubric is empty (use `rubric` with one item per line)",
            ),
            ("--rounds must be a whole number", "`rounds` must be a whole number"),
            (
                "`--critic` names agent `x`, which is not configured",
                "`critic` names agent `x`, which is not configured",
            ),
            ("add --criterion \"…\", or `criteria = [\"…\"]`", "add `criteria`, or `criteria = [\"…\"]`"),
            (
                "use --worker NAME, or set `worker` in [defaults]",
                "use `worker`, or set `worker` in [defaults]",
            ),
        ];
        for (terminal, model) in said {
            assert_eq!(for_model(terminal), model);
        }
    }

    #[test]
    fn what_is_no_flag_of_ours_stays() {
        for text in
            ["", "--", "a -- b", "like [\"./c.sh\", \"--strict\"]", "gadfly mcp --trust", "--critical"]
        {
            assert_eq!(for_model(text), text);
        }
    }
}
