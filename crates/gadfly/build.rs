//! Links the debug binary at a fixed address. A released one keeps the position-independent form that Cargo
//! gives it.
//!
//! Every command of an agent and every call of git is held by this program, started once more. Unoptimised it
//! has some 170,000 addresses to set right at each start, which takes longer than most of those calls; the
//! tests start it ten thousand times.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|set| set == value);
    if is("PROFILE", "debug") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
