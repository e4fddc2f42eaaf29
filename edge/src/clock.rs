//! The isolate's clock. It stands still between two I/O events.

use protocol::flight::Millis;
use worker::js_sys;

/// Milliseconds since the Unix epoch.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number of milliseconds after 1970"
)]
pub(crate) fn now() -> Millis {
    js_sys::Date::now() as Millis
}
