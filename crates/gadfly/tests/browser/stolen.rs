//! Another program takes the port of a server that has ended, while a page is open. The scenario plays the thief, too.

use crate::desk::wait_for;
use crate::following::{tell, waiting};
use crate::server::Server;
use crate::theatre::begin;

/// The server ends, the scenario takes its port, lets it go, and the server is started again there.
fn played(token: Option<&str>) {
    let desk = waiting();
    let serve = |port: u16| {
        let mut command = desk.command(&["serve", "--port", &port.to_string()]);
        command.envs(token.map(|token| ("GADFLY_SERVE_TOKEN", token)));
        Server::of(command)
    };
    let server = serve(0);
    let port = server.port;
    let Some(mut played) = begin(&desk, &server, "stolen") else { return };
    let file = |name: &str| desk.beside(name);
    wait_for("the page is open", || file("end-the-server").exists() || played.is_over());
    drop(server);
    tell(&desk, "it-has-ended", "");
    wait_for("the thief is done", || file("start-it-again").exists() || played.is_over());
    let again = (!played.is_over()).then(|| serve(port));
    if let Some(server) = &again {
        tell(&desk, "it-is-back", &server.link());
    }
    played.end();
}

#[test]
fn who_takes_the_port_learns_nothing_that_opens_the_next_server() {
    played(None);
}

#[test]
fn nor_where_the_token_is_the_users_own_and_stays_the_same() {
    played(Some("0123456789abcdef0123456789abcdef"));
}
