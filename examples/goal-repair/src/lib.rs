//! Reads durations such as `1h30m` or `45s`.

/// The duration in seconds, or what is wrong with it.
pub fn seconds(text: &str) -> Result<u64, String> {
    let mut total = 0;
    let mut number = 0;
    for c in text.chars() {
        match c {
            '0'..='9' => number = number * 10 + u64::from(c as u8 - b'0'),
            'h' => total += number * 3600,
            'm' => total += number * 60,
            's' => total += number,
            other => return Err(format!("`{other}` is no unit")),
        }
    }
    Ok(total)
}
