//! What durations mean.

use durations::seconds;

#[test]
fn one_unit() {
    assert_eq!(seconds("45s"), Ok(45));
    assert_eq!(seconds("2h"), Ok(7200));
}

#[test]
fn several_units_add_up() {
    assert_eq!(seconds("1h30m"), Ok(5400));
    assert_eq!(seconds("1h2m5s"), Ok(3725));
}

#[test]
fn a_unit_must_be_known() {
    assert_eq!(seconds("3d"), Err("`d` is no unit".to_owned()));
}

#[test]
fn a_number_needs_a_unit() {
    assert_eq!(seconds("90"), Err("90 has no unit".to_owned()));
}
