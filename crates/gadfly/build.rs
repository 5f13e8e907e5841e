//! Lists the files of the dashboard's page, so that what lies in `web/` is what the binary serves; and links the debug
//! binary at a fixed address. A released one keeps the position-independent form that Cargo gives it.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    list_page_files()?;
    start_quickly();
    Ok(())
}

fn list_page_files() -> io::Result<()> {
    let web = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("web");
    let mut files =
        fs::read_dir(&web)?.map(|file| file.map(|file| file.path())).collect::<io::Result<Vec<_>>>()?;
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = file.to_string_lossy();
        writeln!(list, "    ({name:?}, include_bytes!({path:?}) as &[u8]),").map_err(io::Error::other)?;
    }
    list.push(']');
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("web_files.rs"), list)?;
    println!("cargo:rerun-if-changed=web");
    Ok(())
}

/// Every command of an agent and every call of git is held by this program, started once more. Unoptimised it has
/// some 170,000 addresses to set right at each start, which takes longer than most of those calls; the tests start it
/// ten thousand times.
fn start_quickly() {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|set| set == value);
    if is("PROFILE", "debug") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
