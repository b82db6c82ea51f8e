import { keptSearch, type Language } from '../http/index.ts';
import { codeMinutes } from '../messages/index.ts';
import { PasswordQueueFullError, passwordFaults } from '../password/index.ts';
import type { ClientId, FlowId, NormalisedEmail, PlanKey } from '../shared/index.ts';
import { findUserByIdentifier, hasPartnerDeal, maxUserAgentLength } from '../users/index.ts';
import type { SignUpRuleDeps } from './deps.ts';
import { consumeSignUp } from './limits.ts';
import { logOutcome } from './log-outcome.ts';
import { type ProfileFaults, type ProfileInput, parseProfile } from './profile-input.ts';
import { addCodeMail } from './send-code.ts';
import { insertSignUp, type SignUp } from './sign-up-store.ts';

export interface StartSignUpInput extends ProfileInput {
  lang: Language;
  source: SignUp['source'];
  planKey: PlanKey | null;
  /** The version of the terms that the submitted form showed. */
  termsVersion: number | undefined;
  continuation: string;
  from: { ip: string; userAgent: string | null; clientId: ClientId | null };
}

export type StartSignUpRefusal =
  | { kind: 'invalid'; faults: ProfileFaults }
  | { kind: 'too-many'; retryAfterMs: number }
  /** A sign-up from the partner without a deal for its address. */
  | { kind: 'no-deal' }
  /** 'Email Address already registered'; never with uniform answers. */
  | { kind: 'already-in-use' };

export type StartSignUpResult =
  | { kind: 'begun'; flow: FlowId; email: NormalisedEmail }
  | { kind: 'refused'; refusal: StartSignUpRefusal };

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

/**
 * Starts a sign-up: checks the input, hashes the password, mails a code to the address. It creates no user. With
 * uniform answers the same is done for an address that already belongs to a user, without effect: the mail tells them.
 * @returns the id of a new flow, a secret of the caller
 * @throws {PasswordQueueFullError}
 */
export async function startSignUp(deps: SignUpRuleDeps, input: StartSignUpInput): Promise<StartSignUpResult> {
  const started = await begin(deps, input).catch((error: unknown) => {
    logOutcome(deps, 'begin', error instanceof PasswordQueueFullError ? 'busy' : 'failed');
    throw error;
  });
  logOutcome(deps, 'begin', started.kind === 'refused' ? started.refusal.kind : started.kind);
  return started;
}

async function begin(deps: SignUpRuleDeps, input: StartSignUpInput): Promise<StartSignUpResult> {
  const { database, kv, passwords, codes, outbox, flows, now } = deps;
  const refuse = (refusal: StartSignUpRefusal): StartSignUpResult => ({ kind: 'refused', refusal });
  // Faults of the input itself are not counted; the external service is asked about the password only after this
  // attempt is counted.
  const read = await parseProfile(input, { faults: async (...args) => passwordFaults(...args) });
  if ('faults' in read) return refuse({ kind: 'invalid', faults: read.faults });
  const { profile } = read;
  const { email } = profile;
  const decision = await consumeSignUp(kv, deps.limits, { ip: input.from.ip });
  if (!decision.allowed) return refuse({ kind: 'too-many', retryAfterMs: decision.retryAfterMs });
  const password = await deps.policy.faults(profile.password, profile);
  if (password.length > 0) {
    return refuse({ kind: 'invalid', faults: { empty: [], email: false, password, malformed: false } });
  }
  if (input.source === 'appsumo' && !(await hasPartnerDeal(database, email))) return refuse({ kind: 'no-deal' });
  const member = await findUserByIdentifier(database.db, { email });
  if (member && !deps.uniformAnswers) return refuse({ kind: 'already-in-use' });

  const passwordHash = await passwords
    .hash(profile.password, { account: email, ip: input.from.ip })
    .catch(async (error: unknown) => {
      // Nothing was started, so a retry after a full queue is not counted.
      await decision.release();
      throw error;
    });
  const flow = flows.newId();
  const issued = await codes.issue({ purpose: 'confirm-email', flow, account: email });
  // The address has reached its daily limit of codes.
  if (!issued.issued) return refuse({ kind: 'too-many', retryAfterMs: issued.retryAfterMs });
  const nowMs = now();
  const signUp = await database.transaction(async (trx) => {
    const inserted = await insertSignUp(
      trx,
      {
        email,
        givenName: profile.givenName,
        familyName: profile.familyName,
        passwordHash,
        identity: null,
        lang: input.lang,
        source: input.source,
        planKey: input.planKey,
        terms: presentedTerms(deps, input),
        continuation: keptSearch(input.continuation),
        state: member ? 'decoy' : 'begun',
      },
      nowMs,
    );
    const { givenName } = profile;
    const expiresAtMs = nowMs + codeMinutes * 60_000;
    await addCodeMail(trx, deps, {
      kind: 'sign-up',
      email,
      givenName,
      lang: input.lang,
      code: issued.code,
      expiresAtMs,
    });
    return inserted;
  });
  await flows.write(flow, { kind: 'sign-up', id: signUp.id, remember: false, sentAtMs: nowMs });
  outbox.wake();
  return { kind: 'begun', flow, email };
}
