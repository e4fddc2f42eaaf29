//! The money: every `PaymentIntent` and what was refunded of it. It grows until it is told to
//! forget, since a charge that is dropped from the list could hide a second one.

use std::collections::{BTreeMap, HashMap};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use uuid::Uuid;

/// A new id in Stripe's manner, unique across restarts: `pi_…`, `ch_…`, `re_…`, `req_…`.
pub(super) fn new_id(prefix: &str) -> String {
    format!("{prefix}_{}", Uuid::new_v4().simple())
}

/// The time as Stripe writes it: whole seconds since 1970.
pub(super) fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |d| d.as_secs())
}

/// The statuses that the sandbox can reach, of those that Stripe knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    RequiresPaymentMethod,
    RequiresConfirmation,
    Succeeded,
}

/// Stripe's `PaymentIntent`, as far as the sandbox models it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PaymentIntent {
    pub(super) id: String,
    pub(super) object: &'static str,
    /// Minor units.
    pub(super) amount: u64,
    pub(super) amount_received: u64,
    pub(super) created: u64,
    /// Three lower-case letters.
    pub(super) currency: String,
    pub(super) description: Option<String>,
    pub(super) last_payment_error: Option<LastPaymentError>,
    pub(super) latest_charge: Option<String>,
    pub(super) livemode: bool,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) payment_method: Option<String>,
    pub(super) status: Status,
    pub(super) transfer_data: Option<TransferData>,
    #[serde(skip)]
    pub(super) idempotency_key: Option<String>,
    #[serde(skip)]
    pub(super) amount_refunded: u64,
}

/// Where the money goes.
#[derive(Clone, Debug, Serialize)]
pub(super) struct TransferData {
    pub(super) destination: String,
}

/// Why the last attempt to pay failed.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LastPaymentError {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) code: &'static str,
    pub(super) decline_code: &'static str,
    pub(super) message: &'static str,
}

impl PaymentIntent {
    /// True once everything was given back.
    pub(super) fn refunded(&self) -> bool {
        self.amount_refunded == self.amount
    }
}

/// Every intent, in order of creation.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    intents: Vec<PaymentIntent>,
    positions: HashMap<String, usize>,
}

impl Ledger {
    pub(super) fn add(&mut self, intent: PaymentIntent) {
        self.positions.insert(intent.id.clone(), self.intents.len());
        self.intents.push(intent);
    }

    pub(super) fn find(&self, id: &str) -> Option<&PaymentIntent> {
        self.positions.get(id).map(|&at| &self.intents[at])
    }

    pub(super) fn find_mut(&mut self, id: &str) -> Option<&mut PaymentIntent> {
        self.positions.get(id).map(|&at| &mut self.intents[at])
    }

    pub(super) fn intents(&self) -> &[PaymentIntent] {
        &self.intents
    }
}
