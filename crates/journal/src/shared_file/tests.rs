//! What another program's bytes go through when a block of ours is written beside them.

use super::*;

const HEADING: &str = "# Critic Log — paper\n";

struct Place {
    _dir: tempfile::TempDir,
    path: PathBuf,
    memory: PathBuf,
}

impl Place {
    fn new(content: Option<&str>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (path, memory) = (dir.path().join("log/critic-log.md"), dir.path().join("mem/block"));
        if let Some(content) = content {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
        }
        Self { _dir: dir, path, memory }
    }

    fn write(&self, block: &str) {
        write_block(&self.path, &self.memory, Some(HEADING), block).unwrap();
    }

    fn content(&self) -> String {
        fs::read_to_string(&self.path).unwrap()
    }
}

#[test]
fn a_growing_block_is_replaced_where_it_stands() {
    let place = Place::new(None);
    place.write("## Loop a\nround 1\n");
    place.write("## Loop a\nround 1\nround 2\n");
    assert_eq!(place.content(), "# Critic Log — paper\n\n## Loop a\nround 1\nround 2\n");
    place.write("## Loop a\nround 1\nround 2\n");
    assert_eq!(place.content(), "# Critic Log — paper\n\n## Loop a\nround 1\nround 2\n");
}

#[test]
fn foreign_lines_before_and_after_stay_and_the_heading_stands_once() {
    let place = Place::new(Some("# Critic Log — paper\r\n\r\nmine, keep\r\n"));
    place.write("## Loop a\n");
    fs::write(&place.path, place.content() + "a note of a person\n").unwrap();
    place.write("## Loop a\nmore\n");
    assert_eq!(
        place.content(),
        "# Critic Log — paper\r\n\r\nmine, keep\r\n\n## Loop a\nmore\na note of a person\n"
    );
}

#[test]
fn a_file_without_a_last_newline_gets_one_before_our_block() {
    let place = Place::new(Some("no newline"));
    place.write("## Loop a\n");
    assert_eq!(place.content(), "no newline\n\n# Critic Log — paper\n\n## Loop a\n");
}

#[test]
fn a_block_someone_edited_is_theirs_and_a_new_one_is_appended() {
    let place = Place::new(None);
    place.write("## Loop a\nround 1\n");
    let edited = place.content().replace("round 1", "round one");
    fs::write(&place.path, &edited).unwrap();
    place.write("## Loop a\nround 1\nround 2\n");
    assert_eq!(place.content(), format!("{edited}\n## Loop a\nround 1\nround 2\n"));
}

#[test]
fn a_file_turned_to_crlf_keeps_every_byte() {
    let place = Place::new(None);
    place.write("## Loop a\nround 1\n");
    let turned = place.content().replace('\n', "\r\n");
    fs::write(&place.path, &turned).unwrap();
    place.write("## Loop a\nround 1\nround 2\n");
    assert_eq!(place.content(), format!("{turned}\n## Loop a\nround 1\nround 2\n"));
}

#[test]
fn two_runs_share_a_file() {
    let place = Place::new(None);
    let other = place.memory.with_file_name("other");
    place.write("## Loop a\n");
    write_block(&place.path, &other, Some(HEADING), "## Loop b\n").unwrap();
    place.write("## Loop a\nmore\n");
    write_block(&place.path, &other, Some(HEADING), "## Loop b\nmore\n").unwrap();
    assert_eq!(place.content(), "# Critic Log — paper\n\n## Loop a\nmore\n\n## Loop b\nmore\n");
}

#[test]
fn a_crash_between_writing_and_noting_it_does_not_double_the_block() {
    let place = Place::new(None);
    place.write("## Loop a\n");
    // The file has the new block, the memory still names old and new.
    fs::write(&place.path, "# Critic Log — paper\n\n## Loop a\nround 1\n").unwrap();
    remember(&place.memory, &["## Loop a\n".into(), "## Loop a\nround 1\n".into()]).unwrap();
    place.write("## Loop a\nround 1\nround 2\n");
    assert_eq!(place.content(), "# Critic Log — paper\n\n## Loop a\nround 1\nround 2\n");

    // Sabotage: had only the old block been noted, the tail would stay behind.
    let torn = compose(b"## Loop a\nround 1\n", &["## Loop a\n".into()], None, "## Loop a\nround 1\n");
    assert_eq!(torn, b"## Loop a\nround 1\nround 1\n");
}

#[test]
fn an_edit_made_while_we_write_is_not_lost() {
    let place = Place::new(Some("draft notes\n"));
    let mut once = true;
    let path = place.path.clone();
    write_block_before(&place.path, &place.memory, None, "## Loop a\n", || {
        if std::mem::take(&mut once) {
            fs::write(&path, "edited notes\n").unwrap();
        }
    })
    .unwrap();
    assert_eq!(place.content(), "edited notes\n\n## Loop a\n");
}

#[test]
fn a_file_that_never_rests_is_left_alone() {
    let place = Place::new(Some("0"));
    let (path, mut n) = (place.path.clone(), 0);
    let result = write_block_before(&place.path, &place.memory, None, "## Loop a\n", || {
        n += 1;
        fs::write(&path, n.to_string()).unwrap();
    });
    assert!(matches!(result, Err(SharedFileError::Busy { .. })));
    assert_eq!(place.content(), "5");
    let left: Vec<_> = fs::read_dir(place.path.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "no temporary file is left behind");
}

#[cfg(unix)]
#[test]
fn mode_and_link_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new(Some("text\n"));
    fs::set_permissions(&place.path, fs::Permissions::from_mode(0o640)).unwrap();
    let link = place.path.with_file_name("link.md");
    std::os::unix::fs::symlink(&place.path, &link).unwrap();
    write_block(&link, &place.memory, None, "## Loop a\n").unwrap();
    assert!(link.is_symlink());
    assert_eq!(place.content(), "text\n\n## Loop a\n");
    assert_eq!(fs::metadata(&place.path).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn bytes_that_are_no_text_stay() {
    let place = Place::new(Some(""));
    fs::write(&place.path, [0xff, 0xfe, b'\n']).unwrap();
    place.write("## Loop a\n");
    assert!(fs::read(&place.path).unwrap().starts_with(&[0xff, 0xfe, b'\n', b'\n']));
}

proptest::proptest! {
    /// Whatever stands before and after our block, in whatever bytes, stands there afterwards.
    #[test]
    fn foreign_bytes_survive_every_rewrite(
        before in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200),
        after in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200),
    ) {
        let blocks = ["## Loop 7z\nround 1\n", "## Loop 7z\nround 1\nround 2\n", "## Loop 7z\nround 3\n"];
        let mut file = compose(&before, &[], None, blocks[0]);
        file.extend_from_slice(&after);
        for pair in blocks.windows(2) {
            file = compose(&file, &[pair[0].to_owned()], None, pair[1]);
        }
        let block = blocks[2].as_bytes();
        proptest::prop_assert!(file.starts_with(&before));
        proptest::prop_assert!(file.ends_with(&[block, &after].concat()));
        proptest::prop_assert!(file.len() <= before.len() + 2 + block.len() + after.len());
    }
}
