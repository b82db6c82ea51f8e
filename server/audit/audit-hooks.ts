import { createEvent, type ProviderId, type Subscribers, type UserId } from '../shared/index.ts';
import type { Db } from '../store/index.ts';
import type { AuditEntry } from './events.ts';

/** A sign-in that was refused. */
export interface RefusedSignIn {
  /** Undefined: the response of an identity provider identified no user. */
  userId: UserId | undefined;
  /** The factor: `password`, `totp`, `passkey` …, or the kind of the identity provider: `saml`, `google` … */
  method: string;
  ip: string;
  /** The identity provider. */
  provider?: ProviderId | undefined;
  /** The kind of the refusal. */
  reason?: string | undefined;
}

/** Events that modules report for the audit trail. `wiring.ts` lists the subscribers. */
export interface AuditHooks {
  /** In the transaction of the change. */
  onAct(trx: Db, entry: AuditEntry): Promise<void>;
  /** It must not take longer for users who exist, so its subscribers write nothing during the request. */
  onSignInRefused(refused: RefusedSignIn): Promise<void>;
}

export type AuditSubscribers = { readonly [Event in keyof AuditHooks]: Subscribers<AuditHooks[Event]> };

/** Hooks without subscribers; `subscribe` sets those of the given events. */
export function createAuditHooks(): AuditHooks & { subscribe(listed: AuditSubscribers): void } {
  const acts = createEvent<Parameters<AuditHooks['onAct']>>();
  const refusals = createEvent<Parameters<AuditHooks['onSignInRefused']>>();
  return {
    onAct: acts.publish,
    onSignInRefused: refusals.publish,
    subscribe({ onAct, onSignInRefused }) {
      acts.subscribe(onAct);
      refusals.subscribe(onSignInRefused);
    },
  };
}
