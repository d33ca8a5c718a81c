//! The hooks of a run: which of them run when something happens, and what they say together.

use super::{Carried, Desk, touch};
use crate::hooks::{
    self, Handler, HookCx, HookEvent, HookInput, HookRun, Hooks, Occasion,
    PermissionRequestOutcome, PostOutcome, PreOutcome, SessionOutcome, ToolFacts, combine_post,
    combine_pre, combine_request, combine_session, result_facts,
};
use crate::permission::Judged;
use crate::profile::{HookDefer, HookOutputRewrite, PostHookOnError, PreviewCut};
use crate::sim::{ActorId, Resource};
use crate::tools::{Outcome, RuleSubject, Tool, units};
use crate::trace::Event;
use crate::words::{Behavior, Mode};
use crate::world::{Actor, World};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// What hooks did, each event with its virtual time.
pub type HookEvents = Vec<(u64, Event)>;

/// The hooks of a run and where they run.
pub struct HookDesk {
    hooks: Hooks,
    cx: HookCx,
    session_id: String,
    /// Handlers of the session that have run: each is an actor of its own.
    of_session: AtomicU32,
}

/// A call, as its hooks see it.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    pub carried: &'a Carried,
    pub tool: &'a dyn Tool,
    pub input: &'a Value,
    pub desk: &'a Desk,
}

impl HookDesk {
    pub fn new(hooks: Hooks, cx: HookCx, session_id: String) -> HookDesk {
        HookDesk {
            hooks,
            cx,
            session_id,
            of_session: AtomicU32::new(0),
        }
    }

    /// The labels of the scripted outcomes that no hook had and that are not optional.
    pub fn left(&self) -> Vec<String> {
        self.cx.scripted.left()
    }

    /// Whether any hook is for `event`; a tool by any of its names.
    fn is_for(&self, event: HookEvent, tool: &dyn Tool) -> bool {
        if self.hooks.handlers.is_empty() {
            return false;
        }
        let names = names_of(tool);
        !self.hooks.matching(event, &names).is_empty()
    }

    /// Whether a hook may rewrite a call of `tool` before it runs.
    pub fn may_rewrite(&self, tool: &dyn Tool) -> bool {
        self.is_for(HookEvent::PreToolUse, tool)
    }

    /// Runs the hooks before a call, which is one of `calls` of its message. An error is
    /// what the scenario lacks.
    pub(super) async fn run_pre(&self, seen: Seen<'_>, calls: usize) -> Result<PreOutcome, String> {
        let event = HookEvent::PreToolUse;
        if !self.is_for(event, seen.tool) {
            return Ok(PreOutcome::default());
        }
        let mut runs = self.of_call(event, seen, Vec::new()).await?;
        if calls > 1 && self.cx.profile.hook_defer == HookDefer::OnlyCall {
            ignore_defer(&mut runs, calls);
        }
        self.note(seen.carried, &runs);
        let asks = |run: &HookRun| run.output.behavior == Some(Behavior::Ask);
        if !self.cx.profile.hook_rewrite_survives_ask && runs.iter().any(asks) {
            for run in &mut runs {
                if run.output.behavior == Some(Behavior::Allow) {
                    run.output.updated_input = None;
                }
            }
        }
        self.shorten(&mut runs, &seen.carried.cx.world).await;
        Ok(combine_pre(&runs, self.cx.profile.hook_rewrite_winner))
    }

    /// Runs the hooks after a call, with what became of it.
    pub(super) async fn run_post(
        &self,
        seen: Seen<'_>,
        outcome: &Outcome,
        edited: Option<&str>,
    ) -> Result<PostOutcome, String> {
        let failure = self.cx.profile.post_hook_on_error == PostHookOnError::PostToolUseFailure;
        let event = match outcome.is_error() && failure {
            true => HookEvent::PostToolUseFailure,
            false => HookEvent::PostToolUse,
        };
        if !self.is_for(event, seen.tool) {
            return Ok(PostOutcome::default());
        }
        let response = outcome
            .data
            .clone()
            .map_or_else(|| Value::String(outcome.text()), Value::from);
        let running_ms = seen.carried.times.running_ms;
        let facts = result_facts(event, response, outcome.is_error(), running_ms);
        let mut runs = self.of_call(event, seen, facts).await?;
        let written = self.note(seen.carried, &runs);
        if self.cx.profile.formatter_hook_refreshes_state {
            Box::pin(refresh(seen.carried, edited, &written)).await;
        }
        let is_mcp = seen.tool.name().starts_with("mcp__");
        for run in &mut runs {
            let older = run.output.updated_mcp_output.take().filter(|_| is_mcp);
            let newer = run.output.updated_output.take();
            run.output.updated_output = match self.cx.profile.hook_output_rewrite {
                HookOutputRewrite::AnyTool => newer.or(older),
                HookOutputRewrite::McpOnly => older,
            };
        }
        self.shorten(&mut runs, &seen.carried.cx.world).await;
        Ok(combine_post(&runs, self.cx.profile.hook_rewrite_winner))
    }

    /// Runs the hooks that may answer in the user's place.
    pub(super) async fn permission_request(
        &self,
        seen: Seen<'_>,
        suggestions: impl FnOnce() -> Value,
    ) -> Result<PermissionRequestOutcome, String> {
        let event = HookEvent::PermissionRequest;
        if !self.is_for(event, seen.tool) {
            return Ok(PermissionRequestOutcome::default());
        }
        let facts = vec![("permission_suggestions", suggestions())];
        let mut runs = self.of_call(event, seen, facts).await?;
        self.note(seen.carried, &runs);
        self.shorten(&mut runs, &seen.carried.cx.world).await;
        Ok(combine_request(&runs, self.cx.profile.hook_rewrite_winner))
    }

    /// Runs the hooks that hear of a refusal; whether one says that the model may try again.
    pub(super) async fn permission_denied(
        &self,
        seen: Seen<'_>,
        reason: &str,
    ) -> Result<bool, String> {
        let event = HookEvent::PermissionDenied;
        if !self.is_for(event, seen.tool) {
            return Ok(false);
        }
        let runs = self
            .of_call(event, seen, vec![("reason", reason.into())])
            .await?;
        self.note(seen.carried, &runs);
        Ok(runs.iter().any(|run| run.output.retry))
    }

    /// Whether any hook is for `event` of the session.
    pub fn is_for_session(&self, event: HookEvent) -> bool {
        self.hooks.handlers.iter().any(|h| h.event == event)
    }

    /// Runs the hooks for an event of the session, which `subject` matchers are over;
    /// with what they did. An error is what the scenario lacks.
    pub async fn session(
        &self,
        event: HookEvent,
        subject: &str,
        mode: Mode,
        facts: Vec<(&'static str, Value)>,
    ) -> Result<(SessionOutcome, HookEvents), String> {
        let names = [subject];
        let handlers = self.hooks.matching(event, &names);
        if handlers.is_empty() {
            return Ok(Default::default());
        }
        let count = u32::try_from(handlers.len()).unwrap_or(u32::MAX);
        let occasion = Occasion {
            event,
            tool: "",
            number: 0,
            first_sub: self.of_session.fetch_add(count, Ordering::Relaxed),
        };
        let stdin = hooks::stdin(&self.input(event, mode, None, facts));
        let ran = hooks::run(&handlers, &occasion, &stdin, &self.cx).await;
        let mut runs = ran.map_err(|lacks| lacks.to_string())?;
        let mut events = Vec::new();
        for run in &runs {
            self.done_by(run, &mut events);
            events.push((
                self.cx.world.sim().now_ms(),
                Event::Hook(Box::new(run.event(None))),
            ));
        }
        let agent = self.cx.world.actor(ActorId::AGENT);
        self.shorten(&mut runs, &agent).await;
        Ok((combine_session(&runs), events))
    }

    fn input<'a>(
        &'a self,
        event: HookEvent,
        mode: Mode,
        tool: Option<ToolFacts<'a>>,
        facts: Vec<(&'static str, Value)>,
    ) -> HookInput<'a> {
        HookInput {
            event,
            session_id: &self.session_id,
            cwd: &self.cx.cwd,
            mode,
            tool,
            facts,
        }
    }

    /// Runs the hooks for an event of a call. In a box: hardly any call has hooks, and the
    /// future of every call would have room for them.
    async fn of_call(
        &self,
        event: HookEvent,
        seen: Seen<'_>,
        facts: Vec<(&'static str, Value)>,
    ) -> Result<Vec<HookRun>, String> {
        let handlers = Box::pin(self.handlers(event, seen)).await;
        let (carried, tool) = (seen.carried, seen.tool);
        let facts_of_call = ToolFacts {
            name: tool.name(),
            input: seen.input,
            use_id: (event != HookEvent::PermissionRequest).then_some(&*carried.id.id),
        };
        let mode = seen.desk.permissions.mode();
        let stdin = hooks::stdin(&self.input(event, mode, Some(facts_of_call), facts));
        let occasion = Occasion {
            event,
            tool: tool.name(),
            number: carried.id.number,
            first_sub: event.first_sub(),
        };
        let ran = Box::pin(hooks::run(&handlers, &occasion, &stdin, &self.cx)).await;
        ran.map_err(|lacks| lacks.to_string())
    }

    /// The handlers for an event of a call whose conditions hold of it.
    async fn handlers<'h>(&'h self, event: HookEvent, seen: Seen<'_>) -> Vec<&'h Handler> {
        let names = names_of(seen.tool);
        let mut handlers = Vec::new();
        for handler in self.hooks.matching(event, &names) {
            let holds = match self.hooks.condition(handler) {
                None => true,
                Some(condition) => {
                    let subject = seen.tool.rule_subject(&seen.carried.cx, seen.input);
                    let open =
                        matches!(&subject, RuleSubject::Command(c) if condition.fails_open(c));
                    open || {
                        let judged = seen.judged();
                        let sets = std::slice::from_ref(condition.set());
                        seen.desk.permissions.matching(&judged, sets).await == [true]
                    }
                }
            };
            if holds {
                handlers.push(handler);
            }
        }
        handlers
    }

    /// Notes in the trace of a call what hooks did; gives what they wrote.
    fn note(&self, carried: &Carried, runs: &[HookRun]) -> Vec<Resource> {
        let mut written = Vec::new();
        for run in runs {
            let mut events = Vec::new();
            written.extend(self.done_by(run, &mut events));
            carried.log.extend(events);
            let event = Event::Hook(Box::new(run.event(Some(carried.id.id.clone()))));
            carried.log.push(carried.now_ms(), event);
        }
        written
    }

    /// The operations of one hook; gives what it wrote.
    fn done_by(&self, run: &HookRun, events: &mut HookEvents) -> Vec<Resource> {
        let by = run.actor.to_string().into();
        let (accesses, of_it) = touch::operations(&self.cx.world, run.actor, &by);
        events.extend(of_it);
        let writes = accesses
            .into_iter()
            .filter(|access| access.op.kind.writes());
        writes.map(|access| access.op.resource).collect()
    }

    /// Brings every text that goes to the model under its limit: what is over it is saved
    /// whole by `saver`, and its beginning stays.
    async fn shorten(&self, runs: &mut [HookRun], saver: &Actor) {
        let Some(limit) = self.cx.profile.hook_string_limit else {
            return;
        };
        for run in runs {
            let actor = run.actor;
            let texts = [
                ("context", &mut run.output.additional_context),
                ("reason", &mut run.output.reason),
            ];
            for (what, text) in texts {
                if let Some(text) = text
                    && units::count(self.cx.profile.char_unit, text) > limit
                {
                    *text = self.saved(text, limit, actor, what, saver).await;
                }
            }
        }
    }

    /// Saves a text and gives what stays of it.
    async fn saved(
        &self,
        text: &str,
        limit: u64,
        hook: ActorId,
        what: &str,
        saver: &Actor,
    ) -> String {
        /// Characters that stay, in the profile's unit (`semantics.md §2.5`).
        const PREVIEW_CHARS: u64 = 2_000;
        let profile = &self.cx.profile;
        let path = format!("{}/hook-{hook}-{what}.txt", self.cx.results_dir);
        let full = units::count(profile.char_unit, text);
        let place = match saver.write_with_parents(&path, text.as_bytes()).await {
            Ok(_) => format!("The whole of it is in {path}: Read that file for the rest."),
            Err(error) => format!("It could not be saved ({error})."),
        };
        let mut preview = units::head(profile.char_unit, text, PREVIEW_CHARS.min(limit));
        if profile.preview_cut == PreviewCut::Newline
            && let Some(end) = preview.rfind('\n')
        {
            preview = &preview[..end];
        }
        format!(
            "[A hook said {full} characters, over the limit of {limit}. {place} It begins:]\n{preview}"
        )
    }

    /// Stops the hooks of a call that is cut off.
    pub fn cancel(&self, world: &World, number: u32) {
        let count = u32::try_from(self.hooks.handlers.len()).unwrap_or(u32::MAX);
        let events = [
            HookEvent::PreToolUse,
            HookEvent::PermissionRequest,
            HookEvent::PermissionDenied,
            HookEvent::PostToolUse,
        ];
        for sub in events
            .iter()
            .flat_map(|event| (0..count).map(|place| event.first_sub() + place))
        {
            world.sim().cancel(ActorId::hook(number, sub));
        }
    }
}

impl<'a> Seen<'a> {
    /// The call as a condition is held against it.
    fn judged(&self) -> Judged<'a> {
        Judged {
            cx: &self.carried.cx,
            tool: self.tool,
            input: self.input,
            hook: None,
            deputy: None,
            granted_by_user: false,
        }
    }
}

/// The names that a tool is known by: matchers may be over any of them.
fn names_of(tool: &dyn Tool) -> Vec<&str> {
    let mut names = vec![tool.name()];
    names.extend(tool.aliases());
    names
}

/// Takes back what hooks said of putting the call off: it is not alone in its message.
fn ignore_defer(runs: &mut [HookRun], calls: usize) {
    for run in runs {
        if run.output.behavior == Some(Behavior::Defer) {
            run.output.behavior = None;
            run.notice = Some(format!(
                "hook {}: defer is ignored, because the message holds {calls} calls",
                run.label
            ));
        }
    }
}

/// What a post-hook made of the file that the call had just edited (a formatter does
/// so) is known to the agent, not a change that it has not seen.
async fn refresh(carried: &Carried, edited: Option<&str>, written: &[Resource]) {
    let Some(path) = edited else { return };
    let hit = |resource: &Resource| matches!(resource, Resource::File(file) if **file == *path);
    if written.iter().any(hit) {
        // A file that is gone meanwhile has no state to refresh.
        let _ = carried
            .cx
            .env
            .files
            .refresh(&carried.cx.world, path, carried.id.number)
            .await;
    }
}

/// What PostToolBatch is told of one call, whose result has `content`.
pub fn batch_fact(tool: &str, input: Value, id: &Arc<str>, content: Value) -> Value {
    json!({
        "tool_name": tool,
        "tool_input": input,
        "tool_use_id": &**id,
        "tool_response": content,
    })
}
