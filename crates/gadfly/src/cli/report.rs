//! Reports, as the command line names them.

use std::path::PathBuf;

use clap::ValueEnum;

/// A format a report can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ReportFormat {
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// `JUnit` XML, for continuous integration
    Junit,
    /// A comment for a pull request
    Markdown,
    /// Everything, in Gadfly's own stable schema
    Json,
}

/// A report and where it goes: standard output, or a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportTo {
    pub format: ReportFormat,
    pub file: Option<PathBuf>,
}

pub fn report(text: &str) -> Result<ReportTo, String> {
    let (name, file) = match text.split_once('=') {
        Some((_, "")) => return Err("name a file after the `=`, or leave it out".to_owned()),
        Some((name, file)) => (name, Some(PathBuf::from(file))),
        None => (text, None),
    };
    let format = ReportFormat::from_str(name, false).map_err(|_| {
        let known = ReportFormat::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let known: Vec<String> = known.map(|f| f.get_name().to_owned()).collect();
        format!("there is no report `{name}`; known: {}", known.join(", "))
    })?;
    Ok(ReportTo { format, file })
}
