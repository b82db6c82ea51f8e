import { isMalformed, type Language, resolveLanguage } from '../http/index.ts';
import { codeMinutes, decoyAddress, type IssuedCode, type Mail } from '../messages/index.ts';
import { type FlowId, toUserId } from '../shared/index.ts';
import {
  findUser,
  findUserByIdentifier,
  maxIdentifierLength,
  parseIdentifier,
  toAccountKey,
  type User,
} from '../users/index.ts';
import type { PasswordRuleDeps } from './deps.ts';
import { consumeResetLimit } from './reset-limits.ts';
import { accountDigest, isOwnerUnchanged, type ResetRecord, toResetOwner } from './reset-records.ts';

export type RequestResetRefusal =
  | { kind: 'empty' }
  | { kind: 'malformed' }
  | { kind: 'too-many'; retryAfterMs: number }
  /** Never with uniform answers; the same holds for the next kind. */
  | { kind: 'unknown-user' }
  | { kind: 'disabled' }
  | { kind: 'too-soon' | 'daily-limit'; retryAfterMs: number };

export type RequestResetResult = { kind: 'asked'; flow: FlowId } | { kind: 'refused'; refusal: RequestResetRefusal };

/** The user's language, else that of the requester. */
export const mailLanguage = (user: User | undefined, lang: Language): Language =>
  resolveLanguage(lang, user?.locale ?? undefined);

/**
 * Mails a code for a flow. Without a user it does the same work with a decoy: one code, one transaction with one mail
 * in it, one rendering.
 */
async function sendCode(
  deps: PasswordRuleDeps,
  { id, flow }: { id: FlowId; flow: ResetRecord },
  lang: Language,
): Promise<IssuedCode> {
  const { codes, database, outbox, flows, uniformAnswers, now } = deps;
  const { account, device } = flow;
  const issued = await codes.issue({ purpose: 'reset-password', flow: id, account, device });
  if (!issued.issued) return issued;
  const nowMs = now();
  await database.transaction(async (trx) => {
    const found = await findUser(trx, flow.user?.id ?? toUserId(''));
    const member = isOwnerUnchanged(codes, flow, found) ? found : undefined;
    const mail: Mail<'password-reset'> = {
      channel: 'mail',
      to: member?.email ?? decoyAddress,
      template: 'password-reset',
      lang: mailLanguage(member, lang),
      values: { givenName: member?.givenName ?? '', code: issued.code, minutes: codeMinutes },
      // The newest code arrives last, also if several flows ask, under any name.
      groupId: codes.messageGroup({ purpose: 'reset-password', account: member?.email ?? account }),
      expiresAtMs: nowMs + issued.expiresInMs,
    };
    await outbox.add(trx, mail, { decoy: member === undefined, delayed: uniformAnswers });
  });
  await flows.update(id, { ...flow, sentAtMs: nowMs });
  outbox.wake();
  return issued;
}

/**
 * Starts a reset: a code is sent to the account's e-mail address, also if a phone number was typed, and belongs to the
 * new flow.
 * @param from.device the known device's id, if this browser has signed in as this user before
 * @returns the id of the new flow, a secret of the requester
 */
export async function requestReset(
  deps: PasswordRuleDeps,
  { username, lang }: { username: string; lang: Language },
  from: { ip: string; device(user: User): string | undefined },
): Promise<RequestResetResult> {
  const { database, flows, uniformAnswers, now } = deps;
  const refuse = (refusal: RequestResetRefusal): RequestResetResult => ({ kind: 'refused', refusal });
  const typed = username.trim();
  if (typed === '') return refuse({ kind: 'empty' });
  if (isMalformed(typed, maxIdentifierLength)) return refuse({ kind: 'malformed' });
  const identifier = parseIdentifier(typed);
  const user = identifier && (await findUserByIdentifier(database.db, identifier));
  const device = user && from.device(user);
  const decision = await consumeResetLimit(deps, 'ask', { ip: from.ip, device });
  if (!decision.allowed) return refuse({ kind: 'too-many', retryAfterMs: decision.retryAfterMs });
  const may = user !== undefined && user.disabledAt === null;
  if (!may && !uniformAnswers) return refuse({ kind: user ? 'disabled' : 'unknown-user' });

  const flow: ResetRecord = {
    account: accountDigest(deps.codes, toAccountKey(typed)),
    user: may ? toResetOwner(deps.codes, user) : null,
    device,
    sentAtMs: now(),
  };
  const id = flows.newId();
  await flows.write(id, flow);
  const issued = await sendCode(deps, { id, flow }, lang);
  if (issued.issued) return { kind: 'asked', flow: id };
  await flows.delete(id);
  return refuse({ kind: issued.why, retryAfterMs: issued.retryAfterMs });
}

export type ResendCodeResult =
  | { kind: 'sent' }
  /** Unknown or expired. */
  | { kind: 'not-found' }
  | { kind: 'refused'; why: 'too-soon' | 'daily-limit' | 'too-many'; retryAfterMs: number };

/** Sends another code for a flow if the last one is old enough; the earlier code becomes invalid. */
export async function resendCode(
  deps: PasswordRuleDeps,
  id: FlowId,
  { lang, ip }: { lang: Language; ip: string },
): Promise<ResendCodeResult> {
  const flow = await deps.flows.find(id);
  if (!flow) return { kind: 'not-found' };
  const decision = await consumeResetLimit(deps, 'ask', { ip, device: flow.device });
  if (!decision.allowed) return { kind: 'refused', why: 'too-many', retryAfterMs: decision.retryAfterMs };
  const issued = await sendCode(deps, { id, flow }, lang);
  return issued.issued ? { kind: 'sent' } : { kind: 'refused', why: issued.why, retryAfterMs: issued.retryAfterMs };
}
