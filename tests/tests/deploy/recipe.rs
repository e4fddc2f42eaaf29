//! The Dockerfile and compose.yaml, held against what they name.

use serde_json::Value;
use std::{collections::BTreeSet, fs, path::Path, process::Command};
use tests::folder::Folder;
use xtask::project;

fn read(file: &str) -> String {
    fs::read_to_string(project::root().join(file)).unwrap_or_else(|_| panic!("no {file}"))
}

/// The words of each step of this kind, without those that come from another stage.
fn steps<'a>(dockerfile: &'a str, kind: &str) -> Vec<Vec<&'a str>> {
    let words = |line: &'a str| line.split_whitespace().collect::<Vec<_>>();
    let lines = dockerfile.lines().map(words);
    lines.filter(|words| words.first() == Some(&kind)).collect()
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-r").args([from, to]).status();
    assert!(
        copied.is_ok_and(|status| status.success()),
        "{}",
        from.display()
    );
}

#[test]
fn what_the_dockerfile_copies_is_a_workspace_with_the_programs_that_it_builds() {
    let (dockerfile, folder) = (read("Dockerfile"), Folder::create());
    let ignored = read(".dockerignore");
    for step in steps(&dockerfile, "COPY") {
        let [_, sources @ .., _] = step.as_slice() else {
            panic!("{step:?}");
        };
        let from_here = sources
            .iter()
            .filter(|source| !step[1].starts_with("--from") && !source.starts_with("--"));
        for source in from_here {
            copy(&project::root().join(source), folder.path());
            let let_in = format!("!{source}");
            assert!(
                ignored.lines().any(|line| line == let_in),
                "{source} is ignored"
            );
        }
    }
    let metadata = Command::new("cargo")
        .current_dir(folder.path())
        .args([
            "metadata",
            "--locked",
            "--offline",
            "--no-deps",
            "--format-version",
            "1",
        ])
        .output()
        .expect("cargo");
    assert!(
        metadata.status.success(),
        "{}",
        String::from_utf8_lossy(&metadata.stderr)
    );
    let metadata: Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    let targets = metadata["packages"].as_array().into_iter().flatten();
    let targets = targets.flat_map(|package| package["targets"].as_array().into_iter().flatten());
    let known: BTreeSet<_> = targets
        .filter_map(|target| target["name"].as_str())
        .collect();
    let runs = steps(&dockerfile, "RUN");
    let cargo = runs
        .iter()
        .find(|step| step.contains(&"cargo"))
        .expect("a build");
    let built: Vec<_> = cargo
        .windows(2)
        .filter(|pair| pair[0] == "--bin")
        .map(|pair| pair[1])
        .collect();
    assert!(
        built.iter().all(|program| known.contains(program)),
        "{built:?}"
    );
    for step in steps(&dockerfile, "COPY")
        .iter()
        .filter(|step| step[1].starts_with("--from"))
    {
        let program = step[2].rsplit('/').next().expect("a path");
        assert!(built.contains(&program), "{program} is not built");
    }
}

#[test]
fn the_image_runs_as_nobody_in_particular_and_is_asked_for_its_health() {
    let dockerfile = read("Dockerfile");
    let bases = steps(&dockerfile, "FROM");
    let (build, run) = bases.split_first().expect("stages");
    let version = build[1].trim_start_matches("rust:");
    assert!(
        read("rust-toolchain.toml").contains(&format!("\"{}", &version[..4])),
        "{version}"
    );
    assert!(
        run.iter().all(|base| base[1].ends_with(":nonroot")),
        "{run:?}"
    );
    assert!(dockerfile.contains("HEALTHCHECK") && dockerfile.contains("[\"/origin\", \"health\"]"));
}

#[test]
fn what_compose_names_is_there() {
    let (compose, dockerfile) = (read("compose.yaml"), read("Dockerfile"));
    let values = |name: &str| {
        let lines = compose.lines().map(str::trim);
        let found = lines.filter_map(|line| line.strip_prefix(&format!("{name}: ")));
        found.map(str::to_owned).collect::<Vec<_>>()
    };
    for file in values("file") {
        let text = read(&file);
        assert!(!text.trim().is_empty(), "{file}");
    }
    for target in values("target") {
        let stage = format!(" AS {target}");
        assert!(
            dockerfile.lines().any(|line| line.ends_with(&stage)),
            "{target}"
        );
    }
    let documented = read("docs/deploy.md");
    for line in compose.lines().map(str::trim) {
        let Some((name, value)) = line.split_once(": ") else {
            continue;
        };
        let is_variable = name
            .chars()
            .all(|char| char.is_ascii_uppercase() || char == '_');
        if !is_variable || name.starts_with("POSTGRES_") || name == "SEED_STOCK" {
            continue;
        }
        let (name, secret) = match name.strip_suffix("_FILE") {
            Some(name) => (name, value.strip_prefix("/run/secrets/")),
            None => (name, None),
        };
        assert!(
            documented.contains(&format!("`{name}`")),
            "{name} is not documented"
        );
        if let Some(secret) = secret {
            assert!(compose.contains(&format!("  {secret}:\n")), "{secret}");
        }
    }
}

#[test]
fn migrations_only_expand_so_that_an_older_origin_serves_on() {
    let folder = fs::read_dir(project::root().join("migrations")).expect("migrations");
    for file in folder {
        let file = file.expect("a file").path();
        let text = fs::read_to_string(&file).expect("UTF-8");
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("--"));
        let code = code.collect::<Vec<_>>().join(" ").to_uppercase();
        for statement in code.split(';') {
            let contracts = ["DROP ", "RENAME ", "ALTER COLUMN", "TRUNCATE ", "DELETE "];
            for word in contracts {
                assert!(!statement.contains(word), "{}: {word}", file.display());
            }
            let adds_column = statement.contains("ADD COLUMN");
            let is_needed = statement.contains("NOT NULL") && !statement.contains("DEFAULT");
            assert!(
                !(adds_column && is_needed),
                "{}: a column that older origins do not fill",
                file.display()
            );
        }
    }
}
