//! Header lines as Rust text.

use serde::{Serialize, Serializer};
use worker::{
    js_sys,
    wasm_bindgen::{JsCast, JsValue},
    web_sys,
};

/// The lines of a message, names in lower case. Repeated lines come joined by a comma, all but
/// `Set-Cookie`.
pub(crate) struct Fields(String);

impl Fields {
    /// Reads all lines at once: each crossing from JavaScript costs more than the text it carries.
    pub(crate) fn of(headers: &web_sys::Headers) -> Self {
        let pairs = js_sys::Array::from(headers.unchecked_ref());
        Self(pairs.join("\n").into())
    }

    /// Every line in JavaScript's order. A name holds no comma, a value no line break.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.split('\n').filter_map(|line| line.split_once(','))
    }

    /// The value of a header, by its lower-case name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.iter()
            .find(|(field, _)| *field == name)
            .map(|(_, value)| value)
    }
}

/// Header lines as the runtime takes them: one object, which crosses as one text, and of which it
/// makes headers three times as fast as of a list. So no name may be repeated.
pub(crate) fn object<'a, V: Serialize>(
    lines: impl IntoIterator<Item = (&'a str, V)>,
) -> Result<JsValue, JsValue> {
    let mut json = Vec::with_capacity(512);
    let written = serde_json::Serializer::new(&mut json).collect_map(lines);
    let json = written.ok().and_then(|()| String::from_utf8(json).ok());
    js_sys::JSON::parse(&json.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_commas() {
        let fields = Fields("link,</a>, </b>\nset-cookie,a=1; Expires=Wed, 21 Oct\nx,".into());
        assert_eq!(fields.get("link"), Some("</a>, </b>"));
        assert_eq!(fields.get("set-cookie"), Some("a=1; Expires=Wed, 21 Oct"));
        assert_eq!(fields.get("x"), Some(""));
        assert_eq!(fields.get("Link"), None);
        assert_eq!(Fields(String::new()).iter().count(), 0);
    }
}
