//! Lower-case hexadecimal.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Two digits a byte.
pub fn encode(bytes: &[u8]) -> String {
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or_default();
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .map(char::from)
        .collect()
}

/// Exactly `N` bytes; `None` for any other length or digit.
pub fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let text = text.as_bytes();
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = nibble(*high)? << 4 | nibble(*low)?;
    }
    Some(bytes)
}

fn nibble(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|n| u8::try_from(n).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_and_refuses_the_rest() {
        assert_eq!(encode(&[0, 0x1f, 0xff]), "001fff");
        assert_eq!(decode("001fFF"), Some([0, 0x1f, 0xff]));
        assert_eq!(decode::<3>("001ff"), None);
        assert_eq!(decode::<1>("0g"), None);
        assert_eq!(decode::<1>("é"), None);
    }
}
