//! The lines of a batch: `{"id", "task", "rubric": […]}`, one task per line, streamed. The file is read
//! twice, first to find every error before any call is made, then task by task; never whole.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use gadfly_engine::digest::Digest;
use serde_json::Value;

use crate::file;
use crate::fingerprint::fingerprint;
use crate::place::{Problem, SourceSpan, brief};
use crate::suggest;

/// A longer line is refused, and skipped without being held in memory.
pub const LONGEST_LINE: usize = 1024 * 1024;
const LONGEST_ID: usize = 256;
/// After this many problems the rest is only counted.
const MOST_PROBLEMS: usize = 100;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BatchTask {
    pub id: String,
    pub task: String,
    pub rubric: Vec<String>,
    /// From 1.
    pub line: usize,
    /// Of task and rubric, not of the id: the same id with another digest is another task.
    pub digest: Digest,
}

/// What the first pass found: how many tasks there are, and everything that is wrong.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scan {
    pub tasks: usize,
    pub problems: Vec<Problem>,
}

/// Opens a file of tasks. It must be a regular file, because it is read twice.
pub fn open(path: &Path) -> Result<Tasks<BufReader<File>>, Problem> {
    let opened = file::open_regular(path).map_err(|error| {
        Problem::error(error.to_string()).help("a batch is read twice: save its lines to a file first")
    })?;
    Ok(Tasks::new(path, BufReader::new(opened)))
}

/// The first pass: every problem, duplicates included. Memory grows by one digest per task.
pub fn scan<R: BufRead>(tasks: Tasks<R>) -> Scan {
    let mut first_lines: HashMap<Digest, usize> = HashMap::new();
    let mut scan = Scan::default();
    let mut unsaid = 0_usize;
    let mut say =
        |problem| if scan.problems.len() < MOST_PROBLEMS { scan.problems.push(problem) } else { unsaid += 1 };
    for entry in tasks.located() {
        match entry {
            Ok((task, place)) => {
                scan.tasks += 1;
                let first = *first_lines.entry(Digest::of(task.id.as_bytes())).or_insert(task.line);
                if first != task.line {
                    let message = format!("the id `{}` was already used in line {first}", brief(&task.id));
                    say(Problem::error(message).help("every task needs an id of its own").at(Some(&place)));
                }
            }
            Err(problem) => say(problem),
        }
    }
    if unsaid > 0 {
        scan.problems.push(Problem::error(format!("and {unsaid} more problems like these")));
    }
    scan
}

/// The tasks of a file in order, or what is wrong with a line. Blank lines are skipped.
#[derive(Debug)]
pub struct Tasks<R> {
    file: PathBuf,
    reader: R,
    longest: usize,
    line: usize,
    offset: usize,
    ended: bool,
}

enum TaskLine {
    Read(Vec<u8>),
    TooLong,
    End,
}

impl<R: BufRead> Tasks<R> {
    pub fn new(file: impl Into<PathBuf>, reader: R) -> Self {
        Self { file: file.into(), reader, longest: LONGEST_LINE, line: 0, offset: 0, ended: false }
    }

    fn located(mut self) -> impl Iterator<Item = Result<(BatchTask, SourceSpan), Problem>> {
        std::iter::from_fn(move || self.advance())
    }

    fn advance(&mut self) -> Option<Result<(BatchTask, SourceSpan), Problem>> {
        while !self.ended {
            let start = self.offset;
            self.line += 1;
            let line = match self.read_line() {
                Ok(line) => line,
                Err(error) => {
                    self.ended = true;
                    let message = format!("reading stopped at line {}: {error}", self.line);
                    return Some(Err(Problem::error(message).at(Some(&self.place(start, 0..0)))));
                }
            };
            let mut bytes = match line {
                TaskLine::End => {
                    self.ended = true;
                    return None;
                }
                TaskLine::TooLong => {
                    let message = format!("line {} is longer than {} bytes", self.line, self.longest);
                    return Some(Err(Problem::error(message).at(Some(&self.place(start, 0..0)))));
                }
                TaskLine::Read(bytes) => bytes,
            };
            let bom = usize::from(self.line == 1 && bytes.starts_with("\u{feff}".as_bytes())) * 3;
            bytes.drain(..bom);
            if bytes.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let place = self.place(start + bom, 0..bytes.trim_ascii_end().len());
            return Some(self.task(bytes.trim_ascii_end(), &place).map(|task| (task, place)));
        }
        None
    }

    /// Up to and including the next newline, holding no more than the longest line.
    fn read_line(&mut self) -> io::Result<TaskLine> {
        let mut bytes = Vec::new();
        let mut length = 0_usize;
        loop {
            let buffer = match self.reader.fill_buf() {
                Ok(buffer) => buffer,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            if buffer.is_empty() {
                break;
            }
            let newline = buffer.iter().position(|b| *b == b'\n');
            let taken = newline.map_or(buffer.len(), |at| at + 1);
            length = length.saturating_add(taken);
            if length <= self.longest {
                bytes.extend_from_slice(buffer.get(..taken).unwrap_or_default());
            }
            self.reader.consume(taken);
            self.offset = self.offset.saturating_add(taken);
            if newline.is_some() {
                break;
            }
        }
        Ok(match length {
            0 => TaskLine::End,
            n if n > self.longest => TaskLine::TooLong,
            _ => TaskLine::Read(bytes),
        })
    }

    fn task(&self, bytes: &[u8], place: &SourceSpan) -> Result<BatchTask, Problem> {
        let wrong =
            |message: String| Problem::error(format!("line {}: {message}", self.line)).at(Some(place));
        let example = "{\"id\": \"a1\", \"task\": \"…\", \"rubric\": [\"at most 150 words\"]}";
        let value: Value = serde_json::from_slice(bytes).map_err(|e| {
            let mut at = place.clone();
            at.col = e.column().max(1);
            let within = at.span.start.saturating_add(e.column().saturating_sub(1)).min(at.span.end);
            at.span = within..at.span.end;
            wrong(format!("not valid JSON: {}", json_message(&e)))
                .help(format!("like {example}"))
                .at(Some(&at))
        })?;
        let Value::Object(fields) = value else {
            return Err(wrong("not a JSON object".into()).help(format!("like {example}")));
        };
        let field = |name: &str| {
            fields.get(name).ok_or_else(|| {
                let near = suggest::nearest(name, fields.keys().map(String::as_str));
                let help = near.map_or_else(
                    || format!("like {example}"),
                    |n| format!("is `{}` meant to be it?", brief(n)),
                );
                wrong(format!("the field \"{name}\" is missing")).help(help)
            })
        };
        let text = |name: &str| match field(name)? {
            Value::String(text) if text.trim().is_empty() => Err(wrong(format!("\"{name}\" is empty"))),
            Value::String(text) => Ok(text.clone()),
            _ => Err(wrong(format!("\"{name}\" must be a string"))),
        };
        let id = text("id")?;
        if id.len() > LONGEST_ID {
            return Err(wrong(format!("\"id\" is longer than {LONGEST_ID} bytes")));
        }
        let task = text("task")?;
        let Value::Array(listed) = field("rubric")? else {
            return Err(wrong("\"rubric\" must be a list of strings".into()));
        };
        let mut rubric = Vec::with_capacity(listed.len());
        for item in listed {
            match item.as_str().map(str::trim) {
                Some(item) if !item.is_empty() => rubric.push(item.to_owned()),
                Some(_) => return Err(wrong("\"rubric\" has an empty item".into())),
                None => return Err(wrong("\"rubric\" must be a list of strings".into())),
            }
        }
        if rubric.is_empty() {
            let help = "say what the draft is judged by: an empty rubric approves anything";
            return Err(wrong("\"rubric\" is empty".into()).help(help));
        }
        let digest = fingerprint(std::iter::once(task.as_str()).chain(rubric.iter().map(String::as_str)));
        Ok(BatchTask { id, task, rubric, line: self.line, digest })
    }

    fn place(&self, start: usize, within: std::ops::Range<usize>) -> SourceSpan {
        SourceSpan {
            file: self.file.clone(),
            span: start + within.start..start + within.end,
            line: self.line,
            col: 1,
        }
    }
}

impl<R: BufRead> Iterator for Tasks<R> {
    type Item = Result<BatchTask, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().map(|found| found.map(|(task, _)| task))
    }
}

/// The error without "at line 1 column n": the line is ours to say.
fn json_message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    const GOOD: &str = r#"{"id":"a","task":"Write.","rubric":["one page"]}"#;

    fn tasks(text: &str) -> Tasks<&[u8]> {
        Tasks::new("tasks.jsonl", text.as_bytes())
    }

    fn problems(text: &str) -> String {
        scan(tasks(text)).problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn tasks_come_in_order_and_blank_lines_are_skipped() {
        let text = format!("\u{feff}{GOOD}\r\n\n  \n{}", GOOD.replace("\"a\"", "\"b\""));
        let read: Vec<BatchTask> = tasks(&text).map(Result::unwrap).collect();
        let ids: Vec<_> = read.iter().map(|t| (t.id.as_str(), t.line)).collect();
        assert_eq!(ids, [("a", 1), ("b", 4)]);
        assert_eq!(scan(tasks(&text)), Scan { tasks: 2, problems: vec![] });
    }

    #[test]
    fn the_digest_is_of_the_content_and_not_of_the_id() {
        let digest = |text: &str| tasks(text).next().unwrap().unwrap().digest;
        assert_eq!(digest(GOOD), digest(&GOOD.replace("\"a\"", "\"z\"")));
        assert_ne!(digest(GOOD), digest(&GOOD.replace("Write.", "Write!")));
        assert_ne!(digest(GOOD), digest(&GOOD.replace("one page", "two pages")));
    }

    #[test]
    fn every_bad_line_is_reported_with_its_number() {
        let text = format!(
            "{GOOD}\n{GOOD}\n{{\"id\":\"b\"\n[]\n{{\"id\":\"c\",\"task\":\"T\",\"rubrik\":[]}}\n{{\"id\":7,\"task\":\"T\",\"rubric\":[\"x\"]}}\n{{\"id\":\"d\",\"task\":\" \",\"rubric\":[\"x\"]}}\n{{\"id\":\"e\",\"task\":\"T\",\"rubric\":[]}}\n{{\"id\":\"f\",\"task\":\"T\",\"rubric\":\"x\"}}\n"
        );
        assert_snapshot!(problems(&text), @r#"
        error: the id `a` was already used in line 1
          at tasks.jsonl:2:1
          help: every task needs an id of its own
        error: line 3: not valid JSON: EOF while parsing an object
          at tasks.jsonl:3:9
          help: like {"id": "a1", "task": "…", "rubric": ["at most 150 words"]}
        error: line 4: not a JSON object
          at tasks.jsonl:4:1
          help: like {"id": "a1", "task": "…", "rubric": ["at most 150 words"]}
        error: line 5: the field "rubric" is missing
          at tasks.jsonl:5:1
          help: is `rubrik` meant to be it?
        error: line 6: "id" must be a string
          at tasks.jsonl:6:1
        error: line 7: "task" is empty
          at tasks.jsonl:7:1
        error: line 8: "rubric" is empty
          at tasks.jsonl:8:1
          help: say what the draft is judged by: an empty rubric approves anything
        error: line 9: "rubric" must be a list of strings
          at tasks.jsonl:9:1
        "#);
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_without_being_kept_and_the_next_one_is_read() {
        let long = GOOD.replace("Write.", &"x".repeat(500));
        let text = format!("{long}\n{}\n", GOOD.replace("\"a\"", "\"b\""));
        let mut read = Tasks { longest: 200, ..tasks(&text) };
        let problem = read.next().unwrap().unwrap_err();
        assert_eq!(problem.message, "line 1 is longer than 200 bytes");
        assert_eq!(read.next().unwrap().unwrap().id, "b");
        assert!(read.next().is_none());
        // The guard is what refuses it: with room for the line, it is read.
        assert!(Tasks { longest: 2000, ..tasks(&text) }.next().unwrap().is_ok());
    }

    #[test]
    fn a_file_full_of_errors_gives_a_bounded_report() {
        let found = scan(tasks(&"{}\n".repeat(5000))).problems;
        assert_eq!(found.len(), MOST_PROBLEMS + 1);
        assert_eq!(found.last().unwrap().message, "and 4900 more problems like these");
    }

    #[test]
    fn a_read_error_ends_the_tasks_and_is_said() {
        struct Broken;
        impl io::Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("disk on fire"))
            }
        }
        let mut read = Tasks::new("t", BufReader::new(Broken));
        assert!(read.next().unwrap().unwrap_err().message.contains("disk on fire"));
        assert!(read.next().is_none());
    }

    #[test]
    fn what_cannot_be_read_twice_is_refused() {
        let tmp = tempfile::tempdir().unwrap();
        assert!(open(tmp.path()).unwrap_err().message.contains("not a regular file"));
        assert!(open(&tmp.path().join("none")).unwrap_err().message.contains("does not exist"));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic_and_every_problem_lies_in_the_file(
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..80)
        ) {
            for problem in scan(Tasks { longest: 20, ..Tasks::new("t", bytes.as_slice()) }).problems {
                let at = problem.at.unwrap();
                proptest::prop_assert!(at.span.start <= at.span.end && at.span.end <= bytes.len());
            }
        }
    }
}
