//! `fingerprint.include`, `.exclude` and `.headers`.

use crate::{
    canonical::{Pointer, Selection},
    policy::file::{
        fault::{Fault, Wrong},
        table::{Setting, Table},
        value::{header_name, list, pointer},
    },
};

/// The selection, and the headers that count.
pub(super) fn read(block: &mut Table<'_>) -> Result<(Selection, Vec<String>), Fault> {
    let Some(mut table) = block.table("fingerprint")? else {
        return Ok((Selection::whole(), Vec::new()));
    };
    let include = table.take("include", pointer::list)?;
    let exclude = table.take("exclude", pointer::list)?;
    let headers = table.or("headers", Vec::new(), |value| {
        list(value, r#"["accept-language"]"#, header_name::fingerprinted)
    })?;
    table.finish()?;
    let include = include.map(|include| include.value).unwrap_or_default();
    if let Some(exclude) = &exclude {
        check(&include, exclude)?;
    }
    let exclude = exclude.map(|exclude| exclude.value).unwrap_or_default();
    let texts = |list: &[Pointer]| {
        list.iter()
            .map(|it| it.as_str().to_owned())
            .collect::<Vec<_>>()
    };
    // The pointers are parsed already, so this can't fail.
    let selection = Selection::new(&texts(&include), &texts(&exclude));
    Ok((selection.unwrap_or_else(|_| Selection::whole()), headers))
}

/// Refuses an exclusion that leaves nothing of what is included, or that takes nothing from it.
fn check(include: &[Pointer], exclude: &Setting<Vec<Pointer>>) -> Result<(), Fault> {
    for out in &exclude.value {
        let name = out.as_str();
        let undone = include.iter().find(|included| included.is_within(out));
        let takes = |included: &Pointer| out.is_within(included);
        let (wrong, instead) = if name.is_empty() {
            ("excludes the whole body".to_owned(), r#"["/sent_at"]"#)
        } else if let Some(undone) = undone {
            let wrong = format!(
                "takes away {}, which fingerprint.include names",
                undone.as_str()
            );
            (wrong, "only places inside what is included")
        } else if !include.is_empty() && !include.iter().any(takes) {
            (
                format!("takes away {name}, which is not included anyway"),
                "only places inside what is included",
            )
        } else {
            continue;
        };
        return Err(Wrong::new(wrong, instead).of("fingerprint.exclude", exclude.at));
    }
    Ok(())
}
