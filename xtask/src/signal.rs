//! Signals to other processes and to us, for which the standard library has nothing.

use std::sync::atomic::{AtomicBool, Ordering};

/// What a process is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT; Postgres ends its sessions and writes everything to disk.
    Interrupt,
    /// SIGTERM: end in order.
    Terminate,
    /// SIGQUIT; Postgres ends at once and recovers at its next start.
    Quit,
    /// SIGKILL: end at once, nothing can prevent it.
    Kill,
    /// SIGSTOP: hold still, as in a long pause; nothing can prevent it.
    Pause,
    /// SIGCONT: go on.
    Resume,
}

impl Signal {
    /// Its number, which `kill -s` takes as well.
    pub(crate) fn number(self) -> libc::c_int {
        match self {
            Self::Interrupt => libc::SIGINT,
            Self::Terminate => libc::SIGTERM,
            Self::Quit => libc::SIGQUIT,
            Self::Kill => libc::SIGKILL,
            Self::Pause => libc::SIGSTOP,
            Self::Resume => libc::SIGCONT,
        }
    }
}

/// Signals one process. One that has ended needs no signal, so that is no error.
pub fn send(pid: u32, signal: Signal) {
    raw_kill(pid.cast_signed(), signal);
}

/// Signals every process of a group.
pub fn send_to_group(group: u32, signal: Signal) {
    raw_kill(-group.cast_signed(), signal);
}

#[allow(unsafe_code)]
fn raw_kill(target: i32, signal: Signal) {
    // 0 would name our own group, and -1 every process.
    if matches!(target, 0 | -1) {
        return;
    }
    // SAFETY: kill(2) takes two integers and touches no memory of ours.
    unsafe { libc::kill(target, signal.number()) };
}

static ASKED_TO_END: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C, SIGTERM and a closed terminal do not end us, but are noted for [`asked_to_end`].
#[allow(unsafe_code)]
pub fn note_requests_to_end() {
    extern "C" fn note(_: libc::c_int) {
        ASKED_TO_END.store(true, Ordering::Relaxed);
    }
    let note = note as extern "C" fn(libc::c_int);
    for number in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only stores to an atomic, which is safe at any moment of any thread.
        unsafe { libc::signal(number, note as libc::sighandler_t) };
    }
}

/// Whether somebody wants this process to end.
pub fn asked_to_end() -> bool {
    ASKED_TO_END.load(Ordering::Relaxed)
}
