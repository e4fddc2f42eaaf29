//! Signals to processes, which the standard library can't send.

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
