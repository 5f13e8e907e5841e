//! Agents by their files: who somebody is, what it may use. Not how it is reached: that is `[agents.NAME]`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gadfly_engine::digest::Digest;

use super::frontmatter::{self, Frontmatter};
use super::reading::LayoutReader;
use crate::place::{Problem, SourceSpan, brief};

/// More agents than these are not read.
pub const MOST_AGENTS: usize = 2_000;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentFile {
    pub name: String,
    /// From the project's root.
    pub path: PathBuf,
    /// Of the name, else the top of the file.
    pub place: SourceSpan,
    pub description: Option<String>,
    /// None: the file restricts nothing.
    pub tools: Option<Vec<String>>,
    /// A hint; none for `inherit`.
    pub model: Option<String>,
    /// Who it is: the text without frontmatter.
    pub body: String,
    pub role: AgentRole,
    /// A part of another agent's instructions: nobody to dispatch.
    pub module: bool,
    /// Of all bytes.
    pub digest: Digest,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AgentRole {
    Creator,
    Critic,
    Infrastructure,
    Unknown,
}

impl AgentFile {
    /// Whether its tools let it make files. Without a list it has all.
    pub fn can_write(&self) -> bool {
        let writes = |tool: &String| {
            let name = tool.split('(').next().unwrap_or(tool).trim();
            ["write", "edit", "multiedit", "notebookedit"].iter().any(|w| name.eq_ignore_ascii_case(w))
        };
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(writes))
    }
}

/// A name as the registry and the configuration can write it.
pub(super) fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=64).contains(&text.chars().count())
        && text.starts_with(char::is_alphanumeric)
        && text.chars().all(fits)
}

pub(super) fn read_all(
    reader: &mut LayoutReader<'_>,
    folder: &Path,
    guessed: &mut Vec<Problem>,
) -> BTreeMap<String, AgentFile> {
    let mut agents: BTreeMap<String, AgentFile> = BTreeMap::new();
    for entry in reader.entries_if_there(folder) {
        let Some(stem) = stem(&entry.name).filter(|_| !entry.is_folder) else { continue };
        if agents.len() >= MOST_AGENTS {
            let message = format!("there are more than {MOST_AGENTS} agents; the rest was passed over");
            reader.problems.push(Problem::warning(message));
            break;
        }
        let Some(text) = reader.text_if_there(&entry.path) else { continue };
        let Some(agent) = read(&entry.path, stem, &text, guessed) else { continue };
        if let Some(other) = agents.get(&agent.name) {
            let (name, first) = (brief(&agent.name), other.path.display());
            let message = format!("two files are agent `{name}`; `{first}` counts");
            let help = "give one of them another `name`";
            reader.problems.push(Problem::error(message).help(help).at(Some(&agent.place)));
        } else {
            agents.insert(agent.name.clone(), agent);
        }
    }
    agents
}

/// The name of a Markdown file without its ending.
fn stem(name: &str) -> Option<&str> {
    let (stem, ending) = name.rsplit_once('.')?;
    (ending.eq_ignore_ascii_case("md") && !stem.is_empty()).then_some(stem)
}

/// None for a file that is about agents and is none.
fn read(path: &Path, stem: &str, text: &str, guessed: &mut Vec<Problem>) -> Option<AgentFile> {
    let found = frontmatter::read(text);
    if !found.is_present && stem.eq_ignore_ascii_case("readme") {
        return None;
    }
    super::say_guesses(path, text, &found, guessed);
    let top = SourceSpan::new(path, text, 0..0);
    let place = found.span_of("name").map_or(top, |span| SourceSpan::new(path, text, span));
    let name = name(&found, stem, &place, guessed)?;
    let body = text.get(found.body_start..).unwrap_or_default().trim();
    let tools = found.list("tools").or_else(|| found.list("allowed-tools"));
    let is_all = |tools: &Vec<String>| tools.iter().any(|t| t == "*" || t.eq_ignore_ascii_case("all"));
    let role = role(&name, body, &place, guessed);
    Some(AgentFile {
        name,
        path: path.to_owned(),
        description: found.text("description"),
        tools: tools.filter(|tools| !is_all(tools)),
        model: found.text("model").filter(|model| !model.eq_ignore_ascii_case("inherit")),
        body: body.to_owned(),
        role,
        module: found.is_true("module"),
        digest: Digest::of(text.as_bytes()),
        place,
    })
}

fn name(found: &Frontmatter, stem: &str, place: &SourceSpan, guessed: &mut Vec<Problem>) -> Option<String> {
    let mut say = |message: String| guessed.push(Problem::warning(message).at(Some(place)));
    match found.text("name") {
        Some(name) if is_name(&name) => return Some(name),
        Some(name) => say(format!("`{}` is no name for an agent; it is named after its file", brief(&name))),
        None => say("the file states no `name`; the agent is named after the file".into()),
    }
    if is_name(stem) {
        return Some(stem.to_owned());
    }
    say(format!("`{}` is no name for an agent either; the file was passed over", brief(stem)));
    None
}

/// What the file says it is, in the words such files use; else what its name says.
fn role(name: &str, body: &str, place: &SourceSpan, guessed: &mut Vec<Problem>) -> AgentRole {
    const MARKS: [(&str, AgentRole); 6] = [
        ("you are a critic", AgentRole::Critic),
        ("you are the critic", AgentRole::Critic),
        ("you are a creator", AgentRole::Creator),
        ("you are the creator", AgentRole::Creator),
        ("you are infrastructure", AgentRole::Infrastructure),
        ("you are an infrastructure", AgentRole::Infrastructure),
    ];
    let said: String =
        body.chars().filter(|c| !matches!(c, '*' | '_')).flat_map(char::to_lowercase).collect();
    let first = MARKS.iter().filter_map(|(mark, role)| said.find(mark).map(|at| (at, *role)));
    if let Some((_, role)) = first.min_by_key(|(at, _)| *at) {
        return role;
    }
    if name.ends_with("-critic") {
        let message = format!("agent `{name}` is taken for a critic because of its name");
        guessed.push(
            Problem::warning(message).help("its file does not say \"You are a CRITIC\"").at(Some(place)),
        );
        return AgentRole::Critic;
    }
    AgentRole::Unknown
}
