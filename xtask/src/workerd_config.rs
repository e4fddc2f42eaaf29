//! The configuration of a bare workerd: one Worker, its objects in memory, fetches to any address.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::failure::{Failure, Result};
use crate::stamp::Inputs;
use crate::wrangler_config;

/// How many files this process has begun to write.
static WRITERS: AtomicU32 = AtomicU32::new(0);

/// Writes it beside the Worker, whose bindings are the environment variables of these names.
/// Edges that share a Worker and names share the file.
pub(crate) fn write(worker: &Path, names: &[&str]) -> Result<PathBuf> {
    let config = wrangler_config::read()?;
    let text = text(
        wrangler_config::value(&config, "compatibility_date")?,
        &modules(worker)?,
        names,
    );
    let digest = Inputs::default().text(&text).digest();
    let file = worker.join(format!("workerd-{digest}.capnp"));
    // Another edge may be reading the file right now, or writing it in another thread.
    let writer = WRITERS.fetch_add(1, Ordering::Relaxed);
    let partial = file.with_extension(format!("{}-{writer}.partial", std::process::id()));
    fs::write(&partial, text)
        .and_then(|()| fs::rename(&partial, &file))
        .map_err(Failure::because(format!(
            "could not write {}",
            file.display()
        )))?;
    Ok(file)
}

/// What `index.js` may import: it is the Worker, or stands in front of it.
fn modules(worker: &Path) -> Result<Vec<String>> {
    let unreadable = Failure::because(format!("{} can't be read", worker.display()));
    let entries = fs::read_dir(worker).map_err(unreadable)?;
    let files = entries.filter_map(|entry| Some(PathBuf::from(entry.ok()?.file_name())));
    let mut modules: Vec<_> = files
        .filter(|file| file.extension().is_some_and(|extension| extension == "js"))
        .map(|file| file.to_string_lossy().into_owned())
        .collect();
    // The first one is the Worker.
    modules.sort_by_key(|name| (name != "index.js", name.clone()));
    Ok(modules)
}

fn text(compatibility_date: &str, modules: &[String], names: &[&str]) -> String {
    let module = |name| format!("    (name = \"{name}\", esModule = embed \"{name}\"),\n");
    let modules = modules.iter().map(module).collect::<Vec<_>>().concat();
    let variable = |name| format!("    (name = \"{name}\", fromEnvironment = \"{name}\"),\n");
    let variables = names.iter().map(variable).collect::<Vec<_>>().concat();
    format!(
        r#"using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "edge", worker = .edge),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", http = (), service = "edge")],
);

const edge :Workerd.Worker = (
  modules = [
{modules}    (name = "index_bg.wasm", wasm = embed "index_bg.wasm"),
  ],
  compatibilityDate = "{compatibility_date}",
  bindings = [
    (name = "IN_FLIGHT", durableObjectNamespace = "InFlight"),
{variables}  ],
  durableObjectNamespaces = [(className = "InFlight", uniqueKey = "unavez-in-flight", enableSql = true)],
  durableObjectStorage = (inMemory = void),
);
"#
    )
}
