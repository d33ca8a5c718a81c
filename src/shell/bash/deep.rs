//! Gives the virtual shell a stack that deep scripts need.
//!
//! bashkit runs a script by recursion: a dozen functions within each other fill the
//! stack of an ordinary thread, and what then follows is the end of the process. So
//! each command is polled on a thread of its own, which only ever moves while the
//! polling thread waits for it: there is one line of execution, on two stacks.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Waker};
use std::thread::{Builder, JoinHandle};

/// What the deepest script that the limits of the shell allow needs in a debug build,
/// and as much again. Only what is used is ever committed.
const STACK_BYTES: usize = 256 * 1024 * 1024;

type Polled<T> = Result<Poll<T>, Box<dyn Any + Send>>;

/// A future that is polled on its own stack.
pub(super) struct Deep<T> {
    ask: Option<Sender<Waker>>,
    told: Receiver<Polled<T>>,
    thread: Option<JoinHandle<()>>,
}

/// Moves a future to a stack of its own. Fails if there is no memory for one.
pub(super) fn deep<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> std::io::Result<Deep<T>> {
    let (ask, asked) = channel::<Waker>();
    let (tell, told) = channel();
    let runtime = tokio::runtime::Handle::try_current();
    let thread = Builder::new()
        .name("shell".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let _entered = runtime.as_ref().ok().map(|handle| handle.enter());
            let mut work = Box::pin(work);
            while let Ok(waker) = asked.recv() {
                let mut cx = Context::from_waker(&waker);
                let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(&mut cx)));
                let goes_on = matches!(polled, Ok(Poll::Pending));
                if tell.send(polled).is_err() || !goes_on {
                    break;
                }
            }
        })?;
    Ok(Deep {
        ask: Some(ask),
        told,
        thread: Some(thread),
    })
}

impl<T> Future for Deep<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let asked = self
            .ask
            .as_ref()
            .and_then(|ask| ask.send(cx.waker().clone()).ok());
        match asked.and_then(|()| self.told.recv().ok()) {
            Some(Ok(polled)) => polled,
            Some(Err(panic)) => resume_unwind(panic),
            // It was polled after its end.
            None => Poll::Pending,
        }
    }
}

impl<T> Drop for Deep<T> {
    /// Waits until the work is dropped: what it held is free when this returns.
    fn drop(&mut self) {
        self.ask = None;
        if let Some(thread) = self.thread.take() {
            // Panics of the work were handed on by `poll`.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn poll<T>(work: &mut Deep<T>) -> Poll<T> {
        Pin::new(work).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn work_moves_only_while_it_is_polled() {
        let steps = Arc::new(AtomicUsize::new(0));
        let seen = steps.clone();
        let work = async move {
            for _ in 0..3 {
                steps.fetch_add(1, Ordering::SeqCst);
                let mut first = true;
                std::future::poll_fn(|_| match std::mem::take(&mut first) {
                    true => Poll::Pending,
                    false => Poll::Ready(()),
                })
                .await;
            }
        };
        let mut work = deep(work).expect("a thread");
        for step in 1..=3 {
            assert_eq!(poll(&mut work), Poll::Pending);
            assert_eq!(seen.load(Ordering::SeqCst), step);
        }
        assert_eq!(poll(&mut work), Poll::Ready(()));
    }

    #[test]
    fn dropping_it_drops_the_work_first() {
        struct Held(Arc<AtomicUsize>);
        impl Drop for Held {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let drops = Arc::new(AtomicUsize::new(0));
        let held = Held(drops.clone());
        let mut work = deep(async move {
            let _held = held;
            std::future::pending::<()>().await;
        })
        .expect("a thread");
        assert_eq!(poll(&mut work), Poll::Pending);
        drop(work);
        assert_eq!(drops.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_panic_comes_through() {
        let mut work = deep(async { panic!("of the work") }).expect("a thread");
        let caught = catch_unwind(AssertUnwindSafe(|| poll::<()>(&mut work)));
        let said = caught.expect_err("a panic").downcast_ref::<&str>().copied();
        assert_eq!(said, Some("of the work"));
    }
}
