//! First requests to an upstream that answers at once, beside the reference operation, which asks a
//! provider: both at one origin.

use super::{Bench, CONNECTIONS, ROUNDS, TURN, parts};
use crate::{
    load::{BODY, CREATED, Requests},
    rounds::Rounds,
    service::Service,
};
use std::sync::Arc;
use tests::sandbox::Sandbox;
use xtask::failure::Result;

impl Bench<'_> {
    pub(super) async fn gateway(&mut self) -> Result<()> {
        let name = "origin/gateway/c64";
        if !self.report.wants(name) {
            return Ok(());
        }
        let (upstream, provider) = (Service::echo(&self.folder).await?, Sandbox::start().await);
        let url = format!("http://{}", upstream.address());
        let (database, folder) = (&self.database, &self.folder);
        let origin = parts::start_gateway(folder, database, &url, &provider.url()).await?;
        let keys = self.next_key..self.next_key + (1 << 32);
        self.next_key = keys.end;
        let middle = keys.start + (1 << 31);
        let gateway = Arc::new(Requests::new("/", BODY, keys.start..middle, CREATED));
        let orders = Arc::new(Requests::new("/orders", BODY, middle..keys.end, CREATED));
        let mut rounds = Rounds::<2>::default();
        for _ in 0..ROUNDS {
            let reference = orders.load(origin.address(), CONNECTIONS, TURN).await?;
            let load = gateway.load(origin.address(), CONNECTIONS, TURN).await?;
            rounds.push([load.rate, reference.rate]);
        }
        self.line(name, &rounds, "the reference operation");
        Ok(())
    }
}
