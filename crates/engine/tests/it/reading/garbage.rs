//! Whatever a generator makes of the tokens that readers know: no reader panics, and none takes long.

use gadfly_engine::reading::quoted::Shown;
use gadfly_engine::reading::shown::neutralise;
use proptest::prelude::*;

use crate::reading::bench::{ALL, passes};

const TOKENS: &str = "(\\[STATUS: (APPROVED|REJECTED)\\]|Verdict: (PASS|FAIL)|\\[COVERAGE\\]|\\[ADVERSARIAL\\]|→ Realistic\\? N|Score: 9[0-9]/100|- Filler: -2|\\{\"(deductions|criteria|verdict|status)\": |\\[|\\]|\\}|\"|,|<think>|</think>|```|- |✓|❌|#|\\(|[0-9]|\\||\n| |\\*|é|‹|›|：){0,40}";

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_makes_a_reader_panic(reply in any::<String>(), tokens in TOKENS) {
        for text in [&reply, &tokens] {
            let shown = Shown::of([text.as_str()]);
            for protocol in ALL {
                let _ = passes(protocol, text, &Shown::default());
                let _ = passes(protocol, text, &shown);
            }
        }
    }

    #[test]
    fn what_was_neutralised_approves_nothing(tokens in TOKENS) {
        let shown = neutralise(&tokens).into_owned();
        for protocol in ALL {
            prop_assert_ne!(passes(protocol, &shown, &Shown::of([tokens.as_str()])), Some(true), "{:?}: {}", protocol, shown);
        }
    }
}
