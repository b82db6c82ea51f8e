import type { Continuation, RequestContext } from '../http/index.ts';
import { type ChallengeMethod, findChallengeMethods, type MfaChallenge, type MfaDeps } from '../mfa/index.ts';
import type { AuthenticationInfo, DeviceRecognition, Sessions, UpstreamSession } from '../sessions/index.ts';
import type { FlowId } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import type { NextRedirect } from './next-redirect.ts';
import { transition } from './sign-in-state.ts';

interface Settings {
  mfa: MfaDeps;
  sessions: Pick<Sessions, 'createSession'>;
  devices: DeviceRecognition;
  nextRedirect: NextRedirect;
  now: () => number;
}

/** The factor that was presented first. */
interface FirstFactorInput {
  /** RFC 8176. */
  amr: string[];
  remember: boolean;
  continuation: Continuation;
  /** Tests whether a remembered device does not replace the second factor. Asked only if the user has one. */
  requiresAllFactors?: (() => Promise<boolean>) | undefined;
  /**
   * With a provider: time of the authentication there. Undefined: now. A second factor that is presented here counts as
   * of now.
   */
  presentedAtMs?: number | undefined;
  /** The provider of the sign-in. */
  upstream?: UpstreamSession | undefined;
}

type SignInResult =
  | { kind: 'signed-in' }
  /** No session exists yet: this page asks for the second factor. */
  | { kind: 'second-factor-required'; address: string };

/** The only way from a first factor to a session: no other module creates a session after a password. */
export interface SignIn {
  completeSignIn(r: RequestContext, user: User, factor: FirstFactorInput): Promise<SignInResult>;
  /** The same for a signed-in user who re-authenticates: a remembered device does not count. */
  completeReauthentication(r: RequestContext, user: User, factor: FirstFactorInput): Promise<SignInResult>;
}

const countFactors = (user: User, { length: missing }: readonly ChallengeMethod[], remembered: boolean) =>
  transition({ kind: 'first-factor', user }, { kind: 'factors-counted', missing, remembered });

export function createSignIn(settings: Settings): SignIn {
  const { mfa, sessions, nextRedirect } = settings;

  /** The factors that are still required: none if the user has no second one, or if a provider has already checked it. */
  const listRemainingFactors = async (user: User, amr: readonly string[]): Promise<ChallengeMethod[]> =>
    user.mfaPreference === 'none' || amr.includes('mfa') ? [] : findChallengeMethods(mfa, user);

  async function startChallenge(
    r: RequestContext,
    user: User,
    factor: FirstFactorInput & { intent: MfaChallenge['intent']; methods: readonly ChallengeMethod[] },
  ): Promise<SignInResult> {
    const { intent, amr, remember, continuation, upstream } = factor;
    const id = mfa.challenges.newId();
    const [method = 'recovery'] = factor.methods;
    const sentAtMs = method === 'sms' ? await sendCode(r, settings, { user, id }) : undefined;
    const { id: userId, passwordEpoch } = user;
    const search = continuation.search;
    const started = { userId, passwordEpoch, intent, amr, remember, continuation: search, upstream, method, sentAtMs };
    await mfa.challenges.begin(r, id, started);
    const { address } = nextRedirect(user, continuation, { secondFactorPending: true });
    return { kind: 'second-factor-required', address };
  }

  async function begin(r: RequestContext, user: User, how: AuthenticationInfo): Promise<SignInResult> {
    await sessions.createSession(r, user, how);
    return { kind: 'signed-in' };
  }

  return {
    async completeSignIn(r, user, factor) {
      const { amr, remember, upstream, presentedAtMs } = factor;
      const session = { amr, remember, upstream, shownAtMs: presentedAtMs };
      const methods = await listRemainingFactors(user, amr);
      const mayBeRemembered = methods.length > 0 && !(await factor.requiresAllFactors?.());
      const device = mayBeRemembered ? await mfa.remembered.findRememberedDevice(r.req, user) : undefined;
      const state = countFactors(user, methods, device !== undefined);
      if (state.kind !== 'signed-in') return startChallenge(r, user, { ...factor, methods, intent: 'sign-in' });
      if (!device) return begin(r, user, session);
      await mfa.remembered.recordDeviceUse(r.req, device);
      return begin(r, user, { ...session, onRememberedDevice: true });
    },
    async completeReauthentication(r, user, factor) {
      const { amr, remember, upstream } = factor;
      const methods = await listRemainingFactors(user, amr);
      const state = countFactors(user, methods, false);
      if (state.kind !== 'signed-in') return startChallenge(r, user, { ...factor, methods, intent: 're-authenticate' });
      return begin(r, user, { amr, remember, upstream });
    },
  };
}

/** The same with the next address of a user who is signed in. */
export function signInWithAddress({ completeSignIn, completeReauthentication }: SignIn, nextRedirect: NextRedirect) {
  const toNext =
    (complete: SignIn['completeSignIn']) => async (r: RequestContext, user: User, factor: FirstFactorInput) => {
      const entered = await complete(r, user, factor);
      if (entered.kind === 'second-factor-required') return entered;
      return { kind: entered.kind, address: nextRedirect(user, factor.continuation).address };
    };
  return {
    completeSignIn: toNext(completeSignIn),
    completeReauthentication: toNext(completeReauthentication),
  };
}

/** Sends a code for a challenge. @returns the time, or undefined if it could not be sent */
export async function sendCode(
  r: RequestContext,
  { mfa, devices, now }: Pick<Settings, 'mfa' | 'devices' | 'now'>,
  { user, id }: { user: User; id: FlowId },
): Promise<number | undefined> {
  const owner = { flow: id, device: devices.recognise(r.req, user) };
  const sent = await mfa.smsCodes.send(user, owner, { lang: r.lang, ip: r.ip });
  return sent.sent ? now() : undefined;
}
