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
import { consumeResetLimit } from './guess-limits.ts';
import {
  isOpen,
  type OpenReset,
  type PasswordResetState,
  type ResetRefused,
  refuse,
  toResetState,
  transition,
} from './password-reset-state.ts';
import { accountDigest, isOwnerUnchanged, type ResetRecord, toResetOwner } from './reset-records.ts';

type RequestResetResult = { kind: 'asked'; flow: FlowId } | ResetRefused;

/** The user's language, else that of the requester. */
export const mailLanguage = (user: User | undefined, lang: Language): Language =>
  resolveLanguage(lang, user?.locale ?? undefined);

/** Stores the state to which a transition has led; a refusal changes nothing. */
export async function storeReset(
  { flows }: Pick<PasswordRuleDeps, 'flows'>,
  id: FlowId,
  next: PasswordResetState | ResetRefused,
): Promise<void> {
  if (isOpen(next)) await flows.update(id, next.flow);
  else if (next.kind === 'reset') await flows.delete(id);
}

/**
 * Mails a code for a flow. Without a user it does the same work with a decoy: one code, one transaction with one mail
 * in it, one rendering.
 */
async function sendCode(
  deps: PasswordRuleDeps,
  { id, state }: { id: FlowId; state: OpenReset },
  lang: Language,
): Promise<IssuedCode> {
  const { codes, database, outbox, uniformAnswers, now } = deps;
  const { flow } = state;
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
      values: { givenName: member?.givenName ?? '', code: issued.code, minutes: codeMinutes, sentAtMs: nowMs },
      // The newest code arrives last, also if several flows ask, under any name.
      groupId: codes.messageGroup({ purpose: 'reset-password', account: member?.email ?? account }),
      expiresAtMs: nowMs + issued.expiresInMs,
    };
    await outbox.add(trx, mail, { decoy: member === undefined, delayed: uniformAnswers });
  });
  await storeReset(deps, id, transition(state, { kind: 'code-sent', nowMs }));
  outbox.wake();
  return issued;
}

/** Requests a code. */
interface ResetRequester {
  lang: Language;
  ip: string;
  /** The known device's id, if this browser has signed in as this user before. */
  device(user: User): string | undefined;
}

/**
 * Starts a reset: a code is sent to the account's e-mail address, also if a phone number was typed, and belongs to the
 * new flow.
 * @param typed.username without outer white space
 * @returns the id of the new flow, a secret of the requester
 */
export async function requestReset(
  deps: PasswordRuleDeps,
  requester: ResetRequester,
  { username }: { username: string },
): Promise<RequestResetResult> {
  const { codes, database, flows, uniformAnswers, now } = deps;
  if (username === '') return refuse({ kind: 'empty' });
  if (isMalformed(username, maxIdentifierLength)) return refuse({ kind: 'malformed' });
  const identifier = parseIdentifier(username);
  const user = identifier && (await findUserByIdentifier(database.db, identifier));
  const device = user && requester.device(user);
  const decision = await consumeResetLimit(deps, 'ask', { ip: requester.ip, device });
  if (!decision.allowed) return refuse({ kind: 'too-many', retryAfterMs: decision.retryAfterMs });
  const may = user !== undefined && user.disabledAt === null;
  const flow: ResetRecord = {
    account: accountDigest(codes, toAccountKey(username)),
    user: may ? toResetOwner(codes, user) : null,
    device,
    sentAtMs: now(),
  };
  const account = may ? 'active' : user ? 'disabled' : 'unknown-user';
  const state = transition({ kind: 'none' }, { kind: 'account-named', account, uniformAnswers, flow });
  if (state.kind === 'refused') return state;
  const id = flows.newId();
  await flows.write(id, state.flow);
  const issued = await sendCode(deps, { id, state }, requester.lang);
  if (issued.issued) return { kind: 'asked', flow: id };
  await flows.delete(id);
  return refuse({ kind: issued.why, retryAfterMs: issued.retryAfterMs });
}

/** Sends another code for a flow if the last one is old enough; the earlier code becomes invalid. */
export async function resendCode(
  deps: PasswordRuleDeps,
  id: FlowId,
  { lang, ip }: { lang: Language; ip: string },
): Promise<{ kind: 'sent' } | ResetRefused> {
  const flow = await deps.flows.find(id);
  if (!flow) return refuse({ kind: 'no-flow' });
  const decision = await consumeResetLimit(deps, 'ask', { ip, device: flow.device });
  if (!decision.allowed) return refuse({ kind: 'too-many', retryAfterMs: decision.retryAfterMs });
  const issued = await sendCode(deps, { id, state: toResetState(flow, deps.now()) }, lang);
  return issued.issued ? { kind: 'sent' } : refuse({ kind: issued.why, retryAfterMs: issued.retryAfterMs });
}
