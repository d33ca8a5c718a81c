//! Code that waits by tokio's means inside a simulation.

use crate::pipeline::{say, turn};
use async_trait::async_trait;
use rehearsal::run::{Order, Setup, run};
use rehearsal::sim::{ActorId, InOrder, Sim, SimConfig, SimError};
use rehearsal::tools::{Footprint, Outcome, Permit, Progress, ReadOnly, Tool, ToolCx};
use rehearsal::trace::Event;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn in_order() -> Sim {
    Sim::new(SimConfig::new(InOrder))
}

#[test]
fn guests_are_not_starved() {
    let sim = in_order();
    let result = sim.run(async {
        let (tx, mut rx) = tokio::sync::mpsc::channel(4);
        let counting = sim.spawn(ActorId::call(1), async move {
            let mut sum = 0;
            while let Some(n) = rx.recv().await {
                sum += n;
            }
            sum
        });
        for n in 0..5_000u64 {
            tx.send(n).await.unwrap();
            tokio::time::sleep(Duration::ZERO).await;
        }
        drop(tx);
        let lock = tokio::sync::Semaphore::new(1);
        for _ in 0..5_000 {
            let _permit = lock.acquire().await.unwrap();
        }
        for _ in 0..2_000 {
            tokio::task::yield_now().await;
        }
        counting.await
    });
    assert_eq!(result, Ok(Ok(4_999 * 5_000 / 2)));
    assert_eq!(sim.now_ms(), 0);
}

#[test]
fn guest_timers_and_ours_share_one_time() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let sim = in_order();
    let result = sim.run(async {
        let guest = {
            let (sim, log) = (sim.clone(), log.clone());
            sim.clone().spawn(ActorId::call(1), async move {
                let began = tokio::time::Instant::now();
                for ms in [3, 4, 13, 100_000_000] {
                    tokio::time::sleep(Duration::from_millis(ms)).await;
                    log.lock().unwrap().push(format!("guest@{}", sim.now_ms()));
                    assert_eq!(began.elapsed().as_millis(), u128::from(sim.now_ms()));
                }
                // Tokio rounds up to the millisecond.
                tokio::time::sleep(Duration::from_micros(1)).await;
                log.lock().unwrap().push(format!("guest@{}", sim.now_ms()));
            })
        };
        let ours = {
            let (sim, log) = (sim.clone(), log.clone());
            sim.clone().spawn(ActorId::call(2), async move {
                for ms in [5, 15, 99_999_999] {
                    sim.sleep_ms(ActorId::call(2), ms).await;
                    log.lock().unwrap().push(format!("ours@{}", sim.now_ms()));
                }
            })
        };
        guest.await.unwrap();
        ours.await.unwrap();
    });
    assert_eq!(result, Ok(()));
    assert_eq!(
        log.lock().unwrap().join(" "),
        "guest@3 ours@5 guest@7 guest@20 ours@20 ours@100000019 guest@100000020 guest@100000021"
    );
}

#[test]
fn a_guest_that_moves_the_clock_over_a_deadline_is_an_error() {
    for passes in [Duration::from_millis(5), Duration::from_micros(500)] {
        let sim = in_order();
        let result = sim.run(async {
            let other = sim.clone();
            let sleeper = sim.spawn(ActorId::call(1), async move {
                other.sleep_ms(ActorId::call(1), 3).await;
            });
            tokio::time::advance(passes).await;
            sleeper.await
        });
        assert!(matches!(result, Err(SimError::Clock { .. })), "{result:?}");
    }
}

/// A tool that does thousands of things by tokio's means, all at one instant.
struct Busy(Value);

#[async_trait]
impl Tool for Busy {
    fn name(&self) -> &str {
        "busy"
    }
    fn description(&self) -> &str {
        "Waits by tokio's means, often. Use it to see that nobody starves."
    }
    fn input_schema(&self) -> &Value {
        &self.0
    }
    fn read_only(&self) -> ReadOnly {
        ReadOnly::Always
    }
    fn footprint(&self, _cx: &ToolCx, _input: &Value) -> Footprint {
        Footprint::nothing()
    }
    async fn call(
        &self,
        _input: &Value,
        cx: &ToolCx,
        _permit: &dyn Permit,
        _progress: &dyn Progress,
    ) -> Outcome {
        let began_ms = cx.world.now_ms();
        let (tx, mut rx) = tokio::sync::mpsc::channel(1);
        let sum = tokio::sync::Mutex::new(0u64);
        let send = async move {
            for n in 1..=1_500u64 {
                tx.send(n).await.expect("the receiver lives");
                tokio::time::sleep(Duration::ZERO).await;
            }
        };
        let receive = async {
            while let Some(n) = rx.recv().await {
                *sum.lock().await += n;
            }
        };
        futures_util::future::join(send, receive).await;
        for _ in 0..1_500 {
            *sum.lock().await += 1;
        }
        let sum = *sum.lock().await;
        Outcome::ok(format!("{sum} in {} ms", cx.world.now_ms() - began_ms))
    }
}

#[test]
fn calls_of_a_run_are_not_starved() {
    let calls: Vec<(&str, Value)> = (0..4).map(|_| ("busy", json!({}))).collect();
    for order in [Order::InOrder, Order::Random] {
        let report = run(Setup {
            order,
            tools: vec![Arc::new(Busy(json!({"type": "object"})))],
            turns: vec![turn(&calls), say("Done.")],
            ..Setup::default()
        })
        .expect("runs to its end");
        let said: Vec<&str> = report
            .trace
            .events()
            .filter_map(|event| match event {
                Event::Result(result) => Some(result.content.get()),
                _ => None,
            })
            .collect();
        assert_eq!(said, [r#""1127250 in 0 ms""#; 4]);
    }
}
