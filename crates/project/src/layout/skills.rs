//! Skills: a folder each, loaded in three levels. Read here are all three; what goes into which brief is decided by
//! whoever dispatches.

mod bundled;
mod mentions;
mod route;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use mentions::SavePath;
use mentions::SkillSection;
pub use route::SkillRoute;

use super::agents::{AgentFile, AgentRole};
use super::frontmatter;
use super::reading::LayoutReader;
use super::{Doc, tokens};
use crate::place::{Problem, SourceSpan, brief};

/// More skills than these are not read.
pub const MOST_SKILLS: usize = 2_000;
/// What the first level, the index, may cost for each skill.
pub const LEVEL_1: u32 = 100;
/// What the second, the text of SKILL.md, may cost.
pub const LEVEL_2: u32 = 5_000;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skill {
    pub name: String,
    /// Of its SKILL.md, from the project's root.
    pub path: PathBuf,
    pub place: SourceSpan,
    pub description: Option<String>,
    pub argument_hint: Option<String>,
    pub allowed_tools: Option<Vec<String>>,
    /// Level 2.
    pub body: String,
    /// The skill's own, then what this project learned.
    pub gotchas: Vec<Doc>,
    /// Level 3: what its folder holds besides, from the project's root.
    pub files: Vec<PathBuf>,
    /// Estimated, at four bytes a token.
    pub level1_tokens: u32,
    pub level2_tokens: u32,
    /// Paths it tells somebody to save at, as it writes them.
    pub saves: Vec<SavePath>,
    /// Agents with files, in the order of their first mention.
    mentioned: Vec<String>,
    /// How often it sends each agent out, where it says so.
    sent: BTreeMap<String, usize>,
    sections: Vec<SkillSection>,
}

impl Skill {
    /// Level 1 on one line: what the index shows.
    pub fn summary(&self) -> String {
        let hint = self.argument_hint.as_deref().map(|hint| format!(" {hint}")).unwrap_or_default();
        let about = self.description.as_deref().unwrap_or("no description");
        format!("{}{hint}: {about}", self.name)
    }

    /// The bundled files SKILL.md names for a dispatch of this agent: in the parts that speak of it, and in those
    /// that speak of nobody. If no part speaks of it, all.
    pub fn named_files(&self, agent: &str) -> Vec<PathBuf> {
        let is_mine = |section: &&SkillSection| section.agents.iter().any(|name| name == agent);
        let is_known = self.sections.iter().any(|section| is_mine(&section));
        let mut files: Vec<PathBuf> = Vec::new();
        for section in self.sections.iter().filter(|s| !is_known || s.agents.is_empty() || is_mine(s)) {
            for file in &section.files {
                if !files.contains(file) {
                    files.push(file.clone());
                }
            }
        }
        files
    }

    /// In how many places it sends an agent out.
    pub fn sends(&self, agent: &str) -> usize {
        self.sent.get(agent).copied().unwrap_or(0)
    }

    /// The agents SKILL.md speaks of, in the order in which it does, those who judge after the others.
    pub fn dispatches(&self, agents: &BTreeMap<String, AgentFile>) -> Vec<String> {
        let is_dispatched = |name: &&String| agents.get(*name).is_some_and(|agent| !agent.module);
        let is_critic =
            |name: &&String| agents.get(*name).is_some_and(|agent| agent.role == AgentRole::Critic);
        let found = self.mentioned.iter().filter(is_dispatched);
        let (critics, others): (Vec<_>, Vec<_>) = found.partition(is_critic);
        others.into_iter().chain(critics).cloned().collect()
    }
}

/// Where skills are, and whose names they may speak of.
pub(super) struct SkillFolders<'a> {
    pub folder: &'a Path,
    /// The layout's own folder: what lies in it may be named from the root.
    pub home: &'a Path,
    pub agents: &'a BTreeMap<String, AgentFile>,
}

pub(super) fn read_all(
    reader: &mut LayoutReader<'_>,
    shelf: &SkillFolders<'_>,
    guessed: &mut Vec<Problem>,
) -> BTreeMap<String, Skill> {
    let mut skills: BTreeMap<String, Skill> = BTreeMap::new();
    for entry in reader.entries_if_there(shelf.folder).into_iter().filter(|entry| entry.is_folder) {
        if skills.len() >= MOST_SKILLS {
            let message = format!("there are more than {MOST_SKILLS} skills; the rest was passed over");
            reader.problems.push(Problem::warning(message));
            break;
        }
        let Some(skill) = read(reader, shelf, &entry.path, &entry.name, guessed) else { continue };
        if let Some(other) = skills.get(&skill.name) {
            let (name, first) = (brief(&skill.name), other.path.display());
            let message = format!("two folders are skill `{name}`; `{first}` counts");
            let help = "give one of them another `name`";
            reader.problems.push(Problem::error(message).help(help).at(Some(&skill.place)));
        } else {
            skills.insert(skill.name.clone(), skill);
        }
    }
    skills
}

fn read(
    reader: &mut LayoutReader<'_>,
    shelf: &SkillFolders<'_>,
    folder: &Path,
    folder_name: &str,
    guessed: &mut Vec<Problem>,
) -> Option<Skill> {
    let entries = reader.entries_if_there(folder);
    let named = |name: &str| entries.iter().find(|e| !e.is_folder && e.name.eq_ignore_ascii_case(name));
    let Some(main) = named("SKILL.md") else {
        let message = format!("`{}` has no SKILL.md and is no skill", brief(&folder.display().to_string()));
        guessed.push(Problem::warning(message));
        return None;
    };
    let text = reader.text_if_there(&main.path)?;
    let found = frontmatter::read(&text);
    super::say_guesses(&main.path, &text, &found, guessed);
    let top = SourceSpan::new(&main.path, &text, 0..0);
    let place = found.span_of("name").map_or(top, |span| SourceSpan::new(&main.path, &text, span));
    let mut say = |message: String| guessed.push(Problem::warning(message).at(Some(&place)));
    if main.name != "SKILL.md" {
        say(format!("`{}` was taken for the SKILL.md", brief(&main.name)));
    }
    let name = match found.text("name") {
        Some(name) if super::agents::is_name(&name) => {
            if name != folder_name {
                let folder = brief(folder_name);
                say(format!("the skill in folder `{folder}` calls itself `{name}`; that is its name"));
            }
            name
        }
        _ => {
            say("the skill is named after its folder: it states no `name` that can be one".into());
            Some(folder_name.to_owned()).filter(|name| super::agents::is_name(name))?
        }
    };
    let gotchas = named("gotchas.md").map(|entry| entry.path.clone());
    let learned = Path::new(".gadfly/gotchas").join(format!("{name}.md"));
    let gotchas = gotchas.into_iter().chain([learned]);
    let gotchas = gotchas.filter_map(|path| Doc::read(reader, &path)).collect();
    let body = text.get(found.body_start..).unwrap_or_default();
    let files = bundled::files(reader, folder, &main.path);
    let bundle = bundled::Bundle { shelf, folder, files: &files };
    let sections = mentions::sections(reader, &bundle, (&main.path, &text), found.body_start);
    let saves = mentions::saves(&main.path, &text, found.body_start);
    let (description, argument_hint) = (found.text("description"), found.text("argument-hint"));
    let index = [Some(&name), description.as_ref(), argument_hint.as_ref()];
    let index: String = index.into_iter().flatten().map(String::as_str).collect();
    let skill = Skill {
        level1_tokens: tokens(&index),
        level2_tokens: tokens(body),
        allowed_tools: found.list("allowed-tools"),
        mentioned: mentions::agents(body, &mentions::index(shelf.agents)),
        sent: route::sent(body, &mentions::index(shelf.agents)),
        body: body.trim().to_owned(),
        path: main.path.clone(),
        name,
        place,
        description,
        argument_hint,
        gotchas,
        files,
        saves,
        sections,
    };
    budgets(reader, &skill);
    Some(skill)
}

/// What costs more than its level may.
fn budgets(reader: &mut LayoutReader<'_>, skill: &Skill) {
    let levels = [
        (skill.level1_tokens, LEVEL_1, "the index entry", "shorten its description"),
        (skill.level2_tokens, LEVEL_2, "SKILL.md", "move parts of it to files beside it, and name them"),
    ];
    for (is, most, what, help) in levels.into_iter().filter(|(is, most, ..)| is > most) {
        let name = &skill.name;
        let message =
            format!("{what} of skill `{name}` takes about {is} tokens; it should be at most {most}");
        reader.problems.push(Problem::warning(message).help(help).at(Some(&skill.place)));
    }
}
