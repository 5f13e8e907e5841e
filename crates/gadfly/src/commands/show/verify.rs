//! `gadfly show --verify`: whether a run's record proves itself.

use gadfly_journal::{Proof, RunId, Vouched};
use serde_json::json;

use crate::context::Context;
use crate::exit::Code;
use crate::output::{error, print};

pub fn print(run: &RunId, context: &Context) -> Result<(), Code> {
    let gadfly = context.open_existing()?;
    let proof = gadfly.verify(run).map_err(|why| error::fault(&why.to_string()))?;
    let counts = gadfly.journal().counts_here(run).map_err(|e| error::fault(&e.to_string()))?;
    let records = gadfly.journal().next_seq(run).map_err(|e| error::fault(&e.to_string()))?;
    let vouched = gadfly.journal().vouched(run).map_err(|e| error::fault(&e.to_string()))?;
    if context.global.json {
        let sealed = match proof {
            Proof::Sealed => records,
            Proof::Unsealed { from } => from,
        };
        let line = json!({ "run": run, "records": records, "sealed": sealed, "made_here": counts,
            "signed_with": vouched.map(|vouched| vouched.key) });
        return print::out(&line.to_string());
    }
    print::out(&format!(
        "{run}: {records} records, each as it was written, with its texts, and decided again alike"
    ))?;
    if let Proof::Unsealed { from } = proof {
        print::out(&format!(
            "records from {from} on came after the last seal: had the end been cut off there, nobody could tell"
        ))?;
    }
    if let Some(vouched) = vouched {
        let Vouched { seal, key } = vouched;
        print::out(&format!("its last seal is covered by a signature over seal {seal}, made with {key}"))?;
    }
    if !counts {
        print::out("it was not made here with this machine's key: no gate counts it")?;
    }
    Ok(())
}
