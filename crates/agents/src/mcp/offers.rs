//! What a server offers, as a model is told of it: names that every API takes, and bounds on everything.

use std::collections::BTreeSet;

use gadfly_engine::tool::Offered;
use rmcp::model::{PaginatedRequestParams, Tool};
use rmcp::{Peer, RoleClient, ServiceError};
use serde_json::{Value, json};

const MOST_TOOLS: usize = 128;
const MOST_PAGES: usize = 32;
const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 2 << 10;
const LONGEST_SCHEMA: usize = 32 << 10;
/// How many tools that were left out are named, and how much of a name.
const NAMED: usize = 10;
const SHOWN: usize = 80;

/// All pages, until there are more tools than are taken.
pub(super) async fn list(peer: &Peer<RoleClient>) -> Result<Vec<Tool>, ServiceError> {
    let (mut tools, mut cursor) = (Vec::new(), None);
    for _ in 0..MOST_PAGES {
        let page = peer.list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor))).await?;
        tools.extend(page.tools);
        cursor = page.next_cursor;
        if cursor.is_none() || tools.len() > MOST_TOOLS {
            break;
        }
    }
    Ok(tools)
}

/// The tools that can be offered, and sentences about the others.
pub(super) fn read(server: &str, tools: Vec<Tool>) -> (Vec<Offered>, Vec<String>) {
    let (mut offered, mut notes) = (Vec::new(), Vec::new());
    let (mut names, mut unusable) = (BTreeSet::new(), Vec::new());
    for tool in tools {
        let name = format!("{server}__{}", tool.name);
        if !is_name(&tool.name) || name.len() > LONGEST_NAME || names.contains(&name) {
            unusable.push(shown(&tool.name));
            continue;
        }
        if offered.len() == MOST_TOOLS {
            notes.push(format!(
                "MCP server `{server}` offers more than {MOST_TOOLS} tools; the rest is left out"
            ));
            break;
        }
        let mut schema = Value::Object(tool.input_schema.as_ref().clone());
        if schema.to_string().len() > LONGEST_SCHEMA {
            notes.push(format!(
                "the schema of `{name}` is longer than {LONGEST_SCHEMA} bytes and is left out"
            ));
            schema = json!({ "type": "object" });
        }
        let mut description = tool.description.unwrap_or_default().into_owned();
        description.truncate(description.floor_char_boundary(LONGEST_DESCRIPTION));
        names.insert(name.clone());
        offered.push(Offered { name, description, schema });
    }
    if !unusable.is_empty() {
        let more = unusable.len().saturating_sub(NAMED);
        unusable.truncate(NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        notes.push(format!(
            "tools of MCP server `{server}` whose names cannot be used (letters, digits, `_` and `-`, once each, \
             {LONGEST_NAME} with the server's name) are left out: {}{more}",
            unusable.join(", ")
        ));
    }
    (offered, notes)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn shown(name: &str) -> String {
    format!("`{}`", name.chars().take(SHOWN).flat_map(char::escape_debug).collect::<String>())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn tool(name: &str, description: &str, schema: &Value) -> Tool {
        let tool = json!({ "name": name, "description": description, "inputSchema": schema });
        serde_json::from_value(tool).unwrap()
    }

    #[test]
    fn names_no_api_takes_are_left_out_and_named() {
        let open = json!({ "type": "object" });
        let long = "x".repeat(62);
        let names = ["good-1", "bad name", "", "good-1", &long, "evil\u{202e}"];
        let (offered, notes) = read("s", names.iter().map(|name| tool(name, "", &open)).collect());
        assert_eq!(offered.iter().map(|o| o.name.as_str()).collect::<Vec<_>>(), ["s__good-1"]);
        assert_eq!(notes.len(), 1);
        assert!(notes[0].contains("`bad name`, ``, `good-1`, `xxx") && notes[0].contains("`evil\\u{202e}`"));
    }

    #[test]
    fn descriptions_schemas_and_the_number_of_tools_are_bounded() {
        let open = json!({ "type": "object" });
        let huge = json!({ "type": "object", "description": "x".repeat(LONGEST_SCHEMA) });
        let mut tools = vec![tool("t", &"é".repeat(LONGEST_DESCRIPTION), &huge)];
        tools.extend((0..MOST_TOOLS).map(|n| tool(&format!("t{n}"), "", &open)));
        let (offered, notes) = read("s", tools);
        assert_eq!((offered.len(), offered[0].description.len()), (MOST_TOOLS, LONGEST_DESCRIPTION));
        assert_eq!(offered[0].schema, open);
        assert_eq!(notes.len(), 2, "{notes:?}");
    }
}
