//! Cuts a shell line into words, redirections and operators, as far as that tells which places it names. Quotes
//! and backslashes are taken off; nothing is expanded.

/// A piece of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LinePiece {
    Word(String),
    /// The next word is a file.
    Redirection {
        writes: bool,
    },
    /// Ends a command: `;`, `&&`, `|`, a line break, a bracket of any kind.
    Operator(String),
}

/// Reads a line. Text that is handed to `cat` or `tee` below the line (`<<'END'`) is data, and left out.
pub fn read(line: &str) -> Vec<LinePiece> {
    let line = without_data(line);
    let mut reading = WordReader::default();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                reading.quote();
                reading.word.extend(chars.by_ref().take_while(|c| *c != '\''));
            }
            '"' => {
                reading.quote();
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => reading.word.extend(chars.next()),
                        c => reading.word.push(c),
                    }
                }
            }
            '\\' => match chars.next() {
                Some('\n') | None => {}
                Some(c) => {
                    reading.begun = true;
                    reading.word.push(c);
                }
            },
            '#' if !reading.begun => while chars.next_if(|c| *c != '\n').is_some() {},
            ' ' | '\t' | '\r' => reading.end_word(),
            '>' => {
                reading.end_descriptor();
                while chars.next_if(|c| matches!(c, '>' | '|')).is_some() {}
                // `2>&1` names no file, `>& file` does.
                if chars.next_if_eq(&'&').is_some()
                    && chars.next_if(|c| c.is_ascii_digit() || *c == '-').is_some()
                {
                    continue;
                }
                reading.pieces.push(LinePiece::Redirection { writes: true });
            }
            '<' => {
                reading.end_descriptor();
                while chars.next_if_eq(&'<').is_some() {}
                let writes = chars.next_if_eq(&'>').is_some();
                reading.pieces.push(LinePiece::Redirection { writes });
            }
            '&' if chars.peek() == Some(&'>') => reading.end_word(),
            '&' | '|' => {
                let twice = chars.next_if_eq(&c).is_some();
                reading.operator(&if twice { format!("{c}{c}") } else { c.to_string() });
            }
            ';' | '\n' | '(' | ')' | '`' => reading.operator(&c.to_string()),
            c => {
                reading.begun = true;
                reading.word.push(c);
            }
        }
    }
    reading.end_word();
    reading.pieces
}

#[derive(Default)]
struct WordReader {
    pieces: Vec<LinePiece>,
    word: String,
    /// There is a word, even if it is empty.
    begun: bool,
    quoted: bool,
}

impl WordReader {
    fn quote(&mut self) {
        self.begun = true;
        self.quoted = true;
    }

    fn end_word(&mut self) {
        let text = std::mem::take(&mut self.word);
        self.quoted = false;
        if std::mem::take(&mut self.begun) || !text.is_empty() {
            self.pieces.push(LinePiece::Word(text));
        }
    }

    /// A number right before a redirection is no word.
    fn end_descriptor(&mut self) {
        if !self.quoted && !self.word.is_empty() && self.word.chars().all(|c| c.is_ascii_digit()) {
            self.word.clear();
            self.begun = false;
        }
        self.end_word();
    }

    fn operator(&mut self, operator: &str) {
        self.end_word();
        self.pieces.push(LinePiece::Operator(operator.to_owned()));
    }
}

/// Leaves out what follows `cat … <<'END'` up to `END`. Only if the shell expands nothing in it, and only for
/// programs that do not run what they read.
fn without_data(line: &str) -> String {
    let mut kept = Vec::new();
    let mut lines = line.lines();
    while let Some(one) = lines.next() {
        kept.push(one);
        let Some(end) = data_ends_with(one) else { continue };
        let rest = lines.clone();
        let body: Vec<&str> = rest.take_while(|l| l.trim_start_matches('\t') != end.word).collect();
        let expands =
            !end.quoted && body.iter().any(|l| l.contains("$(") || l.contains('`') || l.contains("${"));
        if !expands {
            // The end itself is left out with it.
            lines.by_ref().take(body.len() + 1).for_each(drop);
        }
    }
    kept.join("\n")
}

struct End<'a> {
    word: &'a str,
    quoted: bool,
}

fn data_ends_with(line: &str) -> Option<End<'_>> {
    let (before, after) = line.split_once("<<")?;
    if after.contains("<<") || line.contains(['|', ';', '`']) || line.contains("$(") {
        return None;
    }
    let command = before.rsplit("&&").next().unwrap_or(before).split_whitespace().next()?;
    if !matches!(command, "cat" | "tee") {
        return None;
    }
    let after = after.trim_start_matches('-').trim_start();
    let word = after.split([' ', '\t', '>', '&']).next()?;
    let bare = word.trim_matches(['\'', '"']);
    (!bare.is_empty() && bare.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        .then_some(End { word: bare, quoted: bare.len() < word.len() })
}
