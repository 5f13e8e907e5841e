//! A command without a network fails in as many ways as there are programs, and most blame something else. What is said
//! to whoever runs commands that have none: beforehand, and beside an output that looks as if it had wanted one.

use super::Risk;

/// What outputs of programs say that could not reach anything, in small letters.
const SIGNS: [&str; 14] = [
    "network is unreachable",
    "network unreachable",
    "enetunreach",
    "could not resolve",
    "couldn't resolve",
    "temporary failure in name resolution",
    "name or service not known",
    "name resolution",
    "eai_again",
    "getaddrinfo",
    "failed to lookup address",
    "no route to host",
    "no address associated with hostname",
    "err_internet_disconnected",
];

/// Stands in the charge of a worker whose commands have no network.
pub const CHARGE: &str = "NETWORK: none for commands. They reach nothing outside, neither registries nor servers; what they listen on only \
                          they reach themselves. Work with what is there.\n";
/// Stands in the charge of a worker with tools of its own, whose network nobody can close.
pub const ASKED: &str =
    "NETWORK: not for your commands. Download nothing, send nothing; work with what is there.\n";

/// Beside the output of a command that failed.
const HINT: &str =
    "\n[commands have no network here: nothing outside can be reached, and trying again will not help]";

/// Whether commands of a goal with this risk may use the network.
pub fn has_network(risk: Risk) -> bool {
    risk >= Risk::NetworkWrite
}

/// What is said beside an output that looks like that of a command which wanted the network.
pub fn hint(output: &str) -> &'static str {
    let output = output.to_lowercase();
    if SIGNS.iter().any(|sign| output.contains(sign)) { HINT } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_wanted_the_network_is_told_that_there_is_none() {
        for output in [
            "npm error code EAI_AGAIN\nnpm error syscall getaddrinfo",
            "curl: (6) Could not resolve host: example.org",
            "fatal: unable to access 'https://x/': Could not resolve host: x",
            "  error: failed to lookup address information: Temporary failure in name resolution",
            "connect: Network is unreachable",
        ] {
            assert!(!hint(output).is_empty(), "{output}");
        }
        assert_eq!(hint("test result: FAILED. 3 passed; 1 failed"), "");
    }
}
