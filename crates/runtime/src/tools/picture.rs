//! Brings a picture that a command made: the file must be new, be one of the formats that models are shown, and
//! be small enough. What it shows is nobody's business here.

use std::fs::File;
use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gadfly_engine::tool::LARGEST_IMAGE;
use rustix::fs::{AtFlags, statat};

use super::area::{Area, clipped};

/// Three bytes are four characters of base64.
const LARGEST: usize = LARGEST_IMAGE / 4 * 3;

/// The file in a picture's place before the command runs. A picture that was there already shows nothing new.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PictureBefore(Option<(u64, i64, i64, i64)>);

pub fn before(area: &Area, file: &str) -> PictureBefore {
    let look = || {
        let spot = area.spot(file, false).ok()?;
        let found = statat(&spot.above, spot.name.as_str(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some((found.st_ino, found.st_mtime, i64::try_from(found.st_mtime_nsec).ok()?, found.st_size))
    };
    PictureBefore(look())
}

/// As base64.
pub fn bring(area: &Area, file: &str, was: PictureBefore) -> Result<String, String> {
    let shown = clipped(file);
    let opened: File = area.spot(file, false)?.open().map_err(|why| format!("`{shown}`: {why}"))?;
    if was.0.is_some() && before(area, file) == was {
        return Err(format!("the command did not write `{shown}`: the picture there is an old one"));
    }
    let most = u64::try_from(LARGEST).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    opened.take(most + 1).read_to_end(&mut bytes).map_err(|e| format!("`{shown}`: {e}"))?;
    if bytes.len() > LARGEST {
        return Err(format!("the picture `{shown}` has more than {LARGEST} bytes: make a smaller one"));
    }
    if !is_picture(&bytes) {
        return Err(format!("`{shown}` is no picture: PNG, JPEG, GIF and WebP can be shown"));
    }
    Ok(STANDARD.encode(bytes))
}

fn is_picture(bytes: &[u8]) -> bool {
    let webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    webp || [&b"\x89PNG\r\n\x1a\n"[..], b"\xff\xd8\xff", b"GIF87a", b"GIF89a"]
        .iter()
        .any(|magic| bytes.starts_with(magic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_known_by_their_first_bytes() {
        let yes: [&[u8]; 5] =
            [b"\x89PNG\r\n\x1a\nrest", b"\xff\xd8\xff\xe0", b"GIF87a", b"GIF89a..", b"RIFF\0\0\0\0WEBPVP8 "];
        let no: [&[u8]; 6] = [b"", b"<svg/>", b"%PDF-1.7", b"RIFF\0\0\0\0WAVE", b"\x89PN", b"GIF"];
        assert!(yes.into_iter().all(is_picture) && !no.into_iter().any(is_picture));
    }
}
