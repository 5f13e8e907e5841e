//! The tools of our own a model is told of: names, what they are for, the shape of their arguments. How a call
//! is read is `request.rs`, how it is done is the runtime's.

use serde_json::{Value, json};

use super::json::sorted;
use super::{Offered, SHOWN};

/// The tools every worker of a goal has.
pub fn builtin() -> Vec<Offered> {
    let kib = SHOWN / 1024;
    vec![
        offered(
            "run_command",
            &format!(
                "Runs a shell line in the project's folder and gives its exit code and output; no process of it is left \
                 running afterwards. At most {kib} KiB of output is shown; a longer one is kept as `output:N` for read_file."
            ),
            &json!({
                "command": text("The line, for `sh -c`."),
                "timeout_seconds": whole("The most time it gets."),
            }),
            &["command"],
        ),
        offered(
            "read_file",
            &format!(
                "Shows lines of a text file, at most {kib} KiB at once: ask for further lines with `from`. Also reads an \
                 output that was kept, by its name (`output:12`)."
            ),
            &json!({
                "path": text("Relative to the project's folder, or `output:N`."),
                "from": whole("The first line, counted from 1."),
                "lines": whole("How many lines."),
            }),
            &["path"],
        ),
        offered(
            "write_file",
            "Writes a whole text file, and the folders above it; a file that is there is replaced. To change a part of a \
             file use edit_file.",
            &json!({
                "path": text("Relative to the project's folder."),
                "content": text("All of the file."),
            }),
            &["path", "content"],
        ),
        offered(
            "edit_file",
            "Replaces a piece of text in a file. The old text must occur exactly once, whitespace included, unless `all` is \
             true.",
            &json!({
                "path": text("Relative to the project's folder."),
                "old": text("The text that is there now, verbatim."),
                "new": text("What stands in its place."),
                "all": {"type": "boolean", "description": "Replace it wherever it occurs."},
            }),
            &["path", "old", "new"],
        ),
        offered(
            "list_files",
            "Lists the files below a folder, without those the project ignores. A long list is cut and kept as `output:N`.",
            &json!({"path": text("A folder, relative to the project's folder; the project's folder itself if left out.")}),
            &[],
        ),
        offered(
            "search_files",
            "Shows the lines that match a regular expression, with file and line number. Many matches are cut and kept as \
             `output:N`.",
            &json!({
                "pattern": text("A regular expression, matched against each line."),
                "path": text("A file or folder, relative to the project's folder; all of it if left out."),
            }),
            &["pattern"],
        ),
        offered(
            "fetch_url",
            "Gets a page from the web and shows its status and text. A long page is cut and kept as `output:N`.",
            &json!({"url": text("An http or https address.")}),
            &["url"],
        ),
    ]
}

/// What a worker of a goal starts so that it stays up.
pub fn processes() -> Vec<Offered> {
    let name = || text("Its name: letters, digits, `-` and `_`, at most 32.");
    vec![
        offered(
            "start_process",
            "Starts something that must stay up, such as a server: what run_command starts ends with the command. It has the \
             same folder and sandbox, and your commands reach it at 127.0.0.1. It is stopped when the goal ends.",
            &json!({"name": name(), "command": text("A line for `sh -c` that does not end and stays in the foreground.")}),
            &["name", "command"],
        ),
        offered("list_processes", "Lists the processes you started, and whether they run.", &json!({}), &[]),
        offered(
            "read_process_log",
            "Shows whether a process runs or how it ended, and what it wrote: the end of it.",
            &json!({"name": name()}),
            &["name"],
        ),
        offered(
            "stop_process",
            "Stops a process you started, with everything that it started.",
            &json!({"name": name()}),
            &["name"],
        ),
    ]
}

/// How a worker ends its goal: the only two ways it has.
pub fn goal_end() -> Vec<Offered> {
    vec![
        offered(
            "claim_complete",
            "Says that the goal is reached. The success criterion is then checked; if it does not hold, you are told why and \
             go on.",
            &json!({"rationale": text("Why the goal is reached, and how you know.")}),
            &["rationale"],
        ),
        offered(
            "abort_with_report",
            "Gives the goal up, when no further progress can be made. Say what whoever goes on needs to know.",
            &json!({
                "reason": text("Why it cannot be reached."),
                "what_was_learned": text("What you found out and tried."),
            }),
            &["reason", "what_was_learned"],
        ),
    ]
}

/// The tools as a JSON array, the same text for the same tools.
pub fn as_text(tools: &[Offered]) -> String {
    let tools = tools
        .iter()
        .map(|t| json!({"name": t.name, "description": t.description, "schema": t.schema}))
        .collect();
    sorted(&Value::Array(tools))
}

fn offered(name: &str, description: &str, properties: &Value, required: &[&str]) -> Offered {
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    Offered { name: name.to_owned(), description: description.to_owned(), schema }
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn whole(description: &str) -> Value {
    json!({"type": "integer", "minimum": 1, "description": description})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_says_what_it_is_for_and_refuses_unknown_arguments() {
        for tool in builtin().into_iter().chain(processes()).chain(goal_end()) {
            assert!(tool.description.ends_with('.'), "{}", tool.name);
            assert_eq!(tool.schema["additionalProperties"], false, "{}", tool.name);
            let properties = tool.schema["properties"].as_object().unwrap();
            for key in tool.schema["required"].as_array().unwrap() {
                assert!(properties.contains_key(key.as_str().unwrap()), "{}: {key}", tool.name);
            }
        }
    }

    #[test]
    fn the_offer_is_the_same_text_each_time_and_reads_back() {
        let text = as_text(&builtin());
        assert_eq!(text, as_text(&builtin()));
        let back: Vec<Offered> = serde_json::from_str(&text).unwrap();
        assert_eq!(back, builtin());
        assert_eq!(as_text(&back), text, "whatever order a map had");
    }
}
