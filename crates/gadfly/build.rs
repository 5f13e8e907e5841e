//! Lists the files of the dashboard's page, so that what lies in `web/` is what the binary serves.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let web = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("web");
    let mut files =
        fs::read_dir(&web)?.map(|file| file.map(|file| file.path())).collect::<io::Result<Vec<_>>>()?;
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        writeln!(list, "    ({name:?}, include_bytes!({file:?}) as &[u8]),").map_err(io::Error::other)?;
    }
    list.push(']');
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("web_files.rs"), list)?;
    println!("cargo:rerun-if-changed=web");
    Ok(())
}
