//! Embeds the validated policy, so that no TOML parser is part of the Worker.

use std::{env, error::Error, fs, path::Path};

fn main() {
    if let Err(error) = embed() {
        println!("cargo::error={error}");
    }
}

fn embed() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=POLICY_FILE");
    let file = env::var("POLICY_FILE").unwrap_or_else(|_| "../policy.toml".into());
    println!("cargo::rerun-if-changed={file}");
    let text = fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    let policy = protocol::policy::file::parse(&text, &file)?;
    let out = Path::new(&env::var("OUT_DIR")?).join("policy.json");
    fs::write(out, serde_json::to_vec(&policy)?)?;
    Ok(())
}
