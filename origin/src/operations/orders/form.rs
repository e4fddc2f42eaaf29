//! The order's form, judged member by member (DESIGN section 11).

use protocol::problem::{Kind, Problem};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

const AMOUNT_MAX: i64 = 1_000_000_000;
const QUANTITY_MAX: i64 = 1_000_000_000;
const TEXT_CHARS_MAX: usize = 255;
const ITEMS_MAX: usize = 100;
const METADATA_BYTES_MAX: usize = 16 * 1024;

/// A well-formed order.
#[derive(Debug)]
pub(super) struct Form {
    /// Minor units.
    pub amount: i64,
    /// Three capital letters.
    pub currency: String,
    /// Who is paid.
    pub destination: String,
    /// The items as canonical JSON text.
    pub items: Box<RawValue>,
    /// The metadata as canonical JSON text.
    pub metadata: Option<Box<RawValue>>,
    pieces: BTreeMap<String, i64>,
}

type Members = BTreeMap<String, Box<RawValue>>;

impl Form {
    /// Reads canonical JSON text.
    pub(super) fn read(text: &[u8]) -> Result<Self, Problem> {
        let mut members: Members = serde_json::from_slice(text)
            .map_err(|_| invalid("body", "an order is a JSON object"))?;
        let items = take(&mut members, "items", "")?;
        let form = Self {
            amount: integer(&mut members, "amount", "", AMOUNT_MAX)?,
            currency: currency(&mut members)?,
            destination: words(&mut members, "destination", "")?,
            pieces: pieces(&items)?,
            items,
            metadata: metadata(&mut members)?,
        };
        no_more(&members, "")?;
        Ok(form)
    }

    /// Pieces by SKU, in the order of the SKUs; a SKU that repeats adds up.
    pub(super) fn pieces(&self) -> Vec<(String, i64)> {
        self.pieces
            .iter()
            .map(|(sku, pieces)| (sku.clone(), *pieces))
            .collect()
    }
}

/// 400 `order-invalid`, naming the member.
pub(super) fn invalid(member: &str, what: &str) -> Problem {
    Problem::new(Kind::OrderInvalid, format!("{member}: {what}."))
}

fn take(members: &mut Members, name: &str, at: &str) -> Result<Box<RawValue>, Problem> {
    members
        .remove(name)
        .ok_or_else(|| invalid(&format!("{at}{name}"), "is required"))
}

fn value<T: DeserializeOwned>(
    members: &mut Members,
    name: &str,
    at: &str,
    what: &str,
) -> Result<T, Problem> {
    let text = take(members, name, at)?;
    serde_json::from_str(text.get()).map_err(|_| invalid(&format!("{at}{name}"), what))
}

fn integer(members: &mut Members, name: &str, at: &str, max: i64) -> Result<i64, Problem> {
    let what = format!("must be an integer from 1 to {max}");
    let number: i64 = value(members, name, at, &what)?;
    let fits = (1..=max).contains(&number);
    fits.then_some(number)
        .ok_or_else(|| invalid(&format!("{at}{name}"), &what))
}

/// Text of 1 to 255 characters. Controls are refused: no name has any, and Postgres keeps no NUL.
fn words(members: &mut Members, name: &str, at: &str) -> Result<String, Problem> {
    let what = format!("must be a string of 1 to {TEXT_CHARS_MAX} characters without controls");
    let text: String = value(members, name, at, &what)?;
    let fits = (1..=TEXT_CHARS_MAX).contains(&text.chars().count());
    let fits = fits && !text.chars().any(char::is_control);
    fits.then_some(text)
        .ok_or_else(|| invalid(&format!("{at}{name}"), &what))
}

fn currency(members: &mut Members) -> Result<String, Problem> {
    let what = "must be three capital letters, such as EUR";
    let currency: String = value(members, "currency", "", what)?;
    let fits = currency.len() == 3 && currency.bytes().all(|b| b.is_ascii_uppercase());
    fits.then_some(currency)
        .ok_or_else(|| invalid("currency", what))
}

fn pieces(items: &RawValue) -> Result<BTreeMap<String, i64>, Problem> {
    let what = format!("must be an array of 1 to {ITEMS_MAX} objects with sku and quantity");
    let items: Vec<Members> =
        serde_json::from_str(items.get()).map_err(|_| invalid("items", &what))?;
    if items.is_empty() || items.len() > ITEMS_MAX {
        return Err(invalid("items", &what));
    }
    let mut pieces = BTreeMap::new();
    for (mut item, n) in items.into_iter().zip(0..) {
        let at = format!("items[{n}].");
        let sku = words(&mut item, "sku", &at)?;
        let quantity = integer(&mut item, "quantity", &at, QUANTITY_MAX)?;
        no_more(&item, &at)?;
        *pieces.entry(sku).or_default() += quantity;
    }
    Ok(pieces)
}

fn metadata(members: &mut Members) -> Result<Option<Box<RawValue>>, Problem> {
    let Some(metadata) = members.remove("metadata") else {
        return Ok(None);
    };
    let what = "must be a JSON object of at most 16 KiB";
    let text = metadata.get();
    if text.starts_with('{') && text.len() <= METADATA_BYTES_MAX {
        Ok(Some(metadata))
    } else {
        Err(invalid("metadata", what))
    }
}

fn no_more(members: &Members, at: &str) -> Result<(), Problem> {
    match members.keys().next() {
        Some(name) => {
            // A name is the client's own text: shown, but never at length.
            let name: String = name.chars().take(64).collect();
            Err(invalid(
                &format!("{at}{name}"),
                "is not a member of an order",
            ))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::canonical::{self, Selection};

    fn read(text: &str) -> Result<Form, Problem> {
        Form::read(&canonical::text(text.as_bytes(), &Selection::whole()).unwrap())
    }

    const ORDER: &str = r#"{"amount":1250.0,"currency":"EUR","destination":"acct_1","items":[
        {"sku":"B2","quantity":1e0},{"sku":"A1","quantity":2},{"sku":"B2","quantity":3}]}"#;

    #[test]
    fn numbers_are_judged_by_value_and_quantities_add_up() {
        let form = read(ORDER).unwrap();
        assert_eq!(form.amount, 1_250);
        assert_eq!(form.pieces(), [("A1".to_owned(), 2), ("B2".to_owned(), 4)]);
    }

    #[test]
    fn metadata_keeps_every_digit() {
        let order = ORDER.replacen('{', r#"{"metadata":{"n":10000000000000000.01},"#, 1);
        let form = read(&order).unwrap();
        assert_eq!(
            form.metadata.unwrap().get(),
            r#"{"n":10000000000000000.01}"#
        );
    }

    #[test]
    fn each_refusal_names_its_member() {
        let table = [
            ("[]", "body: "),
            ("null", "body: "),
            ("{}", "items: is required"),
            (&ORDER.replace("1250.0", "0"), "amount: "),
            (&ORDER.replace("1250.0", "1250.5"), "amount: "),
            (&ORDER.replace("1250.0", "1000000001"), "amount: "),
            (&ORDER.replace("1250.0", "\"1250\""), "amount: "),
            (&ORDER.replace("EUR", "eur"), "currency: "),
            (&ORDER.replace("EUR", "EURO"), "currency: "),
            (&ORDER.replace("acct_1", ""), "destination: "),
            (&ORDER.replace("acct_1", "a\\u0000"), "destination: "),
            (&ORDER.replace("acct_1", &"é".repeat(256)), "destination: "),
            (&ORDER.replace("\"A1\"", "7"), "items[1].sku: "),
            (&ORDER.replace("1e0", "0"), "items[0].quantity: "),
            (
                &ORDER.replace("\"sku\":\"A1\"", "\"sku\":\"A1\",\"x\":1"),
                "items[1].x: ",
            ),
            (&ORDER.replacen('{', "{\"extra\":1,", 1), "extra: "),
            (&ORDER.replacen('{', "{\"metadata\":[],", 1), "metadata: "),
            (&ORDER.replacen('{', "{\"metadata\":null,", 1), "metadata: "),
        ];
        for (order, member) in table {
            let problem = read(order).unwrap_err();
            assert_eq!(problem.kind, Kind::OrderInvalid);
            assert!(
                problem.detail.starts_with(member),
                "{member} {}",
                problem.detail
            );
        }
        assert!(read(&ORDER.replace("acct_1", &"é".repeat(255))).is_ok());
    }

    #[test]
    fn each_limit_is_inclusive() {
        let items = |count: usize| {
            let item = r#"{"sku":"A1","quantity":1}"#;
            let items = vec![item; count].join(",");
            format!(r#"{{"amount":1,"currency":"EUR","destination":"a","items":[{items}]}}"#)
        };
        let metadata = |bytes: usize| {
            let text = "x".repeat(bytes - r#"{"t":""}"#.len());
            items(1).replacen('{', &format!(r#"{{"metadata":{{"t":"{text}"}},"#), 1)
        };
        let quantity = |pieces: &str| items(1).replace(r#""quantity":1"#, pieces);
        let table = [
            (items(100), items(101)),
            (metadata(16 * 1024), metadata(16 * 1024 + 1)),
            (
                ORDER.replace("1250.0", "1000000000"),
                ORDER.replace("1250.0", "1000000001"),
            ),
            (ORDER.replace("1250.0", "1"), ORDER.replace("1250.0", "0")),
            (
                quantity(r#""quantity":1000000000"#),
                quantity(r#""quantity":1000000001"#),
            ),
        ];
        for (below, above) in table {
            assert!(read(&below).is_ok(), "{:?}", read(&below));
            assert!(read(&above).is_err());
        }
    }
}
