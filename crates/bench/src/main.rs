//! `cargo run --release -p gadfly-bench -- [--quick] [--no-build]`: measures `gadfly batch` beside a baseline
//! and prints the tables of `docs/benchmarks.md`. It asserts counts (no call lost or repeated), never times.

mod baseline;
mod contest;
mod facts;
mod growth;
mod langgraph;
mod measure;
mod opening;
mod passing;
mod scene;
mod server;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use baseline::BenchError;
use contest::{Load, Runner};
use gadfly_bench::store::fill;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const USAGE: &str = "usage: gadfly-bench [--quick] [--no-build] [--only contest|memory|start|storage]\n\
                     \u{20}      gadfly-bench open [--quick]\n\
                     \u{20}      gadfly-bench passing [--no-build]\n\
                     \u{20}      gadfly-bench growth [--quick] [--no-build]\n\
                     \u{20}      gadfly-bench langgraph [--quick] [--no-build]\n\
                     \u{20}      gadfly-bench fill-store DIR [--runs N] [--records N] [--rounds N]\n\
                     \u{20}      gadfly-bench baseline URL TASKS.jsonl JOBS [JOURNAL.db]";

/// The programs that are run, all from the folder this one is in.
pub struct Binaries {
    pub gadfly: PathBuf,
    pub server: PathBuf,
    pub bench: PathBuf,
}

fn main() -> Result<(), BenchError> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    raise_open_files()?;
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["baseline", url, tasks, jobs, ref db @ ..] => {
            let db = db.first().map(PathBuf::from);
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(baseline::run(url, tasks.as_ref(), jobs.parse()?, db))
        }
        ["fill-store", dir, ref flags @ ..] => {
            fill(dir.as_ref(), &gadfly_journal::Custody::none(), opening::sizes(flags)?)?;
            Ok(())
        }
        ["open"] => opening::measure(&mut std::io::stdout(), opening::LARGE),
        ["open", "--quick"] => opening::measure(&mut std::io::stdout(), opening::QUICK),
        ["passing", ref flags @ ..] => {
            passing::measure(&mut std::io::stdout(), &binaries(Flags::read(flags)?.build)?.gadfly)
        }
        ["growth", ref flags @ ..] => {
            let Flags { quick, build } = Flags::read(flags)?;
            let sizes = if quick { growth::QUICK } else { growth::FULL };
            growth::measure(&mut std::io::stdout(), sizes, &binaries(build)?)
        }
        ["langgraph", ref flags @ ..] => {
            let Flags { quick, build } = Flags::read(flags)?;
            let (loops, turns) = if quick { (300, 1) } else { (1_000, 3) };
            let loads = [Load { loops, jobs: 100, latency_ms: 0 }];
            compare(&mut std::io::stdout(), &binaries(build)?, &contest::WITH_LANGGRAPH, &loads, turns)
        }
        ref flags => bench(flags),
    }
}

struct Flags {
    quick: bool,
    build: bool,
}

impl Flags {
    fn read(flags: &[&str]) -> Result<Self, BenchError> {
        let mut read = Self { quick: false, build: true };
        for flag in flags {
            match *flag {
                "--quick" => read.quick = true,
                "--no-build" => read.build = false,
                _ => return Err(USAGE.into()),
            }
        }
        Ok(read)
    }
}

/// One descriptor per loop; children inherit it.
fn raise_open_files() -> Result<(), BenchError> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}

fn bench(flags: &[&str]) -> Result<(), BenchError> {
    let (mut quick, mut build, mut only) = (false, true, None);
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        match *flag {
            "--quick" => quick = true,
            "--no-build" => build = false,
            "--only" => only = Some(*flags.next().ok_or(USAGE)?),
            _ => return Err(USAGE.into()),
        }
    }
    let binaries = binaries(build)?;
    let wanted = |what| only.is_none_or(|o| o == what);
    let (turns, scale) = if quick { (3, 1) } else { (5, 2) };
    let mut out = std::io::stdout();
    if wanted("contest") {
        let loads = [
            Load { loops: 3_000 * scale, jobs: 100, latency_ms: 0 },
            Load { loops: 3_000 * scale, jobs: 1_000, latency_ms: 50 },
        ];
        compare(&mut out, &binaries, &contest::RUNNERS, &loads, turns)?;
        writeln!(out)?;
    }
    writeln!(out, "| fact | measured |\n|---|---|")?;
    if wanted("memory") {
        for jobs in [1_000, 4_000] {
            let kb = facts::memory(&binaries, jobs)?;
            writeln!(out, "| resident per loop, {jobs} at once | {kb:.0} KB |")?;
        }
    }
    if wanted("start") {
        let ms = facts::first_call(&binaries, 10)?;
        writeln!(out, "| start of `gadfly run` to its first call, median of 10 | {ms:.0} ms |")?;
    }
    if wanted("storage") {
        let facts::Storage { draft, stored, compressed } = facts::storage(&binaries)?;
        writeln!(
            out,
            "| ten rounds on a draft of {} KB, small edits | {} KB stored; its ten drafts compressed one by one: {} KB |",
            draft >> 10,
            stored >> 10,
            compressed >> 10
        )?;
    }
    Ok(())
}

fn compare(
    out: &mut impl std::io::Write,
    binaries: &Binaries,
    runners: &[Runner],
    loads: &[Load],
    turns: usize,
) -> Result<(), BenchError> {
    writeln!(
        out,
        "| load | runner | loops/s (range) | of baseline | CPU ms per loop | KB stored per loop | peak MB |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    let mut held = Vec::new();
    for &load in loads {
        let laps = contest::hold(binaries, runners, load, turns)?;
        write!(out, "{}", contest::rows(runners, load, &laps))?;
        out.flush()?;
        held.push(laps);
    }
    Ok(())
}

fn binaries(build: bool) -> Result<Binaries, BenchError> {
    let bench = std::env::current_exe()?;
    let folder = bench.parent().ok_or("this program is in no folder")?;
    let (gadfly, server) = (folder.join("gadfly"), folder.join("gadfly-testbed"));
    if build {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(["build", "--release", "-p", "gadfly", "-p", "gadfly-testbed"])
            .status()?;
        if !status.success() {
            return Err("the programs to be measured could not be built".into());
        }
    }
    for path in [&gadfly, &server] {
        if !path.is_file() {
            return Err(format!("{} is missing: run this with cargo, in release", path.display()).into());
        }
    }
    Ok(Binaries { gadfly, server, bench })
}

#[cfg(test)]
mod tests {
    use super::contest::median;

    #[test]
    fn the_baseline_is_short_enough_to_be_read() {
        assert!(include_str!("baseline.rs").lines().count() <= 150);
    }

    #[test]
    fn the_median_is_the_middle_whatever_the_order() {
        assert!((median(vec![9.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median(vec![4.0, 1.0, 2.0, 9.0]) - 3.0).abs() < f64::EPSILON);
    }
}
