//! What the person or program in front of a run sees: live lines, plain lines, or JSON events.

use std::time::Duration;

use gadfly_engine::input::InputKind;
use gadfly_engine::tool::ToolAction;
use gadfly_engine::{Class, EffectKind};
use gadfly_journal::{Record, RunId, RunView};
use gadfly_runtime::Update;
use gadfly_runtime::clock::wall_ms;

use super::live::{LiveLine, fitting};
use super::story::Story;
use super::{events, meters, pipeline, print, safe, terminal};
use crate::exit::Code;

pub struct View {
    story: Story,
    live: Option<LiveLine>,
    json: bool,
    /// Steps, rail and meters of a goal, agents of a pipeline.
    told: RunView,
}

impl View {
    pub fn new(run: RunId, json: bool) -> Self {
        let live = (!json && terminal::is_live()).then(LiveLine::default);
        Self { story: Story::new(live.is_none()), live, json, told: RunView::new(run) }
    }

    /// What happened before, so that the rest can be told: nothing of it is shown.
    pub fn remember(&mut self, record: &Record) {
        let _ = self.story.record(record);
        self.fold(record);
    }

    fn fold(&mut self, record: &Record) {
        if self.live.is_some() {
            self.told.apply(record);
        }
    }

    /// What stands below who is at work.
    fn draw(&mut self) {
        let Some(live) = &mut self.live else { return };
        if let Some(goal) = &self.told.goal {
            let room = (terminal::width().saturating_sub(1), live.room_for_panel());
            let idle = wall_ms().saturating_sub(self.told.summary.updated_ms);
            live.show_panel(meters::panel(goal, &|digest| self.story.said(digest), idle, room));
        } else if let Some(view) = &self.told.pipeline {
            let standing = format!("  {}", pipeline::progress(view));
            live.show_panel(vec![fitting(standing.chars(), terminal::width().saturating_sub(1))]);
        }
        live.draw();
    }

    /// Whether there is something to redraw from time to time.
    pub const fn is_live(&self) -> bool {
        self.live.is_some()
    }

    pub fn update(&mut self, update: &Update) -> Result<(), Code> {
        match update {
            Update::Record { run, record } => self.record(run, record),
            Update::Progress { effect, text, .. } => {
                if let Some(live) = &mut self.live {
                    live.streamed(effect, text);
                }
                Ok(())
            }
        }
    }

    pub fn record(&mut self, run: &RunId, record: &Record) -> Result<(), Code> {
        let lines = self.story.record(record);
        if self.json {
            return events::of_record(run, record).iter().try_for_each(|line| print::out(line));
        }
        if let Some(live) = &mut self.live {
            live.erase();
        }
        print::err_lines(&lines);
        self.fold(record);
        if let Some(live) = &mut self.live {
            match &record.input.what {
                InputKind::Replied { effect, .. } => live.end(effect),
                InputKind::Resumed { .. } => live.end_all(),
                _ => {}
            }
            let ago = Duration::from_millis(wall_ms().saturating_sub(record.input.at.wall_ms));
            for effect in record.step.effects.iter().filter(|e| e.class != Class::Person) {
                let who = match &effect.kind {
                    EffectKind::Turn(turn) => {
                        format!("{} {}", turn.role.name(), self.story.agent(&turn.agent))
                    }
                    EffectKind::Tool(tool) => doing(&tool.action),
                    EffectKind::Verify(verify) => format!("verify `{}`", safe::line(&verify.command, 100)),
                    _ => continue,
                };
                let pair = self.story.pair(&effect.id.node).map(|agent| format!("[{agent}] "));
                live.begin(effect.id.clone(), format!("{}{who}", pair.unwrap_or_default()), ago);
            }
        }
        self.draw();
        Ok(())
    }

    pub fn tick(&mut self) {
        self.draw();
    }

    /// A line that stays.
    pub fn say(&mut self, line: &str) {
        self.close();
        print::err(line);
    }

    /// Takes the live lines away.
    pub fn close(&mut self) {
        if let Some(live) = &mut self.live {
            live.erase();
        }
    }
}

/// An action in a few words.
fn doing(action: &ToolAction) -> String {
    let what = match action {
        ToolAction::RunCommand { line, .. } | ToolAction::Screenshot { line, .. } => line.as_str(),
        ToolAction::ReadFile { path, .. }
        | ToolAction::WriteFile { path, .. }
        | ToolAction::EditFile { path, .. }
        | ToolAction::ListFiles { path } => path,
        ToolAction::SearchFiles { pattern, .. } => pattern,
        ToolAction::FetchUrl { url } => url,
        ToolAction::Mcp { server, tool, .. } => {
            return format!("{}: {}", safe::line(server, 40), safe::line(tool, 60));
        }
        ToolAction::McpTools { .. } => "",
        ToolAction::Process(process) => process.about(),
    };
    format!("{} {}", action.tool(), safe::line(what, 100)).trim_end().to_owned()
}
