//! What a person is shown of a call beside the reason for asking: all that the reason leaves out, as far as anybody
//! reads. Whoever agrees to a command must have seen how it ends.

use serde_json::Value;

/// Of a longer value the beginning and the end are shown, and how much is not.
const HEAD: usize = 3000;
const TAIL: usize = 1000;
/// Values that are shown.
const MOST: usize = 16;

/// The values of a call's arguments that do not stand in the reason word for word; none if all do.
pub fn in_full(args: &str, reason: &str) -> Option<String> {
    let Ok(Value::Object(args)) = serde_json::from_str(args) else { return None };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    let said = |text: &str| reason.contains(&format!("`{text}`"));
    let left_out: Vec<(&String, String)> =
        args.iter().map(|(name, value)| (name, text(value))).filter(|(_, text)| !said(text)).collect();
    let mut shown: Vec<String> = left_out
        .iter()
        .take(MOST)
        .map(|(name, text)| {
            let line_or_lines = if text.contains('\n') { "\n" } else { " " };
            plain(&format!("{}:{line_or_lines}{}", ends(name), ends(text)))
        })
        .collect();
    if left_out.len() > MOST {
        shown.push(format!("[{} more arguments are not shown]", left_out.len() - MOST));
    }
    (!shown.is_empty()).then(|| shown.join("\n"))
}

fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect()
}

/// All of a text, or how it begins and ends.
fn ends(text: &str) -> String {
    let count = text.chars().count();
    let Some(hidden) = count.checked_sub(HEAD + TAIL).filter(|hidden| *hidden > 0) else {
        return text.to_owned();
    };
    let head: String = text.chars().take(HEAD).collect();
    let tail: String = text.chars().skip(count - TAIL).collect();
    format!("{head}\n[{hidden} of its {count} characters are not shown here]\n{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_reason_says_is_not_said_again() {
        assert_eq!(in_full(r#"{"command":"ls"}"#, "`run_command` wants to run `ls`: it counts"), None);
        assert_eq!(in_full("{}", "x"), None);
    }

    #[test]
    fn how_a_long_command_ends_is_shown() {
        let command = format!("echo {}; rm -rf x", "harmless ".repeat(30));
        let shown = in_full(&serde_json::json!({ "command": command }).to_string(), "wants to run `echo…`");
        assert_eq!(shown, Some(format!("command: {command}")));
        let command = format!("echo {}; rm -rf x", "harmless ".repeat(3000));
        let shown = in_full(&serde_json::json!({ "command": command }).to_string(), "").unwrap_or_default();
        assert!(shown.ends_with("; rm -rf x") && shown.len() < 5000, "{shown}");
        assert!(shown.contains("[23015 of its 27015 characters are not shown here]"), "{shown}");
    }

    #[test]
    fn what_is_written_is_shown_line_by_line() {
        let shown = in_full(r#"{"path":"/h/.profile","content":"a\nb\u001b[2J"}"#, "write `/h/.profile`: ");
        assert_eq!(shown.as_deref(), Some("content:\na\nb [2J"));
    }

    #[test]
    fn no_number_of_arguments_makes_a_question_endless() {
        let args: serde_json::Map<String, Value> =
            (0..1000).map(|n| (format!("a{n}"), Value::from("x".repeat(9000)))).collect();
        let shown = in_full(&Value::Object(args).to_string(), "").unwrap_or_default();
        assert!(shown.len() < 80_000 && shown.ends_with("[984 more arguments are not shown]"));
    }
}
