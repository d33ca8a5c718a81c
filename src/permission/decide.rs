//! The way of one decision through the layers.

use super::changes::Current;
use super::mode::Place;
use super::order::{self, Open, Setup, Step, Verdicts};
use super::subject::About;
use super::{
    Asks, Decided, DeputyAnswer, Judged, Permissions, Request, Verdict, classifier, grants, hook,
    lock, mode, rule, text, user,
};
use crate::profile::PermissionOrder;
use crate::rule::{Query, RuleSet};
use crate::sim::{OpKind, Resource};
use crate::tools::OwnVerdict;
use crate::trace::{Decision, LayerVerdict, Prompt};
use crate::words::{Behavior, Class, Layer, Mode};
use serde_json::Value;

/// What asking has brought so far.
#[derive(Default)]
struct Asked {
    asks: Option<Asks>,
    prompts: Vec<Prompt>,
    updated_input: Option<Value>,
    waited_ms: u64,
}

/// A decision as far as nobody was asked.
struct Opened {
    setup: Setup,
    about: About,
    place: Place,
    said: Verdicts,
}

impl Permissions {
    /// Decides about one call: never without a layer and a reason, and never over a
    /// matching deny rule.
    pub async fn decide(&self, judged: &Judged<'_>) -> Decided {
        let Opened {
            setup,
            about,
            place,
            mut said,
        } = self.opened(judged).await;
        let aliases = judged.tool.aliases();
        let query = about.query(judged, &aliases);
        let mut asked = Asked::default();
        loop {
            match order::next(&setup, &said) {
                Step::Decided(layer) => return self.finish(judged, &setup, layer, said, asked),
                Step::Granted => {
                    said.rule = said.grant.take().unwrap_or_default();
                    return self.finish(judged, &setup, Layer::Rule, said, asked);
                }
                Step::DontAsk(because) => {
                    let why = match because {
                        Some(layer) => format!("it asks nobody, and layer {layer} asks"),
                        None => "it asks nobody, and nothing allows this".to_owned(),
                    };
                    said.mode = Verdict::new(Behavior::Deny, "dont_ask", why);
                    return self.finish(judged, &setup, Layer::Mode, said, asked);
                }
                Step::LookUp(Open::Grants) => said.grant = Some(self.look_up(judged, &query).await),
                Step::LookUp(Open::Classifier) => {
                    // In a box, like everybody who is asked: otherwise the future of every
                    // call has room for it.
                    let asked = classifier::ask(self, judged, &about, place, setup.mode);
                    said.classifier = Some(Box::pin(asked).await);
                }
                Step::AskUser(because) => {
                    let why = because.map(|layer| asks(&said, layer)).unwrap_or_default();
                    asked.asks = Some(who_asks(&said, because));
                    if let Some(verdict) =
                        Box::pin(self.deputy(judged, &about, &why, &mut asked)).await
                    {
                        said.hook = verdict;
                        return self.finish(judged, &setup, Layer::Hook, said, asked);
                    }
                    let answered = Box::pin(user::ask(self, judged, &about, &why)).await;
                    asked.waited_ms += answered.prompt.as_ref().map_or(0, |p| p.waited_ms);
                    asked.prompts.extend(answered.prompt);
                    asked.updated_input = answered.updated_input;
                    let mut verdict = answered.verdict;
                    // Who asked is part of the answer's reason.
                    verdict.rule = because
                        .filter(|layer| *layer == Layer::Rule)
                        .and_then(|_| said.rule.rule.clone());
                    said.user = Some(verdict);
                }
            }
        }
    }

    /// What the layers that ask nobody say.
    async fn opened(&self, judged: &Judged<'_>) -> Opened {
        let (cx, tool) = (judged.cx, judged.tool);
        let setup = Setup {
            order: self.profile.permission_order,
            bypass: self.profile.bypass,
            mode: self.mode(),
            granted_by_user: judged.granted_by_user,
        };
        let edits_matter = matches!(setup.mode, Mode::AcceptEdits | Mode::Plan | Mode::Auto)
            || setup.order != PermissionOrder::RulesFirst;
        let Current { rules, working } = self.current(setup.mode);
        let about = About::of(judged, &rules, edits_matter).await;
        let aliases = tool.aliases();
        let query = about.query(judged, &aliases);
        let matches = rules.matches(&query);
        let own = match &matches.deny {
            Some(_) => OwnVerdict::None,
            None => tool.check_permissions(judged.input, cx).await,
        };
        let rule = rule::verdict(matches, &own);
        let place = about.place(&working);
        let critical = about.critical();
        let beyond = setup.beyond(place);
        let grant = match (critical, beyond) {
            (Some(_), _) => Some(Verdict::default()),
            (None, true) => Some(self.look_up(judged, &query).await),
            (None, false) => None,
        };
        let hook = hook::verdict(judged.hook.as_ref());
        let said = Verdicts {
            mode: mode::verdict(&mode::Facts {
                mode: setup.mode,
                order: setup.order,
                read_only: tool.is_read_only(judged.input),
                touched: rule.behavior.is_some() || judged.hook.is_some(),
                place,
                is_command: matches!(about, About::Command { .. }),
                critical,
                bypass: setup.bypass,
                granted: grant
                    .as_ref()
                    .is_some_and(|grant| grant.is(Behavior::Allow))
                    || rule.is_of_session(),
            }),
            // In mode `auto` these go to the classifier.
            hook: match setup.mode == Mode::Auto && critical.is_some() {
                true => hook.unless(Behavior::Allow),
                false => hook,
            },
            rule: match setup.mode == Mode::Auto {
                true if critical.is_some() => rule.unless(Behavior::Allow),
                true if beyond => rule.unless_allowed_by_settings(),
                _ => rule,
            },
            grant,
            ..Verdicts::default()
        };
        Opened {
            setup,
            about,
            place,
            said,
        }
    }

    /// Whether rules and mode decide about a call by themselves, so that nobody is asked
    /// and nothing can come of it for other calls.
    pub async fn is_settled(&self, judged: &Judged<'_>) -> bool {
        let Opened { setup, said, .. } = self.opened(judged).await;
        setup.mode != Mode::Auto
            && matches!(
                order::next(&setup, &said),
                Step::Decided(_) | Step::DontAsk(_)
            )
    }

    /// The decision of a deny rule about a call, if one matches; nobody else is heard.
    pub async fn denied(&self, judged: &Judged<'_>) -> Option<Decided> {
        let setup = Setup {
            order: self.profile.permission_order,
            bypass: self.profile.bypass,
            mode: self.mode(),
            granted_by_user: false,
        };
        let Current { rules, .. } = self.current(setup.mode);
        let about = About::of(judged, &rules, true).await;
        let aliases = judged.tool.aliases();
        let matches = rules.matches(&Query {
            tool: judged.tool.name(),
            aliases: &aliases,
            subject: about.subject(),
            input: Some(judged.input),
        });
        matches.deny.as_ref()?;
        let said = Verdicts {
            rule: rule::verdict(matches, &OwnVerdict::None),
            hook: hook::verdict(judged.hook.as_ref()),
            ..Verdicts::default()
        };
        Some(self.finish(judged, &setup, Layer::Rule, said, Asked::default()))
    }

    /// What a deputy says in the user's place, and what comes of it.
    async fn deputy(
        &self,
        judged: &Judged<'_>,
        about: &About,
        why: &str,
        asked: &mut Asked,
    ) -> Option<Verdict> {
        let rule = grants::rule_for(judged.tool.name(), about);
        let request = Request {
            judged,
            why,
            rule: &rule,
        };
        Some(match judged.deputy?.answer(&request).await? {
            DeputyAnswer::Deny { message } => {
                Verdict::new(Behavior::Deny, "permission_request", message)
            }
            DeputyAnswer::Allow {
                updated_input,
                updates,
            } => {
                asked.updated_input = updated_input;
                let changed = self.apply(&updates, judged.cx).await.join("; ");
                Verdict::new(Behavior::Allow, "permission_request", changed)
            }
        })
    }

    /// Writes the decision down, and remembers what mode `auto` counts.
    fn finish(
        &self,
        judged: &Judged<'_>,
        setup: &Setup,
        layer: Layer,
        said: Verdicts,
        asked: Asked,
    ) -> Decided {
        let decided = finish(judged, setup, layer, said, asked);
        if decided.class == Class::Ok {
            lock(&self.refusals).allowed();
        } else if layer == Layer::Classifier {
            lock(&self.refusals).refused();
        }
        decided
    }

    /// The narrowest rule that covers a call like this one.
    pub async fn suggestion(&self, judged: &Judged<'_>) -> String {
        let about = About::of(judged, &self.rules(), false).await;
        grants::rule_for(judged.tool.name(), &about)
    }

    /// Which of `sets` have a rule that matches a call, whatever the others say.
    pub async fn matching(&self, judged: &Judged<'_>, sets: &[RuleSet]) -> Vec<bool> {
        let about = About::of(judged, &self.rules(), true).await;
        let aliases = judged.tool.aliases();
        let query = Query {
            tool: judged.tool.name(),
            aliases: &aliases,
            subject: about.subject(),
            input: Some(judged.input),
        };
        let hits = |set: &RuleSet| {
            let matches = set.matches(&query);
            matches.deny.is_some() || matches.ask.is_some() || matches.allow.is_some()
        };
        sets.iter().map(hits).collect()
    }

    /// What the user granted before. Without a user, nothing ever was.
    async fn look_up(&self, judged: &Judged<'_>, query: &Query<'_>) -> Verdict {
        if self.user.is_none() {
            return Verdict::default();
        }
        let world = &judged.cx.world;
        world.op(Resource::Grants, OpKind::Read).await;
        lock(&self.granted).verdict(query).unwrap_or_default()
    }
}

/// What one of the first three layers says.
fn of_layer(said: &Verdicts, layer: Layer) -> &Verdict {
    match layer {
        Layer::Rule => &said.rule,
        Layer::Mode => &said.mode,
        _ => &said.hook,
    }
}

fn who_asks(said: &Verdicts, because: Option<Layer>) -> Asks {
    match because {
        Some(layer) => Asks {
            layer,
            reason: of_layer(said, layer).reason,
        },
        None => Asks {
            layer: Layer::User,
            reason: "nobody_decided",
        },
    }
}

/// Why a layer wants the user to be asked.
fn asks(said: &Verdicts, layer: Layer) -> String {
    let verdict = of_layer(said, layer);
    match &verdict.rule {
        Some(rule) => format!(
            "the rule `{}` of the {} settings asks",
            rule.text, rule.source
        ),
        None if verdict.why.is_empty() => format!("layer {layer} asks"),
        None => verdict.why.to_string(),
    }
}

/// Writes the decision down: who decided, and what every layer said.
fn finish(
    judged: &Judged<'_>,
    setup: &Setup,
    layer: Layer,
    said: Verdicts,
    asked: Asked,
) -> Decided {
    let granted = Verdict::new(Behavior::Allow, "user_input", "the user wrote this input");
    let deciding = match layer {
        Layer::Rule => Some(&said.rule),
        Layer::Mode => Some(&said.mode),
        Layer::Hook => Some(&said.hook),
        Layer::Classifier => said.classifier.as_ref(),
        Layer::User => Some(said.user.as_ref().unwrap_or(&granted)),
    };
    let nothing = Verdict::new(Behavior::Deny, "undecided", "no layer decided");
    let deciding = deciding
        .filter(|verdict| verdict.behavior.is_some())
        .unwrap_or(&nothing);
    let behavior = deciding.behavior.unwrap_or(Behavior::Deny);
    let class = match behavior {
        Behavior::Allow => Class::Ok,
        Behavior::Defer => Class::Deferred,
        Behavior::Ask | Behavior::Deny => Class::denied_by(layer),
    };
    let text = match class {
        Class::Ok => String::new(),
        _ => text::denial(judged.tool.name(), layer, deciding, &asked_by(&said)),
    };
    let heard = |layer: Layer, verdict: &Verdict| LayerVerdict {
        layer,
        verdict: verdict.word().into(),
        why: verdict.why.clone(),
    };
    // Where hooks come first, what they end reaches nobody else.
    let ended = layer == Layer::Hook
        && match setup.order {
            PermissionOrder::RulesFirst => false,
            PermissionOrder::HookThenRules => behavior == Behavior::Deny,
            PermissionOrder::HookFirst => !said.hook.is(Behavior::Ask),
        };
    let unless_asked = |layer: Layer, verdict: Option<&Verdict>| match verdict {
        Some(verdict) => heard(layer, verdict),
        None => LayerVerdict {
            layer,
            verdict: "not_reached".into(),
            why: "".into(),
        },
    };
    let user = match (&said.user, layer) {
        (None, Layer::User) => Some(&granted),
        (user, _) => user.as_ref(),
    };
    let rule = deciding.rule.as_ref();
    let decision = Decision {
        call: judged.cx.call.id.clone(),
        behavior,
        layer,
        reason: deciding.reason.into(),
        rule: rule.map(|rule| rule.text.to_string()),
        source: rule.map(|rule| rule.source.to_owned()),
        index: rule.map(|rule| rule.index),
        layers: vec![
            unless_asked(Layer::Rule, Some(&said.rule).filter(|_| !ended)),
            unless_asked(Layer::Mode, Some(&said.mode).filter(|_| !ended)),
            heard(Layer::Hook, &said.hook),
            unless_asked(Layer::Classifier, said.classifier.as_ref()),
            unless_asked(Layer::User, user),
        ],
    };
    Decided {
        decision,
        asks: asked.asks,
        prompts: asked.prompts,
        updated_input: asked.updated_input,
        class,
        text,
        waited_ms: asked.waited_ms,
    }
}

/// Who asked, for a denial because nobody was there.
fn asked_by(said: &Verdicts) -> String {
    for (layer, verdict) in [
        (Layer::Rule, &said.rule),
        (Layer::Mode, &said.mode),
        (Layer::Hook, &said.hook),
    ] {
        if verdict.is(Behavior::Ask) {
            return format!(": {}", asks(said, layer));
        }
    }
    match [&said.mode, &said.rule].iter().find(|v| !v.why.is_empty()) {
        Some(verdict) => format!(": {}", verdict.why),
        None => ": no rule allows it".to_owned(),
    }
}
