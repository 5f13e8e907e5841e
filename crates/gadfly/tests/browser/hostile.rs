//! Texts that want to be more than text, and a draft too large for a page.

use crate::desk::Desk;
use crate::server::Server;
use crate::theatre::play;

const LARGEST: usize = (8 << 20) - 100;

const EVIL: &str = "<script>window.pwned = 1</script><img src=x onerror=\"window.pwned = 1\"><b>bold</b> \
                    <iframe srcdoc=\"<script>parent.pwned = 1</script>\"></iframe> [x](javascript:pwned=1) \
                    </pre></textarea><style>body{display:none}</style> \u{1b}[31mred\u{1b}[0m \u{7}\u{0}\u{8} \
                    \u{202e}desrever\u{202c} \u{2066}isolated\u{2069} \u{feff}\u{200b}\u{85} ]]> &lt;i&gt; {{7*7}}";

#[test]
fn hostile_texts_and_the_largest_draft_are_shown_harmlessly() {
    let desk = Desk::folder(&[]);
    desk.saying("w", &[&format!("First.\n{EVIL}\n"), &format!("Second.\n{EVIL}\nmore\n")]);
    desk.saying("c", &[&format!("[STATUS: REJECTED]\n- {EVIL}"), "[STATUS: APPROVED]\nGood."]);
    let task = "Say <img src=x onerror=\"pwned = 1\"> \u{202e}backwards";
    let said = desk.gadfly(&["run", task, "--worker", "w", "--critic", "c", "--criterion", "x", "--yes"]);
    assert_eq!(said.code, 0, "{}", said.err);

    // As much as one reply may bring; more is refused before it is a draft.
    let line = "A line of a very long draft, with words enough to be a line.";
    desk.program("big", &format!("cat >/dev/null\nyes '{line}' | head -c {LARGEST}"));
    desk.saying("patient", &["[STATUS: APPROVED]\nAll of it."]);
    desk.configure("context = 100000000\n");
    let run = ["run", "Write a lot", "--worker", "big", "--critic", "patient"];
    let said = desk.gadfly(&[&run[..], &["--criterion", "x", "--yes", "--unattended"]].concat());
    assert_eq!(said.code, 0, "{}", said.err.chars().take(2000).collect::<String>());

    play(&desk, &Server::start(&desk), "hostile");
}
