import type { Transaction } from 'kysely';
import { recordContactChange } from '../../billing/index.ts';
import { type Language, resolveLanguage } from '../../http/index.ts';
import { codeMinutes, type IssuedCode, notifySecurityChange, type Origin, whence } from '../../messages/index.ts';
import { type FlowId, randomToken, sha256 } from '../../shared/index.ts';
import type { Schema } from '../../store/index.ts';
import { AlreadyInUseError, changeEmail, findUserByIdentifier, normaliseEmail, type User } from '../../users/index.ts';
import type { ContactDeps } from './contact-deps.ts';
import { consumeContactCode } from './contact-limits.ts';
import type { PendingChangeByKind } from './pending-contact-changes.ts';
import { undoMs, undoUrl } from './undo-link.ts';
import {
  type CodeRejection,
  type CodeThrottled,
  type ContactCode,
  type ResendCodeResult,
  verifyContactCode,
} from './verify-contact-code.ts';

const purpose = 'change-email';

export type EmailRefusal = { kind: 'malformed' } | { kind: 'same' } | CodeThrottled;
type RequestEmailChangeResult = { kind: 'asked'; flow: FlowId } | { kind: 'refused'; refusal: EmailRefusal };

const mailLanguage = (user: User, from: Origin) => resolveLanguage(from.lang, user.locale ?? undefined);

interface CodeToSend {
  id: FlowId;
  flow: PendingChangeByKind<'email'>;
  lang: Language;
  /** Other writes of the same transaction. */
  alongside?: (trx: Transaction<Schema>) => Promise<unknown>;
}

/** Sends a code to the new address; or, if a user already has it, a notice to them that someone else wanted it. */
async function sendCode(deps: ContactDeps, user: User, { id, flow, lang, alongside }: CodeToSend): Promise<IssuedCode> {
  const { codes, database, outbox, flows, now } = deps;
  const { to } = flow;
  const owner = { purpose, flow: id, account: to } as const;
  const issued = await codes.issue(owner);
  if (!issued.issued) return issued;
  const common = { channel: 'mail', to, lang, groupId: codes.messageGroup(owner) } as const;
  const { code, expiresInMs } = issued;
  const { givenName } = user;
  const isTaken = await database.transaction(async (trx) => {
    const holder = await findUserByIdentifier(trx, { email: to });
    const values = { givenName, code, minutes: codeMinutes, sentAtMs: now() };
    await outbox.add(
      trx,
      holder
        ? { ...common, template: 'account-exists', values: { givenName: holder.givenName } }
        : { ...common, template: 'change-email', values, expiresAtMs: now() + expiresInMs },
    );
    await alongside?.(trx);
    return holder !== undefined;
  });
  await flows.update(id, { ...flow, decoy: flow.decoy || isTaken, sentAtMs: now() });
  outbox.wake();
  return issued;
}

/**
 * Starts a change of the e-mail address: sends a code to the new one, and a warning to the old one, which stays until
 * then. Only the user of the new address learns that it is in use.
 */
export async function requestEmailChange(
  deps: ContactDeps,
  user: User,
  { typed, from }: { typed: string; from: Origin },
): Promise<RequestEmailChangeResult> {
  const { kv, flows, outbox, now } = deps;
  const refuse = (refusal: EmailRefusal): RequestEmailChangeResult => ({
    kind: 'refused',
    refusal,
  });
  const email = normaliseEmail(typed);
  if (email === undefined) return refuse({ kind: 'malformed' });
  if (email === user.email) return refuse({ kind: 'same' });
  const decision = await consumeContactCode(kv, { userId: user.id, ip: from.ip });
  if (!decision.allowed) return refuse({ kind: 'too-many', retryAfterMs: decision.retryAfterMs });
  const started = await flows.begin({ kind: 'email', to: email }, user);
  const lang = mailLanguage(user, from);
  const { givenName } = user;
  const warn = (trx: Transaction<Schema>) =>
    outbox.add(trx, {
      ...({ channel: 'mail', to: user.email, lang, template: 'email-change-asked' } as const),
      values: { givenName, atMs: now(), newEmail: email, ...whence(lang, from) },
    });
  const issued = await sendCode(deps, user, { ...started, lang, alongside: warn });
  if (issued.issued) return { kind: 'asked', flow: started.id };
  await flows.end(started.id);
  return refuse({ kind: issued.why, retryAfterMs: issued.retryAfterMs });
}

/** Sends another code if the last one is old enough; the earlier code becomes invalid. */
export async function resendEmailChangeCode(
  deps: ContactDeps,
  user: User,
  { id, from }: { id: FlowId; from: Origin },
): Promise<ResendCodeResult> {
  const flow = await deps.flows.find('email', id, user);
  if (!flow) return { kind: 'not-found' };
  const refuse = (refusal: CodeThrottled): ResendCodeResult => ({ kind: 'refused', refusal });
  const decision = await consumeContactCode(deps.kv, { userId: user.id, ip: from.ip });
  if (!decision.allowed) return refuse({ kind: 'too-many', retryAfterMs: decision.retryAfterMs });
  const issued = await sendCode(deps, user, { id, flow, lang: mailLanguage(user, from) });
  if (issued.issued) return { kind: 'sent' };
  await decision.release();
  return refuse({ kind: issued.why, retryAfterMs: issued.retryAfterMs });
}

type ConfirmEmailChangeResult = { kind: 'changed'; user: User } | CodeRejection;

/**
 * The code from the new address completes the change. The old address gets the link to undo it for 72 hours, and stays
 * reserved until then.
 */
export async function confirmEmailChange(
  deps: ContactDeps,
  user: User,
  { id, typed, from }: ContactCode,
): Promise<ConfirmEmailChangeResult> {
  const { database, outbox, flows, publicUrl, log, now } = deps;
  const flow = await flows.find('email', id, user);
  if (!flow) return { kind: 'not-found' };
  const refused = await verifyContactCode(deps, { id, flow }, { typed, ip: from.ip });
  if (refused) return refused;
  await flows.end(id);
  const secret = randomToken();
  const undoUntil = now() + undoMs;
  const lang = mailLanguage(user, from);
  let changed: boolean;
  try {
    changed = await database.transaction(async (trx) => {
      const change = await changeEmail(trx, user, {
        email: flow.to,
        undoHash: sha256(secret),
        undoUntil,
        nowMs: now(),
      });
      if (change === undefined) return false;
      await recordContactChange(trx, user.id, now());
      await outbox.add(trx, {
        channel: 'mail',
        to: user.email,
        template: 'email-changed',
        lang,
        values: {
          givenName: user.givenName,
          atMs: now(),
          newEmail: flow.to,
          undoUrl: undoUrl(publicUrl, { change, secret }),
          undoUntilMs: undoUntil,
          ...whence(lang, from),
        },
        expiresAtMs: undoUntil,
      });
      await notifySecurityChange(trx, deps, { user: { ...user, email: flow.to }, change: 'email', from });
      return true;
    });
  } catch (error) {
    if (error instanceof AlreadyInUseError) return { kind: 'already-in-use' };
    throw error;
  }
  if (!changed) return { kind: 'not-found' };
  outbox.wake();
  log.info({ act: 'email-change' }, 'email address changed');
  return { kind: 'changed', user: { ...user, email: flow.to, emailVerified: true } };
}
