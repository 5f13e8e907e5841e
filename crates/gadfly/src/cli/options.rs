//! The flags of the commands that take options: made from the table of options, one for each that a command takes.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches};
use gadfly_project::Overrides;
use gadfly_project::config::keys::{self, ConfigSection, Fixed, Key, Shape};
use gadfly_project::reference;

/// What one command was given of its options, as it was typed.
#[derive(Clone, Debug, Default)]
pub struct Options<const COMMAND: u8> {
    given: Vec<(&'static Key, Vec<String>)>,
}

impl<const COMMAND: u8> Options<COMMAND> {
    /// The options of a loop, a goal or a pipeline, with the caps.
    pub fn overrides(&self, section: ConfigSection) -> Overrides {
        let mut overrides = Overrides::of(section);
        for (key, words) in &self.given {
            if key.section == section || key.section == ConfigSection::Budget {
                overrides.write(key, words, None);
            }
        }
        overrides
    }

    /// The words of one option.
    pub fn words(&self, section: ConfigSection, name: &str) -> &[String] {
        let found = self.given.iter().find(|(key, _)| key.section == section && key.name == name);
        found.map(|(_, words)| words.as_slice()).unwrap_or_default()
    }

    pub fn word(&self, section: ConfigSection, name: &str) -> Option<&str> {
        self.words(section, name).first().map(String::as_str)
    }

    /// Which flags of a section were given.
    pub fn flags(&self, section: ConfigSection) -> Vec<String> {
        let own = self.given.iter().filter(|(key, _)| key.section == section);
        own.map(|(key, _)| format!("--{}", key.flag_name())).collect()
    }

    /// Puts another path in the place of each that was typed.
    pub fn map_paths<E>(&mut self, map: impl Fn(PathBuf) -> Result<PathBuf, E>) -> Result<(), E> {
        for (key, words) in &mut self.given {
            let is_set = |word: &str| key.shape == Shape::Criteria && gadfly_project::config::is_set(word);
            if matches!(key.shape, Shape::Path | Shape::Paths | Shape::Criteria) {
                for word in words.iter_mut().filter(|word| !is_set(word)) {
                    *word = map(PathBuf::from(&*word))?.display().to_string();
                }
            }
        }
        Ok(())
    }
}

impl<const COMMAND: u8> FromArgMatches for Options<COMMAND> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = Self::default();
        options.update_from_arg_matches(matches)?;
        Ok(options)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for key in keys::flags(COMMAND) {
            if key.shape == Shape::Flag {
                if matches.get_flag(key.name) {
                    self.given.push((key, Vec::new()));
                }
            } else if let Some(words) = matches.get_many::<String>(key.name) {
                self.given.push((key, words.cloned().collect()));
            }
        }
        Ok(())
    }
}

impl<const COMMAND: u8> Args for Options<COMMAND> {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(keys::flags(COMMAND).map(|key| arg(key, COMMAND)))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

fn arg(key: &'static Key, command: u8) -> Arg {
    let mut arg = Arg::new(key.name).long(key.flag_name()).help(help(key, command));
    let Some(flag) = key.flag else { return arg };
    if let Some(short) = flag.short {
        arg = arg.short(short);
    }
    let protocols = key.protocols();
    if !protocols.is_empty() {
        arg = arg.help_heading(heading(&protocols));
    } else if let Some(heading) = flag.under {
        arg = arg.help_heading(heading);
    }
    let there = |name: &&&str| keys::flags(command).any(|other| other.name == **name);
    arg = arg.conflicts_with_all(flag.against.iter().filter(there));
    match key.shape {
        Shape::Flag => arg.action(ArgAction::SetTrue),
        _ if key.is_list() => arg.action(ArgAction::Append).value_name(flag.value),
        _ => arg.value_name(flag.value),
    }
}

/// `Protocols score, audit and converge`.
fn heading(protocols: &[gadfly_project::LoopProtocol]) -> String {
    let names: Vec<&str> = protocols.iter().map(|protocol| protocol.name()).collect();
    match names.as_slice() {
        [one] => format!("Protocol {one}"),
        [others @ .., last] => format!("Protocols {} and {last}", others.join(", ")),
        [] => String::new(),
    }
}

fn help(key: &Key, command: u8) -> String {
    let mut help = key.flag.and_then(|flag| flag.says_no).unwrap_or(key.says).to_owned();
    let names = reference::names(key.shape);
    if !names.is_empty() {
        help = format!("{help}: {}", names.join(", "));
    }
    if key.is_list() && key.several.is_none() {
        help.push_str("; may be repeated");
    }
    let default = match key.default {
        Some(Fixed::Whole(number)) => format!(" (default: {number})"),
        // A review's is chosen by what there is to review.
        Some(Fixed::Text(_)) if key.shape == Shape::Protocol && command == keys::on::REVIEW => String::new(),
        Some(Fixed::Text(text)) => format!(" (default: {text})"),
        Some(Fixed::Time(time)) => {
            format!(", as 90s, 60m, 2h (a number is minutes; default: {})", reference::short(time))
        }
        Some(Fixed::Flag(_)) | None => String::new(),
    };
    help + &default
}
