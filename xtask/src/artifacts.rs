//! What is built: the Worker, the origin and the sandbox provider.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command;
use crate::failure::{Failure, Result};
use crate::node_packages;
use crate::project;
use crate::setup::Setup;
use crate::stamp::{self, Inputs};
use crate::step::step;

/// How much the compiler optimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Quick to build.
    Dev,
    /// Quick to run, and for the Worker small.
    Release,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Release => "release",
        }
    }

    /// Cargo's folder below the target folder.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::Dev => "debug",
            Self::Release => "release",
        }
    }
}

/// The policy that is used when none is named.
pub fn default_policy() -> PathBuf {
    project::root().join("policy.toml")
}

/// Cargo's target folder of the Worker, apart from the host's builds, which may be another compiler's.
pub fn worker_target() -> PathBuf {
    project::target().join("edge")
}

/// The programs that run natively.
pub struct Programs {
    /// The origin.
    pub origin: PathBuf,
    /// The sandbox provider.
    pub provider: PathBuf,
}

impl Programs {
    /// Builds both.
    pub fn build(profile: Profile) -> Result<Self> {
        let mut cargo = Command::new("cargo");
        cargo
            .current_dir(project::root())
            .args([
                "build",
                "--profile",
                profile.name(),
                "-p",
                "origin",
                "-p",
                "tests",
            ])
            .args(["--bin", "origin", "--bin", "sandbox-provider"]);
        command::visibly(&mut cargo)?;
        Ok(Self::of(profile))
    }

    /// Where both are once they have been built.
    pub fn of(profile: Profile) -> Self {
        let folder = project::target().join(profile.folder());
        Self {
            origin: folder.join("origin"),
            provider: folder.join("sandbox-provider"),
        }
    }
}

/// One build of a Worker; the edge's holds its policy.
pub struct Worker {
    profile: Profile,
    /// The folder of its package.
    package: &'static str,
    policy: Option<PathBuf>,
    out: PathBuf,
}

const EDGE: &str = "edge";

impl Worker {
    /// The build for `policy`; each combination has a folder of its own, the common one is `build/`.
    pub fn new(profile: Profile, policy: &Path) -> Result<Self> {
        let policy = policy.canonicalize().map_err(Failure::because(format!(
            "the policy {} can't be read",
            policy.display()
        )))?;
        let mut out = project::root().join("build");
        if profile != Profile::Dev || policy != default_policy() {
            let digest = Inputs::default().text(&read(&policy)?).digest();
            out = out.join(format!("{}-{digest}", profile.name()));
        }
        Ok(Self {
            profile,
            package: EDGE,
            policy: Some(policy),
            out,
        })
    }

    /// The Worker that tests and benchmarks have beside the edge's.
    pub fn of_tests(profile: Profile) -> Self {
        let folder = format!("tests-{}", profile.name());
        Self {
            profile,
            package: "tests/worker",
            policy: None,
            out: project::root().join("build").join(folder),
        }
    }

    /// The build that `main` in wrangler.toml names, in the profile that wrangler's command asks for.
    pub fn for_wrangler(profile: Profile) -> Self {
        Self {
            profile,
            package: EDGE,
            policy: Some(default_policy()),
            out: project::root().join("build"),
        }
    }

    /// Builds unless nothing has changed, and returns the folder of `index.js` and `index_bg.wasm`.
    pub fn build(&self, setup: &Setup) -> Result<PathBuf> {
        let target = worker_target();
        project::ensure_dir(&target)?;
        // Cargo's own lock ends before the steps that read what it has built.
        let _lock = lock(&target.join(".unavez-lock"))?;
        let digest = self.digest(setup)?;
        let stamp = self.out.join(".unavez-stamp");
        if !stamp::is_fresh(&stamp, &digest) {
            let what = format!(
                "building the Worker of {} ({})",
                self.package,
                self.profile.name()
            );
            step(&what, || {
                command::visibly(&mut self.worker_build(setup, &target)?)
            })?;
            stamp::write(&stamp, &digest)?;
        }
        Ok(self.out.clone())
    }

    fn digest(&self, setup: &Setup) -> Result<String> {
        let root = project::root();
        let mut inputs = Inputs::default()
            .text(self.profile.name())
            .text(&setup.toolchain.id())
            .text(&setup.tools.worker_build.to_string_lossy())
            .text(&setup.tools.wasm_bindgen.to_string_lossy());
        let files = ["Cargo.toml", "Cargo.lock", ".cargo/config.toml"];
        // The Worker of the tests hashes as the edge does.
        let shared = ["protocol", "edge/src/digest.rs"].into_iter().chain(files);
        for part in [self.package].into_iter().chain(shared) {
            inputs = inputs.path(&root.join(part))?;
        }
        if let Some(policy) = &self.policy {
            inputs = inputs.text(&read(policy)?);
        }
        Ok(inputs.digest())
    }

    fn worker_build(&self, setup: &Setup, target: &Path) -> Result<Command> {
        let mut build = setup.toolchain.command(&setup.tools.worker_build)?;
        // wasm-opt is a script that wants a recent Node.
        command::prefer(&mut build, &node_packages::bin())?;
        build
            .current_dir(project::root().join(self.package))
            .arg(format!("--{}", self.profile.name()))
            .arg("--out-dir")
            .arg(&self.out)
            .env("CARGO_TARGET_DIR", target)
            .envs(self.policy.as_ref().map(|policy| ("POLICY_FILE", policy)))
            .env("WASM_BINDGEN_BIN", &setup.tools.wasm_bindgen)
            .env("WASM_OPT_BIN", node_packages::wasm_opt())
            .env("ESBUILD_BIN", node_packages::esbuild());
        Ok(build)
    }
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(Failure::because(format!(
        "could not read {}",
        path.display()
    )))
}

fn lock(path: &Path) -> Result<File> {
    let file = File::create(path).map_err(Failure::because(format!(
        "could not create {}",
        path.display()
    )))?;
    file.lock().map_err(Failure::because(format!(
        "could not lock {}",
        path.display()
    )))?;
    Ok(file)
}
