import { type AllSubscribers, createHooks, type Hooks } from '../../server/hooks.ts';
import type { Subscribers } from '../../server/shared/index.ts';

/** @param name the event and the subscriber, such as `afterSignIn rememberDevice` */
type Wrap = <Event extends unknown[], Result>(
  act: (...event: Event) => Promise<Result>,
  name: string,
) => (...event: Event) => Promise<Result>;

/** Hooks that replace each subscriber in the list of `wiring.ts`. */
export function createWrappedHooks(wrap: Wrap): Hooks {
  const hooks = createHooks();
  const wrapEach = <Event extends unknown[], Result>(
    event: keyof AllSubscribers,
    listed: Subscribers<(...event: Event) => Promise<Result>>,
  ) => Object.fromEntries(Object.entries(listed).map(([name, act]) => [name, wrap(act, `${event} ${name}`)]));
  return {
    ...hooks,
    subscribe: (all) =>
      hooks.subscribe({
        beforeSignIn: wrapEach('beforeSignIn', all.beforeSignIn),
        onSessionReplaced: wrapEach('onSessionReplaced', all.onSessionReplaced),
        onSessionStarted: wrapEach('onSessionStarted', all.onSessionStarted),
        afterSignIn: wrapEach('afterSignIn', all.afterSignIn),
        onSessionsEnded: wrapEach('onSessionsEnded', all.onSessionsEnded),
        onAllSessionsEnded: wrapEach('onAllSessionsEnded', all.onAllSessionsEnded),
        onOtherSessionsEnded: wrapEach('onOtherSessionsEnded', all.onOtherSessionsEnded),
        afterSignOut: wrapEach('afterSignOut', all.afterSignOut),
        onAct: wrapEach('onAct', all.onAct),
        onSignInRefused: wrapEach('onSignInRefused', all.onSignInRefused),
        onUserCreated: wrapEach('onUserCreated', all.onUserCreated),
        afterUserCreated: wrapEach('afterUserCreated', all.afterUserCreated),
      }),
  };
}
