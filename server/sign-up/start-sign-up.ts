import { type UnverifiedAddress, usableNames } from '../federation/index.ts';
import { keptSearch, type Language, type T } from '../http/index.ts';
import { codeMinutes } from '../messages/index.ts';
import { PasswordQueueFullError } from '../password/index.ts';
import type { ClientId, FlowId, NormalisedEmail, PlanKey } from '../shared/index.ts';
import { findUserByIdentifier, hasPartnerDeal, maxUserAgentLength, toTimeZone } from '../users/index.ts';
import type { SignUpRuleDeps } from './deps.ts';
import { consumeSignUp } from './limits.ts';
import { logOutcome } from './log-outcome.ts';
import { type ProfileFaults, type ProfileInput, readProfile, refusedPassword } from './profile-input.ts';
import { addCodeMail } from './send-code.ts';
import { storedStates, transition } from './sign-up-state.ts';
import { insertSignUp, type SignUp } from './sign-up-store.ts';

export interface StartSignUpInput extends ProfileInput {
  /** The texts of the faults. */
  t: T;
  lang: Language;
  source: SignUp['source'];
  planKey: PlanKey | null;
  /** The version of the terms that the submitted form showed. */
  termsVersion: number | undefined;
  continuation: string;
  /** The time zone of the browser; an unknown one is ignored. */
  zoneinfo?: string | undefined;
  from: { ip: string; userAgent: string | null; clientId: ClientId | null };
}

export type StartSignUpRefusal =
  | ({ kind: 'invalid' } & ProfileFaults)
  | { kind: 'too-many'; retryAfterMs: number }
  /** A sign-up from the partner without a deal for its address. */
  | { kind: 'no-deal' }
  /** 'Email Address already registered'; never with uniform answers. */
  | { kind: 'already-in-use' };

export type StartSignUpResult = { kind: 'begun'; flow: FlowId } | StartSignUpRefusal;

/** Users can only accept the version that they saw: newer terms are asked for later. */
function presentedTerms({ legal }: SignUpRuleDeps, { lang, termsVersion, from }: StartSignUpInput): SignUp['terms'] {
  if (termsVersion !== legal.version.number) return null;
  const document = legal.terms(lang);
  return {
    version: legal.version.number,
    label: legal.version.label,
    lang: document.lang,
    textHash: document.hash,
    ...from,
    userAgent: from.userAgent?.slice(0, maxUserAgentLength) ?? null,
  };
}

/** Decides the state of a new account by its address. */
async function nameAccount({ database, uniformAnswers }: SignUpRuleDeps, email: NormalisedEmail) {
  const taken = (await findUserByIdentifier(database.db, { email })) !== undefined;
  return transition({ kind: 'profile' }, { kind: 'account-named', email, taken, uniformAnswers });
}

/** Writes a new account, the mail with its code, and the flow of the caller. */
async function writeSignUp(
  deps: SignUpRuleDeps,
  signUp: Omit<SignUp, 'id' | 'userId'>,
  remember: boolean,
): Promise<{ kind: 'begun'; flow: FlowId } | { kind: 'too-many'; retryAfterMs: number }> {
  const { database, codes, outbox, flows, now } = deps;
  const { email, givenName, lang } = signUp;
  const flow = flows.newId();
  const issued = await codes.issue({ purpose: 'confirm-email', flow, account: email });
  // The address has reached its daily limit of codes.
  if (!issued.issued) return { kind: 'too-many', retryAfterMs: issued.retryAfterMs };
  const nowMs = now();
  const { id } = await database.transaction(async (trx) => {
    const inserted = await insertSignUp(trx, signUp, nowMs);
    const expiresAtMs = nowMs + codeMinutes * 60_000;
    await addCodeMail(trx, deps, { kind: 'sign-up', email, givenName, lang, code: issued.code, expiresAtMs });
    return inserted;
  });
  await flows.write(flow, { kind: 'sign-up', id, remember, sentAtMs: nowMs });
  outbox.wake();
  return { kind: 'begun', flow };
}

/** Reports the result of a start. */
async function logged<Result extends { kind: string }>(deps: SignUpRuleDeps, start: Promise<Result>): Promise<Result> {
  const started = await start.catch((error: unknown) => {
    logOutcome(deps, 'begin', error instanceof PasswordQueueFullError ? 'busy' : 'failed');
    throw error;
  });
  logOutcome(deps, 'begin', started.kind);
  return started;
}

/**
 * Starts a sign-up: checks the input, hashes the password, mails a code to the address. It creates no user. With
 * uniform answers the same is done for an address that already belongs to a user, without effect: the mail tells them.
 * @returns the id of a new flow, a secret of the caller
 * @throws {PasswordQueueFullError}
 */
export function startSignUp(deps: SignUpRuleDeps, input: StartSignUpInput): Promise<StartSignUpResult> {
  return logged(deps, startByPassword(deps, input));
}

async function startByPassword(deps: SignUpRuleDeps, input: StartSignUpInput): Promise<StartSignUpResult> {
  const { database, kv, passwords } = deps;
  const { ip } = input.from;
  // Faults of the input itself are not counted; the external service is asked about the password only after this
  // attempt is counted.
  const { values: profile, ...faults } = readProfile(input, input.t);
  if (profile === undefined) return { kind: 'invalid', ...faults };
  const { email, givenName, familyName } = profile;
  const decision = await consumeSignUp(kv, deps.limits, { ip });
  if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
  const password = await deps.policy.faults(profile.password, profile);
  if (password.length > 0) return { kind: 'invalid', ...refusedPassword(password, input.t) };
  const { lang, source, planKey } = input;
  if (source === 'appsumo' && !(await hasPartnerDeal(database, email))) return { kind: 'no-deal' };
  const named = await nameAccount(deps, email);
  if (named.kind === 'refused') return { kind: named.why };

  const passwordHash = await passwords.hash(profile.password, { account: email, ip }).catch(async (error: unknown) => {
    // Nothing was started, so a retry after a full queue is not counted.
    await decision.release();
    throw error;
  });
  const continuation = keptSearch(input.continuation);
  const terms = presentedTerms(deps, input);
  const zoneinfo = toTimeZone(input.zoneinfo ?? '') ?? null;
  const account = { email, givenName, familyName, passwordHash, identity: null, continuation, zoneinfo };
  return writeSignUp(deps, { ...account, lang, source, planKey, terms, state: storedStates[named.kind] }, false);
}

/** A sign-up with a provider that does not vouch for the address. */
type FederatedSignUpInput = Omit<UnverifiedAddress, 'continuation'> & {
  lang: Language;
  ip: string;
  continuation: string;
};

/**
 * The same with a provider that does not vouch for the address: a code to the address confirms it. Before that there is
 * no user, and no password opens it.
 */
export function startFederatedSignUp(
  deps: SignUpRuleDeps,
  input: FederatedSignUpInput,
): Promise<Exclude<StartSignUpResult, { kind: 'invalid' | 'no-deal' }>> {
  return logged(deps, startByProvider(deps, input));
}

async function startByProvider(
  deps: SignUpRuleDeps,
  { identity, continuation, remember, company, lang, ip }: FederatedSignUpInput,
): Promise<Exclude<StartSignUpResult, { kind: 'invalid' | 'no-deal' }>> {
  const { email } = identity;
  const decision = await consumeSignUp(deps.kv, deps.limits, { ip, company });
  if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
  const named = await nameAccount(deps, email);
  if (named.kind === 'refused') return { kind: named.why };
  const account = {
    email,
    ...usableNames(identity),
    passwordHash: '',
    identity,
    continuation: keptSearch(continuation),
    zoneinfo: null,
  };
  const choices = { lang, source: 'general', planKey: null, terms: null } as const;
  return writeSignUp(deps, { ...account, ...choices, state: storedStates[named.kind] }, remember);
}
