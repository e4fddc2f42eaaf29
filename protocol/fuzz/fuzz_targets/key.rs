//! Whatever the lines are: no panic, and a key that is taken is the same one quoted.
#![no_main]

use libfuzzer_sys::fuzz_target;
use protocol::key::{KEY_BYTES_MAX, Key};

fn quoted(key: &Key) -> Vec<u8> {
    let escape = |&byte: &u8| match byte {
        b'"' | b'\\' => vec![b'\\', byte],
        byte => vec![byte],
    };
    let inside = key.bytes().iter().flat_map(escape);
    [b'"'].into_iter().chain(inside).chain([b'"']).collect()
}

fuzz_target!(|input: &[u8]| {
    if let Ok(Some(key)) = Key::parse(input.split(|byte| *byte == b'\n')) {
        assert!((1..=KEY_BYTES_MAX).contains(&key.bytes().len()));
        assert!(key.bytes().iter().all(u8::is_ascii_graphic));
        assert_eq!(Key::parse([quoted(&key).as_slice()]), Ok(Some(key)));
    }
});
