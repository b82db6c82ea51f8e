import type { Request, Response } from 'express';
import type { Continuation, Pages } from '../http/index.ts';
import type { ChallengeMethod, MfaChallenge, MfaModule } from '../mfa/index.ts';
import type { DeviceRecognition, Sessions, UpstreamSession } from '../sessions/index.ts';
import type { FlowId } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import type { NextRedirect } from './next-redirect.ts';

export type SignInMfa = Pick<MfaModule, 'challenges' | 'methodsFor' | 'remembered' | 'smsCodes'>;

interface Settings {
  mfa: SignInMfa;
  sessions: Pick<Sessions, 'createSession'>;
  devices: DeviceRecognition;
  nextRedirect: NextRedirect;
  pages: Pick<Pages, 'context'>;
  now: () => number;
}

/** The factor that was presented first. */
export interface FirstFactorInput {
  /** RFC 8176. */
  amr: string[];
  remember: boolean;
  continuation: Continuation;
  /** A remembered device does not replace the second factor. */
  requireAllFactors?: boolean | undefined;
  /**
   * With a provider: time of the authentication there. Undefined: now. A second factor that is presented here counts as
   * of now.
   */
  presentedAtMs?: number | undefined;
  /** The provider of the sign-in. */
  upstream?: UpstreamSession | undefined;
}

export type SignInResult =
  | { kind: 'signed-in' }
  /** No session exists yet: this page asks for the second factor. */
  | { kind: 'second-factor-required'; address: string };

/** The only way from a first factor to a session: no other module creates a session after a password. */
export interface SignIn {
  completeSignIn(req: Request, res: Response, user: User, factor: FirstFactorInput): Promise<SignInResult>;
  /** The same for a signed-in user who re-authenticates: a remembered device does not count. */
  completeReauthentication(req: Request, res: Response, user: User, factor: FirstFactorInput): Promise<SignInResult>;
}

export function createSignIn(settings: Settings): SignIn {
  const { mfa, sessions, devices, nextRedirect } = settings;

  /** The factors that are still required: none if a provider has already checked a second one. */
  const listRemainingFactors = async (user: User, amr: readonly string[]): Promise<ChallengeMethod[]> =>
    amr.includes('mfa') ? [] : mfa.methodsFor(user);

  async function startChallenge(
    req: Request,
    res: Response,
    user: User,
    { amr, remember, continuation, upstream }: FirstFactorInput,
    { methods, intent }: { methods: ChallengeMethod[]; intent: MfaChallenge['intent'] },
  ): Promise<SignInResult> {
    const id = mfa.challenges.newId();
    const [method = 'recovery'] = methods;
    const sentAtMs = method === 'sms' ? await sendCode(settings, req, user, id) : undefined;
    const { id: userId, passwordEpoch } = user;
    const started = {
      userId,
      passwordEpoch,
      intent,
      amr,
      remember,
      continuation: continuation.search,
      upstream,
      method,
      sentAtMs,
    };
    await mfa.challenges.begin(req, res, id, started);
    return {
      kind: 'second-factor-required',
      address: nextRedirect(user, continuation, { secondFactorPending: true }).address,
    };
  }

  async function begin(
    req: Request,
    res: Response,
    user: User,
    how: Parameters<Sessions['createSession']>[3],
  ): Promise<SignInResult> {
    await sessions.createSession(req, res, user, how);
    await devices.remember(req, res, user);
    return { kind: 'signed-in' };
  }

  return {
    async completeSignIn(req, res, user, factor) {
      const { amr, remember, upstream, presentedAtMs } = factor;
      const methods = await listRemainingFactors(user, amr);
      if (methods.length === 0) return begin(req, res, user, { amr, remember, upstream, shownAtMs: presentedAtMs });
      const device = factor.requireAllFactors ? undefined : await mfa.remembered.findRememberedDevice(req, user);
      if (!device) return startChallenge(req, res, user, factor, { methods, intent: 'sign-in' });
      await mfa.remembered.recordDeviceUse(req, device);
      return begin(req, res, user, { amr, remember, upstream, shownAtMs: presentedAtMs, onRememberedDevice: true });
    },
    async completeReauthentication(req, res, user, factor) {
      const { amr, remember, upstream } = factor;
      const methods = await listRemainingFactors(user, amr);
      if (methods.length > 0) return startChallenge(req, res, user, factor, { methods, intent: 're-authenticate' });
      return begin(req, res, user, { amr, remember, upstream });
    },
  };
}

/** Sends a code for a challenge. @returns the time, or undefined if it could not be sent */
export async function sendCode(
  { mfa, devices, now }: Pick<Settings, 'mfa' | 'devices' | 'now'>,
  req: Request,
  user: User,
  id: FlowId,
): Promise<number | undefined> {
  const { language: lang } = req;
  const owner = { flow: id, device: devices.recognise(req, user) };
  const sent = await mfa.smsCodes.send(user, owner, { lang, ip: req.ip ?? '' });
  return sent.sent ? now() : undefined;
}
