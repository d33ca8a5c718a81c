//! Layer 5: the person at the keyboard.

use super::subject::About;
use super::{Judged, Permissions, Verdict, grants, lock, text};
use crate::settings::PermissionUpdate;
use crate::sim::{OpKind, Resource};
use crate::trace::Prompt;
use crate::words::Behavior;
use crate::world::{Question, UserReply};
use serde_json::Value;

/// What the user said, and what came of it.
pub(super) struct Answered {
    pub verdict: Verdict,
    pub prompt: Option<Prompt>,
    pub updated_input: Option<Value>,
}

/// Asks the user because of `why`; where nobody can be asked, an ask is a deny. A reply
/// for the session is kept as a rule for the same thing.
pub(super) async fn ask(
    permissions: &Permissions,
    judged: &Judged<'_>,
    about: &About,
    why: &str,
) -> Answered {
    let nobody = |why: &'static str| Verdict::new(Behavior::Deny, "nobody_to_ask", why);
    let cx = judged.cx;
    let Some(user) = &permissions.user else {
        return Answered {
            verdict: nobody("nobody can be asked in this run"),
            prompt: None,
            updated_input: None,
        };
    };
    let question = Question {
        tool: judged.tool.name().to_owned(),
        call: cx.call.id.to_string(),
        number: cx.call.number,
        subject: about.shown().to_owned(),
        text: text::question(judged.tool, judged.input, why),
    };
    let began = cx.world.now_ms();
    let reply = user.ask(&cx.world, &question).await;
    let waited_ms = cx.world.now_ms() - began;
    let mut updated_input = None;
    let (verdict, answer) = match reply {
        None => {
            let verdict = nobody("the scripted user has no answer to this question");
            (verdict, "nobody".to_owned())
        }
        Some(UserReply::Deny { comment: None }) => {
            (Verdict::new(Behavior::Deny, "user", ""), "deny".to_owned())
        }
        Some(UserReply::Deny {
            comment: Some(comment),
        }) => {
            let answer = format!("deny: {comment}");
            (Verdict::new(Behavior::Deny, "user", comment), answer)
        }
        Some(UserReply::Allow {
            always,
            updated_input: other,
            updated_permissions,
        }) => {
            updated_input = other;
            let mut answer = "allow".to_owned();
            // What cannot be read was complained about with the scenario.
            let updates = updated_permissions.iter();
            let updates = updates.filter_map(|update| PermissionUpdate::read(update).ok());
            let updates: Vec<PermissionUpdate> = updates.collect();
            for changed in permissions.apply(&updates, cx).await {
                answer = format!("{answer}, and {changed}");
            }
            if always && updated_input.is_none() {
                let rule = grants::rule_for(judged.tool.name(), about);
                cx.world.op(Resource::Grants, OpKind::Write).await;
                let fs = cx.world.world().fs();
                lock(&permissions.granted).add(&rule, &cx.env.cwd, &cx.env.home, &**fs);
                answer = format!("allow, and from now on {rule}");
            }
            (Verdict::new(Behavior::Allow, "user", ""), answer)
        }
    };
    let prompt = Some(Prompt {
        call: cx.call.id.clone(),
        question: question.text,
        answer,
        waited_ms,
    });
    Answered {
        verdict,
        prompt,
        updated_input,
    }
}
